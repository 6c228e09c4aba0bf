package model

import (
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/world"
)

// answered reports whether there is an answer without an error to look at, and fails if the
// error is none that is allowed.
func (m *Model) answered(err error, what string) bool {
	if err != nil && !Unanswered(err) {
		m.Fail("A1", "%s was answered with %v", what, err)
	}
	return err == nil
}

// Past is the answer to a user's question for the bookings that are over, of all pages.
func (m *Model) Past(told Told, owner string, got []traintravel.PastBooking, err error) {
	if !m.answered(err, "a question for past bookings") {
		return
	}
	seen := map[uuid.UUID]bool{}
	for i, g := range got {
		if g.Owner.ID != owner || seen[g.ID] {
			m.Fail("O1", "the past bookings of %s have booking %s of %s, twice: %v", owner, world.Short(g.ID), g.Owner.ID, seen[g.ID])
		}
		if seen[g.ID] = true; i > 0 && got[i-1].Created.Add(2*m.terms.Skew+time.Millisecond).Before(g.Created) {
			m.Fail("O1", "the past bookings of %s are out of order at booking %s", owner, world.Short(g.ID))
		}
		b := m.bookings[g.ID]
		if b == nil {
			if m.lost == 0 {
				m.Fail("O1", "the past bookings of %s have booking %s, which nobody made", owner, world.Short(g.ID))
			}
			continue
		}
		m.pass(b, told.End)
		m.sameFacts(b, g.Booking)
		s := stateOf(g.Status)
		if b.stopped > 0 {
			b.can |= Cancelled
		}
		if s&b.can == 0 || s == Held || s == Confirmed && told.last().Before(b.Arrives) {
			m.Fail("A1", "booking %s is shown as past and %v, and can be %v", world.Short(b.ID), s, b.can)
		}
	}
	for _, b := range m.order {
		over := b.can == Cancelled || b.can == Confirmed && !told.first().Before(b.Arrives)
		if b.Owner == owner && over && !seen[b.ID] && !m.mayBeErased(b, told.last()) && !m.Removable(b, told.End) {
			m.Fail("O1", "the past bookings of %s lack booking %s, which is %v", owner, world.Short(b.ID), b.can)
		}
	}
}

// Payments is the answer to an owner's question for the payments of a booking.
func (m *Model) Payments(told Told, b *Booking, got []traintravel.Payment, err error) {
	m.pass(b, told.End)
	if errors.Is(err, traintravel.ErrNotFound) {
		if !m.mayBeErased(b, told.last()) && !m.Removable(b, told.End) {
			m.Fail("O1", "the payments of booking %s were not found", world.Short(b.ID))
		}
		return
	}
	if !m.answered(err, "a question for payments") {
		return
	}
	seen, back := map[uuid.UUID]int64{}, map[uuid.UUID]int64{}
	for i, p := range got {
		if _, twice := seen[p.ID]; twice || p.Booking != b.ID {
			m.Fail("O1", "the payments of booking %s have %s of booking %s, twice: %v", world.Short(b.ID), world.Short(p.ID), world.Short(p.Booking), twice)
		}
		if seen[p.ID] = p.Amount.Amount; i > 0 && got[i-1].Created.Add(2*m.terms.Skew+time.Millisecond).Before(p.Created) {
			m.Fail("O1", "the payments of booking %s are out of order at %s", world.Short(b.ID), world.Short(p.ID))
		}
		if p.RefundOf != uuid.Nil {
			back[p.RefundOf] -= p.Amount.Amount
			continue
		}
		if p.Amount != b.Price {
			m.Fail("B1", "payment %s of booking %s is of %v, not %v", world.Short(p.ID), world.Short(b.ID), p.Amount, b.Price)
		}
		m.attempt(b, p, told)
	}
	for charge, amount := range back {
		if paid, ok := seen[charge]; !ok || amount > paid || amount <= 0 {
			m.Fail("M1", "%d of payment %s of booking %s are given back, which was of %d", amount, world.Short(charge), world.Short(b.ID), paid)
		}
	}
	for _, a := range b.attempts {
		if _, ok := seen[a.ID]; !ok {
			m.Fail("O1", "the payments of booking %s lack %s", world.Short(b.ID), world.Short(a.ID))
		}
	}
}

// Ticket is the answer to an owner's question for a ticket.
func (m *Model) Ticket(told Told, b *Booking, got traintravel.Ticket, err error) {
	m.pass(b, told.End)
	switch {
	case err == nil:
		if got.Booking.Status != traintravel.Confirmed {
			m.Fail("A1", "there is a ticket of booking %s, which is shown as %v", world.Short(b.ID), stateOf(got.Booking.Status))
			return
		}
		m.shown(told, b, got.Booking)
	case errors.Is(err, traintravel.ErrNotPaid):
		if b.can&Held == 0 {
			m.Fail("A1", "booking %s has no ticket as it is not paid, and is %v", world.Short(b.ID), b.can)
		}
	case errors.Is(err, traintravel.ErrCancelled):
		m.refusedAsCancelled(told, b)
	default:
		m.Read(told, b, got.Booking, err)
	}
}

