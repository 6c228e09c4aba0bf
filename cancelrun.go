package traintravel

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
)

// cancelRun takes a run out of sale and cancels its bookings.
func (d *desk) cancelRun(ctx context.Context, run RunID, opts CancelRunOptions) (done RunCancellation, err error) {
	done.Refunds = map[string]int64{}
	var holders []uuid.UUID
	err = d.closeRun(ctx, run, true, opts.Past, func(inv *inventory) { holders = inv.holders() })
	if err != nil {
		return done, err
	}
	var left omissions
	defer func() { done.Unreadable = d.omitBookings(ctx, left) }()
	for _, id := range holders {
		if err := d.cancelFor(ctx, run, id, &done); unreadable(err) {
			left.add(bookingKey(id), err)
		} else if err != nil {
			return done, err
		}
	}
	failed := map[Key]bool{} // already
	for _, o := range left {
		failed[o.key] = true
	}
	looked := 0
	err = eachPage(ctx, d.books.store, Range{Table: TableBookings}, func(page []Record) error {
		for _, rec := range page {
			key := Key{TableBookings, rec.ID}
			if failed[key] {
				continue
			}
			b, err := d.books.bookingOf(rec)
			if err == nil && b.Status.live() && slices.Contains(runsOf(&b), run) {
				err = d.cancelFor(ctx, run, b.ID, &done)
			}
			if unreadable(err) {
				left.add(key, err)
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
func (d *desk) omitBookings(ctx context.Context, left omissions) (ids []uuid.UUID) {
	d.books.omit(ctx, left)
	for _, o := range left {
		ids = append(ids, uuid.UUID([]byte(o.key.ID)))
	}
	return ids
}

// restoreRun puts a cancelled run back into sale.
func (d *desk) restoreRun(ctx context.Context, run RunID) error {
	return d.closeRun(ctx, run, false, true, func(*inventory) {})
}

// closeRun says of a run that it is cancelled, or not, and shows its inventory. One
// that is past and was not cancelled before is closed only if past says that it may be.
func (d *desk) closeRun(ctx context.Context, run RunID, cancelled, past bool, then func(*inventory)) error {
	return d.timetable.whileCurrent(ctx, func(sn *snapshot) error {
		t, ok := sn.run(run)
		return d.books.update(ctx, d.books.now(), func(l *ledger) error {
			if err := l.checkCurrent(sn); err != nil {
				return err
			}
			if err := l.loadRuns(run); err != nil {
				return err
			}
			e := l.runEntry(run)
			switch {
			case ok && cancelled:
				e = l.ride(sn, ride{train: t, date: run.Date})
			case e.inv == nil || !cancelled && !e.inv.cancelled:
				return ErrNotFound
			}
			if !past && ok && !e.inv.cancelled && t.arrived(run.Date, l.now) {
				return ErrArrived
			}
			if e.inv.cancelled != cancelled {
				e.inv.cancelled, e.changed = cancelled, true
			}
			then(e.inv)
			return nil
		})
	})
}

// cancelFor cancels a booking because of its run.
func (d *desk) cancelFor(ctx context.Context, run RunID, id uuid.UUID, done *RunCancellation) error {
	var refund Money
	var cancelled, paying bool
	err := d.books.update(ctx, d.books.now(), func(l *ledger) error {
		refund, cancelled, paying = Money{}, false, false
		b, err := l.booking(id)
		if err != nil {
			return damaged(err)
		}
		switch {
		case !b.Status.live() || !slices.Contains(runsOf(b), run):
			return nil
		case b.lapsed(l.now) && b.OpenPayment == uuid.Nil:
			return l.expire(b.ID)
		}
		cancelled, paying = true, b.OpenPayment != uuid.Nil
		if b.Status == Confirmed {
			paid, err := l.payment(b.ID, b.PaidBy)
			if err != nil {
				return damaged(err)
			}
			refund = paid.Amount
		}
		b.ByOperator = true
		return l.end(b, refund)
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
