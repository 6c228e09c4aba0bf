package records

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// Payment is a Payment and how far it has got.
type Payment struct {
	rail.Payment
	Failed   rail.Failure // what it had failed with, if it has succeeded after all
	Erased   bool         // so is its booking: what is said of it from now on is not kept
	Charging bool         // the gateway may still be asked, until deadline
	Unfenced bool         // it was lost, and the gateway has not said that it is cancelled
	Deadline time.Time    // of the charge
	Next     time.Time    // when Run looks after it; zero once there is nothing to do
	Tries    int          // how often Run has
	Order    int          // among the payments of its booking, from 1; zero before version 3
}

const (
	// LateCharge is how long after its deadline a charge may still arrive at
	// the gateway.
	LateCharge = time.Minute
	// watchFor is how long an attempt that has ended for its payer is watched at
	// least, and may still confirm its booking: see Payment.ended.
	watchFor = 24 * time.Hour
)

// Undecided says whether the payment is an attempt that may be declined soon. A debit of
// a bank account that the gateway has accepted takes days.
func (p *Payment) Undecided() bool {
	return p.Status == rail.Pending && (p.Charging || p.Source.Card != nil)
}

// Arrives is when a charge can reach the gateway at the latest.
func (p *Payment) Arrives() time.Time { return p.Deadline.Add(LateCharge) }

// ended is when an attempt ended for its payer, or will end: when it was given up or had
// failed, or when its booking ended or was paid by another attempt, whatever came first.
// From then on the gateway is to cancel the charge. If it succeeds all the same within
// watchFor, it can still confirm the booking.
func (p *Payment) ended(b *rail.Booking) time.Time {
	var at time.Time // in the record of a booking of version 1 it may be missing
	switch {
	case p.Status == rail.Pending && (b.Status == rail.Held || b.Status == rail.Expired):
		return b.HeldUntil() // at this instant, not when somebody notices
	case b.Status != rail.Held:
		at = b.Changed
	}
	if p.Status != rail.Failed {
		return at
	}
	failed := p.Settled
	if failed.IsZero() { // in the record of a payment of version 1
		failed = p.Created
	}
	if at.IsZero() || failed.Before(at) {
		return failed
	}
	return at
}

// Over says whether an attempt has ended for its payer.
func (p *Payment) Over(b *rail.Booking, now time.Time) bool {
	return p.Status == rail.Failed || b.Status != rail.Held || b.Lapsed(now)
}

// TooLate says whether a charge that succeeds now can only be refunded.
func (p *Payment) TooLate(b *rail.Booking, now time.Time) bool {
	return !now.Before(p.ended(b).Add(watchFor))
}

// Kept says whether a payment stays on record although its booking ended unpaid: it has
// moved money, or an operator has decided about it.
func (p Payment) Kept() bool {
	return p.Status == rail.Succeeded || p.RefundOf != uuid.Nil || len(p.Settlements) > 0
}

// Why is what the payment failed with, even if it has succeeded after all. The event of
// the failure is made from it.
func (p *Payment) Why() rail.Failure {
	if p.Status == rail.Succeeded {
		return p.Failed
	}
	return p.Failure
}

// fill is the opposite of why.
func (p *Payment) fill(why rail.Failure) {
	if p.Status == rail.Succeeded {
		p.Failed = why
	} else {
		p.Failure = why
	}
}

// ErasePayer removes from a payment who made it, and what the gateway and the operator
// have said of that, or will say.
func (p *Payment) ErasePayer() {
	p.Erased = true
	p.Source, p.LastError = rail.Source{}, ""
	p.fill(p.Why().Erased())
	p.Settlements = slices.Clone(p.Settlements)
	for i := range p.Settlements {
		p.Settlements[i].Reason = ""
	}
}

// MayComeIn says whether an attempt to pay may still succeed, and its booking with it.
func (p Payment) MayComeIn() bool { return p.RefundOf == uuid.Nil && !p.Next.IsZero() }

// Key names the record of the payment.
func (p *Payment) Key() store.Key { return PaymentKey(p.Booking, p.ID) }
