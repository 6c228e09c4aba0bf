package model

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/world"
)

// Recovered checks that a hold that was over at an instant, when servers began to run without
// a fault, has been ended.
func (m *Model) Recovered(b *Booking, got traintravel.Booking, at time.Time) {
	end := b.Expires
	if got.PinnedUntil.After(end) {
		end = got.PinnedUntil
	}
	if late := at.Add(-m.terms.Skew).Sub(end); got.Status == traintravel.Held && late >= 0 {
		m.Fail("L1", "booking %s is still held, %v after its end, though servers have run without a fault", world.Short(b.ID), late)
	}
}

// Settled checks a booking and its payments as the operator sees them when the faults have
// ended long ago and no work is due any more.
func (m *Model) Settled(told Told, b *Booking, h traintravel.BookingHistory) {
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
