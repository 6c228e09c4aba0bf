package rail

import "time"

// A PastBooking is a booking that is over, as its owner is told of it.
type PastBooking struct {
	Booking
	// Refunds are what is given back for it, in the order in which that was decided: pending
	// until the payer has it, as far as the gateway knows.
	Refunds []Payment
}

// A BookingOutcome is how a booking ended.
type BookingOutcome string

// The outcomes.
const (
	// Travelled: it was paid, and its trip has ended.
	Travelled BookingOutcome = "travelled"
	// WasCancelled: its owner or the operator has cancelled it.
	WasCancelled BookingOutcome = "cancelled"
	// WasTooLate: money came for it after its hold had ended, and is given back.
	WasTooLate BookingOutcome = "expired"
)

// Outcome is how a booking that is over has ended.
func (b *Booking) Outcome() BookingOutcome {
	switch b.Status {
	case Confirmed:
		return Travelled
	case Cancelled:
		return WasCancelled
	}
	return WasTooLate
}

// Ended is when a booking that is over ended: the zero time if that is not known.
func (b *Booking) Ended() time.Time {
	if b.Status == Confirmed {
		return b.Arrives()
	}
	return b.Changed
}

// CancelledTrain is the leg whose train the operator has cancelled, and the booking with it,
// or nil.
func (b *Booking) CancelledTrain() *Leg {
	if b.CancelledLeg == 0 {
		return nil
	}
	return &b.Legs[b.CancelledLeg-1]
}
