package traintravel

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
)

// What an operator does about payments and refunds that the gateway does not settle.

// A Verdict is what an operator says became of a payment or a refund.
type Verdict string

// The verdicts.
const (
	// AsSucceeded: the money has moved. A charge confirms its booking, or is given back
	// if it came too late.
	AsSucceeded Verdict = "succeeded"
	// AsFailed: a charge has moved no money and never will. The hold goes on if it has
	// time left, and ends otherwise. The charge is cancelled at the gateway if that can
	// be done, and still watched: money that comes all the same is not kept.
	AsFailed Verdict = "failed"
	// AsMadeElsewhere: the payer has got the money of a refund back in another way.
	AsMadeElsewhere Verdict = "made_elsewhere"
	// AsImpossible: a refund will never be made.
	AsImpossible Verdict = "impossible"
)

// A Settlement is an operator's verdict on a payment or refund.
type Settlement struct {
	As Verdict
	By string // who has decided; 1 to 200 characters
	// Reason is why: 1 to 200 characters without the number of a card; empty once
	// the traveller has been erased.
	Reason string
	At     time.Time // set by SettlePayment
}

// maxSettlements bounds the verdicts on one payment.
const maxSettlements = 20

// check returns an InvalidError unless the settlement can be one.
func (d *Settlement) check() error {
	switch d.As {
	case AsSucceeded, AsFailed, AsMadeElsewhere, AsImpossible:
	default:
		return invalid("as", "%.40q is none of %s, %s, %s and %s", d.As, AsSucceeded, AsFailed, AsMadeElsewhere, AsImpossible)
	}
	for _, text := range [...]struct{ field, is string }{{"by", d.By}, {"reason", d.Reason}} {
		if why := badText(text.is, true); why != "" {
			return invalid(text.field, "%s", why)
		}
		if holdsCardNumber(text.is) {
			return invalid(text.field, cardInText)
		}
	}
	return nil
}

// SettlePayment settles a payment or refund that the gateway has not settled, by the word
// of an operator who has looked at the provider's books. [BookingHistory] shows who has
// settled it, when and why.
//
// A charge is settled while it is pending, or has failed and is still watched, as
// AsSucceeded or AsFailed; AsFailed ends the watch of one that has failed. A refund is
// settled until it has succeeded, as AsSucceeded, AsMadeElsewhere or AsImpossible; one
// that is impossible by the gateway's word leaves [Service.StuckPayments] when an
// operator has settled it in any way. The same settlement again changes nothing.
//
// It returns the payment as it stands then. ErrNotFound: the booking has no such
// payment. [ErrPaymentSettled]: see above. [ErrPaymentInProgress]: the gateway is being
// asked for the charge at this moment. An [*InvalidError] names as, by or reason.
func (s *Service) SettlePayment(ctx context.Context, booking, id uuid.UUID, d Settlement) (settled Payment, err error) {
	if err := d.check(); err != nil {
		return Payment{}, err
	}
	if _, err := s.books.payment(ctx, s.store, booking, id); err != nil {
		return Payment{}, err
	}
	err = s.onPayment(ctx, booking, id, func(l *ledger, sn *snapshot, p *payment, b *Booking) error {
		d.At = l.now
		if err := l.settleByHand(sn, p, b, d); err != nil {
			return err
		}
		settled = p.Payment
		return nil
	})
	if err != nil {
		return Payment{}, err
	}
	return settled, nil
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

// needsPerson says whether a payment waits for an operator: it has been pending since
// before an instant, or is a refund that the gateway says is impossible.
func (p *Payment) needsPerson(before time.Time) bool {
	return p.Status == Pending && !p.Created.After(before) || p.RefundOf != uuid.Nil && p.Status == Failed && len(p.Settlements) == 0
}

// StuckPayments returns what waits for an operator, the oldest first: payments and
// refunds that are still pending so long after they were begun, and refunds that are
// impossible and that no operator has settled. unreadable is how many records could not
// be read; [Check] names them. It looks through all payments.
func (s *Service) StuckPayments(ctx context.Context, age time.Duration) (stuck []Payment, unreadable int, err error) {
	before := s.now().Add(-age)
	left, err := eachOf(ctx, s.store, Range{Table: TablePayments}, paymentOf, func(p payment) bool {
		if p.needsPerson(before) {
			stuck = append(stuck, p.Payment)
		}
		return true
	})
	slices.SortStableFunc(stuck, func(a, b Payment) int { return a.Created.Compare(b.Created) })
	return stuck, s.books.omit(ctx, left), err
}

// FindPayment returns a payment or refund of anybody's by its ID alone. It looks through
// all payments. ErrNotFound: there is none that can be read.
func (s *Service) FindPayment(ctx context.Context, id uuid.UUID) (found Payment, err error) {
	left, err := eachOf(ctx, s.store, Range{Table: TablePayments}, paymentOf, func(p payment) bool {
		if p.ID == id {
			found = p.Payment
		}
		return p.ID != id
	})
	s.books.omit(ctx, left)
	if err == nil && found.ID != id {
		err = ErrNotFound
	}
	return found, err
}
