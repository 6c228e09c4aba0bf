package traintravel

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"hash/fnv"
	"time"

	"github.com/google/uuid"
)

// hashID makes a version 8 UUID (RFC 9562) from what it is given, in order.
func hashID(parts ...any) uuid.UUID {
	b := make([]byte, 0, 256)
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			b = append(binary.AppendUvarint(b, uint64(len(p))), p...)
		case uuid.UUID:
			b = append(b, p[:]...)
		case ServiceTime:
			b = binary.BigEndian.AppendUint32(b, uint32(p))
		case int:
			b = binary.BigEndian.AppendUint64(b, uint64(p))
		default:
			panic("hashID: unexpected type")
		}
	}
	sum := sha256.Sum256(b)
	return stamp(uuid.UUID(sum[:16]), 8)
}

func hashString(h hash.Hash, s string) {
	h.Write(binary.AppendUvarint(nil, uint64(len(s))))
	h.Write([]byte(s))
}

// stamp sets the version and variant bits of a UUID.
func stamp(id uuid.UUID, version byte) uuid.UUID {
	id[6] = id[6]&0x0f | version<<4
	id[8] = id[8]&0x3f | 0x80
	return id
}

// timeID makes a version 7 UUID of an instant and random bytes: 48 bits of
// milliseconds, then the fraction of the millisecond in 12 bits (RFC 9562,
// method 3), so that IDs order by time.
func timeID(t time.Time, random uuid.UUID) uuid.UUID {
	ms, fraction := t.UnixMilli(), t.UnixNano()%1e6*4096/1e6
	if t.UnixNano() < 0 {
		fraction = 0
	}
	id := random
	binary.BigEndian.PutUint64(id[:8], uint64(ms)<<16|uint64(fraction))
	return stamp(id, 7)
}

// laterID is a timeID that orders after another, whatever the clock says: at least one
// step of 1/4096 millisecond.
func laterID(t time.Time, random, than uuid.UUID) uuid.UUID {
	id := timeID(t, random)
	step := func(id uuid.UUID) uint64 {
		v := binary.BigEndian.Uint64(id[:8])
		return v>>16<<12 | v&0xfff
	}
	if last := step(than); than != uuid.Nil && step(id) <= last {
		binary.BigEndian.PutUint64(id[:8], (last+1)>>12<<16|(last+1)&0xfff)
		id = stamp(id, 7)
	}
	return id
}

// newestID is the last ID of a range whose keys end with one, nil if it is empty.
func newestID(ctx context.Context, r Reader, of Range) (id uuid.UUID, err error) {
	of.Reverse, of.Limit = true, 1
	records, err := r.List(ctx, of)
	if err == nil && len(records) > 0 {
		key := records[0].ID
		copy(id[:], key[max(0, len(key)-len(id)):])
	}
	return id, err
}

// A purpose is why a charge is given back. The texts are part of refunds' IDs and never
// change.
type purpose string

const (
	forCancelling    purpose = "cancelled"     // its owner has cancelled the booking
	forCancelledRun  purpose = "run cancelled" // the operator has cancelled the train
	forPayingTooLate purpose = "paid too late" // the money came when the booking could not have it
)

var purposes = [...]purpose{forCancelling, forCancelledRun, forPayingTooLate}

// refundID makes the ID of a refund from its charge and purpose alone: a service that is
// restored from a backup and cancels again asks the gateway for the refund that it knows.
// It is a version 8 UUID with the time of the charge's version 7, and so orders after the
// charge and before every payment of a later millisecond.
func refundID(charge uuid.UUID, why purpose) uuid.UUID {
	id := hashID("refund", charge, string(why))
	copy(id[:6], charge[:6])
	return id
}

// base is what a train is known by across timetables, but for twins: trains
// that agree in all of it and run on the same day.
func (t *Train) base() uuid.UUID {
	first := t.Calls[0]
	return hashID("train", t.Feed, t.Operator, t.Number, first.Station, first.Depart)
}

// twin is a train's identity: its base and which of the twins it is.
func twin(base uuid.UUID, n int) uuid.UUID {
	if n == 0 {
		return base
	}
	return hashID("twin", base, n)
}

// stationMark shortens a station's ID to what tells the stations of one train
// apart in an inventory.
func stationMark(id uuid.UUID) uint64 {
	h := fnv.New64a()
	h.Write(id[:])
	return h.Sum64()
}

// textMark shortens a text to what tells it apart from a few others.
func textMark(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}

// listMark stands for a train's list of calls: which stations in which order.
func listMark(calls []Call) uint64 {
	b := make([]byte, 0, 1024)
	for i := range calls {
		b = append(b, calls[i].Station[:]...)
	}
	sum := sha256.Sum256(b)
	return binary.BigEndian.Uint64(sum[:])
}
