package desk

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/seats"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// CancelRun takes a run out of sale and cancels its bookings.
func (d *Desk) CancelRun(ctx context.Context, run rail.RunID, opts rail.CancelRunOptions) (done rail.RunCancellation, err error) {
	done.Refunds = map[string]int64{}
	var holders []uuid.UUID
	err = d.closeRun(ctx, run, true, opts.Past, func(inv *seats.Inventory) { holders = inv.Holders() })
	if err != nil {
		return done, err
	}
	var left records.Omissions
	defer func() { done.Unreadable = d.omitBookings(ctx, left) }()
	for _, id := range holders {
		if err := d.cancelFor(ctx, run, id, &done); records.Unreadable(err) {
			left.Add(records.BookingKey(id), err)
		} else if err != nil {
			return done, err
		}
	}
	failed := map[store.Key]bool{} // already
	for _, o := range left {
		failed[o.Key] = true
	}
	looked := 0
	err = store.EachPage(ctx, d.Books.Store, store.Range{Table: store.TableBookings}, func(page []store.Record) error {
		for _, rec := range page {
			key := store.Key{Table: store.TableBookings, ID: rec.ID}
			if failed[key] {
				continue
			}
			b, err := d.Books.BookingOf(rec)
			if err == nil && b.Status.Live() && slices.Contains(rail.RunsOf(&b), run) {
				err = d.cancelFor(ctx, run, b.ID, &done)
			}
			if records.Unreadable(err) {
				left.Add(key, err)
			} else if err != nil {
				return err
			}
		}
		if looked += len(page); opts.Progress != nil {
			opts.Progress(looked)
		}
		return nil
	})
	return done, err
}

// omitBookings is omit, and returns the bookings.
func (d *Desk) omitBookings(ctx context.Context, left records.Omissions) (ids []uuid.UUID) {
	d.Books.Omit(ctx, left)
	for _, o := range left {
		ids = append(ids, uuid.UUID([]byte(o.Key.ID)))
	}
	return ids
}

// RestoreRun puts a cancelled run back on sale.
func (d *Desk) RestoreRun(ctx context.Context, run rail.RunID) error {
	return d.closeRun(ctx, run, false, true, func(*seats.Inventory) {})
}

// closeRun marks a run as cancelled or not, and returns its inventory. It cancels a run that
// has arrived only if past is set, unless the run was cancelled before.
func (d *Desk) closeRun(ctx context.Context, run rail.RunID, cancelled, past bool, then func(*seats.Inventory)) error {
	return d.Timetable.WhileCurrent(ctx, func(sn *timetable.Snapshot) error {
		t, ok := sn.Run(run)
		return d.Books.Update(ctx, d.Books.Now(), func(l *ledger.Ledger) error {
			if err := l.CheckCurrent(sn); err != nil {
				return err
			}
			if err := l.LoadRuns(run); err != nil {
				return err
			}
			e := l.RunEntry(run)
			switch {
			case ok && cancelled:
				e = l.Ride(sn, timetable.Ride{Train: t, Date: run.Date})
			case e.Inv == nil || !cancelled && !e.Inv.Cancelled:
				return rail.ErrNotFound
			}
			if !past && ok && !e.Inv.Cancelled && t.Arrived(run.Date, l.Now) {
				return rail.ErrArrived
			}
			if e.Inv.Cancelled != cancelled {
				e.Inv.Cancelled, e.Changed = cancelled, true
			}
			then(e.Inv)
			return nil
		})
	})
}

// cancelFor cancels a booking because of its run.
func (d *Desk) cancelFor(ctx context.Context, run rail.RunID, id uuid.UUID, done *rail.RunCancellation) error {
	var refund rail.Money
	var cancelled, paying bool
	err := d.Books.Update(ctx, d.Books.Now(), func(l *ledger.Ledger) error {
		refund, cancelled, paying = rail.Money{}, false, false
		b, err := l.Booking(id)
		if err != nil {
			return records.Damaged(err)
		}
		switch {
		case !b.Status.Live() || !slices.Contains(rail.RunsOf(b), run):
			return nil
		case b.Lapsed(l.Now) && b.OpenPayment == uuid.Nil:
			return l.Expire(b.ID)
		}
		cancelled, paying = true, b.OpenPayment != uuid.Nil
		if b.Status == rail.Confirmed {
			paid, err := l.Payment(b.ID, b.PaidBy)
			if err != nil {
				return records.Damaged(err)
			}
			refund = paid.Amount
		}
		b.ByOperator, b.CancelledLeg = true, 1+slices.Index(rail.RunsOf(b), run)
		return l.End(b, refund)
	})
	if err != nil {
		return fmt.Errorf("cancelling booking %v: %w", id, err)
	}
	if cancelled {
		done.Bookings++
	}
	if paying {
		done.Paying++
	}
	if refund.Amount > 0 {
		done.Refunds[refund.Currency] += refund.Amount
	}
	return nil
}
