package model

import (
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/world"
)

// chargeTimeout is how long a gateway may take for a charge: Options.ChargeTimeout by default. A
// charge arrives at most a minute after that, unless it is late.
const chargeTimeout = 30 * time.Second

// end is when a hold ends that an attempt to pay keeps.
func (m *Model) end(b *Booking, attempt time.Time) time.Time {
	end := earlier(attempt.Add(m.terms.PendingFor), b.Departs)
	if end.Before(b.Expires) {
		return b.Expires
	}
	return end
}

// underWay returns an attempt to pay that was in progress from the beginning of an operation to
// its end for sure, nil if none was: the bank has not decided it, and the hold goes on.
func (m *Model) underWay(b *Booking, told Told) *Attempt {
	for _, a := range b.attempts {
		if a.Status != traintravel.Pending || !a.At.Before(told.Begin) || !told.End.Add(m.terms.Skew).Before(m.end(b, a.Created)) {
			continue
		}
		if t := m.bank.Taking(a.ID); t != nil && t.Status == traintravel.Pending && t.Arrived.Before(told.Begin) {
			return a
		}
	}
	return nil
}

// PaymentRead is the answer to its owner's question for the last payment of a booking.
func (m *Model) PaymentRead(told Told, b *Booking, p traintravel.Payment, err error) {
	switch {
	case err == nil && p.Booking != b.ID:
		m.Fail("O1", "payment %s of booking %s is shown for booking %s", world.Short(p.ID), world.Short(p.Booking), world.Short(b.ID))
	case err == nil:
		m.attempt(b, p, told)
	case errors.Is(err, traintravel.ErrNotFound):
		if len(b.attempts) > 0 && m.alive(b, told.End) && !m.mayBeErased(b, told.last()) {
			m.Fail("A1", "booking %s is %v, and its payments were not found", world.Short(b.ID), b.can)
		}
	case !Unanswered(err):
		m.Fail("A1", "a question for a payment was answered with %v", err)
	}
}

// confirmedInTime checks that the payment that confirmed a booking was not too late for that: after
// the departure, or more than a day after the attempt had ended for its payer.
func (m *Model) confirmedInTime(b *Booking, got traintravel.Booking) {
	at, a := got.Confirmed, m.charges[got.PaidBy]
	if at.IsZero() {
		return
	}
	if !at.Before(b.Departs) {
		m.Fail("M3", "booking %s was confirmed by payment %s, %v after its departure", world.Short(b.ID), world.Short(got.PaidBy), at.Sub(b.Departs))
	}
	const watch = 24 * time.Hour
	if a == nil {
		return
	}
	ended := m.end(b, a.Created)
	if !a.Failed.IsZero() && a.Failed.Before(ended) {
		ended = a.Failed
	}
	if late := at.Sub(ended); late >= watch+2*m.terms.Skew {
		m.Fail("M3", "booking %s was confirmed by payment %s, %v after that had ended", world.Short(b.ID), world.Short(got.PaidBy), late)
	}
}

// netOf is what the bank has of a booking, under whatever IDs it came.
func (m *Model) netOf(b *Booking) (net int64) {
	if m.takings == nil {
		m.takings = map[uuid.UUID][]world.Taking{}
		for _, t := range m.bank.Takings() {
			m.takings[t.Booking] = append(m.takings[t.Booking], t)
		}
	}
	for _, t := range m.takings[b.ID] {
		if t.Status == traintravel.Succeeded {
			net += t.Amount.Amount - t.Refunded
		}
	}
	return net
}

// Refused checks that something was refused to a caller with one of some errors, because a user may
// not do that.
func (m *Model) Refused(what string, b *Booking, err error, with ...error) {
	if Unanswered(err) || slices.ContainsFunc(with, func(e error) bool { return errors.Is(err, e) }) {
		return
	}
	m.Fail("O1", "%s of booking %s of %s was answered with %v", what, world.Short(b.ID), b.Owner, err)
}
