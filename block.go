package traintravel

import (
	"context"
	"fmt"
	"slices"
)

// block takes places of a run out of sale, all of them or none.
func (d *desk) block(ctx context.Context, run RunID, blocks ...Block) error {
	return d.onRun(ctx, run, func(l *ledger, e *runEntry) error {
		for i, b := range blocks {
			place, err := e.inv.blockable(i, b)
			if err != nil {
				return err
			}
			if !e.inv.isFree(place, b.Board, b.Alight, l.now) {
				return fmt.Errorf("coach %s, seat %d: %w", b.Coach, b.Seat, ErrPlaceTaken)
			}
			t := taken{booking: blocked, place: place, from: uint8(b.Board), to: uint8(b.Alight), until: forGood}
			for _, lapsed := range e.inv.inTheWay(t, l.now) {
				if err := l.expire(lapsed); err != nil {
					return err
				}
			}
			e.inv.take(t)
			e.changed = true
		}
		return nil
	})
}

// unblock puts blocked places back into sale, all of them or none.
func (d *desk) unblock(ctx context.Context, run RunID, blocks ...Block) error {
	return d.onRun(ctx, run, func(_ *ledger, e *runEntry) error {
		for i, b := range blocks {
			place, err := e.inv.blockable(i, b)
			if err != nil {
				return err
			}
			at := slices.IndexFunc(e.inv.taken, func(t taken) bool {
				return t.booking == blocked && t.place == place && int(t.from) == b.Board && int(t.to) == b.Alight
			})
			if at < 0 {
				return fmt.Errorf("a block of coach %s, seat %d: %w", b.Coach, b.Seat, ErrNotFound)
			}
			e.inv.taken = slices.Delete(e.inv.taken, at, at+1)
			e.changed = true
		}
		return nil
	})
}

// onRun changes the inventory of a run of the timetable in force that is not past.
func (d *desk) onRun(ctx context.Context, run RunID, change func(*ledger, *runEntry) error) error {
	return d.timetable.whileCurrent(ctx, func(sn *snapshot) error {
		t, ok := sn.run(run)
		if !ok {
			return ErrNotFound
		}
		return d.books.update(ctx, d.books.now(), func(l *ledger) error {
			if err := l.checkCurrent(sn); err != nil {
				return err
			}
			if t.arrived(run.Date, l.now) {
				return ErrArrived
			}
			if err := l.loadRuns(run); err != nil {
				return err
			}
			return change(l, l.ride(sn, ride{train: t, date: run.Date}))
		})
	})
}
