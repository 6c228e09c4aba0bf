package ledger

import (
	"cmp"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/rail"
)

// The rules of payments.

// Pay records an attempt to pay for a booking of the caller's and counts it, or returns the
// response to an earlier request with the same key, or an error that refuses the attempt.
func (l *Ledger) Pay(by rail.Caller, idem records.Idempotency, refusal error, counts []countOf, p records.Payment) (first *records.Answer, err error) {
	counted, err := l.readCounts(counts, idem.Key, records.BookingKey(p.Booking))
	if err != nil {
		return nil, err
	}
	if first, err = l.Recall(idem); first != nil || err != nil {
		return first, err
	}
	if refusal != nil {
		return nil, refusal
	}
	b, err := l.Booking(p.Booking)
	if err != nil {
		return nil, err
	}
	if !b.OwnedBy(by) {
		return nil, rail.ErrNotFound
	}
	if err := l.startPayment(b, p); err != nil {
		return nil, err
	}
	if err := l.count(&p, counts, counted); err != nil {
		return nil, err
	}
	l.Remember(idem, records.Answer{About: p.Booking, Payment: p.ID})
	return nil, nil
}

// startPayment records an attempt and pins the booking's places for it.
func (l *Ledger) startPayment(b *rail.Booking, p records.Payment) error {
	switch {
	case b.Status == rail.Cancelled:
		return l.gone(b)
	case b.Status == rail.Confirmed:
		return rail.ErrAlreadyPaid
	case b.Status != rail.Held:
		return l.overdrawn(b)
	case b.OpenPayment != uuid.Nil && !b.Lapsed(l.Now):
		return rail.ErrPaymentInProgress
	case b.Lapsed(l.Now):
		return rail.ErrHoldExpired
	case p.Amount != b.Price && !l.books.Terms.AnyAmount:
		return &rail.AmountError{Due: b.Price, Offered: p.Amount}
	}
	b.LatestPayment = p.ID
	if p.Status == rail.Failed { // refused by the service itself
		many, err := l.tooMany(b, &p)
		if err != nil {
			return err
		}
		l.paymentFailed(b, l.newPayment(b, p))
		if many {
			return l.Expire(b.ID)
		}
		return nil
	}
	pinned := l.Now.Add(l.books.Terms.PendingFor)
	if departs := b.Departs(); departs.Before(pinned) {
		pinned = departs
	}
	if pinned.Before(b.Expires) { // a pin does not shorten the hold
		pinned = b.Expires
	}
	owns, err := l.pin(b, codec.Nanos(pinned))
	if err != nil {
		return err
	}
	if !owns {
		return rail.ErrHoldExpired
	}
	b.OpenPayment, b.PinnedUntil = p.ID, pinned
	l.newPayment(b, p)
	return nil
}

// Settle records the outcome of a charge and its consequences for the booking. sn is needed only
// if a late success has to find places again.
func (l *Ledger) Settle(sn *timetable.Snapshot, p *records.Payment, b *rail.Booking, out rail.Outcome) error {
	if p.Status == rail.Succeeded || p.RefundOf != uuid.Nil {
		return nil
	}
	switch out.Status {
	case rail.Succeeded:
		return l.succeed(sn, p, b)
	case rail.Failed:
		return l.fail(p, b, out.Failure)
	}
	if p.Charging {
		p.Charging, p.Next = false, l.Now.Add(lookAfter(0))
		if p.Over(b, l.Now) { // the booking has ended since: cancel the charge immediately
			p.Next = l.Now
		}
	}
	return nil
}

// fail ends an attempt that moved no money; the hold stays if it has time left and the limit of
// declined attempts is not reached.
func (l *Ledger) fail(p *records.Payment, b *rail.Booking, why rail.Failure) error {
	if p.Status == rail.Failed {
		return nil
	}
	l.settled(p, rail.Failed, why.Bounded())
	l.paymentFailed(b, p)
	if b.OpenPayment != p.ID {
		return nil
	}
	b.OpenPayment, b.PinnedUntil = uuid.Nil, time.Time{}
	if b.Status != rail.Held {
		return nil
	}
	many, err := l.tooMany(b, p)
	if err != nil {
		return err
	}
	if many || b.Lapsed(l.Now) {
		return l.Expire(b.ID)
	}
	_, err = l.pin(b, codec.Nanos(b.Expires))
	return err
}

