package ledger

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/internal/ids"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/seats"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// The rules of booking.

// An Order is a request to book that has passed all checks but those that
// need the inventory: what can be decided without a transaction.
type Order struct {
	Rides   []timetable.Ride
	Booking rail.Booking // all but its ID, its owner and its places
}

// Create makes the booking of an order, returns an error that refuses it, or returns the response
// to an earlier request with the same key.
func (l *Ledger) Create(sn *timetable.Snapshot, o Order, refusal error, by booker, idem records.Idempotency) (rail.Booking, error) {
	// Both are read before either's error counts: a store that fetches what an update
	// reads fetches them in one round trip.
	recent, unlisted := by.recent(l)
	if err := cmp.Or(l.fetchOrder(idem, o.Rides, records.DrawReference(by.random, 0)), unlisted); err != nil {
		return rail.Booking{}, err
	}
	first, err := l.Recall(idem)
	switch {
	case err != nil:
		return rail.Booking{}, err
	case first != nil:
		return l.firstAnswer(first.About)
	case refusal != nil:
		return rail.Booking{}, refusal
	}
	// The clock may have stepped back, and another server's may be ahead.
	o.Booking.ID = ids.LaterID(l.Now, by.random, records.Newest(recent))
	if by.counted {
		if err := l.roomFor(sn, &o.Booking, recent); err != nil {
			return rail.Booking{}, err
		}
	}
	if o.Booking.Reference, err = l.newReference(by.random); err != nil {
		return rail.Booking{}, err
	}
	b, err := l.book(sn, o)
	if err != nil {
		return rail.Booking{}, err
	}
	l.Remember(idem, records.Answer{About: b.ID})
	return b, nil
}

// fetchOrder reads all that a request to book needs, if it can have a reference.
func (l *Ledger) fetchOrder(idem records.Idempotency, rides []timetable.Ride, ref string) error {
	keys := append(make([]store.Key, 0, 3+rail.MaxLegs), records.ReferenceKey(ref))
	if !idem.None() {
		keys = append(keys, idem.Key)
	}
	if len(rides) > 0 {
		keys = append(keys, timetable.CurrentKey())
	}
	for _, r := range rides {
		keys = append(keys, seats.RunKey(r.Run()))
	}
	return l.fetch(keys...)
}

// book holds the places of an order of the timetable in force, or returns an error.
func (l *Ledger) book(sn *timetable.Snapshot, o Order) (rail.Booking, error) {
	if err := l.CheckCurrent(sn); err != nil {
		return rail.Booking{}, err
	}
	for _, r := range o.Rides {
		if err := l.LoadRuns(r.Run()); err != nil {
			return rail.Booking{}, err
		}
	}
	b := l.newBooking(o.Booking)
	b.Legs = slices.Clone(b.Legs)
	if err := l.seat(sn, b, o.Rides, codec.Nanos(b.Expires)); err != nil {
		return rail.Booking{}, err
	}
	l.event(rail.BookingCreated, b.ID, uuid.Nil)
	return *b, nil
}

// seat takes a place, and a hook for a bicycle, on every ride of a booking: the place that its
// leg names if that is free, otherwise the best one. It ends lapsed holds on these places, except
// those that cannot be read, which keep them. The runs must be loaded.
func (l *Ledger) seat(sn *timetable.Snapshot, b *rail.Booking, rides []timetable.Ride, until int64) error {
	var take []seats.Taken
	for ended := false; !ended; {
		var err error
		if take, err = l.choose(sn, b, rides, until); err != nil {
			return err
		}
		if ended, err = l.endLapsed(sn, rides, take); err != nil {
			return err
		}
	}
	b.Hooks = nil
	for i, r := range rides {
		e := l.Ride(sn, r)
		if b.HasBicycle {
			b.Hooks = append(b.Hooks, take[i].Hook)
		}
		b.Legs[i].Coach, b.Legs[i].Seat = e.Inv.Label(take[i].Place)
		b.Legs[i].Board, b.Legs[i].Alight = r.Board, r.Alight
		b.Legs[i].Origin.Station, b.Legs[i].Destination.Station = sn.Called(r.Train, r.Board), sn.Called(r.Train, r.Alight)
		if take[i].Place != seats.NoPlace || take[i].Hook { // otherwise places are not counted
			e.Inv.Take(take[i])
			e.Changed = true
		}
	}
	return nil
}

// choose selects a place, and a hook, on each ride of a booking.
func (l *Ledger) choose(sn *timetable.Snapshot, b *rail.Booking, rides []timetable.Ride, until int64) (take []seats.Taken, err error) {
	for i, r := range rides {
		inv := l.Ride(sn, r).Inv
		if inv.Cancelled {
			return nil, rail.ErrNotFound // like a train that is withdrawn
		}
		t := seats.Taken{Booking: b.ID, Place: seats.NoPlace, From: uint8(r.Board), To: uint8(r.Alight), Until: until}
		if r.Train.Places > 0 {
			t.Place = inv.Place(b.Legs[i].Coach, b.Legs[i].Seat)
			if !inv.IsFree(t.Place, r.Board, r.Alight, l.Now) {
				t.Place = inv.Choose(r.Board, r.Alight, l.Now)
			}
			if t.Place == seats.NoPlace {
				return nil, rail.ErrSoldOut
			}
		}
		if t.Hook = b.HasBicycle && r.Train.Hooks > 0; t.Hook && !inv.HookFree(r.Train.Hooks, r.Board, r.Alight, l.Now) {
			return nil, rail.ErrNoBicycleSpace
		}
		take = append(take, t)
	}
	return take, nil
}

