package rail

import (
	"context"
	"strings"
	"unicode"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/redact"
)

// A PaymentGateway moves the money. It is safe for concurrent use: the service
// calls it outside any transaction, from several goroutines at once. Package
// paymenttest is this contract as a test suite; package sandbox is a gateway
// that moves no money.
//
// # Outcomes and errors
//
// An [Outcome] is what the provider has said. A decline is one, with status
// Failed, a code, and a message for the payer. An error says that the outcome is
// not known, never that nothing was moved: a time limit, a broken connection, an
// answer that cannot be read. Two errors say more: one that wraps [ErrNotFound]
// (see Lookup), and the context's own. A gateway that panics, or answers with a
// status that is none, is taken for one that returned an error.
//
// Neither outcomes nor errors hold anything of a [Source]: the service logs
// errors, and stores and shows the failure of an outcome, of code and message up
// to 500 bytes each.
//
// # IDs
//
// The service gives every charge and refund an ID of its own and records it
// before it asks. It may ask again with the same ID, after a crash or a lost
// answer, and the gateway acts once for each: the second call returns what the
// first has come to, or Pending or an error while it is at work. The same ID for
// another amount is an error. The ID is what providers call an idempotency key;
// but those are often forgotten after a day, which is not enough:
//
//   - A charge is looked up, and may be cancelled, as long as its outcome is not
//     known, however long that takes, and for at least 24 hours if the provider
//     had not heard of it.
//   - A charge is refunded by its ID as long as its booking can be cancelled,
//     until departure: within the horizon of booking, a year by default.
//   - A refund is asked for again until it has succeeded, however long that
//     takes. Who keeps no books of his own finds the earlier try at the provider,
//     by the ID that it was labelled with, before making another.
//
// # Time
//
// The context of a call ends after Options.ChargeTimeout. The call returns then,
// with an error, and sends nothing more on its own: a charge that reaches the
// provider more than a minute after that may find its booking given up. One that
// succeeds all the same within 24 hours is noticed, and confirms the booking or
// is given back. Within its context a call may try again as it likes, with the
// same ID. A call whose context has ended moves nothing.
type PaymentGateway interface {
	// Charge takes the amount from the source, in normal form: numbers without
	// separators, codes in upper case. The service calls it once for each
	// attempt to pay, while the payer waits. What it makes of the answer:
	//
	//	Succeeded  confirms the booking; if that is impossible by now, a refund follows
	//	Failed     is final: the payer may make another attempt, with another ID
	//	Pending    keeps the booking's places for Options.PendingFor; Run calls Lookup until it is settled
	//	an error   the same
	Charge(ctx context.Context, c Charge) (Outcome, error)

	// Lookup tells the outcome of a charge or refund by its ID, as Charge and
	// Refund would: the same ever after, once it is Succeeded or Failed. While
	// a charge is still on its way through the gateway or the provider, the
	// answer is Pending, or an error. Run calls it, at intervals that grow from
	// seconds to an hour.
	//
	// An error that wraps [ErrNotFound] says that the provider has never been
	// asked, as far as it knows now, and nothing else does: not a wrong
	// address or account, nor a list that shows new charges late. Up to a
	// minute after the charge's deadline it is like Pending. Then the service
	// calls Cancel, if the gateway is a [Canceller]; otherwise the attempt has
	// failed, and is looked up in case it arrives, until Lookup says 24 hours
	// later or more that it has not.
	Lookup(ctx context.Context, id uuid.UUID) (Outcome, error)

	// Refund gives back an amount of an earlier charge that succeeded. All
	// refunds of a charge together are never more than the charge: what would
	// exceed it, or has no such charge to give back, is an error or Failed.
	// Run calls it with the same ID until the refund is settled, at intervals
	// that grow to an hour: after Pending, errors, and Failed without a Resolution
	// alike. So a gateway that can ask the provider anew after a refund has failed
	// does that. Three answers settle it, and then nobody asks again:
	//
	//	Succeeded                 the money goes back
	//	Succeeded, RefundedElsewhere  it has gone back in another way
	//	Failed, RefundImpossible        the provider will never make the refund; Failure says why
	//
	// What stays unsettled, and what is impossible, is for a person: see
	// Service.StuckPayments.
	Refund(ctx context.Context, r Refund) (Outcome, error)
}

// A Canceller is a gateway that can fence a charge: after Cancel has returned
// Failed, a charge with this ID will never succeed, even if it arrives later.
// Cancel on a charge that has an outcome returns that outcome. One that is pending
// it ends if the provider still can; if the provider cannot, it returns Pending.
//
// The service calls it when the provider has not heard of a charge that cannot
// arrive any more, and when a booking has ended, or was paid by another attempt,
// while a charge is pending or under way. After Pending, or an error, the charge
// may still succeed: the payment stays as it is, and Run calls Lookup and Cancel
// again until one of them has returned Succeeded or Failed. What succeeds within 24
// hours of the end of its booking confirms the booking, if its places are free; else,
// and later, it is refunded.
//
// An error that wraps [errors.ErrUnsupported] says that the gateway cannot cancel this
// charge, now or later, and has changed nothing; the service goes on as if the gateway
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
	Charge uuid.UUID // of the payment it gives back
	Amount Money     // positive, at most the charge's
}

// An Outcome is what a gateway knows of a charge or a refund.
type Outcome struct {
	Status  PaymentStatus
	Failure Failure // why, if Status is Failed
	// Resolution says more about a refund that is settled. It is empty for charges.
	Resolution Resolution
}

// A Resolution is how a refund has ended that the provider did not make.
type Resolution string

const (
	// RefundedElsewhere says that the payer has got the money back in another way: the
	// refund was made in the provider's dashboard, or the payer's bank has taken the
	// money back. Status is Succeeded.
	RefundedElsewhere Resolution = "made_elsewhere"
	// RefundImpossible says that the provider will never make the refund, however often it
	// is asked. Status is Failed.
	RefundImpossible Resolution = "impossible"
)

// Fits says whether a refund of a status can have this resolution.
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

// maxFailure bounds what is kept of a gateway's words, in bytes.
const maxFailure = 500

// Bounded is a failure of which a record has room: of a gateway's words what
// can be shown, in one line and without numbers of cards.
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

// Erased is what is left of a failure that may be about a person: a code that is one of
// those above. What else a gateway has said may hold anything.
func (f Failure) Erased() Failure {
	switch f.Code {
	case "", CardDeclined, InsufficientFunds, ExpiredCard, IncorrectCVC, ProcessingError:
		return Failure{Code: f.Code}
	}
	return Failure{Code: ProcessingError}
}
