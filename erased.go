package traintravel

import (
	"time"

	"github.com/google/uuid"
)

// Erased says whether who the booking is for has been removed: its name and its owner,
// by [Service.EraseSubject] or Options.Retain.
func (b *Booking) Erased() bool { return b.Owner == Subject{} && b.PassengerName == "" }

// over says that nobody travels on the booking any more.
func (b *Booking) over(now time.Time) bool {
	return !b.live(now) && b.OpenPayment == uuid.Nil || b.Status == Confirmed && !now.Before(b.arrives())
}

// arrives is when the trip ends.
func (b *Booking) arrives() time.Time { return b.Legs[len(b.Legs)-1].Destination.Time }
