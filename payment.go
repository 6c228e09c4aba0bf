package traintravel

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/internal/payments"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
)

// A NewPayment asks to pay for a booking.
type NewPayment struct {
	Amount Money // exactly the booking's price
	Source Source
	// IdempotencyKey is as in [NewBooking].
	IdempotencyKey string
}

func (n NewPayment) normalize() (_ NewPayment, err error) {
	if n.Source, err = n.Source.Normalize(); err != nil {
		return n, err
	}
	switch {
	case n.Amount.Amount <= 0:
		return n, rail.Invalid("amount", "is not above zero")
	case n.Amount.Amount > rail.MaxPayment:
		return n, rail.Invalid("amount", "is above %d minor units", int64(rail.MaxPayment))
	case !rail.ValidCurrency(n.Amount.Currency):
		return n, rail.Invalid("currency", rail.NoCurrency)
	}
	return n, nil
}

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
	idem, err := s.books.Idempotency(by, n.IdempotencyKey, "payment "+booking.String(), func(f *records.Fingerprint) {
		f.Money(n.Amount)
		f.Source(n.Source, s.opts.FingerprintKey != nil)
	})
	if err != nil {
		return Payment{}, err
	}
	var a payments.Attempt
	var first *records.Answer
	counts := s.books.Counts(by.Subject, n.Source)
	err = s.flow.Start(ctx, booking, func() error {
		a = s.flow.Attempt(booking, n.Amount, n.Source)
		return s.books.Update(ctx, a.Created, func(l *ledger.Ledger) (err error) {
			first, err = l.Pay(by, idem, counts, a.Payment)
			return err
		})
	})
	switch {
	case err != nil:
		return Payment{}, err
	case first != nil:
		return s.flow.Repeated(ctx, *first)
	case a.Status == Failed:
		return a.Payment.Payment, nil
	}
	ctx = context.WithoutCancel(ctx)
	return s.flow.Settle(ctx, &a, s.flow.Charge(ctx, &a))
}

// Payment returns the latest attempt to pay for a booking of the caller's, even
// if the booking is over; ErrNotFound before the first.
func (s *Service) Payment(ctx context.Context, by Caller, booking uuid.UUID) (_ Payment, err error) {
	ctx, end := s.begin(ctx, "Payment")
	defer end(&err)
	b, err := s.books.OwnBooking(ctx, s.store, by, booking)
	if err != nil {
		return Payment{}, err
	}
	if b.LatestPayment == uuid.Nil {
		return Payment{}, ErrNotFound
	}
	p, err := s.books.Payment(ctx, s.store, booking, b.LatestPayment)
	return p.Payment, records.Damaged(err)
}

// Payments lists the attempts to pay for a booking of the caller's and its
// refunds, newest first, even if the booking is over.
func (s *Service) Payments(ctx context.Context, by Caller, booking uuid.UUID, page Page) (_ List[Payment], err error) {
	ctx, end := s.begin(ctx, "Payments")
	defer end(&err)
	return s.flow.List(ctx, by, booking, page)
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
	if err := d.Check(); err != nil {
		return Payment{}, err
	}
	return s.flow.SettleByHand(ctx, booking, id, d)
}

// StuckPayments returns what waits for an operator, the oldest first: payments and
// refunds that are still pending so long after they were begun, and refunds that are
// impossible and that no operator has settled. unreadable is how many records could not
// be read; [Check] names them. It looks through all payments.
func (s *Service) StuckPayments(ctx context.Context, age time.Duration) (stuck []Payment, unreadable int, err error) {
	ctx, end := s.begin(ctx, "StuckPayments")
	defer end(&err)
	return s.flow.Stuck(ctx, s.now().Add(-age))
}

// FindPayment returns a payment or refund of anybody's by its ID alone. It looks through
// all payments. ErrNotFound: there is none that can be read.
func (s *Service) FindPayment(ctx context.Context, id uuid.UUID) (_ Payment, err error) {
	ctx, end := s.begin(ctx, "FindPayment")
	defer end(&err)
	return s.flow.Find(ctx, id)
}

type (
	// A BankAccount is an account to debit. Required: Name, Number, AccountType, BankName,
	// Country. No text has more than 200 characters.
	BankAccount = rail.BankAccount
	// An AccountType tells private accounts from companies'.
	AccountType = rail.AccountType
)

// The account types of the documented API.
const (
	Individual = rail.Individual
	Company    = rail.Company
)

type (
	// A Card is a payment card. Required: Name, Number, CVC, ExpMonth, ExpYear, Country. No
	// text has more than 200 characters.
	Card = rail.Card
	// A Canceller is a gateway that can fence a charge: after Cancel has returned Failed, a
	// charge with this ID will never succeed, even if it arrives later.
	Canceller = rail.Canceller
	// A Charge asks a gateway to take money. Source holds the full card number and code: a
	// gateway passes them on and forgets them.
	Charge = rail.Charge
	// A Refund asks a gateway to give money back.
	Refund = rail.Refund
	// An Outcome is what a gateway knows of a charge or a refund.
	Outcome = rail.Outcome
	// A Resolution is how a refund has ended that the provider did not make.
	Resolution = rail.Resolution
)

const (
	// RefundedElsewhere says that the payer has got the money back in another way: the
	// refund was made in the provider's dashboard, or the payer's bank has taken the
	// money back. Status is Succeeded.
	RefundedElsewhere = rail.RefundedElsewhere
	// RefundImpossible says that the provider will never make the refund, however often it
	// is asked. Status is Failed.
	RefundImpossible = rail.RefundImpossible
)

// A PaymentStatus is the state of an attempt to move money.
type PaymentStatus = rail.PaymentStatus

// The statuses, as the documented API spells them.
const (
	Pending   = rail.Pending // not known yet
	Succeeded = rail.Succeeded
	Failed    = rail.Failed
)

// A Failure says why an attempt failed. Message is for the payer.
type Failure = rail.Failure

// Failure codes that integrators know. A gateway may use others.
const (
	CardDeclined      = rail.CardDeclined
	InsufficientFunds = rail.InsufficientFunds
	ExpiredCard       = rail.ExpiredCard
	IncorrectCVC      = rail.IncorrectCVC
	ProcessingError   = rail.ProcessingError
)

type (
	// A Payment is an attempt to pay for a booking, or a refund.
	Payment = rail.Payment
	// A Secret is a card or account number, or a card's code.
	Secret = rail.Secret
	// A Verdict is what an operator says became of a payment or a refund.
	Verdict = rail.Verdict
)

// The verdicts.
const (
	// AsSucceeded: the money has moved. A charge confirms its booking, or is given back
	// if it came too late.
	AsSucceeded = rail.AsSucceeded
	// AsFailed: a charge has moved no money and never will. The hold goes on if it has
	// time left, and ends otherwise. The charge is cancelled at the gateway if that can
	// be done, and still watched: money that comes all the same is not kept.
	AsFailed = rail.AsFailed
	// AsMadeElsewhere: the payer has got the money of a refund back in another way.
	AsMadeElsewhere = rail.AsMadeElsewhere
	// AsImpossible: a refund will never be made.
	AsImpossible = rail.AsImpossible
)

type (
	// A Settlement is an operator's verdict on a payment or refund.
	Settlement = rail.Settlement
	// A Source is what a payment is taken from: exactly one of its members is set.
	Source = rail.Source
)
