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
		return n, rail.Invalid("amount", "must be above zero")
	case n.Amount.Amount > rail.MaxPayment:
		return n, rail.Invalid("amount", "must be at most %d minor units", int64(rail.MaxPayment))
	case !rail.ValidCurrency(n.Amount.Currency):
		return n, rail.Invalid("currency", rail.NoCurrency)
	}
	return n, nil
}

// PayBooking pays for one of the caller's bookings. It returns the payment without an
// error whatever its outcome: Succeeded has confirmed the booking; Failed leaves the hold
// for another attempt, unless it was the last that Options.Declines allows; Pending means
// that the outcome is not known yet, and Run finds it out. There is one exception: if the
// payment succeeded after departure, after its hold had ended and the places were taken,
// or after another payment, PayBooking returns it with ErrPaidTooLate, and Run refunds it.
// If the booking ends while the outcome is not known, Run asks the gateway to cancel the
// charge.
//
// Before it calls the gateway, PayBooking records the attempt and keeps the booking's
// places for it; after that, the end of ctx does not interrupt it. If the charge of an
// earlier attempt was lost and the gateway has not confirmed its cancellation, PayBooking
// requests that first.
//
// It returns ErrNotFound, ErrCancelled, ErrHoldExpired, ErrTooManyDeclines, ErrAlreadyPaid,
// ErrPaymentInProgress, ErrNoGateway, ErrKeyReused, an [*AmountError], a [*DeclinesError]
// or an [*InvalidError]; then nothing was charged. A repeated request returns the payment
// in its current state, Pending while the first request is still in progress.
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
	n.Source = n.Source.TrimNames()
	// Earlier versions accepted such sources: a repeated request gets its first answer.
	refusal := n.Source.CheckNew()
	if refusal != nil && idem.None() {
		return Payment{}, refusal
	}
	var a payments.Attempt
	var first *records.Answer
	counts := s.books.Counts(by.Subject, n.Source)
	err = s.flow.Start(ctx, booking, func() error {
		a = s.flow.Attempt(booking, n.Amount, n.Source)
		return s.books.Update(ctx, a.Created, func(l *ledger.Ledger) (err error) {
			first, err = l.Pay(by, idem, refusal, counts, a.Payment)
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

// SettlePayment settles a payment or refund that the gateway has not settled, after an
// operator has looked it up at the provider. [BookingHistory] shows who settled it, when
// and why.
//
// A charge can be settled as AsSucceeded or AsFailed while it is pending, or has failed
// and is still being looked up; AsFailed ends the look-ups. A refund can be settled as
// AsSucceeded, AsMadeElsewhere or AsImpossible until it has succeeded; if the gateway
// reported it as impossible, it leaves [Service.StuckPayments] after any settlement by an
// operator. Repeating the same settlement changes nothing.
//
// It returns the payment in its new state. It returns ErrNotFound if the booking does not
// have the payment, [ErrPaymentSettled] if the payment cannot be settled in this way,
// [ErrPaymentInProgress] while the gateway is processing the charge, and an
// [*InvalidError] that names as, by or reason.
func (s *Service) SettlePayment(ctx context.Context, booking, id uuid.UUID, d Settlement) (_ Payment, err error) {
	ctx, end := s.begin(ctx, "SettlePayment")
	defer end(&err)
	if err := d.Check(); err != nil {
		return Payment{}, err
	}
	return s.flow.SettleByHand(ctx, booking, id, d)
}

// StuckPayments returns the payments and refunds that wait for an operator, oldest first:
// those that are still pending this long after they began, and impossible refunds that no
// operator has settled. unreadable is the number of records that could not be read; [Check]
// names them. It scans all payments.
func (s *Service) StuckPayments(ctx context.Context, age time.Duration) (stuck []Payment, unreadable int, err error) {
	ctx, end := s.begin(ctx, "StuckPayments")
	defer end(&err)
	return s.flow.Stuck(ctx, s.now().Add(-age))
}

// FindPayment returns a payment or refund of any user by its ID. It scans all payments.
// It returns ErrNotFound if no readable payment has the ID.
func (s *Service) FindPayment(ctx context.Context, id uuid.UUID) (_ Payment, err error) {
	ctx, end := s.begin(ctx, "FindPayment")
	defer end(&err)
	return s.flow.Find(ctx, id)
}

type (
	// A BankAccount is an account to debit. Required: Name, Number, AccountType, BankName,
	// Country. No text has more than 200 characters.
	BankAccount = rail.BankAccount
	// An AccountType distinguishes accounts of individuals and companies.
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
	// An Outcome is the result of a charge or a refund, as far as the gateway knows it.
	Outcome = rail.Outcome
	// A Resolution says how a refund ended that the provider did not make.
	Resolution = rail.Resolution
)

const (
	// RefundedElsewhere says that the payer has got the money back in another way: the
	// refund was made in the provider's dashboard, or the payer's bank has taken the
	// money back. Status is Succeeded.
	RefundedElsewhere = rail.RefundedElsewhere
	// RefundImpossible says that the provider will never make the refund, however often the
	// gateway requests it. Status is Failed.
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
	// A Verdict is an operator's decision about the outcome of a payment or a refund.
	Verdict = rail.Verdict
)

// The verdicts.
const (
	// AsSucceeded: the money has moved. A charge confirms its booking, or is refunded if it
	// came too late.
	AsSucceeded = rail.AsSucceeded
	// AsFailed: a charge has moved no money and never will. The hold continues if it has
	// time left, and ends otherwise. The service cancels the charge at the gateway if it
	// can, and still looks it up: money that arrives nevertheless is refunded.
	AsFailed = rail.AsFailed
	// AsMadeElsewhere: the payer has received the refund in another way.
	AsMadeElsewhere = rail.AsMadeElsewhere
	// AsImpossible: a refund will never be made.
	AsImpossible = rail.AsImpossible
)

type (
	// A Settlement is an operator's verdict on a payment or refund.
	Settlement = rail.Settlement
	// A Source is a card or a bank account that pays: exactly one of its members is set.
	Source = rail.Source
)
