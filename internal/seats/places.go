// Package seats knows who has which place on which sections of a run of a train, and chooses
// free places. It must not know what a place costs, who paid, or what a booking's state is.
package seats

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

// An Inventory says who has which place of a run on which sections. It counts
// on the list of calls it was last fitted to, half-open: who rides from call 0
// to 2 and who rides from 2 to 3 have no section in common.
type Inventory struct {
	Revision uint64   // counts the updates; of two, the later is greater
	List     uint64   // trains.ListMark of the calls
	Calls    []uint64 // trains.StationMark of each
	Coaches  []rail.Coach
	Taken    []Taken
	Stranded []StrandedPlace

	Cancelled bool // the run is: nobody gets anything of it

	Unreadable error // why the record could not be read: there is nothing else in it
}

// Taken is what one booking has of a run.
type Taken struct {
	Booking  uuid.UUID
	Place    int32  // from 0 over all coaches; NoPlace if unreserved
	From, To uint8  // calls
	Hook     bool   // takes a bicycle hook
	Until    int64  // nanos of the instant the hold ends; ForGood when paid
	Sold     uint64 // trains.ListMark of the calls it was booked on; 0 if not known
	kept     bool   // it does not lapse, as its booking cannot be read and ended; not stored
}

const (
	NoPlace = -1
	ForGood = int64(1<<63 - 1)
)

// StrandedPlace is what a booking had of a run before a timetable that it does not
// fit. Where its place still exists it is nobody else's, on any section.
type StrandedPlace struct {
	Taken
	On            uint64 // trains.ListMark of the calls that from and to are of; 0 if not known
	Board, Alight uint64 // trains.StationMark of each
	Twice         bool   // the train called more than once at one of them
	Coach         string
	Seat          int
}

// Lapsed says whether it is a hold that is over.
func (t Taken) Lapsed(now time.Time) bool { return t.Until <= now.UnixNano() && !t.kept }

// Keep makes what a booking has not lapse, for as long as the inventory is in memory.
func (v *Inventory) Keep(booking uuid.UUID) {
	for i := range v.Taken {
		v.Taken[i].kept = v.Taken[i].kept || v.Taken[i].Booking == booking
	}
	for i := range v.Stranded {
		v.Stranded[i].kept = v.Stranded[i].kept || v.Stranded[i].Booking == booking
	}
}

// Overlaps says whether it has a section between two calls.
func (t Taken) Overlaps(from, to int) bool { return int(t.From) < to && from < int(t.To) }

// Places is how many places the coaches have.
func (v *Inventory) Places() int {
	n := 0
	for _, c := range v.Coaches {
		n += c.Seats
	}
	return n
}

// Label says what a place is called.
func (v *Inventory) Label(place int32) (coach string, seat int) {
	if n := int(place); n >= 0 {
		for _, c := range v.Coaches {
			if n < c.Seats {
				return c.Number, n + 1
			}
			n -= c.Seats
		}
	}
	return "", 0
}

// Place is the inverse of label; NoPlace if there is none.
func (v *Inventory) Place(coach string, seat int) int32 {
	n := 0
	for _, c := range v.Coaches {
		if c.Number == coach && seat >= 1 && seat <= c.Seats {
			return int32(n + seat - 1)
		}
		n += c.Seats
	}
	return NoPlace
}

// gaps finds for each place the free stretch around the sections from..to at
// an instant: lo[p] and hi[p] bound it, or lo[p] is -1 if the place is not free.
func (v *Inventory) gaps(from, to int, now time.Time) (lo, hi []int16) {
	n := v.Places()
	bounds := make([]int16, 2*n)
	lo, hi = bounds[:n], bounds[n:]
	for p := range hi {
		hi[p] = int16(len(v.Calls) - 1)
	}
	for i := range v.Taken {
		t := &v.Taken[i]
		if t.Place < 0 || int(t.Place) >= n || t.Lapsed(now) {
			continue
		}
		switch p := t.Place; {
		case lo[p] < 0:
		case t.Overlaps(from, to):
			lo[p] = -1
		case int(t.To) <= from:
			lo[p] = max(lo[p], int16(t.To))
		default:
			hi[p] = min(hi[p], int16(t.From))
		}
	}
	for i := range v.Stranded {
		if p := v.Place(v.Stranded[i].Coach, v.Stranded[i].Seat); p != NoPlace && !v.Stranded[i].Lapsed(now) {
			lo[p] = -1
		}
	}
	return lo, hi
}

// Free counts the places that are free on all sections of a leg.
func (v *Inventory) Free(from, to int, now time.Time) int {
	if len(v.Taken) == 0 && len(v.Stranded) == 0 {
		return v.Places()
	}
	lo, _ := v.gaps(from, to, now)
	n := 0
	for _, l := range lo {
		if l >= 0 {
			n++
		}
	}
	return n
}

