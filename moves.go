package traintravel

import (
	"cmp"
	"context"
	"slices"
)

// findMoves reads the inventories of all runs from a date on and returns the moves and
// handbacks of a timetable, by date. before is the timetable that is replaced, nil if there
// is none. It changes nothing, as a closure of Store.Update may run twice.
func findMoves(ctx context.Context, r Reader, f *slots, before *snapshot, from Date) (moves []move, back []handback, err error) {
	if len(f.bases) == 0 {
		return nil, nil, nil
	}
	var date Date
	found := map[int][]slotRecord{} // on date, by base
	assign := func() {
		m, h := f.assign(date, found, before.former)
		moves, back = append(moves, m...), append(back, h...)
		clear(found)
	}
	err = eachPage(ctx, r, Range{Table: TableRuns, From: runKey(RunID{Date: from}).ID}, func(page []Record) error {
		for _, rec := range page {
			run := parseRunKey(rec.ID)
			at, ok := f.of(run)
			if !ok {
				continue
			}
			if run.Date != date {
				assign()
				date = run.Date
			}
			r := slotRecord{slot: at.n}
			if inv, err := decodeInventory(rec.Value); err != nil {
				r.unknown = true
			} else {
				r.list, r.foreign = inv.list, inv.foreign()
			}
			found[at.base] = append(found[at.base], r)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	assign()
	slices.SortFunc(moves, func(a, b move) int { return cmp.Or(cmp.Compare(a.date, b.date), cmp.Compare(a.train, b.train)) })
	slices.SortFunc(back, func(a, b handback) int {
		return cmp.Or(cmp.Compare(a.from.Date, b.from.Date), cmp.Compare(a.train, b.train))
	})
	return moves, back, nil
}
