package traintravel

import (
	"fmt"
	"slices"

	"github.com/google/uuid"
)

// What bookings, and the operator, have of a run.

// blocked stands in an inventory for the booking of a place that is not for
// sale. No booking has it: it is no UUID of version 7.
var blocked = uuid.Max

// blocks are the places of an inventory that are not for sale.
func (v *inventory) blocks() []Block {
	var blocks []Block
	for i := range v.taken {
		if t := &v.taken[i]; t.booking == blocked {
			coach, seat := v.label(t.place)
			blocks = append(blocks, Block{Coach: coach, Seat: seat, Board: int(t.from), Alight: int(t.to)})
		}
	}
	return blocks
}

// blockable is the place of the i-th block, if the run has it.
func (v *inventory) blockable(i int, b Block) (int32, error) {
	place := v.place(b.Coach, b.Seat)
	switch {
	case place == noPlace:
		return 0, invalid(fmt.Sprintf("blocks[%d]", i), "there is no seat %d in coach %q", b.Seat, b.Coach)
	case b.Board < 0 || b.Alight <= b.Board || b.Alight >= len(v.calls):
		return 0, invalid(fmt.Sprintf("blocks[%d]", i), "there is no ride from call %d to call %d", b.Board, b.Alight)
	}
	return place, nil
}

// holders are the bookings that have something of a run, each once.
func (v *inventory) holders() []uuid.UUID {
	var ids []uuid.UUID
	for _, t := range v.everything() {
		ids = append(ids, t.booking)
	}
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(ids)
}

// everything is what bookings have of a run, stranded or not.
func (v *inventory) everything() []taken {
	all := slices.Clone(v.taken)
	for i := range v.stranded {
		all = append(all, v.stranded[i].taken)
	}
	return slices.DeleteFunc(all, func(t taken) bool { return t.booking == blocked })
}

// eachStrandedTwice finds stranded places of which another has a section, if both were
// sold on the calls that the run counts on, and none had to be matched with others:
// where a timetable has changed the order of calls, two may lawfully be in each other's
// way, and the one that is stranded tells.
func (v *inventory) eachStrandedTwice(fn func(stranded, other *taken)) {
	var own []taken
	for _, t := range v.taken {
		if t.sold == v.list {
			own = append(own, t)
		}
	}
	for _, s := range v.stranded {
		if s.place = v.place(s.coach, s.seat); s.place == noPlace || s.on != v.list || s.sold != v.list {
			continue
		}
		for i := range own {
			if o := &own[i]; o.place == s.place && o.overlaps(int(s.from), int(s.to)) {
				fn(&s.taken, o)
			}
		}
		own = append(own, s.taken)
	}
}
