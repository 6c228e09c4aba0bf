package rail

import (
	"errors"
	"fmt"
)

// Errors that a caller can act on. Every error of the methods of Service is or wraps one of
// these, an [*InvalidError], an [*AmountError], a [*DeclinesError], a [*HoldsError], the error
// of the caller's context or of Options.Cancel, or a failure of the store, which belongs in
// the log and not in a message to the user. Of store failures, retry store.ErrUnavailable;
// retry store.ErrUnknownOutcome only with the same idempotency key.
var (
	// ErrNotFound: the station, trip, booking or payment does not exist, belongs to
	// somebody else, or has ended.
	ErrNotFound = errors.New("not found")

	// ErrNoTimetable: the store holds no timetable yet; load one.
	ErrNoTimetable = errors.New("no timetable is loaded")

	// ErrHasTimetable: the store has a timetable already, but the one to load was to be the
	// first.
	ErrHasTimetable = errors.New("the store has a timetable already")

	// Refusals of a booking.
	ErrSoldOut            = errors.New("all places on this trip are taken")
	ErrBicyclesNotAllowed = errors.New("the timetable does not say that this trip allows bicycles")
	ErrNoBicycleSpace     = errors.New("all bicycle spaces on this trip are taken")
	ErrDogsNotAllowed     = errors.New("the timetable does not say that this trip allows dogs")
	ErrDeparted           = errors.New("the trip has departed")

	// Refusals of a payment or a cancellation.
	ErrHoldExpired       = errors.New("the hold on this booking has expired")
	ErrTooManyDeclines   = errors.New("the hold on this booking has ended: too many payments were declined")
	ErrAlreadyPaid       = errors.New("the booking is paid")
	ErrPaymentInProgress = errors.New("a payment of this booking is in progress")
	ErrNoGateway         = errors.New("no payment gateway is configured")

	// ErrCancelled: the operator has cancelled the booking, and its owner can still read it:
	// see Booking.Shown. After that, and for one that its owner has cancelled, the error is
	// ErrNotFound.
	ErrCancelled = errors.New("the operator has cancelled the booking")

	// ErrNotPaid: the booking is held, and has no ticket until it is paid.
	ErrNotPaid = errors.New("the booking is not paid")

	// ErrPaymentSettled: the payment has an outcome, which does not change.
	ErrPaymentSettled = errors.New("the payment is settled")

	// ErrPlaceTaken: the place to be blocked is already held, paid or blocked.
	ErrPlaceTaken = errors.New("the place is taken")

	// ErrArrived: the run has arrived at its last call, so it cannot be blocked or cancelled
	// any more.
	ErrArrived = errors.New("the train has arrived at its last stop")

	// ErrPaidTooLate: the charge succeeded only after the booking had lost its places; the
	// money is refunded.
	ErrPaidTooLate = errors.New("the payment came too late and is refunded")

	// ErrChanged: the booking has changed since it was read.
	ErrChanged = errors.New("the booking has changed since it was read")

	// ErrKeyReused: the idempotency key was used before, with another request.
	ErrKeyReused = errors.New("the idempotency key was used for another request")

	// ErrMoved: Copy has moved the data of the store to another store.
	ErrMoved = errors.New("the data of this store was moved")
	// ErrCopying: Copy is filling the store, or did not complete and must be run again.
	ErrCopying = errors.New("a copy into this store has not completed")
	// ErrHoldsData: the target of Copy is not empty.
	ErrHoldsData = errors.New("the target is not empty: give one that no server has used yet")
)

// An InvalidError names an invalid input and the reason. Field is the member as the documented
// API spells it (passenger_name, source.exp_month) or, in a timetable, a path such as
// trains[3].calls[0].
type InvalidError struct {
	Field  string
	Reason string
}

// Error returns the field and the reason.
func (e *InvalidError) Error() string { return e.Field + ": " + e.Reason }

// Invalid returns an [*InvalidError] that names the field, with a reason formatted as by
// fmt.Sprintf.
func Invalid(field, format string, args ...any) error {
	return &InvalidError{Field: field, Reason: fmt.Sprintf(format, args...)}
}

// An AmountError refuses a payment that is not exactly the price.
type AmountError struct{ Due, Offered Money }

// Error names the amount due.
func (e *AmountError) Error() string { return "the amount due is " + e.Due.String() }