// Choose picks the place whose free gap around the leg is smallest, the first
// of them: short rides fill the gaps that long ones leave. It returns NoPlace
// if none is free.
func (v *Inventory) Choose(from, to int, now time.Time) int32 {
	lo, hi := v.gaps(from, to, now)
	best, size := int32(NoPlace), int16(schedule.MaxCalls)
	for p, l := range lo {
		if l >= 0 && hi[p]-l < size {
			best, size = int32(p), hi[p]-l
		}
	}
	return best
}

// IsFree says whether a place is free on all sections of a leg.
func (v *Inventory) IsFree(place int32, from, to int, now time.Time) bool {
	if place < 0 {
		return false
	}
	lo, _ := v.gaps(from, to, now)
	return int(place) < len(lo) && lo[place] >= 0
}

// HookFree says whether one more bicycle finds a hook on all sections.
func (v *Inventory) HookFree(hooks, from, to int, now time.Time) bool {
	for section := from; section < to; section++ {
		used := 0
		for i := range v.Taken {
			if t := &v.Taken[i]; t.Hook && t.Overlaps(section, section+1) && !t.Lapsed(now) {
				used++
			}
		}
		for i := range v.Stranded {
			if v.Stranded[i].Hook && !v.Stranded[i].Lapsed(now) {
				used++
			}
		}
		if used >= hooks {
			return false
		}
	}
	return true
}

// InTheWay lists the bookings whose hold has lapsed and that have what the
// taker takes: it may only be taken together with ending them.
func (v *Inventory) InTheWay(t Taken, now time.Time) []uuid.UUID {
	var ids []uuid.UUID
	for i := range v.Taken {
		o := &v.Taken[i]
		if o.Lapsed(now) && o.Overlaps(int(t.From), int(t.To)) && (o.Place == t.Place && t.Place != NoPlace || o.Hook && t.Hook) {
			ids = append(ids, o.Booking)
		}
	}
	for i := range v.Stranded {
		o := &v.Stranded[i]
		if o.Lapsed(now) && (t.Place != NoPlace && v.Place(o.Coach, o.Seat) == t.Place || o.Hook && t.Hook) {
			ids = append(ids, o.Booking)
		}
	}
	return ids
}

// Take gives a booking what t says, on the calls as they are.
func (v *Inventory) Take(t Taken) {
	t.Sold = v.List
	v.Taken = append(v.Taken, t)
}

// SoldOn says whose it is what was sold on a list of calls.
func (v *Inventory) SoldOn(list uint64) (ids []uuid.UUID) {
	for _, t := range v.Taken {
		if t.Sold == list {
			ids = append(ids, t.Booking)
		}
	}
	for _, s := range v.Stranded {
		if s.Sold == list {
			ids = append(ids, s.Booking)
		}
	}
	return ids
}

// Release takes back what a booking has, and says whether it had anything.
func (v *Inventory) Release(booking uuid.UUID) bool {
	before := len(v.Taken) + len(v.Stranded)
	v.Taken = slices.DeleteFunc(v.Taken, func(t Taken) bool { return t.Booking == booking })
	v.Stranded = slices.DeleteFunc(v.Stranded, func(s StrandedPlace) bool { return s.Booking == booking })
	return len(v.Taken)+len(v.Stranded) < before
}

// Hold changes until when a booking has its place, and says whether it has one.
func (v *Inventory) Hold(booking uuid.UUID, until int64) bool {
	for i := range v.Taken {
		if v.Taken[i].Booking == booking {
			v.Taken[i].Until = until
			return true
		}
	}
	for i := range v.Stranded {
		if v.Stranded[i].Booking == booking {
			v.Stranded[i].Until = until
			return true
		}
	}
	return false
}

// Has says whether a booking has anything of the run.
func (v *Inventory) Has(booking uuid.UUID) bool {
	return slices.ContainsFunc(v.Taken, func(t Taken) bool { return t.Booking == booking }) ||
		slices.ContainsFunc(v.Stranded, func(s StrandedPlace) bool { return s.Booking == booking })
}

// Foreign are the lists of calls, other than that it counts on, on which what
// is taken or stranded was sold.
func (v *Inventory) Foreign() (lists []uint64) {
	add := func(list uint64) {
		if list != v.List && list != 0 && !slices.Contains(lists, list) {
			lists = append(lists, list)
		}
	}
	for i := range v.Taken {
		add(v.Taken[i].Sold)
	}
	for i := range v.Stranded {
		add(v.Stranded[i].Sold)
	}
	return lists
}
