package gtfs

import (
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/traintravel/traintravel"
)

// The transfer types of transfers.txt.
const (
	recommended = iota
	timed
	minimum
	impossible
	inSeat
	notInSeat
)

const (
	// changeTime is the time of a change without a rule, to which a walk adds
	// a second for each metre; see [traintravel.Change].
	changeTime = 5 * 60
	// maxTransfer is the longest time of a change, in seconds.
	maxTransfer = 24 * 60 * 60
)

// A transferTable is transfers.txt with its columns.
type transferTable struct {
	*table
	kind, least column
	from, to    sideColumns
}

type sideColumns struct {
	stopName, routeName, tripName string
	stop, route, trip             column
}

func (t *table) sideColumns(prefix string) sideColumns {
	stop, route, trip := prefix+"_stop_id", prefix+"_route_id", prefix+"_trip_id"
	return sideColumns{stop, route, trip, t.column(stop), t.column(route), t.column(trip)}
}

func (f *feed) readTransfers() error {
	if f.has("transfers.txt") {
		t, err := f.open("transfers.txt", "transfer_type")
		if err != nil {
			return err
		}
		tt := transferTable{t, t.column("transfer_type"), t.column("min_transfer_time"), t.sideColumns("from"), t.sideColumns("to")}
		for t.next() {
			before := f.rules.size()
			if !f.readTransfer(&tt) {
				t.close()
				return errMistakes
			}
			f.hold(f.rules.size() - before)
		}
		if t.err != nil {
			return t.err
		}
	}
	if err := f.linkBlocks(); err != nil {
		return err
	}
	if err := f.removeTwins(); err != nil {
		return err
	}
	f.rules.dropUnseated()
	f.dropWaiting()
	return nil
}

// A side has the fields of a row about the trains from which, or to which, passengers change.
type side struct {
	station int32 // index into feed.stops; -1 if it names none
	stop    int32 // that it names
	whole   bool  // the station, not a platform or another stop that is part of it
	line    string
	from    int32 // it names the trains feed.trips[from:to]
	to      int32
	repeats bool   // which frequencies.txt makes
	wrong   string // a mistake because of which the row is not read
	unread  bool   // the row is about stops, routes or trips that are not read

	platforms []uint16 // to which the rule is limited; nil if it is not
}

func (s *side) trip() bool { return s.to > s.from }

func (f *feed) side(t *table, c *sideColumns) side {
	s := side{station: -1}
	s.readStop(f, t, c)
	var r route
	if key := t.get(c.route); len(key) > 0 {
		var ok bool
		r, ok = f.routes[string(key)]
		switch {
		case !ok:
			s.wrong = c.routeName + " is not in routes.txt"
		case r.skip != "" || r.id == "": // an empty line would mean any
			s.unread = true
		}
		s.line = r.id
	}
	if key := t.get(c.trip); len(key) > 0 {
		s.readTrip(f, string(key), c)
		if s.trip() && s.line != "" && f.trips[s.from].Line != s.line {
			s.wrong = c.tripName + " is not a trip of " + c.routeName
		}
		s.line = "" // the trip says more
	}
	return s
}

func (s *side) readStop(f *feed, t *table, c *sideColumns) {
	key := t.get(c.stop)
	if len(key) == 0 {
		return
	}
	i, ok := f.stopByID[string(key)]
	if !ok {
		s.wrong = c.stopName + " is not in stops.txt"
		return
	}
	s.station = f.stops[i].station
	s.stop = i
	s.whole = s.station == i && (f.stops[i].kind == station || !f.stops[i].joined)
	s.unread = !f.stops[s.station].served
}

func (s *side) readTrip(f *feed, key string, c *sideColumns) {
	i, ok := f.tripByID[key]
	switch {
	case !ok:
		s.wrong = c.tripName + " is not in trips.txt"
		return
	case i == skipped:
		s.unread = true
		return
	}
	s.from, s.to = i, i+1
	if p := f.patterns[i]; p != nil {
		s.from, s.to, s.repeats = p.from, p.to, true
	}
	// Without calls it does not run; without an ID it would mean any train.
	if !s.trip() || len(f.trips[s.from].Calls) == 0 || f.trips[s.from].ID == "" {
		s.unread = true
	}
}

// readTransfer reads one row. It returns false if there are too many rules.
func (f *feed) readTransfer(t *transferTable) bool {
	before := f.errs.Total
	kind := t.choice(t.kind, "transfer_type", notInSeat)
	least := -1
	if b := t.get(t.least); len(b) > 0 {
		if least = digits(b); least < 0 {
			t.fail("min_transfer_time %.20q is not a number of seconds", b)
		}
	}
	from, to := f.side(t.table, &t.from), f.side(t.table, &t.to)
	wrong := from.wrong
	if wrong == "" {
		wrong = to.wrong
	}
	switch {
	case f.errs.Total > before:
	case wrong != "":
		f.doubt(t.name, t.line(), wrong)
	case from.unread || to.unread:
		f.note(t.name, t.line(), "the row is about a stop, a route or a trip that is not read")
	case kind == inSeat || kind == notInSeat:
		f.readInSeat(t, kind, &from, &to)
	case from.station < 0 || to.station < 0:
		f.doubt(t.name, t.line(), "from_stop_id or to_stop_id is missing")
	default:
		return f.readChange(t, kind, least, &from, &to)
	}
	return true
}

