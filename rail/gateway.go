package rail

import (
	"context"
	"strings"
	"unicode"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/redact"
)

// A PaymentGateway moves the money. It must be safe for concurrent use: the service
// calls it outside any transaction, from several goroutines at once. Package
// paymenttest tests this contract; package sandbox is a gateway that moves no
// money.
//
// # Outcomes and errors
//
// An [Outcome] is the provider's result. A decline is an outcome with status
// Failed, a code, and a message for the payer. An error means that the outcome is
// not known, never that no money was moved: a timeout, a broken connection, an
// unreadable response. Two errors say more: one that wraps [ErrNotFound]
// (see Lookup), and the context's own. If a gateway panics or returns an invalid
// status, that counts as an error.
//
// Outcomes and errors must not contain any part of a [Source]: the service logs
// errors, and stores and shows the code and message of a failure, up to 500 bytes
// each.
//
// # IDs
//
// The service gives every charge and refund an ID and records it before it calls
// the gateway. It may call again with the same ID, after a crash or a lost
// response, and the gateway must act once for each: the second call returns the
// outcome of the first, or Pending or an error while that is in progress. The same
// ID with another amount is an error. Providers call such an ID an idempotency
// key, but often forget it after a day, which is not enough:
//
//   - A charge is looked up, and may be cancelled, as long as its outcome is not
//     known, however long that takes, and for at least 24 hours if the provider
//     did not know it.
//   - A charge is refunded by its ID as long as its booking can be cancelled,
//     until departure: within the booking horizon, a year by default.
//   - A refund is requested again until it has succeeded, however long that
//     takes. A gateway without its own records must find the earlier refund at the
//     provider, by the ID it was labelled with, before it makes another.
//
// # Time
//
// The context of a call ends after Options.ChargeTimeout. The call must then return
// an error and send nothing more: a charge that reaches the provider more than a
// minute later may find that its booking has been given up. If it succeeds
// nevertheless within 24 hours, the service notices, and confirms the booking or
// refunds the charge. Until its context ends, a call may retry with the same ID.
// After that, it must not move money.
type PaymentGateway interface {
	// Charge takes the amount from the source, in normal form: numbers without
	// separators, codes in upper case. The service calls it once for each
	// attempt to pay, while the payer waits. The service handles the result so:
	//
	//	Succeeded  confirms the booking; if that is no longer possible, a refund follows
	//	Failed     is final: the payer may make another attempt, with another ID
	//	Pending    keeps the booking's places for Options.PendingFor; Run calls Lookup until it is settled
	//	an error   the same as Pending
	Charge(ctx context.Context, c Charge) (Outcome, error)

	// Lookup returns the outcome of a charge or refund by its ID, as Charge and
	// Refund would. Once it is Succeeded or Failed, it never changes. While
	// a charge is in progress at the gateway or the provider, Lookup returns
	// Pending or an error. Run calls it, at intervals that grow from seconds to
	// an hour.
	//
	// An error that wraps [ErrNotFound] means that, as far as is known now, the
	// provider has never received the ID. Do not return it for a wrong address or
	// account, or because a list shows new charges late. Up to a minute after the
	// charge's deadline it counts as Pending. Then the service calls Cancel, if the
	// gateway is a [Canceller]; otherwise the attempt fails, and the service still
	// looks it up, until Lookup returns ErrNotFound 24 hours later or more.
	Lookup(ctx context.Context, id uuid.UUID) (Outcome, error)

	// Refund refunds an amount of an earlier charge that succeeded. The refunds of
	// a charge together must not exceed the charge: an excessive amount, or a
	// charge that does not exist, is an error or Failed. Run calls Refund with the
	// same ID until the refund is settled, at intervals that grow to an hour: after
	// Pending, after errors, and after Failed without a Resolution. So if the provider
	// can retry a failed refund, the gateway should do that. Three results settle it:
	//
	//	Succeeded                     the money is refunded
	//	Succeeded, RefundedElsewhere  the payer got the money back in another way
	//	Failed, RefundImpossible      the provider will never make the refund; Failure says why
	//
	// An operator has to settle a refund that stays unsettled or is impossible: see
	// Service.StuckPayments.
	Refund(ctx context.Context, r Refund) (Outcome, error)
}

// A Canceller is a gateway that can cancel a charge: after Cancel has returned
// Failed, a charge with this ID must never succeed, even if it arrives later.
// For a charge with an outcome, Cancel returns that outcome. It ends a pending charge
// if the provider still can; otherwise it returns Pending.
//
// The service calls it if the provider does not know a charge that cannot arrive any
// more, and if a booking has ended, or was paid by another attempt, while a charge is
// pending or in progress. After Pending or an error, the charge may still succeed: the
// payment does not change, and Run calls Lookup and Cancel again until one of them
// returns Succeeded or Failed. A charge that succeeds within 24 hours of the end of its
// booking confirms the booking if its places are free; otherwise it is refunded.
//
// An error that wraps [errors.ErrUnsupported] means that the gateway can never cancel
// this charge, and has changed nothing; the service then continues as if the gateway
// were not a Canceller.
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
	Charge uuid.UUID // of the payment to refund
	Amount Money     // positive, at most the charge's
}

// An Outcome is the result of a charge or a refund, as far as the gateway knows it.
type Outcome struct {
	Status  PaymentStatus
	Failure Failure // why, if Status is Failed
	// Resolution says more about a refund that is settled. It is empty for charges.
	Resolution Resolution
}

// A Resolution says how a refund ended that the provider did not make.
type Resolution string

const (
	// RefundedElsewhere says that the payer has got the money back in another way: the
	// refund was made in the provider's dashboard, or the payer's bank has taken the
	// money back. Status is Succeeded.
	RefundedElsewhere Resolution = "made_elsewhere"
	// RefundImpossible says that the provider will never make the refund, however often the
	// gateway requests it. Status is Failed.
	RefundImpossible Resolution = "impossible"
)

// Fits says whether a refund with the status can have this resolution.
func (r Resolution) Fits(s PaymentStatus) bool {
	return r == "" || r == RefundedElsewhere && s == Succeeded || r == RefundImpossible && s == Failed
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

// maxFailure is the maximum length of a stored text of a gateway, in bytes.
const maxFailure = 500

// Bounded returns the failure as it can be stored and shown: in one line of limited length,
// without card numbers.
func (f Failure) Bounded() Failure {
	cut := func(s string) string {
		s = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) || unicode.Is(unicode.Noncharacter_Code_Point, r) || unicode.Is(unicode.Bidi_Control, r) {
				return ' '
			}
			return r
		}, redact.HideNumbers(strings.ToValidUTF8(s, ""), ""))
		return strings.ToValidUTF8(s[:min(len(s), maxFailure)], "")
	}
	return Failure{Code: cut(f.Code), Message: cut(f.Message)}
}

// Failure codes that integrators know. A gateway may use others.
const (
	CardDeclined      = "card_declined"
	InsufficientFunds = "insufficient_funds"
	ExpiredCard       = "expired_card"
	IncorrectCVC      = "incorrect_cvc"
	ProcessingError   = "processing_error"
)

// Erased returns the failure without text that may be about a person: only a code that is one
// of those above. Other text of a gateway can contain anything.
func (f Failure) Erased() Failure {
	switch f.Code {
	case "", CardDeclined, InsufficientFunds, ExpiredCard, IncorrectCVC, ProcessingError:
		return Failure{Code: f.Code}
	}
	return Failure{Code: ProcessingError}
}
