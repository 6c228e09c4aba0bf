package model

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/world"
)

// Unanswered reports whether an error leaves open whether the operation had its effect.
func Unanswered(err error) bool {
	for _, e := range []error{traintravel.ErrUnavailable, traintravel.ErrUnknownOutcome, world.ErrDead, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// An Order is a request for a booking, under a key with which it may be repeated.
type Order struct {
	Owner   string
	Trip    traintravel.Trip
	Booking *Booking // once it is known
	open    int      // requests without an answer
	flying  int      // requests that are under way
	first   time.Time
}

// Remembers reports whether each server knows the key of a booking's request for sure, at an
// instant: keys are remembered for a day, by the clocks of the servers.
func (m *Model) Remembers(b *Booking, at time.Time) bool {
	return at.Add(2 * m.terms.Skew).Before(b.Created.Add(24 * time.Hour))
}

// Pending reports whether a request has had no answer yet.
func (o *Order) Pending() bool { return o.open > 0 }

// Ordering says that a request for a booking begins.
func (m *Model) Ordering(o *Order) {
	if o.first.IsZero() {
		o.first = time.Now()
	}
	o.open++
	o.flying++
	m.lost++
}

// Ordered is the answer to a request for a booking.
func (m *Model) Ordered(told Told, o *Order, b traintravel.Booking, err error) {
	o.flying--
	if Unanswered(err) {
		return
	}
	m.lost -= o.open - o.flying // those that are under way may still make one
	o.open = o.flying
	first := o.Booking
	switch {
	case err == nil && first != nil && told.last().Before(first.Created.Add(24*time.Hour-2*m.terms.Skew)):
		if b.ID != first.ID {
			m.Fail("I1", "one key made bookings %s and %s", world.Short(first.ID), world.Short(b.ID))
			return
		}
		m.sameFacts(first, b)
	case err == nil && first != nil && b.ID == first.ID: // it is remembered a little longer
		m.sameFacts(first, b)
	case err == nil:
		o.Booking = m.created(told, o, b)
	case errors.Is(err, traintravel.ErrSoldOut):
		m.soldOut(o.Trip, told)
	case errors.Is(err, traintravel.ErrDeparted):
		if legs := o.Trip.Legs; len(legs) > 0 && told.last().Before(legs[0].Origin.Time) && m.trains.sells(legs[0], told) {
			m.Fail("A1", "a trip was refused as departed %v before its departure", legs[0].Origin.Time.Sub(told.last()))
		}
	case errors.Is(err, traintravel.ErrNoBicycleSpace):
		m.noHook(o.Trip, told)
	case errors.Is(err, traintravel.ErrNotFound), errors.Is(err, traintravel.ErrNoTimetable):
	default:
		m.Fail("A1", "a booking was answered with %v", err)
	}
}

func (m *Model) created(told Told, o *Order, b traintravel.Booking) *Booking {
	owner := o.Owner
	if old := m.bookings[b.ID]; old != nil {
		m.Fail("B1", "the ID of booking %s was given to another one", world.Short(b.ID))
		return old
	}
	if len(b.Legs) == 0 {
		m.Fail("A1", "booking %s has no legs", world.Short(b.ID))
		return nil
	}
	n := &Booking{
		ID: b.ID, Reference: b.Reference, Owner: owner, Price: b.Price, Created: b.Created, Expires: b.Expires, can: Held, asks: o.first, made: told.End,
		Departs: b.Legs[0].Origin.Time, Arrives: b.Legs[len(b.Legs)-1].Destination.Time, legs: m.legsOf(&b),
	}
	m.refer(n)
	if b.Status != traintravel.Held {
		m.Fail("A1", "a new booking has the status %v", b.Status)
	}
	if b.Owner.ID != owner && !(b.Replayed && forgotten(b)) {
		m.Fail("O1", "a booking of %s belongs to %s", owner, b.Owner.ID)
	}
	if !b.Replayed && (b.Created.Before(told.first()) || b.Created.After(told.last())) {
		m.Fail("H1", "booking %s was created at %v, and asked for from %v to %v", world.Short(b.ID), b.Created, told.first(), told.last())
	}
	if end := earlier(b.Created.Add(m.terms.HoldFor), n.Departs); !b.Expires.Equal(end) {
		m.Fail("H1", "booking %s expires at %v, not at %v", world.Short(b.ID), b.Expires, end)
	}
	m.bookings[n.ID] = n
	m.order = append(m.order, n)
	m.sold(n, b.Replayed)
	if !b.Replayed {
		m.exist(b, told)
	}
	if told.last().Before(n.Expires) && !b.Replayed {
		m.seated(n, told.End)
	}
	if !b.Replayed && !told.first().Before(n.Departs) {
		m.Fail("A1", "booking %s was sold %v after its departure", world.Short(n.ID), told.first().Sub(n.Departs))
	}
	return n
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// sameFacts checks what never changes about a booking.
func (m *Model) sameFacts(b *Booking, got traintravel.Booking) {
	legs := m.legsOf(&got)
	same := got.ID == b.ID && got.Price == b.Price && got.Created.Equal(b.Created) && got.Expires.Equal(b.Expires) && len(legs) == len(b.legs)
	for i := range legs {
		same = same && legs[i].equal(b.legs[i])
	}
	if !same {
		m.Fail("B1", "booking %s was %+v and is now %+v", world.Short(b.ID), *b, got)
	}
}

// An Ask is a request to pay, under a key with which it may be repeated.
type Ask struct {
	Booking *Booking
	First   time.Time // when it began first
	Attempt *Attempt  // once it is known
	open    int       // requests without an answer
	flying  int       // requests that are under way
}

// Pending reports whether a request has had no answer yet.
func (a *Ask) Pending() bool { return a.open > 0 }

// Paying says that a request to pay begins.
func (m *Model) Paying(a *Ask, at time.Time) {
	if a.open == 0 && a.Attempt == nil {
		a.First = at
	}
	m.touch(a.Booking)
	a.open++
	a.flying++
	a.Booking.asked++
	a.Booking.flying++
}

// Paid is the answer to a request to pay.
func (m *Model) Paid(told Told, ask *Ask, p traintravel.Payment, err error) {
	b := ask.Booking
	b.flying--
	ask.flying--
	m.touch(b)
	defer m.changed(b, told.End)
	m.pass(b, told.End)
	if Unanswered(err) {
		return
	}
	if told.last().Before(ask.First.Add(24*time.Hour - 2*m.terms.Skew)) { // later, the key may be forgotten
		b.asked -= ask.open - ask.flying
		ask.open = ask.flying
	} else {
		b.asked--
		ask.open--
	}
	switch {
	case err == nil, errors.Is(err, traintravel.ErrPaidTooLate):
		m.paid(told, ask, p, err)
	case errors.Is(err, traintravel.ErrNotFound):
		m.gone(told, b, "pay")
	case errors.Is(err, traintravel.ErrHoldExpired):
		if told.last().Add(2 * m.terms.Skew).Before(b.Expires) {
			m.Fail("H2", "booking %s was refused as expired %v before its hold ends", world.Short(b.ID), b.Expires.Sub(told.last()))
		}
		if b.can == Confirmed {
			m.Fail("A1", "booking %s is confirmed and was refused as expired", world.Short(b.ID))
		}
	case errors.Is(err, traintravel.ErrAlreadyPaid):
		if b.can&Confirmed == 0 {
			m.Fail("A1", "booking %s was refused as paid, and is %v", world.Short(b.ID), b.can)
		}
		b.can, b.confirmed = Confirmed, true
		m.pass(b, told.End)
	case errors.Is(err, traintravel.ErrPaymentInProgress):
		if !m.mayBePaid(b) {
			m.Fail("A1", "a payment of booking %s is said to be in progress, and none can be", world.Short(b.ID))
		}
	case errors.Is(err, traintravel.ErrCancelled):
		m.refusedAsCancelled(told, b)
	case errors.Is(err, traintravel.ErrTooManyDeclines):
		if !slices.ContainsFunc(b.attempts, func(a *Attempt) bool { return a.Status == traintravel.Failed }) && b.asked == 0 {
			m.Fail("A1", "booking %s was refused for declines, and none was declined", world.Short(b.ID))
		}
	default:
		m.Fail("A1", "a payment was answered with %v", err)
	}
}

func (m *Model) paid(told Told, ask *Ask, p traintravel.Payment, err error) {
	b := ask.Booking
	if other := m.underWay(b, told); other != nil && other.ID != p.ID && m.charges[p.ID] == nil && !p.Replayed {
		m.Fail("A1", "booking %s is paid by payment %s while payment %s is in progress", world.Short(b.ID), world.Short(p.ID), world.Short(other.ID))
	}
	if known := ask.Attempt; known != nil && known.ID != p.ID && told.last().Before(ask.First.Add(24*time.Hour-2*m.terms.Skew)) {
		m.Fail("I1", "one key made payments %s and %s", world.Short(known.ID), world.Short(p.ID))
	}
	if p.Booking != b.ID || p.Amount != b.Price {
		m.Fail("B1", "payment %s is of %v for booking %s, which costs %v", world.Short(p.ID), p.Amount, world.Short(p.Booking), b.Price)
	}
	ask.Attempt = m.attempt(b, p, told)
	switch {
	case err != nil: // too late: the money goes back
		if t := m.bank.Taking(p.ID); t == nil || t.Status != traintravel.Succeeded {
			m.Fail("M5", "payment %s came too late, and the bank has %+v", world.Short(p.ID), t)
		}
	case p.Status == traintravel.Succeeded && !p.Replayed:
		if b.can&(Held|Confirmed|Expired) == 0 {
			m.Fail("A1", "payment %s confirmed booking %s, which is %v", world.Short(p.ID), world.Short(b.ID), b.can)
		}
		b.can, b.confirmed = Confirmed, true
		m.pass(b, told.End)
		m.seated(b, told.End)
	}
}

// attempt writes down what a caller is told of a payment.
func (m *Model) attempt(b *Booking, p traintravel.Payment, told Told) *Attempt {
	a := m.charges[p.ID]
	if a == nil {
		a = &Attempt{ID: p.ID, Booking: b, Created: p.Created, At: told.Begin, Status: traintravel.Pending}
		m.charges[p.ID] = a
		b.attempts = append(b.attempts, a)
		if !p.Created.Before(b.Expires) {
			m.Fail("H2", "payment %s of booking %s was begun %v after its hold ended", world.Short(p.ID), world.Short(b.ID), p.Created.Sub(b.Expires))
		}
	}
	if told.Begin.Before(a.Since) {
		return a // this answer may be from before
	}
	if a.Status == traintravel.Succeeded && p.Status != traintravel.Succeeded {
		m.Fail("B1", "payment %s had succeeded and is now %s", world.Short(p.ID), p.Status)
	}
	a.Status = p.Status
	t := m.bank.Taking(p.ID)
	switch p.Status {
	case traintravel.Succeeded:
		if t == nil || t.Status != traintravel.Succeeded || t.Amount != p.Amount || t.Booking != p.Booking {
			m.Fail("M5", "payment %s is said to have succeeded, and the bank has %+v", world.Short(p.ID), t)
		}
		if a.Since.IsZero() {
			a.Since = told.End
		}
	case traintravel.Failed:
		if a.Failed.IsZero() {
			a.Failed = told.End
		}
		mayArrive := told.last().Before(p.Created.Add(chargeTimeout + time.Minute))
		if (m.terms.Cancels || mayArrive) && t == nil && m.bank.OnTheWay(p.ID) {
			m.Fail("M4", "payment %s is said to have failed, and its charge is on its way to the bank, which has not cancelled it", world.Short(p.ID))
		}
	}
	return a
}

// gone checks the answer that a booking does not exist (any more).
func (m *Model) gone(told Told, b *Booking, what string) {
	if m.mayBeErased(b, told.last()) {
		return
	}
	if b.can&over == 0 || m.mustShow(b, told.last()) {
		m.Fail("A1", "booking %s was not found to %s, and is %v", world.Short(b.ID), what, b.can)
		return
	}
	if b.can&^over == Held|Confirmed && !m.mayBePaid(b) {
		b.can = over & b.can
	}
}

// Cancelling says that its owner begins to cancel a booking.
func (m *Model) Cancelling(b *Booking) {
	m.pass(b, time.Now())
	m.touch(b)
	b.was = b.can
	b.stopped++
	b.flying++
	if b.can&(Held|Confirmed) != 0 {
		b.can |= Cancelled
	}
}

// Cancelled is the answer to the owner's cancellation.
func (m *Model) Cancelled(told Told, b *Booking, err error) {
	b.flying--
	m.touch(b)
	defer m.changed(b, told.End)
	if !Unanswered(err) {
		if b.stopped--; b.stopped == 0 {
			b.can = b.was
		}
	}
	m.pass(b, told.End)
	switch {
	case err == nil:
		if b.can&(Held|Confirmed) == 0 {
			m.Fail("A1", "booking %s was cancelled, and is %v", world.Short(b.ID), b.can)
		}
		if a := m.underWay(b, told); a != nil {
			m.Fail("A1", "booking %s was cancelled while payment %s is in progress", world.Short(b.ID), world.Short(a.ID))
		}
		if !told.first().Before(b.Departs) {
			m.Fail("A1", "booking %s was cancelled %v after its departure", world.Short(b.ID), told.first().Sub(b.Departs))
		}
		b.kept = b.kept || b.can == Confirmed
		b.byOwner = true
		b.can = Cancelled
	case Unanswered(err):
		b.byOwner = true
	case errors.Is(err, traintravel.ErrNotFound):
		m.gone(told, b, "cancel")
	case errors.Is(err, traintravel.ErrPaymentInProgress):
		if !m.mayBePaid(b) {
			m.Fail("A1", "a payment of booking %s is said to be in progress, and none can be", world.Short(b.ID))
		}
	case errors.Is(err, traintravel.ErrCancelled):
		m.refusedAsCancelled(told, b)
	case errors.Is(err, traintravel.ErrDeparted):
		if told.last().Before(b.Departs) {
			m.Fail("A1", "booking %s could not be cancelled as departed %v before its departure", world.Short(b.ID), b.Departs.Sub(told.last()))
		}
	default:
		m.Fail("A1", "a cancellation was answered with %v", err)
	}
}

// Read is the answer to its owner's question for a booking.
func (m *Model) Read(told Told, b *Booking, got traintravel.Booking, err error) {
	m.touch(b)
	defer m.changed(b, told.End)
	m.pass(b, told.End)
	switch {
	case err == nil:
		m.shown(told, b, got)
	case Unanswered(err):
	case errors.Is(err, traintravel.ErrNotFound):
		if m.mayBeErased(b, told.last()) {
			return
		}
		if b.can&over == 0 && told.last().Before(b.Expires) || m.mustShow(b, told.last()) {
			m.Fail("A1", "booking %s was not found, and is %v", world.Short(b.ID), b.can)
		}
	default:
		m.Fail("A1", "a question for a booking was answered with %v", err)
	}
}

// shown checks a booking as it was shown, and narrows what it may be.
func (m *Model) shown(told Told, b *Booking, got traintravel.Booking) {
	m.shownWhile(told, b, got, b.flying > 0, b.can)
}

// shownWhile checks a booking as it was shown, when it could be in some states, and narrows
// what it may be. If it changes meanwhile, how it was shown says nothing of how it is now.
func (m *Model) shownWhile(told Told, b *Booking, got traintravel.Booking, changes bool, could State) {
	m.sameFacts(b, got)
	s := stateOf(got.Status)
	if b.stopped > 0 {
		b.can |= Cancelled
	}
	if s&(b.can|could) == 0 {
		m.Fail("A1", "booking %s is shown as %v, and can be %v only", world.Short(b.ID), s, b.can|could)
		return
	}
	switch s {
	case Held:
		end := b.Expires
		if !got.PinnedUntil.IsZero() {
			end = got.PinnedUntil
			if end.After(b.Departs) {
				m.Fail("H1", "the places of booking %s are kept until %v, after its departure", world.Short(b.ID), end)
			}
		}
		if !told.first().Before(end) {
			m.Fail("H2", "booking %s is shown as held %v after its end", world.Short(b.ID), told.first().Sub(end))
		}
	case Confirmed:
		t := m.bank.Taking(got.PaidBy)
		if t == nil || t.Status != traintravel.Succeeded || t.Amount != b.Price || t.Refunded != 0 && !changes {
			m.Fail("M2", "booking %s is shown as confirmed by payment %s, and the bank has %+v", world.Short(b.ID), world.Short(got.PaidBy), t)
		}
		b.confirmed = true
		m.confirmedInTime(b, got)
	case Cancelled:
		m.shownCancelled(told, b, got)
	}
	if changes {
		return
	}
	if b.can = s; s == Held || s == Confirmed {
		b.stopped, b.runClosed = 0, false // what was not answered was not done
	}
	legs := b.legs
	if m.moved(b, &got); !slices.Equal(legs, b.legs) { // a booking that was paid late may have other places
		b.moved = told.End
	}
	still := told.Begin.Equal(told.End) || m.alive(b, told.End) // then it was so all the time
	if s&(Held|Confirmed) != 0 && still && told.last().Before(b.Arrives) {
		m.seated(b, told.End)
	}
	m.pass(b, told.End)
}

// Listed is the answer to a user's question for the list of bookings, of all pages.
func (m *Model) Listed(told Told, look *Look, got []traintravel.Booking) {
	owner := look.owner
	seen := map[uuid.UUID]bool{}
	for i, g := range got {
		if g.Owner.ID != owner {
			m.Fail("O1", "the list of %s has booking %s of %s", owner, world.Short(g.ID), g.Owner.ID)
		}
		if seen[g.ID] {
			m.Fail("O1", "the list of %s has booking %s twice", owner, world.Short(g.ID))
		}
		// The newest comes first, whatever the clocks of the servers say.
		if seen[g.ID] = true; i > 0 {
			if b, newer := m.bookings[g.ID], m.bookings[got[i-1].ID]; b != nil && newer != nil && newer.made.Before(b.asks) {
				m.Fail("O1", "the list of %s is out of order at booking %s", owner, world.Short(g.ID))
			}
		}
		if b := m.bookings[g.ID]; b != nil {
			m.pass(b, told.End)
			m.shownWhile(told, b, g, b.flying > 0 || look.could[b] != 0, look.could[b])
			m.changed(b, told.End)
		} else if m.lost == 0 {
			m.Fail("O1", "the list of %s has booking %s, which nobody made", owner, world.Short(g.ID))
		}
	}
	for _, b := range m.order[:look.known] {
		if b.Owner == owner && !seen[b.ID] && look.could[b] == 0 && (m.alive(b, told.End) || m.mustShow(b, told.last())) && !m.mayBeErased(b, told.last()) {
			m.Fail("O1", "the list of %s lacks booking %s, which is %v", owner, world.Short(b.ID), b.can)
		}
	}
}
