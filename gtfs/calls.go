package gtfs

import (
	"cmp"
	"math"
	"sort"

	"github.com/traintravel/traintravel"
)

// finishTrips puts the calls of each trip in order, and checks them. Trips that
// are left out, and those that stand for others, have no calls after it.
func (f *feed) finishTrips() {
	for i, t := range f.trips { // not those that repeat adds
		if t.flaw != nil {
			t.Calls, t.marks = nil, nil
			continue
		}
		if len(t.Calls) < 2 {
			f.doubt("trips.txt", t.line, "the trip has fewer than two calls")
			t.Calls = nil
			continue
		}
		f.finishTrip(int32(i), t)
	}
	for i := range f.stops {
		s := &f.stops[i]
		if int(s.station) == i && !s.served && s.flaw == "" {
			f.note("stops.txt", s.line, "no train that is read calls at the station")
		}
	}
	f.noteUnsold()
}

// finishTrip finishes one trip, or finds its mistakes.
func (f *feed) finishTrip(i int32, t *trip) {
	f.tellStops(t)
	f.during(func() { f.finish(t) }, func(flaw *Error) bool { t.flaw = cmp.Or(t.flaw, flaw); return true })
	before := f.errs.Total
	if tariff := f.tariffs[i]; tariff != nil && t.flaw == nil {
		f.price(t, tariff)
	}
	if t.flaw == nil && f.errs.Total == before {
		for _, m := range t.marks {
			f.serve(f.stops[m.stop].station)
		}
		f.keepPlatforms(t)
	}
	t.marks = nil
	switch p := f.patterns[i]; {
	case t.flaw != nil || f.errs.Total > before:
		t.Calls = nil
	case p != nil:
		f.repeat(t, p)
		t.Calls = nil
	default:
		f.count(t)
	}
}

// tellStops finds the mistakes of the stops at which a trip calls.
func (f *feed) tellStops(t *trip) {
	for _, m := range t.marks {
		for _, stop := range [2]int32{m.stop, f.stops[m.stop].station} {
			t.flaw = cmp.Or(t.flaw, f.tell(stop))
		}
	}
}

// count adds a train to the report.
func (f *feed) count(t *trip) {
	if f.report.Trains == 0 {
		f.report.First, f.report.Last = t.service.first, t.service.last
	}
	f.report.First = min(f.report.First, t.service.first)
	f.report.Last = max(f.report.Last, t.service.last)
	f.report.Trains++
	f.report.Calls += len(t.Calls)
}

// finish completes one trip.
func (f *feed) finish(t *trip) {
	fail := func(i int, format string, args ...any) {
		f.fail("stop_times.txt", int(t.marks[i].line), format, args...)
	}
	if len(t.Calls) > traintravel.MaxCalls {
		f.fail("trips.txt", t.line, "the trip has %d calls, more than %d", len(t.Calls), traintravel.MaxCalls)
		return
	}
	if order := (bySequence{t.Calls, t.marks}); !sort.IsSorted(order) {
		sort.Sort(order)
	}
	for i := range t.marks {
		if i > 0 && t.marks[i].sequence == t.marks[i-1].sequence {
			fail(i, "stop_sequence %d occurs twice in trip %.60q", t.marks[i].sequence, t.ID)
			return
		}
	}
	last := len(t.Calls) - 1
	for _, i := range [2]int{0, last} {
		if t.Calls[i].Depart == noTime {
			fail(i, "the first and the last call of trip %.60q need times", t.ID)
			return
		}
	}
	f.interpolate(t)
	for i, c := range t.Calls {
		if i > 0 && c.Arrive < t.Calls[i-1].Depart {
			fail(i, "arrival_time %s is before the departure from the call before, %s", c.Arrive, t.Calls[i-1].Depart)
			return
		}
		if c.Depart < c.Arrive {
			fail(i, "departure_time %s is before arrival_time %s", c.Depart, c.Arrive)
			return
		}
	}
	if unit := f.opts.DistanceUnit; unit > 0 {
		if i := t.measure(unit); i >= 0 {
			fail(i, "shape_dist_traveled decreases, or is too large")
		}
	}
}

// interpolate fills in the times between those that are given.
func (f *feed) interpolate(t *trip) {
	for i := 1; i < len(t.Calls); i++ {
		if t.Calls[i].Arrive != noTime {
			continue
		}
		from := i - 1
		for t.Calls[i].Arrive == noTime { // the last has a time
			i++
		}
		start, end := t.Calls[from].Depart, t.Calls[i].Arrive
		for j, share := range f.shares(t.marks[from : i+1]) {
			at := start + traintravel.ServiceTime(math.Round(share*float64(end-start)))
			t.Calls[from+1+j].Arrive, t.Calls[from+1+j].Depart = at, at
		}
	}
}

// shares says how far along the way from the first to the last mark those
// between lie, from 0 to 1: by the distances given, or else by those of the
// stations, or else evenly.
func (f *feed) shares(marks []mark) []float64 {
	given := true
	for i := 1; i < len(marks); i++ {
		given = given && marks[i].distance >= marks[i-1].distance // never true of NaN
	}
	shares := make([]float64, len(marks)-1)
	total := 0.0
	for i := range shares {
		if given {
			total += float64(marks[i+1].distance) - float64(marks[i].distance)
		} else {
			total += f.stationAt(marks[i]).Distance(f.stationAt(marks[i+1]).Station)
		}
		shares[i] = total
	}
	for i := range shares {
		if total > 0 {
			shares[i] /= total
		} else {
			shares[i] = float64(i+1) / float64(len(shares))
		}
	}
	return shares[:len(shares)-1]
}

// stationAt is where a call is.
func (f *feed) stationAt(m mark) *stop { return &f.stops[f.stops[m.stop].station] }

// measure sets the calls' Metres, if all distances are given. It returns the
// index of a call whose distance is wrong, or -1.
func (t *trip) measure(unit float64) int {
	for _, m := range t.marks {
		if m.distance != m.distance {
			return -1
		}
	}
	for i, m := range t.marks {
		metres := math.Round((float64(m.distance) - float64(t.marks[0].distance)) * unit)
		if metres > math.MaxInt32 || i > 0 && m.distance < t.marks[i-1].distance {
			return i
		}
		t.Calls[i].Metres = int32(metres)
	}
	return -1
}

// bySequence sorts calls and their marks.
type bySequence struct {
	calls []traintravel.Call
	marks []mark
}

func (s bySequence) Len() int           { return len(s.calls) }
func (s bySequence) Less(i, j int) bool { return s.marks[i].sequence < s.marks[j].sequence }
func (s bySequence) Swap(i, j int) {
	s.calls[i], s.calls[j] = s.calls[j], s.calls[i]
	s.marks[i], s.marks[j] = s.marks[j], s.marks[i]
}
