package traintravel

import (
	"slices"
	"time"

	"github.com/google/uuid"
)

// An inventory says who has which place of a run on which sections. It counts
// on the list of calls it was last fitted to, half-open: who rides from call 0
// to 2 and who rides from 2 to 3 have no section in common.
type inventory struct {
	revision uint64   // counts the updates; of two, the later is greater
	list     uint64   // listMark of the calls
	calls    []uint64 // stationMarks
	coaches  []Coach
	taken    []taken
	stranded []strandedPlace

	cancelled bool // the run is: nobody gets anything of it

	unreadable error // why the record could not be read: there is nothing else in it
}

// taken is what one booking has of a run.
type taken struct {
	booking  uuid.UUID
	place    int32  // from 0 over all coaches; noPlace if unreserved
	from, to uint8  // calls
	hook     bool   // takes a bicycle hook
	until    int64  // nanos of the instant the hold ends; forGood when paid
	sold     uint64 // listMark of the calls it was booked on; 0 if not known
	kept     bool   // it does not lapse, as its booking cannot be read and ended; not stored
}

const (
	noPlace = -1
	forGood = int64(1<<63 - 1)
)

// strandedPlace is what a booking had of a run before a timetable that it does not
// fit. Where its place still exists it is nobody else's, on any section.
type strandedPlace struct {
	taken
	on            uint64 // listMark of the calls that from and to are of; 0 if not known
	board, alight uint64 // stationMarks
	twice         bool   // the train called more than once at one of them
	coach         string
	seat          int
}

func (t taken) lapsed(now time.Time) bool { return t.until <= now.UnixNano() && !t.kept }

// keep makes what a booking has not lapse, for as long as the inventory is in memory.
func (v *inventory) keep(booking uuid.UUID) {
	for i := range v.taken {
		v.taken[i].kept = v.taken[i].kept || v.taken[i].booking == booking
	}
	for i := range v.stranded {
		v.stranded[i].kept = v.stranded[i].kept || v.stranded[i].booking == booking
	}
}

func (t taken) overlaps(from, to int) bool { return int(t.from) < to && from < int(t.to) }

func (v *inventory) places() int {
	n := 0
	for _, c := range v.coaches {
		n += c.Seats
	}
	return n
}

// label says what a place is called.
func (v *inventory) label(place int32) (coach string, seat int) {
	if n := int(place); n >= 0 {
		for _, c := range v.coaches {
			if n < c.Seats {
				return c.Number, n + 1
			}
			n -= c.Seats
		}
	}
	return "", 0
}

// place is the inverse of label; noPlace if there is none.
func (v *inventory) place(coach string, seat int) int32 {
	n := 0
	for _, c := range v.coaches {
		if c.Number == coach && seat >= 1 && seat <= c.Seats {
			return int32(n + seat - 1)
		}
		n += c.Seats
	}
	return noPlace
}

// gaps finds for each place the free stretch around the sections from..to at
// an instant: lo[p] and hi[p] bound it, or lo[p] is -1 if the place is not free.
func (v *inventory) gaps(from, to int, now time.Time) (lo, hi []int16) {
	n := v.places()
	bounds := make([]int16, 2*n)
	lo, hi = bounds[:n], bounds[n:]
	for p := range hi {
		hi[p] = int16(len(v.calls) - 1)
	}
	for i := range v.taken {
		t := &v.taken[i]
		if t.place < 0 || int(t.place) >= n || t.lapsed(now) {
			continue
		}
		switch p := t.place; {
		case lo[p] < 0:
		case t.overlaps(from, to):
			lo[p] = -1
		case int(t.to) <= from:
			lo[p] = max(lo[p], int16(t.to))
		default:
			hi[p] = min(hi[p], int16(t.from))
		}
	}
	for i := range v.stranded {
		if p := v.place(v.stranded[i].coach, v.stranded[i].seat); p != noPlace && !v.stranded[i].lapsed(now) {
			lo[p] = -1
		}
	}
	return lo, hi
}

