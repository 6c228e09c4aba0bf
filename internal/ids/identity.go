// Package ids makes UUIDs: some order by the time at which they are made, others are a hash of
// what they name. It must not know what gets an ID.
package ids

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"time"

	"github.com/google/uuid"
)

// HashID makes a version 8 UUID (RFC 9562) from what it is given, in order.
func HashID(parts ...any) uuid.UUID {
	b := make([]byte, 0, 256)
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			b = append(binary.AppendUvarint(b, uint64(len(p))), p...)
		case uuid.UUID:
			b = append(b, p[:]...)
		case int32:
			b = binary.BigEndian.AppendUint32(b, uint32(p))
		case int:
			b = binary.BigEndian.AppendUint64(b, uint64(p))
		default:
			panic("hashID: unexpected type")
		}
	}
	sum := sha256.Sum256(b)
	return Stamp(uuid.UUID(sum[:16]), 8)
}

// HashString writes a text to a hash with its length before it.
func HashString(h hash.Hash, s string) {
	h.Write(binary.AppendUvarint(nil, uint64(len(s))))
	h.Write([]byte(s))
}

// Stamp sets the version and variant bits of a UUID.
func Stamp(id uuid.UUID, version byte) uuid.UUID {
	id[6] = id[6]&0x0f | version<<4
	id[8] = id[8]&0x3f | 0x80
	return id
}

// TimeID makes a version 7 UUID of an instant and random bytes: 48 bits of
// milliseconds, then the fraction of the millisecond in 12 bits (RFC 9562,
// method 3), so that IDs order by time.
func TimeID(t time.Time, random uuid.UUID) uuid.UUID {
	ms, fraction := t.UnixMilli(), t.UnixNano()%1e6*4096/1e6
	if t.UnixNano() < 0 {
		fraction = 0
	}
	id := random
	binary.BigEndian.PutUint64(id[:8], uint64(ms)<<16|uint64(fraction))
	return Stamp(id, 7)
}

// LaterID is a TimeID that orders after another, whatever the clock says: at least one
// step of 1/4096 millisecond.
func LaterID(t time.Time, random, than uuid.UUID) uuid.UUID {
	id := TimeID(t, random)
	step := func(id uuid.UUID) uint64 {
		v := binary.BigEndian.Uint64(id[:8])
		return v>>16<<12 | v&0xfff
	}
	if last := step(than); than != uuid.Nil && step(id) <= last {
		binary.BigEndian.PutUint64(id[:8], (last+1)>>12<<16|(last+1)&0xfff)
		id = Stamp(id, 7)
	}
	return id
}

// TimeOf is the instant that a TimeID was made of, to the millisecond.
func TimeOf(id uuid.UUID) time.Time {
	return time.UnixMilli(int64(binary.BigEndian.Uint64(id[:8]) >> 16)).UTC()
}
