package traintravel

import (
	"slices"
	"time"

	"github.com/google/uuid"
)

// payment is a Payment and how far it has got.
type payment struct {
	Payment
	failed   Failure   // what it had failed with, if it has succeeded after all
	erased   bool      // so is its booking: what is said of it from now on is not kept
	charging bool      // the gateway may still be asked, until deadline
	unfenced bool      // it was lost, and the gateway has not said that it is cancelled
	deadline time.Time // of the charge
	next     time.Time // when Run looks after it; zero once there is nothing to do
	tries    int       // how often Run has
	order    int       // among the payments of its booking, from 1; zero before version 3
}

const (
	// lateCharge is how long after its deadline a charge may still arrive at
	// the gateway.
	lateCharge = time.Minute
	// watchFor is how long an attempt that has ended for its payer is watched at
	// least, and may still confirm its booking: see [payment.ended].
	watchFor = 24 * time.Hour
)

// undecided says whether the payment is an attempt that may be declined soon. A debit of
// a bank account that the gateway has accepted takes days.
func (p *payment) undecided() bool {
	return p.Status == Pending && (p.charging || p.Source.Card != nil)
}

// arrives is when a charge can reach the gateway at the latest.
func (p *payment) arrives() time.Time { return p.deadline.Add(lateCharge) }

// ended is when an attempt ended for its payer, or will end: when it was given up or had
// failed, or when its booking ended or was paid by another attempt, whatever came first.
// From then on the gateway is to cancel the charge. If it succeeds all the same within
// watchFor, it can still confirm the booking.
func (p *payment) ended(b *Booking) time.Time {
	var at time.Time // in the record of a booking of version 1 it may be missing
	switch {
	case p.Status == Pending && (b.Status == Held || b.Status == Expired):
		return b.HeldUntil() // at this instant, not when somebody notices
	case b.Status != Held:
		at = b.Changed
	}
	if p.Status != Failed {
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

// over says whether an attempt has ended for its payer.
func (p *payment) over(b *Booking, now time.Time) bool {
	return p.Status == Failed || b.Status != Held || b.lapsed(now)
}

// tooLate says whether a charge that succeeds now can only be refunded.
func (p *payment) tooLate(b *Booking, now time.Time) bool {
	return !now.Before(p.ended(b).Add(watchFor))
}

// kept says whether a payment stays on record although its booking ended unpaid: it has
// moved money, or an operator has decided about it.
func (p payment) kept() bool {
	return p.Status == Succeeded || p.RefundOf != uuid.Nil || len(p.Settlements) > 0
}

// why is what the payment failed with, even if it has succeeded after all. The event of
// the failure is made from it.
func (p *payment) why() Failure {
	if p.Status == Succeeded {
		return p.failed
	}
	return p.Failure
}

// fill is the opposite of why.
func (p *payment) fill(why Failure) {
	if p.Status == Succeeded {
		p.failed = why
	} else {
		p.Failure = why
	}
}

// erasePayer removes from a payment who made it, and what the gateway and the operator
// have said of that, or will say.
func (p *payment) erasePayer() {
	p.erased = true
	p.Source, p.LastError = Source{}, ""
	p.fill(p.why().erased())
	p.Settlements = slices.Clone(p.Settlements)
	for i := range p.Settlements {
		p.Settlements[i].Reason = ""
	}
}

// mayComeIn says whether an attempt to pay may still succeed, and its booking with it.
func (p payment) mayComeIn() bool { return p.RefundOf == uuid.Nil && !p.next.IsZero() }

func (p *payment) key() Key { return paymentKey(p.Booking, p.ID) }
