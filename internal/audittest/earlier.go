package audittest

import (
	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
)

// MakeEarlier makes a booking one that the version before references has left: without one,
// and in no list once it was cancelled.
func MakeEarlier(id uuid.UUID) func(*Vandal) {
	return func(v *Vandal) {
		b := v.booking(func(b *rail.Booking) bool { return b.ID == id })
		v.delete(records.ReferenceKey(b.Reference))
		if !b.Status.Live() {
			if k := records.OwnedKey(&b); k.ID != "" {
				v.delete(k)
			}
		}
		b.Reference, b.CancelledLeg, b.GivenBack = "", 0, false
		record := records.EncodeBooking(&b)
		record[0] = 4
		v.put(records.BookingKey(b.ID), record[:len(record)-2]) // what version 5 has more
	}
}
