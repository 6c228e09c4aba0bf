package rail

import "time"

// A PastBooking is a booking that has ended, as shown to its owner.
type PastBooking struct {
	Booking
	// Refunds are the refunds of the booking, in the order in which they were decided. A
	// refund is pending until the payer has the money, as far as the gateway knows.
	Refunds []Payment
}

// A BookingOutcome says how a booking ended.
type BookingOutcome string

// The outcomes.
const (
	// Travelled: the booking was paid, and its trip has ended.
	Travelled BookingOutcome = "travelled"
	// WasCancelled: the owner or the operator cancelled the booking.
	WasCancelled BookingOutcome = "cancelled"
	// WasTooLate: the booking was paid after its hold had ended; the charge is refunded.
	WasTooLate BookingOutcome = "expired"
)

// Outcome returns how a booking that is over ended.
func (b *Booking) Outcome() BookingOutcome {
	switch b.Status {
	case Confirmed:
		return Travelled
	case Cancelled:
		return WasCancelled
	}
	return WasTooLate
}

// Ended returns when a booking that is over ended, zero if unknown.
func (b *Booking) Ended() time.Time {
	if b.Status == Confirmed {
		return b.Arrives()
	}
	return b.Changed
}

// CancelledTrain returns the leg whose train the operator cancelled, and with it the booking,
// or nil.
func (b *Booking) CancelledTrain() *Leg {
	if b.CancelledLeg == 0 {
		return nil
	}
	return &b.Legs[b.CancelledLeg-1]
}
