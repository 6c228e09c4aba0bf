package records

import (
	"encoding/binary"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/ids"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// TableReferences has the booking of each reference. The record is written in the update
// that gives the booking its reference, and so no two bookings have the same: whoever wants
// one that is there draws again.

// ReferenceKey names the record of a reference. Its value is the ID of the booking.
func ReferenceKey(ref string) store.Key { return store.Key{Table: store.TableReferences, ID: ref} }

// DrawReference draws a reference from random bits: another one for each try.
func DrawReference(random uuid.UUID, try int) string {
	drawn := ids.HashID("reference", random, try)
	n := binary.BigEndian.Uint64(append([]byte{0, 0}, drawn[:6]...)) // without the bits of its version
	var ref [rail.ReferenceLength]byte
	for i := range ref {
		ref[i] = rail.ReferenceAlphabet[n%uint64(len(rail.ReferenceAlphabet))]
		n /= uint64(len(rail.ReferenceAlphabet))
	}
	return string(ref[:])
}
