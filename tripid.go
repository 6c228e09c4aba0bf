package traintravel

import (
	"encoding/binary"

	"github.com/google/uuid"
)

// A trip's ID is a version 8 UUID (RFC 9562) that says which trip it is. Its
// 122 free bits hold, from the highest: the number of legs less one (2), the
// service date of the first leg's run in days from 2000-01-01 (16), the first
// boarding call (8), the last alighting call (8), the registered numbers of
// the trains (4 x 21, unused ones zero), and zeros (4). Where travellers
// change follows from these by connect.
const maxLegs = 4

// A tripCode is what a trip's ID says.
type tripCode struct {
	date          Date
	board, alight int
	numbers       [maxLegs]uint32
	legs          int
}

// id packs the code. Its fields are in their ranges.
func (c tripCode) id() uuid.UUID {
	// hi has 58 bits, lo 64: 2+16+8+8+21 and 3 more of the second number.
	hi := uint64(c.legs-1)<<56 | uint64(c.date-FirstDate)<<40 | uint64(c.board)<<32 | uint64(c.alight)<<24 |
		uint64(c.numbers[0])<<3 | uint64(c.numbers[1])>>18
	lo := uint64(c.numbers[1])<<46 | uint64(c.numbers[2])<<25 | uint64(c.numbers[3])<<4
	// Lay the 122 bits around the version and the variant: 48, 12, 62.
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], hi>>10<<16|hi<<2&0xffc|lo>>62)
	binary.BigEndian.PutUint64(id[8:], lo&(1<<62-1))
	return stamp(id, 8)
}

// parseTripID unpacks an ID. It returns false for a UUID that id never makes.
func parseTripID(id uuid.UUID) (tripCode, bool) {
	a, b := binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint64(id[8:])
	hi, lo := a>>16<<10|a>>2&0x3ff, a<<62|b&(1<<62-1)
	c := tripCode{
		legs:   int(hi>>56) + 1,
		date:   FirstDate + Date(hi>>40&0xffff),
		board:  int(hi >> 32 & 0xff),
		alight: int(hi >> 24 & 0xff),
		numbers: [maxLegs]uint32{
			uint32(hi >> 3 & maxNumber),
			uint32(hi&7<<18 | lo>>46),
			uint32(lo >> 25 & maxNumber),
			uint32(lo >> 4 & maxNumber),
		},
	}
	for i, n := range c.numbers {
		if (n == 0) == (i < c.legs) {
			return tripCode{}, false
		}
	}
	return c, c.id() == id
}