// endLapsed ends the lapsed holds on the selected places of rides. It returns false if one of
// them cannot be read, so that other places must be selected.
func (l *Ledger) endLapsed(sn *timetable.Snapshot, rides []timetable.Ride, take []seats.Taken) (bool, error) {
	for i, r := range rides {
		inv := l.Ride(sn, r).Inv
		for _, lapsed := range inv.InTheWay(take[i], l.Now) {
			if err := l.Expire(lapsed); records.Unreadable(err) {
				inv.Keep(lapsed)
				return false, nil
			} else if err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// Expire ends an expired hold.
func (l *Ledger) Expire(id uuid.UUID) error {
	b, err := l.Booking(id)
	if err != nil {
		return fmt.Errorf("ending the hold of booking %v: %w", id, records.Damaged(err))
	}
	if b.Status == rail.Confirmed {
		return fmt.Errorf("booking %v is confirmed, but its run says that its hold has lapsed", id)
	}
	if err := l.release(b); err != nil {
		return err
	}
	if b.Status == rail.Held {
		l.become(b, rail.Expired)
		l.event(rail.BookingExpired, b.ID, uuid.Nil)
		return l.callOff(b)
	}
	return nil
}

// become changes the status of a booking.
func (l *Ledger) become(b *rail.Booking, s rail.BookingStatus) {
	b.Status, b.Changed = s, l.Now
	if s == rail.Confirmed {
		b.Confirmed = l.Now
	}
}

// Cancel cancels a booking for its owner and, if it is confirmed, records its refund; refused is
// the error of the terms of sale if they do not allow it.
func (l *Ledger) Cancel(b *rail.Booking, refund rail.Money, refused error) error {
	switch {
	case !b.Live(l.Now):
		return l.gone(b)
	case b.OpenPayment != uuid.Nil:
		return rail.ErrPaymentInProgress
	case b.Status == rail.Confirmed && !l.Now.Before(b.Departs()):
		return rail.ErrDeparted
	case b.Status == rail.Confirmed && refused != nil:
		return refused
	}
	if b.Status == rail.Held {
		refund = rail.Money{}
	}
	if refund.Amount > 0 {
		paid, err := l.Payment(b.ID, b.PaidBy)
		if err != nil {
			return records.Damaged(err)
		}
		if paid.Amount != b.Price { // see Options.AnyAmount
			refund = paid.Amount
		}
	}
	return l.End(b, refund)
}

// gone returns the error of operations on a booking that has ended: ErrCancelled if the operator
// cancelled it and its owner can still read it.
func (l *Ledger) gone(b *rail.Booking) error {
	if b.Shown(l.Now) {
		return rail.ErrCancelled
	}
	return rail.ErrNotFound
}

// End cancels a booking and records its refund. It requests the cancellation of a payment in
// progress, which is refunded if it succeeds nevertheless.
func (l *Ledger) End(b *rail.Booking, refund rail.Money) error {
	if err := l.release(b); err != nil {
		return err
	}
	if refund.Amount > 0 {
		why := records.ForCancelling
		if b.ByOperator {
			why = records.ForCancelledRun
		}
		l.refund(b, b.PaidBy, refund, why)
	}
	if b.Status == rail.Confirmed {
		b.Refund = rail.Money{Amount: refund.Amount, Currency: cmp.Or(refund.Currency, b.Price.Currency)}
	}
	l.become(b, rail.Cancelled)
	l.event(rail.BookingCancelled, b.ID, uuid.Nil)
	return l.callOff(b)
}

// confirm keeps the booking's places permanently, or takes them again if the hold had ended and
// they are free, unless the payment is too late. If it returns false, the booking has ended, is
// still unpaid, or was confirmed by another payment.
func (l *Ledger) confirm(sn *timetable.Snapshot, b *rail.Booking, late bool) (bool, error) {
	switch {
	case b.Status != rail.Held && b.Status != rail.Expired:
		return false, nil
	case late && b.Lapsed(l.Now):
		return false, l.Expire(b.ID)
	case late:
		return false, nil
	}
	if l.Now.Before(b.Departs()) {
		if b.Status == rail.Held {
			if owns, err := l.pin(b, seats.ForGood); err != nil || owns {
				return owns, err
			}
		}
		if again, err := l.seatAgain(sn, b); err != nil || again {
			return again, err
		}
	}
	if b.Status == rail.Held {
		return false, l.Expire(b.ID)
	}
	return false, nil
}

// seatAgain finds places for a booking that has lost its own: the same ones if they are free,
// otherwise others.
func (l *Ledger) seatAgain(sn *timetable.Snapshot, b *rail.Booking) (bool, error) {
	if sn == nil {
		return false, fmt.Errorf("finding places for booking %v again: the timetable: %w", b.ID, records.ErrMissing)
	}
	if err := l.CheckCurrent(sn); err != nil {
		return false, err
	}
	rides := sn.RidesOf(b)
	if rides == nil {
		return false, nil
	}
	if err := l.release(b); err != nil {
		return false, err
	}
	b.Legs = slices.Clone(b.Legs)
	switch err := l.seat(sn, b, rides, seats.ForGood); err {
	case nil:
		return true, nil
	case rail.ErrSoldOut, rail.ErrNoBicycleSpace, rail.ErrNotFound:
		return false, nil
	default:
		return false, err
	}
}