// readInSeat reads a row of the types that are about passengers who stay seated.
func (f *feed) readInSeat(t *transferTable, kind int, from, to *side) {
	switch {
	case !from.trip() || !to.trip():
		f.doubt(t.name, t.line(), fmt.Sprintf("transfer_type is %d, but from_trip_id or to_trip_id is missing", kind))
	case from.repeats || to.repeats:
		f.note(t.name, t.line(), "the row says which trip continues as which, but frequencies.txt repeats one of them")
	case kind == notInSeat:
		f.rules.settle(from.from, to.from)
		if f.rules.unseat(f.stay(f.trips[from.from], f.trips[to.from])) {
			f.note(t.name, t.line(), severalRules)
		}
	default:
		a, b := f.trips[from.from], f.trips[to.from]
		if reason := f.goesOn(a, b); reason != "" {
			f.doubt(t.name, t.line(), reason)
			return
		}
		f.rules.settle(from.from, to.from)
		stay := f.stay(a, b)
		if f.rules.add(stay) || f.rules.unseated[stay] {
			f.note(t.name, t.line(), severalRules)
		}
	}
}

const severalRules = "several rules apply to the stations and trains: the strictest is used"

// readChange reads a row of the other types.
func (f *feed) readChange(t *transferTable, kind, least int, from, to *side) bool {
	a, b := &f.stops[from.station], &f.stops[to.station]
	ch := traintravel.Change{
		From: a.ID, To: b.ID, Feed: f.opts.Feed, FromLine: from.line, ToLine: to.line,
	}
	if kind != minimum && least > 0 {
		f.note(t.name, t.line(), "min_transfer_time is ignored, because transfer_type is not 2")
	}
	switch kind {
	case recommended:
		if from.station == to.station {
			return true // as without a rule
		}
		least = changeTime + int(math.Ceil(a.Distance(b.Station)))
		if least > maxTransfer {
			f.doubt(t.name, t.line(), "transfer_type is 0, but the stations are more than a day's walk from each other")
			return true
		}
	case timed:
		least = 0
		if !(from.whole || from.line != "" || from.trip()) || !(to.whole || to.line != "" || to.trip()) {
			f.note(t.name, t.line(), "the row guarantees a change between two platforms only, and is left out")
			return true
		}
	case minimum:
		if least < 0 {
			f.doubt(t.name, t.line(), "transfer_type is 2, but min_transfer_time is missing")
			return true
		}
		if least > maxTransfer {
			f.doubt(t.name, t.line(), "min_transfer_time is longer than a day: the change counts as impossible")
			kind = impossible
		}
	}
	if kind == impossible {
		ch.Kind = traintravel.Impossible
		f.part(from, to)
	} else {
		if from.line != "" || from.trip() || to.line != "" || to.trip() {
			f.part(from, to) // otherwise it would override that another change is impossible
		}
		ch.Time = time.Duration(least) * time.Second
		f.noteWalk(t, least, from, to)
	}
	return f.addChange(t, ch, kind, from, to)
}

// addChange adds the rule, for each pair of the trains and platforms it names.
func (f *feed) addChange(t *transferTable, ch traintravel.Change, kind int, from, to *side) bool {
	if kind >= minimum && from.trip() && to.trip() && !from.repeats && !to.repeats {
		f.rules.settle(from.from, to.from)
	}
	several := false
	for leaves := range f.ends(from) {
		for enters := range f.ends(to) {
			ch.FromTrain, ch.FromPlatform = leaves.train, leaves.platform
			ch.ToTrain, ch.ToPlatform = enters.train, enters.platform
			several = f.rules.add(ch) || several
			if from.many() || to.many() {
				f.rules.repeated++
			}
			if max(len(f.rules.list), f.rules.repeated) > maxChanges {
				t.fail("the rows up to here make more than %d rules for changes", maxChanges)
				return false
			}
		}
	}
	if several {
		f.note(t.name, t.line(), severalRules)
	}
	return true
}

// An end is one of the ends that a side of a row means: a train, a platform, or any.
type end struct {
	train    string
	platform uint16
}

// many reports whether a side means more than one.
func (s *side) many() bool { return s.repeats || len(s.platforms) > 1 }

func (f *feed) ends(s *side) iter.Seq[end] {
	return func(yield func(end) bool) {
		switch {
		case s.trip():
			for _, t := range f.trips[s.from:s.to] {
				if !yield(end{train: t.ID}) {
					return
				}
			}
		case s.platforms != nil:
			for _, p := range s.platforms {
				if !yield(end{platform: p}) {
					return
				}
			}
		default:
			yield(end{})
		}
	}
}
