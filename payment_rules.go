package traintravel

import (
	"cmp"
	"slices"
	"time"

	"github.com/google/uuid"
)

// The rules of payments: what one update does to their records.

// pay records an attempt to pay for a booking of the caller's, which counts, or returns the
// answer to the same request if that came before.
func (l *ledger) pay(by Caller, idem idempotency, counts []countOf, p payment) (first *answer, err error) {
	counted, err := l.readCounts(counts, idem.key, bookingKey(p.Booking))
	if err != nil {
		return nil, err
	}
	if first, err = l.recall(idem); first != nil || err != nil {
		return first, err
	}
	b, err := l.booking(p.Booking)
	if err != nil {
		return nil, err
	}
	if !b.ownedBy(by) {
		return nil, ErrNotFound
	}
	if err := l.startPayment(b, p); err != nil {
		return nil, err
	}
	if err := l.count(&p, counts, counted); err != nil {
		return nil, err
	}
	l.remember(idem, answer{about: p.Booking, payment: p.ID})
	return nil, nil
}

// startPayment records an attempt and pins the booking's places for it.
func (l *ledger) startPayment(b *Booking, p payment) error {
	switch {
	case b.Status == Cancelled:
		return ErrNotFound
	case b.Status == Confirmed:
		return ErrAlreadyPaid
	case b.Status != Held:
		return l.overdrawn(b)
	case b.OpenPayment != uuid.Nil && !b.lapsed(l.now):
		return ErrPaymentInProgress
	case b.lapsed(l.now):
		return ErrHoldExpired
	case p.Amount != b.Price && !l.books.terms.anyAmount:
		return &AmountError{Due: b.Price, Offered: p.Amount}
	}
	b.LatestPayment = p.ID
	if p.Status == Failed { // refused by the service itself
		many, err := l.tooMany(b, &p)
		if err != nil {
			return err
		}
		l.paymentFailed(b, l.newPayment(b, p))
		if many {
			return l.expire(b.ID)
		}
		return nil
	}
	pinned := l.now.Add(l.books.terms.pendingFor)
	if departs := b.departs(); departs.Before(pinned) {
		pinned = departs
	}
	if pinned.Before(b.Expires) { // it does not shorten the hold
		pinned = b.Expires
	}
	owns, err := l.pin(b, nanos(pinned))
	if err != nil {
		return err
	}
	if !owns {
		return ErrHoldExpired
	}
	b.OpenPayment, b.PinnedUntil = p.ID, pinned
	l.newPayment(b, p)
	return nil
}

// settle records what became of a charge and what follows for its booking. sn
// is needed only if a late success has to find its places again.
func (l *ledger) settle(sn *snapshot, p *payment, b *Booking, out Outcome) error {
	if p.Status == Succeeded || p.RefundOf != uuid.Nil {
		return nil
	}
	switch out.Status {
	case Succeeded:
		return l.succeed(sn, p, b)
	case Failed:
		return l.fail(p, b, out.Failure)
	}
	if p.charging {
		p.charging, p.next = false, l.now.Add(lookAfter(0))
		if p.over(b, l.now) { // since it was asked for: it is called off at once
			p.next = l.now
		}
	}
	return nil
}

// fail ends an attempt that moved no money; the hold stays if it has time left and
// there were not too many.
func (l *ledger) fail(p *payment, b *Booking, why Failure) error {
	if p.Status == Failed {
		return nil
	}
	l.settled(p, Failed, why.bounded())
	l.paymentFailed(b, p)
	if b.OpenPayment != p.ID {
		return nil
	}
	b.OpenPayment, b.PinnedUntil = uuid.Nil, time.Time{}
	if b.Status != Held {
		return nil
	}
	many, err := l.tooMany(b, p)
	if err != nil {
		return err
	}
	if many || b.lapsed(l.now) {
		return l.expire(b.ID)
	}
	_, err = l.pin(b, nanos(b.Expires))
	return err
}