// succeed records a successful charge, and confirms the booking or schedules a refund: the charge
// may have succeeded after the hold had ended.
func (l *Ledger) succeed(sn *timetable.Snapshot, p *records.Payment, b *rail.Booking) error {
	late := p.TooLate(b, l.Now)
	l.settled(p, rail.Succeeded, rail.Failure{})
	if b.OpenPayment == p.ID {
		b.OpenPayment, b.PinnedUntil = uuid.Nil, time.Time{}
	}
	confirmed, err := l.confirm(sn, b, late)
	if err != nil {
		return err
	}
	if !confirmed {
		l.refund(b, p.ID, p.Amount, records.ForPayingTooLate)
		return nil
	}
	b.PaidBy = p.ID
	l.become(b, rail.Confirmed)
	l.event(rail.BookingConfirmed, b.ID, p.ID)
	return l.callOff(b) // another attempt in progress
}

// refund records a refund, which Run makes.
func (l *Ledger) refund(b *rail.Booking, charge uuid.UUID, amount rail.Money, why records.Purpose) {
	amount.Amount = -amount.Amount
	b.GivenBack = b.GivenBack || why == records.ForPayingTooLate
	l.newPayment(b, records.Payment{
		Payment: rail.Payment{
			ID: records.RefundID(charge, why), Booking: b.ID, RefundOf: charge,
			Amount: amount, Status: rail.Pending, Created: l.Now,
		},
		Next:   l.Now,
		Erased: b.Erased(),
	})
}

// settled gives a payment its final status, with no further work.
func (l *Ledger) settled(p *records.Payment, s rail.PaymentStatus, why rail.Failure) {
	if s == rail.Succeeded {
		p.Failed = p.Why()
	}
	p.Status, p.Settled, p.Failure, p.Charging, p.Unfenced, p.Next = s, l.Now, why, false, false, time.Time{}
	p.Resolution, p.LastError = "", ""
}

// SettleByHand records an operator's verdict and its consequences.
func (l *Ledger) SettleByHand(sn *timetable.Snapshot, p *records.Payment, b *rail.Booking, d rail.Settlement) error {
	if n := len(p.Settlements); n > 0 {
		last := p.Settlements[n-1]
		if last.At = d.At; last == d && (p.Status != rail.Failed || p.Next.IsZero()) {
			return nil
		}
		if n == rail.MaxSettlements {
			return rail.Invalid("as", "the payment has been settled %d times, the maximum", n)
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

// The failures that payers see of payments that an operator has settled.
var (
	failedByHand     = rail.Failure{Code: rail.ProcessingError, Message: "The payment was not completed. Nothing was charged."}
	impossibleByHand = rail.Failure{Code: rail.ProcessingError, Message: "The refund could not be made. Please contact us."}
)

func (l *Ledger) settleCharge(sn *timetable.Snapshot, p *records.Payment, b *rail.Booking, as rail.Verdict) error {
	switch {
	case as != rail.AsSucceeded && as != rail.AsFailed:
		return rail.Invalid("as", "a payment that is not a refund can be settled as %s or %s, not as %s", rail.AsSucceeded, rail.AsFailed, as)
	case p.Status == rail.Succeeded || p.Status == rail.Failed && p.Next.IsZero():
		return rail.ErrPaymentSettled
	case p.Charging && l.Now.Before(p.Deadline.Add(records.LateCharge)):
		return rail.ErrPaymentInProgress
	case as == rail.AsSucceeded:
		return l.succeed(sn, p, b)
	case p.Status == rail.Failed:
		p.Next = time.Time{}
		return nil
	}
	if err := l.fail(p, b, failedByHand); err != nil {
		return err
	}
	p.Tries, p.Next = 0, l.Now // Run cancels it at the gateway, and looks it up
	return nil
}

func (l *Ledger) settleRefund(_ *timetable.Snapshot, p *records.Payment, _ *rail.Booking, as rail.Verdict) error {
	switch {
	case p.Status == rail.Succeeded:
		return rail.ErrPaymentSettled
	case as == rail.AsSucceeded:
		l.settled(p, rail.Succeeded, rail.Failure{})
	case as == rail.AsMadeElsewhere:
		l.settled(p, rail.Succeeded, rail.Failure{})
		p.Resolution = rail.RefundedElsewhere
	case as == rail.AsImpossible:
		at := p.Settled
		l.settled(p, rail.Failed, cmp.Or(p.Failure, impossibleByHand))
		p.Resolution = rail.RefundImpossible
		if !at.IsZero() { // by the gateway
			p.Settled = at
		}
	default:
		return rail.Invalid("as", "a refund can be settled as %s, %s or %s, not as %s", rail.AsSucceeded, rail.AsMadeElsewhere, rail.AsImpossible, as)
	}
	return nil
}
