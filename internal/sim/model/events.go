package model

import (
	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/world"
)

// SettledEvents checks what the Notifier has received of a booking in the end, after Settled.
func (m *Model) SettledEvents(b *Booking, h traintravel.BookingHistory, events []world.Received) {
	got, payments := h.Booking, h.Payments
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
		m.payload(b, e.Event)
	}
	for _, t := range []traintravel.EventType{traintravel.BookingCreated, traintravel.BookingConfirmed, traintravel.BookingCancelled, traintravel.BookingExpired} {
		// A hold may end before its payment comes late and confirms it again.
		again := t == traintravel.BookingExpired && got.PaidBy != uuid.Nil && have[t] == 1
		if have[t] != want[t] && !again {
			m.Fail("E1", "booking %s is %v, and its Notifier has %d %s, not %d", world.Short(b.ID), b.can, have[t], t, want[t])
		}
	}
}

// failuresTold checks that the Notifier has received once that a payment failed, for each that did.
func (m *Model) failuresTold(b *Booking, payments []traintravel.Payment, events []world.Received) {
	have := map[uuid.UUID]int{}
	for _, e := range events {
		if e.Event.Type == traintravel.PaymentFailed && e.Event.Payment != nil {
			have[e.Event.Payment.ID]++
		}
	}
	for _, p := range payments {
		n, failed := have[p.ID], p.Status == traintravel.Failed
		if p.RefundOf == uuid.Nil && (n > 1 || failed && n == 0) {
			m.Fail("E1", "payment %s of booking %s is %s, and its Notifier has %d %s", world.Short(p.ID), world.Short(b.ID), p.Status, n, traintravel.PaymentFailed)
		}
	}
}

// payload checks that an event says what was true when it happened.
func (m *Model) payload(b *Booking, e traintravel.Event) {
	as := e.Booking
	m.sameFacts(b, as)
	status := map[traintravel.EventType]traintravel.BookingStatus{
		traintravel.BookingCreated: traintravel.Held, traintravel.BookingConfirmed: traintravel.Confirmed,
		traintravel.BookingCancelled: traintravel.Cancelled, traintravel.BookingExpired: traintravel.Expired,
	}[e.Type]
	if status != 0 && as.Status != status {
		m.Fail("E1", "%s of booking %s has its booking as %v", e.Type, world.Short(b.ID), stateOf(as.Status))
	}
	paid := as.PaidBy != uuid.Nil
	switch {
	case (e.Type == traintravel.BookingCreated || e.Type == traintravel.BookingExpired) && (paid || as.ByOperator),
		e.Type == traintravel.BookingConfirmed && (!paid || as.ByOperator || e.Payment == nil || e.Payment.ID != as.PaidBy || e.Payment.Status != traintravel.Succeeded),
		e.Type == traintravel.BookingCancelled && as.ByOperator && !b.runClosed,
		e.Type == traintravel.PaymentFailed && (e.Payment == nil || e.Payment.Status != traintravel.Failed || e.Payment.Booking != b.ID):
		m.Fail("E1", "%s of booking %s is about %+v and %+v", e.Type, world.Short(b.ID), as, e.Payment)
	}
}
