package timetable

import (
	"encoding/binary"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/ids"
	"github.com/traintravel/traintravel/internal/trains"
	"github.com/traintravel/traintravel/rail"
)

// A TripCode is what a trip's ID says.
type TripCode struct {
	date          rail.Date
	board, Alight int
	Numbers       [rail.MaxLegs]uint32
	Legs          int
}

// ID packs the code. Its fields are in their ranges.
func (c TripCode) ID() uuid.UUID {
	// hi has 58 bits, lo 64: 2+16+8+8+21 and 3 more of the second number.
	hi := uint64(c.Legs-1)<<56 | uint64(c.date-rail.FirstDate)<<40 | uint64(c.board)<<32 | uint64(c.Alight)<<24 |
		uint64(c.Numbers[0])<<3 | uint64(c.Numbers[1])>>18
	lo := uint64(c.Numbers[1])<<46 | uint64(c.Numbers[2])<<25 | uint64(c.Numbers[3])<<4
	// Lay the 122 bits around the version and the variant: 48, 12, 62.
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], hi>>10<<16|hi<<2&0xffc|lo>>62)
	binary.BigEndian.PutUint64(id[8:], lo&(1<<62-1))
	return ids.Stamp(id, 8)
}

// ParseTripID unpacks an ID. It returns false for a UUID that id never makes.
func ParseTripID(id uuid.UUID) (TripCode, bool) {
	a, b := binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint64(id[8:])
	hi, lo := a>>16<<10|a>>2&0x3ff, a<<62|b&(1<<62-1)
	c := TripCode{
		Legs:   int(hi>>56) + 1,
		date:   rail.FirstDate + rail.Date(hi>>40&0xffff),
		board:  int(hi >> 32 & 0xff),
		Alight: int(hi >> 24 & 0xff),
		Numbers: [rail.MaxLegs]uint32{
			uint32(hi >> 3 & trains.MaxNumber),
			uint32(hi&7<<18 | lo>>46),
			uint32(lo >> 25 & trains.MaxNumber),
			uint32(lo >> 4 & trains.MaxNumber),
		},
	}
	for i, n := range c.Numbers {
		if (n == 0) == (i < c.Legs) {
			return TripCode{}, false
		}
	}
	return c, c.ID() == id
}