// succeed records that money came, and gives the passenger the seat for it or
// the money back: it may have come after the hold had ended.
func (l *ledger) succeed(sn *snapshot, p *payment, b *Booking) error {
	late := p.tooLate(b, l.now)
	l.settled(p, Succeeded, Failure{})
	if b.OpenPayment == p.ID {
		b.OpenPayment, b.PinnedUntil = uuid.Nil, time.Time{}
	}
	confirmed, err := l.confirm(sn, b, late)
	if err != nil {
		return err
	}
	if !confirmed {
		l.refund(b, p.ID, p.Amount, forPayingTooLate)
		return nil
	}
	b.PaidBy = p.ID
	l.become(b, Confirmed)
	l.event(BookingConfirmed, b.ID, p.ID)
	return l.callOff(b) // another attempt that is under way
}

// refund records that money is to be given back; Run does it.
func (l *ledger) refund(b *Booking, charge uuid.UUID, amount Money, why purpose) {
	amount.Amount = -amount.Amount
	l.newPayment(b, payment{
		Payment: Payment{
			ID: refundID(charge, why), Booking: b.ID, RefundOf: charge,
			Amount: amount, Status: Pending, Created: l.now,
		},
		next:   l.now,
		erased: b.Erased(),
	})
}

// settled gives a payment its final status: nothing is to be done about it.
func (l *ledger) settled(p *payment, s PaymentStatus, why Failure) {
	if s == Succeeded {
		p.failed = p.why()
	}
	p.Status, p.Settled, p.Failure, p.charging, p.unfenced, p.next = s, l.now, why, false, false, time.Time{}
	p.Resolution, p.LastError = "", ""
}

// settleByHand records an operator's verdict and what follows from it.
func (l *ledger) settleByHand(sn *snapshot, p *payment, b *Booking, d Settlement) error {
	if n := len(p.Settlements); n > 0 {
		last := p.Settlements[n-1]
		if last.At = d.At; last == d && (p.Status != Failed || p.next.IsZero()) {
			return nil
		}
		if n == maxSettlements {
			return invalid("as", "the payment has been settled %d times", n)
		}
	}
	settle := l.settleCharge
	if p.RefundOf != uuid.Nil {
		settle = l.settleRefund
	}
	if err := settle(sn, p, b, d.As); err != nil {
		return err
	}
	p.Settlements = append(slices.Clone(p.Settlements), d)
	return nil
}

// What payers read about payments that an operator has settled.
var (
	failedByHand     = Failure{ProcessingError, "The payment was not completed. Nothing was charged."}
	impossibleByHand = Failure{ProcessingError, "The refund could not be made. Please contact us."}
)

func (l *ledger) settleCharge(sn *snapshot, p *payment, b *Booking, as Verdict) error {
	switch {
	case as != AsSucceeded && as != AsFailed:
		return invalid("as", "a payment that is no refund is %s or %s, not %s", AsSucceeded, AsFailed, as)
	case p.Status == Succeeded || p.Status == Failed && p.next.IsZero():
		return ErrPaymentSettled
	case p.charging && l.now.Before(p.deadline.Add(lateCharge)):
		return ErrPaymentInProgress
	case as == AsSucceeded:
		return l.succeed(sn, p, b)
	case p.Status == Failed:
		p.next = time.Time{}
		return nil
	}
	if err := l.fail(p, b, failedByHand); err != nil {
		return err
	}
	p.tries, p.next = 0, l.now // Run cancels it at the gateway, and watches
	return nil
}

func (l *ledger) settleRefund(_ *snapshot, p *payment, _ *Booking, as Verdict) error {
	switch {
	case p.Status == Succeeded:
		return ErrPaymentSettled
	case as == AsSucceeded:
		l.settled(p, Succeeded, Failure{})
	case as == AsMadeElsewhere:
		l.settled(p, Succeeded, Failure{})
		p.Resolution = RefundedElsewhere
	case as == AsImpossible:
		at := p.Settled
		l.settled(p, Failed, cmp.Or(p.Failure, impossibleByHand))
		p.Resolution = RefundImpossible
		if !at.IsZero() { // by the gateway
			p.Settled = at
		}
	default:
		return invalid("as", "a refund is %s, %s or %s, not %s", AsSucceeded, AsMadeElsewhere, AsImpossible, as)
	}
	return nil
}
