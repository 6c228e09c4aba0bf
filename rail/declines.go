package rail

import (
	"time"

	"github.com/google/uuid"
)

// Declined payments are bounded, because whoever has stolen card numbers tries them out
// by paying small sums. A booking has a number of declined attempts for all its life; a
// card or account, and a user, have a number for each hour.

// DeclineLimits limits declined attempts to pay. An attempt that did not reach the gateway
// does not count; one whose outcome is not known yet does. In each field, zero is the
// default and a negative number means no limit; more than 1000 is refused. Attempts that
// could exceed a limit together are made one after another.
type DeclineLimits struct {
	// Booking is the number of attempts to pay for one booking that may be declined. The last
	// of them ends the hold; later attempts get ErrTooManyDeclines. Zero is 5.
	Booking int

	// Card is the number of attempts with one card or bank account that may be declined
	// within an hour. Further attempts get a [*DeclinesError]. Zero is 20.
	//
	// Cards are identified by a keyed hash of their number, kept for at most two hours.
	// Its key is Options.FingerprintKey. Without it, each Service makes its own key in
	// memory; then services that share a store do not see each other's counts, and a
	// restart clears them.
	Card int

	// User is the same for each user, whatever the card. Zero is 50. A program that pays
	// for many travellers as one user may need more.
	User int
}

// A DeclinesError refuses an attempt to pay because too many were declined within an
// hour. Nothing was charged.
type DeclinesError struct {
	// Card says that the limit is that of the card or account, and not of the user.
	Card bool
	// RetryAfter is how long it takes until another attempt is allowed, above zero.
	RetryAfter time.Duration
}

// Error says which limit was reached.
func (e *DeclinesError) Error() string {
	if e.Card {
		return "too many payments with this card or account were declined within an hour"
	}
	return "too many payments of this user were declined within an hour"
}

// maxDeclines is the highest limit that can be set.
const maxDeclines = 1000

// Check refuses limits that are too high and fills in the defaults.
func (d *DeclineLimits) Check() error {
	for _, l := range []struct {
		name  string
		value *int
		zero  int
	}{{"Booking", &d.Booking, 5}, {"Card", &d.Card, 20}, {"User", &d.User, 50}} {
		if *l.value > maxDeclines {
			return Invalid("Options.Declines."+l.name, "%d is more than %d: set a lower number, or one below zero for no limit", *l.value, maxDeclines)
		}
		if *l.value == 0 {
			*l.value = l.zero
		}
	}
	return nil
}

// NotAttempted returns the failure of an attempt that did not reach the gateway in time.
func NotAttempted() Failure {
	return Failure{ProcessingError, "The payment was not attempted in time. Try again."}
}

// NeverArrived returns the failure of an attempt whose charge the gateway never received.
func NeverArrived() Failure {
	return Failure{ProcessingError, "The payment did not reach the bank. Nothing was charged."}
}

// Declined says whether the payment is an attempt that the gateway declined, as opposed to
// one that never reached the gateway.
func (p *Payment) Declined() bool {
	return p.RefundOf == uuid.Nil && p.Status == Failed && p.Failure != NotAttempted() && p.Failure != NeverArrived()
}