// Inspected is the answer to an inspector's question for a ticket.
func (m *Model) Inspected(_ Told, b *Booking, got traintravel.TicketStatus, err error) {
	if !m.answered(err, "a question for the status of a ticket") {
		return
	}
	switch {
	case got == traintravel.TicketValid && b.can&Confirmed == 0, got != traintravel.TicketValid && b.can == Confirmed && b.stopped == 0:
		m.Fail("A1", "the ticket of booking %s is %v, and the booking is %v", world.Short(b.ID), got, b.can)
	case got == traintravel.TicketVoided && (b.can|Cancelled != b.can && b.stopped == 0):
		m.Fail("A1", "the ticket of booking %s is void, and the booking is %v", world.Short(b.ID), b.can)
	}
}

// LookedUp is the answer to the operator's search for a booking.
func (m *Model) LookedUp(told Told, b *Booking, got traintravel.FoundBookings, err error) {
	if !m.answered(err, "a search for a booking") {
		return
	}
	if len(got.Bookings) == 0 && m.Removable(b, told.End) {
		return
	}
	if len(got.Bookings) != 1 || got.Bookings[0].ID != b.ID || got.More {
		m.Fail("O1", "the search for booking %s found %d, more: %v", world.Short(b.ID), len(got.Bookings), got.More)
		return
	}
	m.sameFacts(b, got.Bookings[0])
	m.Nameless(b, got.Bookings[0])
	if got.Bookings[0].Reference != b.Reference {
		m.Fail("B1", "booking %s had the reference %s, and has %s", world.Short(b.ID), b.Reference, got.Bookings[0].Reference)
	}
}

// Stuck is the answer to the operator's question for payments that are stuck.
func (m *Model) Stuck(told Told, age time.Duration, got []traintravel.Payment, err error) {
	if !m.answered(err, "a question for stuck payments") {
		return
	}
	for i, p := range got {
		if p.Status != traintravel.Pending || p.Created.After(told.last().Add(-age)) {
			m.Fail("A1", "payment %s is said to be stuck, %s since %v", world.Short(p.ID), p.Status, p.Created)
		}
		if i > 0 && p.Created.Before(got[i-1].Created) {
			m.Fail("O1", "the stuck payments are out of order at %s", world.Short(p.ID))
		}
		if a := m.charges[p.ID]; a != nil && a.Status == traintravel.Succeeded {
			m.Fail("A1", "payment %s is said to be stuck, and has succeeded", world.Short(p.ID))
		}
	}
}

// Settling says that the operator begins to settle a payment or a refund.
func (m *Model) Settling(p traintravel.Payment, as traintravel.Verdict) {
	b := m.bookings[p.Booking]
	if b == nil || p.RefundOf != uuid.Nil {
		return
	}
	m.attempt(b, p, Told{Begin: p.Created, End: time.Now()})
	m.pass(b, time.Now()) // it may confirm its booking
	if as == traintravel.AsFailed && b.can&Held != 0 && !time.Now().Add(m.terms.Skew).Before(b.Expires) {
		b.can |= Expired
	}
}

// SettledByHand is the answer to that.
func (m *Model) SettledByHand(told Told, got traintravel.Payment, as traintravel.Verdict, err error) {
	if errors.Is(err, traintravel.ErrPaymentSettled) || errors.Is(err, traintravel.ErrPaymentInProgress) || !m.answered(err, "a settlement") {
		return
	}
	b := m.bookings[got.Booking]
	if want := (map[traintravel.Verdict]traintravel.PaymentStatus{traintravel.AsSucceeded: traintravel.Succeeded, traintravel.AsFailed: traintravel.Failed})[as]; got.Status != want {
		m.Fail("A1", "payment %s was settled as %s, and is %s", world.Short(got.ID), as, got.Status)
	}
	if b != nil && got.RefundOf == uuid.Nil {
		m.attempt(b, got, told)
		m.pass(b, told.End)
	}
}

// State checks the state of the store.
func (m *Model) State(told Told, got traintravel.State, err error) {
	if !m.answered(err, "a question for the state") {
		return
	}
	least, most := 0, m.lost
	for _, b := range m.order {
		if b.can == Held && m.alive(b, told.End) && b.can == Held {
			least++
		}
		if b.can&Held != 0 {
			most++
		}
	}
	if got.Holds < least || got.Holds > most || got.Unreadable > 0 {
		m.Fail("A1", "the state has %d holds, and there are %d to %d; %d unreadable", got.Holds, least, most, got.Unreadable)
	}
	if n := len(m.trains.current); !m.trains.unsure && told.Begin.Sub(m.trains.since) > 3*time.Second && got.Timetable.Trains != n {
		m.Fail("A1", "the state has %d trains, and the timetable %d", got.Timetable.Trains, n)
	}
}

// Quiet checks the state of the store in the end: nothing waits.
func (m *Model) Quiet(got traintravel.State, err error) {
	if err != nil || got.Payments.Count+got.Refunds.Count+got.StuckPayments+got.StuckRefunds+got.Events.Count > 0 {
		m.Fail("L1", "work waits in the end: %+v, %v", got, err)
	}
}
