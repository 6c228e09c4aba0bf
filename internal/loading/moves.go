package loading

import (
	"cmp"
	"context"
	"slices"

	"github.com/traintravel/traintravel/internal/seats"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/internal/trains"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// findMoves reads the inventories of all runs from a date on and returns the moves and
// handbacks of a timetable, by date. before is the timetable that is replaced, nil if none. It
// changes nothing, as a closure of Store.Update may run twice.
func findMoves(ctx context.Context, r store.Reader, f *trains.Slots, before *timetable.Snapshot, from rail.Date) (moves []trains.Move, back []trains.Handback, err error) {
	if len(f.Bases) == 0 {
		return nil, nil, nil
	}
	var date rail.Date
	found := map[int][]trains.SlotRecord{} // on date, by base
	assign := func() {
		m, h := f.Assign(date, found, before.Former)
		moves, back = append(moves, m...), append(back, h...)
		clear(found)
	}
	err = store.EachPage(ctx, r, store.Range{Table: store.TableRuns, From: seats.RunKey(rail.RunID{Date: from}).ID}, func(page []store.Record) error {
		for _, rec := range page {
			run := seats.ParseRunKey(rec.ID)
			at, ok := f.Of(run)
			if !ok {
				continue
			}
			if run.Date != date {
				assign()
				date = run.Date
			}
			r := trains.SlotRecord{Slot: at.N}
			if inv, err := seats.DecodeInventory(rec.Value); err != nil {
				r.Unknown = true
			} else {
				r.List, r.Foreign = inv.List, inv.Foreign()
			}
			found[at.Base] = append(found[at.Base], r)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	assign()
	slices.SortFunc(moves, func(a, b trains.Move) int { return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.Train, b.Train)) })
	slices.SortFunc(back, func(a, b trains.Handback) int {
		return cmp.Or(cmp.Compare(a.From.Date, b.From.Date), cmp.Compare(a.Train, b.Train))
	})
	return moves, back, nil
}
