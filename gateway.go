package traintravel

import (
	"context"

	"github.com/google/uuid"
)

// A PaymentGateway moves the money. The service gives every charge and refund
// an ID of its own, records it before it asks, and may ask again with the same
// ID after a crash or a lost answer: a gateway acts once for each ID and tells
// the same outcome ever after (the ID is what providers call an idempotency
// key).
//
// An error says that the outcome is not known, never that the money was not
// moved; a decline is an [Outcome] with status Failed. The service calls a
// gateway outside any transaction, from several goroutines at once, with a
// context that ends after Options.ChargeTimeout.
//
// A gateway that can refuse an ID for good implements [Canceller] too.
type PaymentGateway interface {
	// Charge takes the amount from the source. It may answer Pending, and the
	// service asks Lookup until it hears Succeeded or Failed.
	Charge(ctx context.Context, c Charge) (Outcome, error)

	// Lookup tells the outcome of a charge or refund by its ID, or an error
	// wrapping [ErrNotFound] if the gateway has never been asked.
	Lookup(ctx context.Context, id uuid.UUID) (Outcome, error)

	// Refund gives back an amount of an earlier charge that succeeded. An
	// error or Failed makes the service try again later, with the same ID.
	Refund(ctx context.Context, r Refund) (Outcome, error)
}

// A Canceller is a gateway that can fence a charge: after Cancel has returned
// Failed, a charge with this ID will never succeed, even if it arrives later.
// Cancel on a charge that has an outcome returns that outcome.
type Canceller interface {
	Cancel(ctx context.Context, id uuid.UUID) (Outcome, error)
}

// A Charge asks a gateway to take money. Source holds the full card number
// and code: a gateway passes them on and forgets them.
type Charge struct {
	ID      uuid.UUID // of the payment
	Booking uuid.UUID
	Amount  Money
	Source  Source
}

// A Refund asks a gateway to give money back.
type Refund struct {
	ID     uuid.UUID // of the refund
	Charge uuid.UUID // of the payment it gives back
	Amount Money     // positive, at most the charge's
}

// An Outcome is what a gateway knows of a charge or a refund.
type Outcome struct {
	Status  PaymentStatus
	Failure Failure // why, if Status is Failed
}

// A PaymentStatus is the state of an attempt to move money.
type PaymentStatus string

// The statuses, as the documented API spells them.
const (
	Pending   PaymentStatus = "pending" // not known yet
	Succeeded PaymentStatus = "succeeded"
	Failed    PaymentStatus = "failed"
)

// A Failure says why an attempt failed. Message is for the payer.
type Failure struct {
	Code    string
	Message string
}

// Failure codes that integrators know. A gateway may use others.
const (
	CardDeclined      = "card_declined"
	InsufficientFunds = "insufficient_funds"
	ExpiredCard       = "expired_card"
	IncorrectCVC      = "incorrect_cvc"
	ProcessingError   = "processing_error"
)
