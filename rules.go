package traintravel

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/google/uuid"
)

// The rules of booking: what one update does to the records a ledger holds.

// An order is a request to book that has passed all checks but those that
// need the inventory: what can be decided without a transaction.
type order struct {
	rides   []ride
	booking Booking // all but its ID, its owner and its places
}

// create makes the booking of an order, unless that is refused, or answers as it did when
// the request came before.
func (l *ledger) create(sn *snapshot, o order, refusal error, by booker, idem idempotency) (Booking, error) {
	// Both are read before either's error counts: a store that fetches what an update
	// reads fetches them in one round trip.
	recent, unlisted := by.recent(l)
	if err := cmp.Or(l.fetchOrder(idem, o.rides), unlisted); err != nil {
		return Booking{}, err
	}
	first, err := l.recall(idem)
	switch {
	case err != nil:
		return Booking{}, err
	case first != nil:
		return l.firstAnswer(first.about)
	case refusal != nil:
		return Booking{}, refusal
	}
	// The clock may have stepped back, and another server's may be ahead.
	o.booking.ID = laterID(l.now, by.random, newest(recent))
	if by.counted {
		if err := l.roomFor(sn, &o.booking, recent); err != nil {
			return Booking{}, err
		}
	}
	b, err := l.book(sn, o)
	if err != nil {
		return Booking{}, err
	}
	l.remember(idem, answer{about: b.ID})
	return b, nil
}

// fetchOrder reads all that a request to book needs.
func (l *ledger) fetchOrder(idem idempotency, rides []ride) error {
	keys := make([]Key, 0, 2+maxLegs)
	if !idem.none() {
		keys = append(keys, idem.key)
	}
	if len(rides) > 0 {
		keys = append(keys, currentKey)
	}
	for _, r := range rides {
		keys = append(keys, runKey(r.run()))
	}
	return l.fetch(keys...)
}

// book holds the places of an order of the timetable in force, or refuses.
func (l *ledger) book(sn *snapshot, o order) (Booking, error) {
	if err := l.checkCurrent(sn); err != nil {
		return Booking{}, err
	}
	for _, r := range o.rides {
		if err := l.loadRuns(r.run()); err != nil {
			return Booking{}, err
		}
	}
	b := l.newBooking(o.booking)
	b.Legs = slices.Clone(b.Legs)
	if err := l.seat(sn, b, o.rides, nanos(b.Expires)); err != nil {
		return Booking{}, err
	}
	l.event(BookingCreated, b.ID, uuid.Nil)
	return *b, nil
}

// seat takes a place, and a hook if there is a bicycle, on every ride of a
// booking: the place that its leg names if that is free, else the best one.
// Lapsed holds that have what it takes end with it, but for those that cannot be
// read: they keep what they have. The runs are loaded.
func (l *ledger) seat(sn *snapshot, b *Booking, rides []ride, until int64) error {
	var take []taken
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
		e := l.ride(sn, r)
		if b.HasBicycle {
			b.Hooks = append(b.Hooks, take[i].hook)
		}
		b.Legs[i].Coach, b.Legs[i].Seat = e.inv.label(take[i].place)
		b.Legs[i].Board, b.Legs[i].Alight = r.board, r.alight
		b.Legs[i].Origin.Station, b.Legs[i].Destination.Station = sn.called(r.train, r.board), sn.called(r.train, r.alight)
		if take[i].place != noPlace || take[i].hook { // else nobody counts
			e.inv.take(take[i])
			e.changed = true
		}
	}
	return nil
}

// choose says what a booking is to have of each ride.
func (l *ledger) choose(sn *snapshot, b *Booking, rides []ride, until int64) (take []taken, err error) {
	for i, r := range rides {
		inv := l.ride(sn, r).inv
		if inv.cancelled {
			return nil, ErrNotFound // like a train that is withdrawn
		}
		t := taken{booking: b.ID, place: noPlace, from: uint8(r.board), to: uint8(r.alight), until: until}
		if r.train.places > 0 {
			t.place = inv.place(b.Legs[i].Coach, b.Legs[i].Seat)
			if !inv.isFree(t.place, r.board, r.alight, l.now) {
				t.place = inv.choose(r.board, r.alight, l.now)
			}
			if t.place == noPlace {
				return nil, ErrSoldOut
			}
		}
		if t.hook = b.HasBicycle && r.train.hooks > 0; t.hook && !inv.hookFree(r.train.hooks, r.board, r.alight, l.now) {
			return nil, ErrNoBicycleSpace
		}
		take = append(take, t)
	}
	return take, nil
}

