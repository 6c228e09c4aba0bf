package seats

import (
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/rail"
)

// What bookings, and the operator, have of a run.

// Blocked stands in an inventory for the booking of a place that is not for
// sale. No booking has it: it is not a UUID of version 7.
func Blocked() uuid.UUID { return uuid.Max }

// Blocks are the places of an inventory that are not for sale.
func (v *Inventory) Blocks() []rail.Block {
	var blocks []rail.Block
	for i := range v.Taken {
		if t := &v.Taken[i]; t.Booking == Blocked() {
			coach, seat := v.Label(t.Place)
			blocks = append(blocks, rail.Block{Coach: coach, Seat: seat, Board: int(t.From), Alight: int(t.To)})
		}
	}
	return blocks
}

// Blockable is the place of the i-th block, if the run has it.
func (v *Inventory) Blockable(i int, b rail.Block) (int32, error) {
	place := v.Place(b.Coach, b.Seat)
	switch {
	case place == NoPlace:
		return 0, rail.Invalid(fmt.Sprintf("blocks[%d]", i), "coach %[2]q has no seat %[1]d", b.Seat, b.Coach)
	case b.Board < 0 || b.Alight <= b.Board || b.Alight >= len(v.Calls):
		return 0, rail.Invalid(fmt.Sprintf("blocks[%d]", i), "the train has no ride from call %d to call %d", b.Board, b.Alight)
	}
	return place, nil
}

// Holders are the bookings that have something of a run, each once.
func (v *Inventory) Holders() []uuid.UUID {
	var ids []uuid.UUID
	for _, t := range v.Everything() {
		ids = append(ids, t.Booking)
	}
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(ids)
}

// Everything is what bookings have of a run, stranded or not.
func (v *Inventory) Everything() []Taken {
	all := slices.Clone(v.Taken)
	for i := range v.Stranded {
		all = append(all, v.Stranded[i].Taken)
	}
	return slices.DeleteFunc(all, func(t Taken) bool { return t.Booking == Blocked() })
}

// EachStrandedTwice finds stranded places of which another has a section, if both were
// sold on the calls that the run counts on, and none had to be matched with others:
// where a timetable has changed the order of calls, two may lawfully be in each other's
// way, and the one that is stranded tells.
func (v *Inventory) EachStrandedTwice(fn func(stranded, other *Taken)) {
	var own []Taken
	for _, t := range v.Taken {
		if t.Sold == v.List {
			own = append(own, t)
		}
	}
	for _, s := range v.Stranded {
		if s.Place = v.Place(s.Coach, s.Seat); s.Place == NoPlace || s.On != v.List || s.Sold != v.List {
			continue
		}
		for i := range own {
			if o := &own[i]; o.Place == s.Place && o.Overlaps(int(s.From), int(s.To)) {
				fn(&s.Taken, o)
			}
		}
		own = append(own, s.Taken)
	}
}
