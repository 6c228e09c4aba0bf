package traintravel

import (
	"slices"
	"testing"
)

// Who gets the records that count on nobody's calls.
func TestSlotsOfFormerTrains(t *testing.T) {
	t.Parallel()
	days := compileCalendar(on(newYear))
	train := func(twin int, terminus uint64) slotTrain {
		return slotTrain{index: twin, twin: twin, days: days, list: 10 + uint64(twin), terminus: terminus}
	}
	changed := func(t slotTrain) slotTrain { t.changed = true; return t }
	added := func(t slotTrain) slotTrain { t.changed, t.added = true, true; return t }
	rec := func(slot int, list, terminus uint64) slotRecord {
		return slotRecord{slot: slot, list: list, terminus: terminus}
	}
	for _, c := range []struct {
		name    string
		trains  []slotTrain
		records []slotRecord
		twins   map[uint64][]int
		want    []int // the slot of each train
	}{
		{"of one terminus, the one who had it", []slotTrain{changed(train(0, 1)), changed(train(1, 1))},
			[]slotRecord{rec(1, 6, 1), rec(0, 5, 1)}, map[uint64][]int{5: {1}, 6: {0}}, []int{1, 0}},
		{"the same terminus", []slotTrain{train(0, 2), changed(train(1, 1))},
			[]slotRecord{rec(0, 5, 1)}, map[uint64][]int{5: {0}}, []int{1, 0}},
		{"of two that had it, the one with new calls", []slotTrain{train(0, 1), changed(train(1, 2))},
			[]slotRecord{rec(0, 5, 3)}, map[uint64][]int{5: {0, 1}}, []int{1, 0}},
		{"a twin that was not there before", []slotTrain{train(0, 1), added(train(1, 2))},
			[]slotRecord{rec(0, 5, 3)}, map[uint64][]int{5: {0}}, []int{1, 0}},
		{"the one who had it, elsewhere", []slotTrain{train(0, 1)},
			[]slotRecord{rec(1, 5, 3)}, map[uint64][]int{5: {0}}, []int{1}},
		{"nobody has another's", []slotTrain{train(1, 1)},
			[]slotRecord{rec(0, 5, 3)}, map[uint64][]int{5: {0}}, []int{1}},
		{"nobody has another's, even in its own slot", []slotTrain{train(0, 1)},
			[]slotRecord{rec(0, 5, 3)}, map[uint64][]int{5: {1}}, []int{1}},
		{"unless there is no other", []slotTrain{train(0, 1)},
			[]slotRecord{rec(0, 5, 3), rec(1, 6, 3), rec(2, 7, 3), rec(3, 8, 3)}, map[uint64][]int{5: {1}}, []int{0}},
		{"its own before all", []slotTrain{train(0, 1), added(train(1, 1))},
			[]slotRecord{rec(0, 11, 1), rec(1, 10, 1)}, map[uint64][]int{10: {0}, 11: {0}}, []int{1, 0}},
	} {
		b := slotBase{trains: c.trains, limit: 4, twins: c.twins}
		got := make([]int, len(c.trains))
		for i, t := range c.trains {
			got[i] = t.twin
		}
		moves, _ := b.settle(newYear, c.records)
		for _, m := range moves {
			got[slices.IndexFunc(c.trains, func(t slotTrain) bool { return t.index == m.train })] = m.slot
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: the slots are %v, want %v", c.name, got, c.want)
		}
		if moves, _ := b.settle(newYear+1, c.records); len(moves) > 0 {
			t.Errorf("%s: who does not run has moved: %v", c.name, moves)
		}
	}
}
