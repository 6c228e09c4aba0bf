package model

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/world"
)

// Settled checks a booking and its payments as the operator sees them when the faults have
// ended long ago and no work is due any more.
func (m *Model) Settled(told Told, b *Booking, h traintravel.BookingHistory, events []world.Received) {
	m.pass(b, told.End)
	got := h.Booking
	m.sameFacts(b, got)
	s := stateOf(got.Status)
	if b.stopped > 0 {
		b.can |= Cancelled
	}
	if s&b.can == 0 {
		m.Fail("A1", "in the end booking %s is %v, and can be %v only", world.Short(b.ID), s, b.can)
		return
	}
	if s == Held && !told.first().Before(b.Expires) {
		m.Fail("L1", "booking %s is still held, %v after its end", world.Short(b.ID), told.first().Sub(b.Expires))
	}
	b.can = s
	if got.PaidBy != uuid.Nil {
		m.confirmedInTime(b, got)
	}
	m.settledMoney(b, got, h.Payments)
	m.settledEvents(b, got, h.Payments, events)
}

// settledMoney checks what the bank has of a booking in the end.
func (m *Model) settledMoney(b *Booking, got traintravel.Booking, payments []traintravel.Payment) {
	net, due := m.netOf(b), int64(0)
	paid := false
	for _, p := range payments {
		if p.Status == traintravel.Pending {
			m.Fail("L1", "payment %s of booking %s is still pending", world.Short(p.ID), world.Short(b.ID))
		}
		if p.RefundOf != uuid.Nil {
			continue
		}
		t := m.bank.Taking(p.ID)
		if a := m.charges[p.ID]; a != nil && a.Status == traintravel.Failed && t != nil && t.Status == traintravel.Succeeded && t.Refunded != t.Amount.Amount && got.PaidBy != p.ID {
			m.Fail("M4", "payment %s was said to have failed, and the bank has %+v", world.Short(p.ID), *t)
		}
		paid = paid || p.ID == got.PaidBy
	}
	switch {
	case b.can == Confirmed:
		due = b.Price.Amount
		if !paid {
			m.Fail("M2", "booking %s is confirmed by payment %s, which it does not have", world.Short(b.ID), world.Short(got.PaidBy))
		}
	case b.can == Cancelled && b.byOwner && !got.ByOperator && got.PaidBy != uuid.Nil:
		due = b.Price.Amount - b.Price.Amount*m.terms.Back/100
	}
	if b.kept && got.ByOperator {
		m.Fail("A1", "booking %s was cancelled by its owner, and is said to be cancelled by the operator", world.Short(b.ID))
	}
	if net != due {
		invariant := "M3"
		if b.can == Confirmed {
			invariant = "M2"
		}
		m.Fail(invariant, "booking %s is %v, costs %d, and the bank has %d, not %d", world.Short(b.ID), b.can, b.Price.Amount, net, due)
	}
}

// settledEvents checks what the Notifier has received of a booking.
func (m *Model) settledEvents(b *Booking, got traintravel.Booking, payments []traintravel.Payment, events []world.Received) {
	want := map[traintravel.EventType]int{traintravel.BookingCreated: 1}
	if got.PaidBy != uuid.Nil {
		want[traintravel.BookingConfirmed] = 1
	}
	switch b.can {
	case Expired:
		want[traintravel.BookingExpired] = 1
	case Cancelled:
		want[traintravel.BookingCancelled] = 1
	}
	m.failuresTold(b, payments, events)
	have := map[traintravel.EventType]int{}
	for _, e := range events {
		have[e.Event.Type]++
		as := e.Event.Booking
		m.sameFacts(b, as)
		status := map[traintravel.EventType]traintravel.BookingStatus{
			traintravel.BookingCreated: traintravel.Held, traintravel.BookingConfirmed: traintravel.Confirmed,
			traintravel.BookingCancelled: traintravel.Cancelled, traintravel.BookingExpired: traintravel.Expired,
		}[e.Event.Type]
		if status != 0 && as.Status != status {
			m.Fail("E1", "%s of booking %s has its booking as %v", e.Event.Type, world.Short(b.ID), stateOf(as.Status))
		}
	}
	for _, t := range []traintravel.EventType{traintravel.BookingCreated, traintravel.BookingConfirmed, traintravel.BookingCancelled, traintravel.BookingExpired} {
		// A hold may end before its payment comes late and confirms it again.
		again := t == traintravel.BookingExpired && got.PaidBy != uuid.Nil && have[t] == 1
		if have[t] != want[t] && !again {
			m.Fail("E1", "booking %s is %v, and its Notifier has %d %s, not %d", world.Short(b.ID), b.can, have[t], t, want[t])
		}
	}
}

// SettledBank checks the bank's books as a whole: whatever it took is for a booking that the
// model has checked.
func (m *Model) SettledBank() {
	for _, wrong := range m.bank.Wrong() {
		m.Fail("M1", "%s", wrong)
	}
	for _, t := range m.bank.Takings() {
		if t.Booking != uuid.Nil && m.bookings[t.Booking] == nil && t.Refunded != t.Amount.Amount && t.Status == traintravel.Succeeded {
			m.Fail("M3", "the bank has %d for booking %s, which nobody was told of", t.Amount.Amount-t.Refunded, world.Short(t.Booking))
		}
	}
}

// Removable reports whether a booking may have been removed because it ended unpaid long ago.
func (m *Model) Removable(b *Booking, at time.Time) bool {
	m.pass(b, at)
	return !b.confirmed && b.can&over != 0 && at.Sub(earlier(b.Arrives, b.Expires.Add(30*24*time.Hour))) >= 7*24*time.Hour-m.terms.Skew
}

// Step checks what can be seen at any time in the bank's books.
func (m *Model) Step(now time.Time) {
	for _, wrong := range m.bank.Wrong() {
		m.Fail("M1", "%s", wrong)
	}
	_ = now
}

// Live are the bookings of an owner that have their places for sure, newest first.
func (m *Model) Live(owner string, at time.Time) []*Booking {
	var bs []*Booking
	for _, b := range slices.Backward(m.order) {
		if b.Owner == owner && m.alive(b, at) {
			bs = append(bs, b)
		}
	}
	return bs
}