// free counts the places that are free on all sections of a leg.
func (v *inventory) free(from, to int, now time.Time) int {
	if len(v.taken) == 0 && len(v.stranded) == 0 {
		return v.places()
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

// choose picks the place whose free gap around the leg is smallest, the first
// of them: short rides fill the gaps that long ones leave. It returns noPlace
// if none is free.
func (v *inventory) choose(from, to int, now time.Time) int32 {
	lo, hi := v.gaps(from, to, now)
	best, size := int32(noPlace), int16(MaxCalls)
	for p, l := range lo {
		if l >= 0 && hi[p]-l < size {
			best, size = int32(p), hi[p]-l
		}
	}
	return best
}

// isFree says whether a place is free on all sections of a leg.
func (v *inventory) isFree(place int32, from, to int, now time.Time) bool {
	if place < 0 {
		return false
	}
	lo, _ := v.gaps(from, to, now)
	return int(place) < len(lo) && lo[place] >= 0
}

// hookFree says whether one more bicycle finds a hook on all sections.
func (v *inventory) hookFree(hooks, from, to int, now time.Time) bool {
	for section := from; section < to; section++ {
		used := 0
		for i := range v.taken {
			if t := &v.taken[i]; t.hook && t.overlaps(section, section+1) && !t.lapsed(now) {
				used++
			}
		}
		for i := range v.stranded {
			if v.stranded[i].hook && !v.stranded[i].lapsed(now) {
				used++
			}
		}
		if used >= hooks {
			return false
		}
	}
	return true
}

// inTheWay lists the bookings whose hold has lapsed and that have what the
// taker takes: it may only be taken together with ending them.
func (v *inventory) inTheWay(t taken, now time.Time) []uuid.UUID {
	var ids []uuid.UUID
	for i := range v.taken {
		o := &v.taken[i]
		if o.lapsed(now) && o.overlaps(int(t.from), int(t.to)) && (o.place == t.place && t.place != noPlace || o.hook && t.hook) {
			ids = append(ids, o.booking)
		}
	}
	for i := range v.stranded {
		o := &v.stranded[i]
		if o.lapsed(now) && (t.place != noPlace && v.place(o.coach, o.seat) == t.place || o.hook && t.hook) {
			ids = append(ids, o.booking)
		}
	}
	return ids
}

// take gives a booking what t says, on the calls as they are.
func (v *inventory) take(t taken) {
	t.sold = v.list
	v.taken = append(v.taken, t)
}

// soldOn says whose it is what was sold on a list of calls.
func (v *inventory) soldOn(list uint64) (ids []uuid.UUID) {
	for _, t := range v.taken {
		if t.sold == list {
			ids = append(ids, t.booking)
		}
	}
	for _, s := range v.stranded {
		if s.sold == list {
			ids = append(ids, s.booking)
		}
	}
	return ids
}

// release takes back what a booking has, and says whether it had anything.
func (v *inventory) release(booking uuid.UUID) bool {
	before := len(v.taken) + len(v.stranded)
	v.taken = slices.DeleteFunc(v.taken, func(t taken) bool { return t.booking == booking })
	v.stranded = slices.DeleteFunc(v.stranded, func(s strandedPlace) bool { return s.booking == booking })
	return len(v.taken)+len(v.stranded) < before
}

// hold changes until when a booking has its place, and says whether it has one.
func (v *inventory) hold(booking uuid.UUID, until int64) bool {
	for i := range v.taken {
		if v.taken[i].booking == booking {
			v.taken[i].until = until
			return true
		}
	}
	for i := range v.stranded {
		if v.stranded[i].booking == booking {
			v.stranded[i].until = until
			return true
		}
	}
	return false
}

// has says whether a booking has anything of the run.
func (v *inventory) has(booking uuid.UUID) bool {
	return slices.ContainsFunc(v.taken, func(t taken) bool { return t.booking == booking }) ||
		slices.ContainsFunc(v.stranded, func(s strandedPlace) bool { return s.booking == booking })
}

// foreign are the lists of calls, other than that it counts on, on which what
// is taken or stranded was sold.
func (v *inventory) foreign() (lists []uint64) {
	add := func(list uint64) {
		if list != v.list && list != 0 && !slices.Contains(lists, list) {
			lists = append(lists, list)
		}
	}
	for i := range v.taken {
		add(v.taken[i].sold)
	}
	for i := range v.stranded {
		add(v.stranded[i].sold)
	}
	return lists
}
