package traintravel

import (
	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/rail"
)

// ErrNotFound: there is no such station, trip, booking or payment, or it
// is somebody else's, or it is over.
var ErrNotFound = rail.ErrNotFound

// ErrNoTimetable: the store holds no timetable yet; load one.
var ErrNoTimetable = rail.ErrNoTimetable

// ErrHasTimetable: the store holds a timetable, and the one to be loaded
// was to be its first.
var ErrHasTimetable = rail.ErrHasTimetable

// Refusals of a booking.
var (
	ErrSoldOut            = rail.ErrSoldOut
	ErrBicyclesNotAllowed = rail.ErrBicyclesNotAllowed
	ErrNoBicycleSpace     = rail.ErrNoBicycleSpace
	ErrDogsNotAllowed     = rail.ErrDogsNotAllowed
	ErrDeparted           = rail.ErrDeparted
)

// Refusals of a payment or a cancellation.
var (
	ErrHoldExpired       = rail.ErrHoldExpired
	ErrTooManyDeclines   = rail.ErrTooManyDeclines
	ErrAlreadyPaid       = rail.ErrAlreadyPaid
	ErrPaymentInProgress = rail.ErrPaymentInProgress
	ErrNoGateway         = rail.ErrNoGateway
)

// ErrNotPaid: the booking is held, and has no ticket before it is paid.
var ErrNotPaid = rail.ErrNotPaid

// ErrPaymentSettled: what became of the payment is known, and stays as it is.
var ErrPaymentSettled = rail.ErrPaymentSettled

// ErrPlaceTaken: somebody has the place that is to be blocked.
var ErrPlaceTaken = rail.ErrPlaceTaken

// ErrArrived: the run has arrived at its last call, and there is nothing left of it
// to be blocked or cancelled.
var ErrArrived = rail.ErrArrived

// ErrPaidTooLate: the money came when the booking could not have its
// places any more, and is given back.
var ErrPaidTooLate = rail.ErrPaidTooLate

// ErrChanged: the booking is not as it was read.
var ErrChanged = rail.ErrChanged

// ErrKeyReused: the idempotency key came before, with another request.
var ErrKeyReused = rail.ErrKeyReused

// ErrMoved: the data of the store has moved to another one, by [Copy].
var ErrMoved = rail.ErrMoved

// ErrCopying: the store is being filled by [Copy], or one was that did not
// come to its end and has to be done again.
var ErrCopying = rail.ErrCopying

// ErrHoldsData: what Copy should fill is not empty.
var ErrHoldsData = rail.ErrHoldsData

// ErrNewerData: a record was written by a newer version of this module.
var ErrNewerData = codec.ErrNewerData

// An InvalidError says which input was wrong, and why.
type InvalidError = rail.InvalidError

// An AmountError refuses a payment that is not exactly the price.
type AmountError = rail.AmountError
