package traintravel

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
)

// A Payment is an attempt to pay for a booking, or a refund.
type Payment struct {
	ID      uuid.UUID
	Booking uuid.UUID
	Amount  Money  // negative for a refund
	Source  Source // masked: the end of the number, no code, no address
	Status  PaymentStatus
	Failure Failure // why, if Status is Failed
	// Resolution says of a refund that it succeeded because it was made elsewhere, or
	// failed because it is impossible; otherwise it is empty.
	Resolution Resolution
	Created    time.Time
	// Settled is when Status became what it is, zero while that is Pending or if it
	// is not known.
	Settled time.Time
	// RefundOf is the payment that a refund gives back; nil for an attempt.
	RefundOf uuid.UUID
	// Settlements are what operators have decided about it by hand, the oldest first,
	// and LastError is the gateway's last answer if that settled nothing. Both are for
	// operators, not for the payer.
	Settlements []Settlement
	LastError   string
	// Replayed says that PayBooking answered a repeated idempotency key. It
	// is not stored.
	Replayed bool
}

// A NewPayment asks to pay for a booking.
type NewPayment struct {
	Amount Money // exactly the booking's price
	Source Source
	// IdempotencyKey is as in [NewBooking].
	IdempotencyKey string
}

func (n NewPayment) normalize() (_ NewPayment, err error) {
	if n.Source, err = n.Source.normalize(); err != nil {
		return n, err
	}
	switch {
	case n.Amount.Amount <= 0:
		return n, invalid("amount", "is not above zero")
	case n.Amount.Amount > maxPayment:
		return n, invalid("amount", "is above %d minor units", int64(maxPayment))
	case !validCurrency(n.Amount.Currency):
		return n, invalid("currency", noCurrency)
	}
	return n, nil
}

// maxPayment is the most that is taken at once, in minor units of any currency, and so
// the most that a trip may cost and that is read as an amount.
const maxPayment = 1e16

// PayBooking pays for a booking of the caller's. A payment that was attempted
// is returned without an error, whatever became of it: Succeeded has confirmed
// the booking, Failed leaves the hold for another try unless that was the last one of
// Options.Declines, Pending means that the
// outcome is not known yet and Run finds it out. The one exception is a payment
// that succeeded only after departure, or after the hold it kept had ended and
// somebody else had the places, or after another payment: it is returned with
// ErrPaidTooLate, and Run gives the money back. If the booking ends while the
// outcome is not known, Run asks the gateway to cancel the charge.
//
// The attempt is recorded, and the booking's places are kept for it, before
// the gateway is asked; once asked, the caller's context no longer ends it.
// If the charge of an earlier attempt was lost, and the gateway did not answer when it
// was to cancel that one, it is asked again first.
// It returns ErrNotFound, ErrHoldExpired, ErrTooManyDeclines, ErrAlreadyPaid,
// ErrPaymentInProgress, ErrNoGateway, ErrKeyReused, an [*AmountError], a [*DeclinesError]
// or an [*InvalidError], and then nothing was charged. A repeated request is answered with
// the payment as it stands, Pending while the first one is still under way.
func (s *Service) PayBooking(ctx context.Context, by Caller, booking uuid.UUID, n NewPayment) (_ Payment, err error) {
	ctx, end := s.begin(ctx, "PayBooking")
	defer end(&err)
	n, err = n.normalize()
	if err != nil {
		return Payment{}, err
	}
	if s.opts.Gateway == nil {
		return Payment{}, ErrNoGateway
	}
	idem, err := s.books.idempotency(by, n.IdempotencyKey, "payment "+booking.String(), func(f *fingerprint) {
		f.money(n.Amount)
		f.source(n.Source, s.opts.FingerprintKey != nil)
	})
	if err != nil {
		return Payment{}, err
	}
	var a attempt
	var first *answer
	counts := s.books.counts(by.Subject, n.Source)
	err = s.flow.start(ctx, booking, func() error {
		a = s.flow.attempt(booking, n.Amount, n.Source)
		return s.books.update(ctx, a.Created, func(l *ledger) (err error) {
			first, err = l.pay(by, idem, counts, a.payment)
			return err
		})
	})
	switch {
	case err != nil:
		return Payment{}, err
	case first != nil:
		return s.flow.repeated(ctx, *first)
	case a.Status == Failed:
		return a.Payment, nil
	}
	ctx = context.WithoutCancel(ctx)
	return s.flow.settle(ctx, &a, s.flow.charge(ctx, &a))
}

// Payment returns the latest attempt to pay for a booking of the caller's, even
// if the booking is over; ErrNotFound before the first.
func (s *Service) Payment(ctx context.Context, by Caller, booking uuid.UUID) (_ Payment, err error) {
	ctx, end := s.begin(ctx, "Payment")
	defer end(&err)
	b, err := s.books.ownBooking(ctx, s.store, by, booking)
	if err != nil {
		return Payment{}, err
	}
	if b.LatestPayment == uuid.Nil {
		return Payment{}, ErrNotFound
	}
	p, err := s.books.payment(ctx, s.store, booking, b.LatestPayment)
	return p.Payment, damaged(err)
}

// Payments lists the attempts to pay for a booking of the caller's and its
// refunds, newest first, even if the booking is over.
func (s *Service) Payments(ctx context.Context, by Caller, booking uuid.UUID, page Page) (_ List[Payment], err error) {
	ctx, end := s.begin(ctx, "Payments")
	defer end(&err)
	page, err = page.normalize()
	if err != nil {
		return List[Payment]{}, err
	}
	after, err := page.cursor(paymentList, 16)
	if err != nil {
		return List[Payment]{}, err
	}
	var found []Payment
	var left omissions
	err = s.store.View(ctx, func(r Reader) (err error) {
		if _, err := s.books.ownBooking(ctx, r, by, booking); err != nil {
			return err
		}
		found, left, err = readPayments(ctx, r, booking)
		return err
	})
	s.books.omit(ctx, left)
	if err != nil {
		return List[Payment]{}, err
	}
	slices.Reverse(found)
	if after != "" {
		at := slices.IndexFunc(found, func(p Payment) bool { return string(p.ID[:]) == after })
		if at < 0 {
			return List[Payment]{}, invalid("after", "%.60q is not from a link of this list", page.After)
		}
		found = found[at+1:]
	}
	return cut(paymentList, found, page.skip(), page.Limit, func(p Payment) string { return string(p.ID[:]) }), nil
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
func (s *Service) SettlePayment(ctx context.Context, booking, id uuid.UUID, d Settlement) (_ Payment, err error) {
	ctx, end := s.begin(ctx, "SettlePayment")
	defer end(&err)
	if err := d.check(); err != nil {
		return Payment{}, err
	}
	return s.flow.settleByHand(ctx, booking, id, d)
}

// StuckPayments returns what waits for an operator, the oldest first: payments and
// refunds that are still pending so long after they were begun, and refunds that are
// impossible and that no operator has settled. unreadable is how many records could not
// be read; [Check] names them. It looks through all payments.
func (s *Service) StuckPayments(ctx context.Context, age time.Duration) (stuck []Payment, unreadable int, err error) {
	ctx, end := s.begin(ctx, "StuckPayments")
	defer end(&err)
	return s.flow.stuck(ctx, s.now().Add(-age))
}

// FindPayment returns a payment or refund of anybody's by its ID alone. It looks through
// all payments. ErrNotFound: there is none that can be read.
func (s *Service) FindPayment(ctx context.Context, id uuid.UUID) (_ Payment, err error) {
	ctx, end := s.begin(ctx, "FindPayment")
	defer end(&err)
	return s.flow.find(ctx, id)
}
