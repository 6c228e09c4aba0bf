package trains

import (
	"slices"
	"testing"

	"github.com/traintravel/traintravel/internal/railtest"
)

// Tests which train gets the inventories that were fitted to no current list of calls.
func TestSlotsOfFormerTrains(t *testing.T) {
	t.Parallel()
	days := CompileCalendar(railtest.On(railtest.NewYear()))
	// No two are of one source.
	train := func(twin int, terminus uint64) slotTrain {
		return slotTrain{kin: kin{twin, terminus, 100 + uint64(twin)}, index: twin, days: days, list: 10 + uint64(twin)}
	}
	was := func(twin int, terminus uint64) kin { return kin{twin: twin, terminus: terminus} }
	added := func(t slotTrain) slotTrain { t.added = true; return t }
	for _, c := range []struct {
		name    string
		trains  []slotTrain
		records []SlotRecord
		formers map[int]uint64 // lists by slot; who is not there has come
		known   map[uint64][]kin
		want    []int // the slot of each train
	}{
		{"of one terminus, the one who had it", []slotTrain{train(0, 1), train(1, 1)},
			[]SlotRecord{{Slot: 1, List: 6}, {Slot: 0, List: 5}}, nil, map[uint64][]kin{5: {was(1, 1)}, 6: {was(0, 1)}}, []int{1, 0}},
		{"the same terminus", []slotTrain{train(0, 2), train(1, 1)},
			[]SlotRecord{{Slot: 0, List: 5}}, map[int]uint64{1: 10}, map[uint64][]kin{5: {was(0, 1)}}, []int{1, 0}},
		{"of two that had it, the one with new calls", []slotTrain{train(0, 1), train(1, 2)},
			[]SlotRecord{{Slot: 0, List: 5}}, map[int]uint64{1: 10}, map[uint64][]kin{5: {was(0, 3), was(1, 3)}}, []int{1, 0}},
		{"a twin that was not there before", []slotTrain{train(0, 1), added(train(1, 2))},
			[]SlotRecord{{Slot: 0, List: 5}}, map[int]uint64{1: 10}, map[uint64][]kin{5: {was(0, 3)}}, []int{1, 0}},
		{"the one who had it, elsewhere", []slotTrain{train(0, 1)},
			[]SlotRecord{{Slot: 1, List: 5}}, nil, map[uint64][]kin{5: {was(0, 3)}}, []int{1}},
		{"nobody has another's", []slotTrain{train(1, 1)},
			[]SlotRecord{{Slot: 0, List: 5}}, nil, map[uint64][]kin{5: {was(0, 3)}}, []int{1}},
		{"nobody has another's, even in its own slot", []slotTrain{train(0, 1)},
			[]SlotRecord{{Slot: 0, List: 5}}, nil, map[uint64][]kin{5: {was(1, 3)}}, []int{1}},
		{"unless there is no other", []slotTrain{train(0, 1)},
			[]SlotRecord{{Slot: 0, List: 5}, {Slot: 1, List: 6}, {Slot: 2, List: 7}, {Slot: 3, List: 8}}, nil, map[uint64][]kin{5: {was(1, 3)}}, []int{0}},
		{"its own before all", []slotTrain{train(0, 1), added(train(1, 1))},
			[]SlotRecord{{Slot: 0, List: 11}, {Slot: 1, List: 10}}, nil, map[uint64][]kin{10: {was(0, 1)}, 11: {was(0, 1)}}, []int{1, 0}},
		{"who had the run until now, though its calls changed before", []slotTrain{train(0, 1), added(train(1, 1))},
			[]SlotRecord{{Slot: 0, List: 5}}, map[int]uint64{0: 10}, map[uint64][]kin{5: {was(0, 1)}}, []int{0, 1}},
		{"who had it in another slot than its number's", []slotTrain{train(0, 1), train(1, 1)},
			[]SlotRecord{{Slot: 0, List: 5}, {Slot: 1, List: 6}}, map[int]uint64{0: 11, 1: 10}, nil, []int{1, 0}},
		{"who stays takes over nobody's", []slotTrain{train(0, 1)},
			[]SlotRecord{{Slot: 1, List: 5}}, map[int]uint64{0: 10, 1: 5}, map[uint64][]kin{5: {was(0, 1)}}, []int{0}},
		{"who comes takes it over", []slotTrain{train(0, 1)},
			[]SlotRecord{{Slot: 1, List: 5}}, map[int]uint64{1: 5}, map[uint64][]kin{5: {was(0, 1)}}, []int{1}},
	} {
		b := slotBase{trains: c.trains, limit: 4, known: c.known}
		formers := make([]uint64, b.limit)
		for slot, f := range c.formers {
			formers[slot] = f
		}
		got := make([]int, len(c.trains))
		for i, t := range c.trains {
			got[i] = t.twin
		}
		moves, _ := b.assign(railtest.NewYear(), c.records, formers)
		for _, m := range moves {
			got[slices.IndexFunc(c.trains, func(t slotTrain) bool { return t.index == m.Train })] = m.Slot
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: the slots are %v, want %v", c.name, got, c.want)
		}
		if moves, _ := b.assign(railtest.NewYear()+1, c.records, formers); len(moves) > 0 {
			t.Errorf("%s: who does not run has moved: %v", c.name, moves)
		}
	}
}
