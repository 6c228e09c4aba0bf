package traintravel

import (
	"context"
	"fmt"
	"slices"
)

// Block takes places of a run out of sale between two of its calls, all of them
// or none: for staff, for a coach that is missing, for a broken seat. A place
// that somebody holds, has paid or has blocked there is [ErrPlaceTaken], which
// the error wraps to say which. A new timetable keeps blocks as it keeps bookings.
//
// ErrNotFound: no such train runs then. [ErrArrived]: it has run. An [*InvalidError] names the place or
// call that the run has not.
func (s *Service) Block(ctx context.Context, run RunID, blocks ...Block) error {
	return s.onRun(ctx, run, func(l *ledger, e *runEntry) error {
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

// Unblock puts places that [Service.Block] took out of sale back into it, all of
// them or none. Blocks are those of [Service.Manifest]; one that is not there is
// ErrNotFound, which the error wraps to say which. [ErrArrived]: the train has run.
func (s *Service) Unblock(ctx context.Context, run RunID, blocks ...Block) error {
	return s.onRun(ctx, run, func(_ *ledger, e *runEntry) error {
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
func (s *Service) onRun(ctx context.Context, run RunID, change func(*ledger, *runEntry) error) error {
	return s.timetable.whileCurrent(ctx, func(sn *snapshot) error {
		t, ok := sn.run(run)
		if !ok {
			return ErrNotFound
		}
		return s.books.update(ctx, s.now(), func(l *ledger) error {
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
