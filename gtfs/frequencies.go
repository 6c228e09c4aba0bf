package gtfs

import (
	"cmp"
	"slices"

	"github.com/traintravel/traintravel"
)

const (
	maxRepeated      = 100_000   // trains that frequencies.txt makes
	maxRepeatedCalls = 4_000_000 // of them all
)

// departures returns their number: from 06:00 to 06:30 every seven minutes, the
// last of five is 06:28.
func (w window) departures() int {
	return (int(w.end-w.start) + int(w.headway) - 1) / int(w.headway)
}

func (f *feed) readFrequencies() error {
	if !f.has("frequencies.txt") {
		return nil
	}
	t, err := f.open("frequencies.txt", "trip_id", "start_time", "end_time", "headway_secs")
	if err != nil {
		return err
	}
	id, start, end := t.column("trip_id"), t.column("start_time"), t.column("end_time")
	headway, exact := t.column("headway_secs"), t.column("exact_times")
	f.patterns = map[int32]*pattern{}
	total := 0
	i := skipped
	t.flawed = func(flaw *Error) bool {
		if i != skipped {
			f.trips[i].flaw = cmp.Or(f.trips[i].flaw, flaw)
		}
		return i != skipped // without the row, the trip would run at its times in stop_times.txt
	}
	for t.next() {
		var ok bool
		i, ok = f.tripByID[string(t.get(id))]
		if !ok {
			i = skipped
			t.fail("trip_id %.60q is not in trips.txt", t.get(id))
			continue
		}
		if i == skipped {
			continue
		}
		p := f.patterns[i]
		if p == nil {
			p = &pattern{}
			f.patterns[i] = p
		}
		w, ok := t.window(start, end, headway, exact)
		if !ok {
			continue
		}
		f.hold(sizeWindow)
		p.windows = append(p.windows, w)
		if total += w.departures(); total > maxRepeated {
			t.fail("the rows up to here make %d trains, more than %d", total, maxRepeated)
			t.close()
			return errMistakes
		}
		if w.nominal {
			f.note(t.name, t.line(), "exact_times is 0: the trains are sold as if they left at even intervals from start_time, which the railway does not promise")
		}
	}
	return t.err
}

// window reads a row. If the row has a mistake, window reports it, and ok is false.
func (t *table) window(start, end, headway, exact column) (w window, ok bool) {
	before := t.feed.errs.Total
	w = window{
		start: t.time(start, "start_time"), end: t.time(end, "end_time"),
		headway: int32(digits(t.get(headway))),
		nominal: t.choice(exact, "exact_times", 1) == 0,
		line:    int32(t.line()),
	}
	switch {
	case t.feed.errs.Total > before:
	case w.start == noTime || w.end == noTime:
		t.fail("start_time or end_time is missing")
	case w.end <= w.start:
		t.fail("end_time %s is not after start_time %s", w.end, w.start)
	case w.headway < 1:
		t.fail("headway_secs %.20q is not a number from 1", t.get(headway))
	}
	return w, t.feed.errs.Total == before
}

// A departure is one departure of a pattern.
type departure struct {
	at     traintravel.ServiceTime
	window *window
}

// departures returns the departures of all windows by time, each once.
func (f *feed) departures(p *pattern) []departure {
	slices.SortFunc(p.windows, func(a, b window) int { return cmp.Compare(a.start, b.start) })
	var all []departure
	var end traintravel.ServiceTime
	for i := range p.windows {
		w := &p.windows[i]
		if w.start < end {
			f.doubt("frequencies.txt", int(w.line), "the row overlaps another one of its trip: the departures of both are sold, equal ones once")
		}
		end = max(end, w.end)
		for n := range w.departures() {
			all = append(all, departure{w.start + traintravel.ServiceTime(n)*traintravel.ServiceTime(w.headway), w})
		}
	}
	slices.SortStableFunc(all, func(a, b departure) int {
		nominal := func(d departure) int {
			if d.window.nominal {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(a.at, b.at), nominal(a)-nominal(b))
	})
	return slices.CompactFunc(all, func(a, b departure) bool { return a.at == b.at })
}

// repeat makes the trains of a pattern. With a mistake in one of them it makes none.
func (f *feed) repeat(t *trip, p *pattern) {
	p.from = int32(len(f.trips))
	f.during(func() { f.repeatTrip(t, p) }, func(flaw *Error) bool {
		t.flaw, f.trips = flaw, f.trips[:p.from]
		return f.repeatedCalls <= maxRepeatedCalls
	})
	p.to = int32(len(f.trips))
	for _, train := range f.trips[p.from:] {
		f.count(train)
		f.report.Repeated++
		if train.headway {
			f.report.Headway++
		}
	}
}

// repeatTrip makes the trains. Their IDs are that of the trip and their departure, which
// another import of the feed gives them again.
func (f *feed) repeatTrip(t *trip, p *pattern) {
	for _, d := range f.departures(p) {
		late := d.at - t.Calls[0].Depart
		train := *t
		train.ID += "@" + d.at.String()
		line := int(d.window.line)
		switch _, taken := f.tripByID[train.ID]; {
		case taken:
			f.fail("frequencies.txt", line, "the train that leaves at %s has the trip_id of another: %.60q", d.at, train.ID)
			return
		case long(train.ID):
			f.fail("frequencies.txt", line, "trip_id and the departure have more than %d characters", traintravel.MaxText)
			return
		case t.Calls[len(t.Calls)-1].Depart+late > traintravel.MaxServiceTime:
			f.fail("frequencies.txt", line, "the train that leaves at %s arrives after %s, the longest time that a train may run", d.at, traintravel.MaxServiceTime)
			return
		}
		if f.repeatedCalls += len(t.Calls); f.repeatedCalls > maxRepeatedCalls {
			f.fail("frequencies.txt", line, "the trains up to here have more than %d calls", maxRepeatedCalls)
			return
		}
		f.hold(sizeTrip+sizeCall*len(t.Calls), train.ID)
		f.called += len(t.Calls)
		train.Calls = f.calls.extend(nil, t.Calls)
		for i := range train.Calls {
			train.Calls[i].Arrive += late
			train.Calls[i].Depart += late
		}
		train.Calls[0].Arrive = max(train.Calls[0].Arrive, 0) // this time is not used
		train.repeated, train.headway = true, d.window.nominal
		f.trips = append(f.trips, &train)
	}
}
