package traintravel

import (
	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/rail"
)

// Errors of a Service. Errors with more details are types: [InvalidError], [AmountError],
// [DeclinesError], [HoldsError], [HostLimitError] and [EditionError].
var (
	// ErrNotFound: the station, trip, booking or payment does not exist, belongs to
	// somebody else, or has ended.
	ErrNotFound = rail.ErrNotFound
	// ErrNoTimetable: the store holds no timetable yet; load one.
	ErrNoTimetable = rail.ErrNoTimetable
	// ErrHasTimetable: the store has a timetable already, but the one to load was to be the
	// first.
	ErrHasTimetable = rail.ErrHasTimetable

	// Refusals of a booking.
	ErrSoldOut            = rail.ErrSoldOut
	ErrBicyclesNotAllowed = rail.ErrBicyclesNotAllowed
	ErrNoBicycleSpace     = rail.ErrNoBicycleSpace
	ErrDogsNotAllowed     = rail.ErrDogsNotAllowed
	ErrDeparted           = rail.ErrDeparted

	// Refusals of a payment or a cancellation.
	ErrHoldExpired       = rail.ErrHoldExpired
	ErrTooManyDeclines   = rail.ErrTooManyDeclines
	ErrAlreadyPaid       = rail.ErrAlreadyPaid
	ErrPaymentInProgress = rail.ErrPaymentInProgress
	ErrNoGateway         = rail.ErrNoGateway
	// ErrCancelled: the operator has cancelled the booking, and [Service.Booking] still
	// returns it. A payment is refunded in full.
	ErrCancelled = rail.ErrCancelled

	// ErrNotPaid: the booking is held, and has no ticket until it is paid.
	ErrNotPaid = rail.ErrNotPaid
	// ErrPaymentSettled: the payment has an outcome, which does not change.
	ErrPaymentSettled = rail.ErrPaymentSettled
	// ErrPlaceTaken: the place to be blocked is already held, paid or blocked.
	ErrPlaceTaken = rail.ErrPlaceTaken
	// ErrArrived: the run has arrived at its last call, so it cannot be blocked or cancelled
	// any more.
	ErrArrived = rail.ErrArrived
	// ErrPaidTooLate: the charge succeeded only after the booking had lost its places; the
	// money is refunded.
	ErrPaidTooLate = rail.ErrPaidTooLate
	// ErrChanged: the booking has changed since it was read.
	ErrChanged = rail.ErrChanged
	// ErrKeyReused: the idempotency key was used before, with another request.
	ErrKeyReused = rail.ErrKeyReused
	// ErrMoved: [Copy] has moved the data of the store to another store.
	ErrMoved = rail.ErrMoved
	// ErrCopying: [Copy] is filling the store, or did not complete and must be run again.
	ErrCopying = rail.ErrCopying
	// ErrHoldsData: the target of Copy is not empty.
	ErrHoldsData = rail.ErrHoldsData
	// ErrNewerData: a record was written by a newer version of this module.
	ErrNewerData = codec.ErrNewerData
)

type (
	// An InvalidError names an invalid input and the reason.
	InvalidError = rail.InvalidError
	// An AmountError refuses a payment that is not exactly the price.
	AmountError = rail.AmountError
)