// endLapsed ends the lapsed holds that have what is to be taken of rides. It returns
// false if one of them cannot be read, so that something else is to be taken.
func (l *ledger) endLapsed(sn *snapshot, rides []ride, take []taken) (bool, error) {
	for i, r := range rides {
		inv := l.ride(sn, r).inv
		for _, lapsed := range inv.inTheWay(take[i], l.now) {
			if err := l.expire(lapsed); unreadable(err) {
				inv.keep(lapsed)
				return false, nil
			} else if err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// expire ends a hold whose time is over, wherever it stands.
func (l *ledger) expire(id uuid.UUID) error {
	b, err := l.booking(id)
	if err != nil {
		return fmt.Errorf("ending the hold of booking %v: %w", id, damaged(err))
	}
	if b.Status == Confirmed {
		return fmt.Errorf("booking %v is confirmed, but its run says that its hold has lapsed", id)
	}
	if err := l.release(b); err != nil {
		return err
	}
	if b.Status == Held {
		l.become(b, Expired)
		l.event(BookingExpired, b.ID, uuid.Nil)
		return l.callOff(b)
	}
	return nil
}

// become changes where a booking stands.
func (l *ledger) become(b *Booking, s BookingStatus) {
	b.Status, b.Changed = s, l.now
	if s == Confirmed {
		b.Confirmed = l.now
	}
}

// cancel ends a booking on its owner's wish and records the refund that it is
// worth if it is confirmed; refused says that the terms do not let it go.
func (l *ledger) cancel(b *Booking, refund Money, refused error) error {
	switch {
	case !b.live(l.now):
		return ErrNotFound
	case b.OpenPayment != uuid.Nil:
		return ErrPaymentInProgress
	case b.Status == Confirmed && !l.now.Before(b.departs()):
		return ErrDeparted
	case b.Status == Confirmed && refused != nil:
		return refused
	}
	if b.Status == Held {
		refund = Money{}
	}
	if refund.Amount > 0 {
		paid, err := l.payment(b.ID, b.PaidBy)
		if err != nil {
			return damaged(err)
		}
		if paid.Amount != b.Price { // see Options.AnyAmount
			refund = paid.Amount
		}
	}
	return l.end(b, refund)
}

// end cancels a booking and records what its payer gets back. A payment that is
// under way is called off, and given back if it succeeds all the same.
func (l *ledger) end(b *Booking, refund Money) error {
	if err := l.release(b); err != nil {
		return err
	}
	if refund.Amount > 0 {
		why := forCancelling
		if b.ByOperator {
			why = forCancelledRun
		}
		l.refund(b, b.PaidBy, refund, why)
	}
	if b.Status == Confirmed {
		b.Refund = Money{refund.Amount, cmp.Or(refund.Currency, b.Price.Currency)}
	}
	l.become(b, Cancelled)
	l.event(BookingCancelled, b.ID, uuid.Nil)
	return l.callOff(b)
}

// confirm keeps the booking's places for good, or takes them again if the hold
// had ended and they are free, unless the payment is too late. If it returns false,
// the booking is over, is still to be paid, or another payment has confirmed it.
func (l *ledger) confirm(sn *snapshot, b *Booking, late bool) (bool, error) {
	switch {
	case b.Status != Held && b.Status != Expired:
		return false, nil
	case late && b.lapsed(l.now):
		return false, l.expire(b.ID)
	case late:
		return false, nil
	}
	if l.now.Before(b.departs()) {
		if b.Status == Held {
			if owns, err := l.pin(b, forGood); err != nil || owns {
				return owns, err
			}
		}
		if again, err := l.seatAgain(sn, b); err != nil || again {
			return again, err
		}
	}
	if b.Status == Held {
		return false, l.expire(b.ID)
	}
	return false, nil
}

// seatAgain finds places for a booking that has lost its own: the same ones if
// they are free, else others.
func (l *ledger) seatAgain(sn *snapshot, b *Booking) (bool, error) {
	if sn == nil {
		return false, fmt.Errorf("finding places for booking %v again: the timetable: %w", b.ID, errMissing)
	}
	if err := l.checkCurrent(sn); err != nil {
		return false, err
	}
	rides := sn.ridesOf(b)
	if rides == nil {
		return false, nil
	}
	if err := l.release(b); err != nil {
		return false, err
	}
	b.Legs = slices.Clone(b.Legs)
	switch err := l.seat(sn, b, rides, forGood); err {
	case nil:
		return true, nil
	case ErrSoldOut, ErrNoBicycleSpace, ErrNotFound:
		return false, nil
	default:
		return false, err
	}
}
