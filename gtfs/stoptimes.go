package gtfs

import (
	"bytes"
	"cmp"
	"math"

	"github.com/traintravel/traintravel"
)

// readStopTimes reads the calls of all trips. Rows may come in any order; the
// usual one, trip by trip, costs no copy but one.
func (f *feed) readStopTimes() error {
	t, err := f.open("stop_times.txt", "trip_id", "stop_id", "stop_sequence", "arrival_time", "departure_time")
	if err != nil {
		return err
	}
	var (
		id        = t.column("trip_id")
		stopID    = t.column("stop_id")
		sequence  = t.column("stop_sequence")
		arrival   = t.column("arrival_time")
		departure = t.column("departure_time")
		pickup    = t.column("pickup_type")
		dropOff   = t.column("drop_off_type")
		distance  = t.column("shape_dist_traveled")

		current = skipped // the trip to which the calls below belong
		name    []byte    // and its ID
		known   = skipped // the last trip before
		lost    orphans
		beside  []*orphan // after which no row of a trip has come yet
		stray   *orphan   // the row is one of its

		orphaned bool // the row's trip is not in trips.txt
		calls    []traintravel.Call
		marks    []mark
	)
	flush := func() {
		if current != skipped {
			f.trips[current].add(f, calls, marks)
		}
		calls, marks = calls[:0], marks[:0]
	}
	t.flawed = func(flaw *Error) bool {
		switch {
		case current != skipped:
			f.trips[current].flaw = cmp.Or(f.trips[current].flaw, flaw)
		case stray != nil:
			stray.flaw = cmp.Or(stray.flaw, flaw)
		case orphaned: // too many
			return false
		}
		return true
	}
	for t.next() {
		if key := t.get(id); name == nil || !bytes.Equal(key, name) {
			flush()
			if current != skipped {
				known = current
			}
			var ok bool
			stray, orphaned = nil, false
			if current, ok = f.tripByID[string(key)]; !ok {
				t.fail("trip_id %.60q is not in trips.txt", key)
				current, orphaned = skipped, true
				if stray = lost.of(key, known); stray != nil {
					beside = append(beside, stray)
				}
			} else if current != skipped && current != known && len(f.trips[current].Calls) > 0 {
				lost.unordered = true
			}
			name = append(name[:0], key...)
		}
		if stray != nil {
			stray.rows++
		}
		if current == skipped {
			continue
		}
		for _, o := range beside {
			o.next = current
		}
		beside = beside[:0]
		if trip := f.trips[current]; len(trip.Calls)+len(calls) == traintravel.MaxCalls && trip.flaw == nil {
			t.fail("trip %.60q has more than %d calls", trip.ID, traintravel.MaxCalls)
			continue
		}
		i, ok := f.stopByID[string(t.get(stopID))]
		if !ok {
			t.fail("stop_id %.60q is not in stops.txt", t.get(stopID))
			continue
		}
		c := traintravel.Call{
			Station:     f.stops[f.stops[i].station].ID,
			Arrive:      t.time(arrival, "arrival_time"),
			Depart:      t.time(departure, "departure_time"),
			NoBoarding:  t.choice(pickup, "pickup_type", 3) == 1,
			NoAlighting: t.choice(dropOff, "drop_off_type", 3) == 1,
		}
		if c.Arrive == noTime {
			c.Arrive = c.Depart
		} else if c.Depart == noTime {
			c.Depart = c.Arrive
		}
		n := digits(t.get(sequence))
		if n < 0 {
			t.fail("stop_sequence %.20q is not a number from 0", t.get(sequence))
		}
		m := mark{sequence: int32(n), line: int32(t.line()), stop: i, distance: t.distance(distance)}
		if f.trips[current].flaw == nil { // else nobody asks for its calls
			calls, marks = append(calls, c), append(marks, m)
			f.called++
		}
	}
	flush()
	if t.err == nil {
		f.settleOrphans(&lost)
		f.joinStops()
		if err := f.findBarriers(); err != nil {
			return err
		}
		f.finishTrips()
		if t.err = t.over(); t.err == nil { // by the trips that frequencies.txt repeats
			f.findTwins()
			t.err = t.over()
		}
	}
	return t.err
}

// add adds calls to those of a trip, unless one of them has a mistake.
func (t *trip) add(f *feed, calls []traintravel.Call, marks []mark) {
	if t.flaw != nil {
		t.Calls, t.marks = nil, nil
		return
	}
	before := cap(t.Calls)
	t.Calls, t.marks = f.calls.extend(t.Calls, calls), f.marks.extend(t.marks, marks)
	f.hold((cap(t.Calls) - before) * sizeCall)
}

// distance returns a field that is a distance in any unit; blank is NaN.
func (t *table) distance(c column) float32 {
	b := t.get(c)
	if len(b) == 0 {
		return float32(math.NaN())
	}
	v, ok := number(b)
	if !ok || v < 0 || v > math.MaxFloat32 {
		t.fail("shape_dist_traveled %.20q is not a distance", b)
		v = math.NaN()
	}
	return float32(v)
}
