package traintravel

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
)

// A RunCancellation says what CancelRun has done.
type RunCancellation struct {
	// Bookings were cancelled now; those that had been before do not count.
	Bookings int
	// Refunds of confirmed bookings are recorded, to be made by [Service.Run],
	// in minor units by currency.
	Refunds map[string]int64
	// Paying are those of the bookings whose payment is under way. Run asks the
	// gateway to cancel it; if it succeeds all the same, it is given back.
	Paying int
	// Unreadable are bookings that may be of the run and are not cancelled: they, or
	// something that has to change with them, could not be read. [Check] names the
	// records. Cancel the run again when they can be read.
	Unreadable []uuid.UUID
}

// CancelRunOptions are what CancelRun may be told. The zero value works.
type CancelRunOptions struct {
	// Past has a run cancelled that has arrived by the timetable: it did not run, or
	// not so that its passengers should have paid.
	Past bool
	// Progress, unless it is nil, is told how many bookings have been looked at: all
	// there are, since those on unreserved trains can only be found so.
	Progress func(looked int)
}

// CancelRun takes a run out of sale and cancels its bookings: holds end, and
// confirmed ones are refunded in full, whatever Options.Cancel says, and whether
// the train has departed or not. A booking of several trains is cancelled whole.
// For each it queues [BookingCancelled].
//
// From the first step on nobody can book the run any more. If an error, or the end
// of ctx, breaks it off, call it again: it goes on where it was.
//
// What cannot be read of other runs and bookings is left out, and reported.
//
// ErrNotFound: no such train runs then, and nobody has booked it. [ErrArrived]: by
// the timetable it has run already, and opts do not say that it may.
func (s *Service) CancelRun(ctx context.Context, run RunID, opts CancelRunOptions) (done RunCancellation, err error) {
	done.Refunds = map[string]int64{}
	var holders []uuid.UUID
	err = s.closeRun(ctx, run, true, opts.Past, func(inv *inventory) { holders = inv.holders() })
	if err != nil {
		return done, err
	}
	var left omissions
	defer func() { done.Unreadable = s.omitBookings(ctx, left) }()
	for _, id := range holders {
		if err := s.cancelFor(ctx, run, id, &done); unreadable(err) {
			left.add(bookingKey(id), err)
		} else if err != nil {
			return done, err
		}
	}
	failed := map[Key]bool{} // already
	for _, o := range left {
		failed[o.key] = true
	}
	looked, from := 0, ""
	for {
		records, err := s.store.List(ctx, Range{Table: TableBookings, From: from, Limit: batch})
		if err != nil {
			return done, err
		}
		for _, rec := range records {
			key := Key{TableBookings, rec.ID}
			if failed[key] {
				continue
			}
			b, err := decodeBooking(rec.Value, s.books.zones)
			if err == nil && b.Status.live() && slices.Contains(runsOf(&b), run) {
				err = s.cancelFor(ctx, run, b.ID, &done)
			}
			if unreadable(err) {
				left.add(key, err)
			} else if err != nil {
				return done, err
			}
		}
		looked += len(records)
		if opts.Progress != nil {
			opts.Progress(looked)
		}
		if len(records) < batch {
			return done, nil
		}
		from = records[len(records)-1].ID + "\x00"
	}
}

// omitBookings is omit, and returns the bookings.
func (s *Service) omitBookings(ctx context.Context, left omissions) (ids []uuid.UUID) {
	s.books.omit(ctx, left)
	for _, o := range left {
		ids = append(ids, uuid.UUID([]byte(o.key.ID)))
	}
	return ids
}

// RestoreRun puts a cancelled run back into sale. Its bookings stay cancelled.
// ErrNotFound: no such run is cancelled.
func (s *Service) RestoreRun(ctx context.Context, run RunID) error {
	return s.closeRun(ctx, run, false, true, func(*inventory) {})
}

// closeRun says of a run that it is cancelled, or not, and shows its inventory. One
// that is past and was not cancelled before is closed only if past says that it may be.
func (s *Service) closeRun(ctx context.Context, run RunID, cancelled, past bool, then func(*inventory)) error {
	return s.timetable.whileCurrent(ctx, func(sn *snapshot) error {
		t, ok := sn.run(run)
		return s.books.update(ctx, s.now(), func(l *ledger) error {
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
func (s *Service) cancelFor(ctx context.Context, run RunID, id uuid.UUID, done *RunCancellation) error {
	var refund Money
	var cancelled, paying bool
	err := s.books.update(ctx, s.now(), func(l *ledger) error {
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
