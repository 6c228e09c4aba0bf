package trains

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/fnv"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/ids"
	"github.com/traintravel/traintravel/schedule"
)

// BaseOf is what a train is known by across timetables, but for twins: trains
// that agree in all of it and run on the same day.
func BaseOf(t *schedule.Train) uuid.UUID {
	first := t.Calls[0]
	return ids.HashID("train", t.Feed, t.Operator, t.Number, first.Station, int32(first.Depart))
}

// Twin is a train's identity: its base and which of the twins it is.
func Twin(base uuid.UUID, n int) uuid.UUID {
	if n == 0 {
		return base
	}
	return ids.HashID("twin", base, n)
}

// StationMark shortens a station's ID to what tells the stations of one train
// apart in an inventory.
func StationMark(id uuid.UUID) uint64 {
	h := fnv.New64a()
	h.Write(id[:])
	return h.Sum64()
}

// TextMark shortens a text to what tells it apart from a few others.
func TextMark(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}

// ListMark stands for a train's list of calls: which stations in which order.
func ListMark(calls []schedule.Call) uint64 {
	b := make([]byte, 0, 1024)
	for i := range calls {
		b = append(b, calls[i].Station[:]...)
	}
	sum := sha256.Sum256(b)
	return binary.BigEndian.Uint64(sum[:])
}
