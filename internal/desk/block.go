package desk

import (
	"context"
	"fmt"
	"slices"

	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/internal/seats"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/rail"
)

// A blockedError is the [rail.ErrPlaceTaken] of a place that is blocked already.
type blockedError rail.Block

func (e blockedError) Error() string {
	return fmt.Sprintf("coach %s, seat %d is already blocked", e.Coach, e.Seat)
}

func (blockedError) Unwrap() error { return rail.ErrPlaceTaken }

// Block takes places of a run out of sale, all of them or none.
func (d *Desk) Block(ctx context.Context, run rail.RunID, blocks ...rail.Block) error {
	return d.onRun(ctx, run, func(l *ledger.Ledger, e *ledger.RunEntry) error {
		for i, b := range blocks {
			place, err := e.Inv.Blockable(i, b)
			if err != nil {
				return err
			}
			if !e.Inv.IsFree(place, b.Board, b.Alight, l.Now) {
				if slices.ContainsFunc(e.Inv.Taken, func(t seats.Taken) bool {
					return t.Booking == seats.Blocked() && t.Place == place && t.Overlaps(b.Board, b.Alight)
				}) {
					return blockedError(b)
				}
				return fmt.Errorf("coach %s, seat %d: %w", b.Coach, b.Seat, rail.ErrPlaceTaken)
			}
			t := seats.Taken{Booking: seats.Blocked(), Place: place, From: uint8(b.Board), To: uint8(b.Alight), Until: seats.ForGood}
			for _, lapsed := range e.Inv.InTheWay(t, l.Now) {
				if err := l.Expire(lapsed); err != nil {
					return err
				}
			}
			e.Inv.Take(t)
			e.Changed = true
		}
		return nil
	})
}

// Unblock puts blocked places back on sale, all of them or none.
func (d *Desk) Unblock(ctx context.Context, run rail.RunID, blocks ...rail.Block) error {
	return d.onRun(ctx, run, func(_ *ledger.Ledger, e *ledger.RunEntry) error {
		for i, b := range blocks {
			place, err := e.Inv.Blockable(i, b)
			if err != nil {
				return err
			}
			at := slices.IndexFunc(e.Inv.Taken, func(t seats.Taken) bool {
				return t.Booking == seats.Blocked() && t.Place == place && int(t.From) == b.Board && int(t.To) == b.Alight
			})
			if at < 0 {
				return fmt.Errorf("a block of coach %s, seat %d: %w", b.Coach, b.Seat, rail.ErrNotFound)
			}
			e.Inv.Taken = slices.Delete(e.Inv.Taken, at, at+1)
			e.Changed = true
		}
		return nil
	})
}

// onRun changes the inventory of a run of the timetable in force, unless it has arrived.
func (d *Desk) onRun(ctx context.Context, run rail.RunID, change func(*ledger.Ledger, *ledger.RunEntry) error) error {
	return d.Timetable.WhileCurrent(ctx, func(sn *timetable.Snapshot) error {
		t, ok := sn.Run(run)
		if !ok {
			return rail.ErrNotFound
		}
		return d.Books.Update(ctx, d.Books.Now(), func(l *ledger.Ledger) error {
			if err := l.CheckCurrent(sn); err != nil {
				return err
			}
			if t.Arrived(run.Date, l.Now) {
				return rail.ErrArrived
			}
			if err := l.LoadRuns(run); err != nil {
				return err
			}
			return change(l, l.Ride(sn, timetable.Ride{Train: t, Date: run.Date}))
		})
	})
}
