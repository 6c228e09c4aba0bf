package timetable

import (
	"cmp"
	"slices"
	"time"

	"github.com/traintravel/traintravel/internal/raptor"
	"github.com/traintravel/traintravel/rail"
)

// longestTrip is how long a trip with changes may take: who depends on later
// trains does not take them.
const longestTrip = raptor.Longest * 24 * time.Hour

// A change is one way to get from a train to the next.
type change struct {
	alight, board int // calls of the one and of the other
	date          rail.Date
	walk          bool // between two stations
	slack         time.Duration
	arrives       time.Time
}

// connect completes a trip of which the first run and its boarding call, the
// other trains' registered numbers and the last alighting call are known. The
// rule, the same for a search and for the ID it gave away: the next train is
// the next run that can be caught anywhere and from which the rest of the trip is
// possible, with no ride that Prices do not sell; of the ways to change into it the
// one that lets the trip arrive earliest, of these one without a walk, of these the
// one with the most slack, and of those the earliest. It returns nil if there is none.
func (sn *Snapshot) connect(first Ride, numbers []uint32, alight int) []Ride {
	if len(numbers) == 0 {
		return nil
	}
	c := connector{
		sn: sn, numbers: numbers, alight: alight, origin: first.Train.Station(first.Board), target: -1, until: first.departs().Add(longestTrip), known: map[boarding][]Ride{},
	}
	for _, v := range sn.byNumber.Of(uint64(numbers[len(numbers)-1])) {
		if t := &sn.Trains[v.Train]; alight < len(t.Stops) {
			c.target = t.Station(alight) // of all that have the number
		}
	}
	for i, number := range numbers {
		c.variants[i] = sn.variants(number, first.departs(), c.until)
	}
	return c.from(first, 0)
}

// maxLooks bounds how often connect looks for a next run, for IDs and timetables
// that are made to keep it busy.
const maxLooks = 100_000

// variants lists the trains of a number that may depart between two instants.
func (sn *Snapshot) variants(number uint32, from, to time.Time) (all []*Train) {
	first, last := rail.DateOf(from.UTC()), rail.DateOf(to.UTC())+1
	for _, v := range sn.byNumber.Of(uint64(number)) {
		t := &sn.Trains[v.Train]
		days := rail.Date(t.times[len(t.times)-1].Depart/86400) + 2
		if t.Days.First <= last && t.Days.Last >= first-days {
			all = append(all, t)
		}
	}
	return all
}

// A connector remembers where it has been: trains that share many stations can
// be changed in more ways than anybody could go through.
type connector struct {
	sn      *Snapshot
	numbers []uint32
	alight  int
	origin  int32     // nobody changes here
	target  int32     // nor here
	until   time.Time // the last train departs no later
	known   map[boarding][]Ride

	variants [rail.MaxLegs][]*Train // of the numbers, those that may come in question
	looks    int
}

// A boarding is a call of a run of the n-th number.
type boarding struct {
	run   rail.RunID
	board int
	n     int
}

// from completes the trip with the trains from the n-th number on.
func (c *connector) from(first Ride, n int) []Ride {
	key := boarding{first.Run(), first.Board, n}
	trip, ok := c.known[key]
	if !ok {
		trip = c.search(first, n)
		c.known[key] = trip
	}
	return trip
}

func (c *connector) search(first Ride, n int) (trip []Ride) {
	last := n == len(c.numbers)-1
	for _, ch := range c.changes(first, n, last) {
		if trip != nil && ch.date > trip[1].Date {
			break
		}
		first.Alight = ch.alight
		next := Ride{Date: ch.date, Board: ch.board}
		next.Train, _ = c.sn.numbered(c.numbers[n], ch.date)
		if last {
			next.Alight = c.alight
			return []Ride{first, next}
		}
		rest := c.from(next, n+1)
		if rest != nil && !rides(rest, first.Run()) && (trip == nil || arrival(rest).Before(arrival(trip))) {
			trip = append([]Ride{first}, rest...)
		}
	}
	return trip
}

func arrival(trip []Ride) time.Time { return trip[len(trip)-1].arrives() }

func rides(trip []Ride, run rail.RunID) bool {
	return slices.ContainsFunc(trip, func(r Ride) bool { return r.Run() == run })
}

// compareBool puts false first.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// ends says whether the trip begins or ends at a station.
func (c *connector) ends(station int32) bool { return station == c.origin || station == c.target }

// changes lists the ways to change into the runs of a train, for each place the
// next: the earliest run first, and of those into one run those without a walk, with
// most slack first.
func (c *connector) changes(from Ride, n int, last bool) []change {
	var all []change
	for i := from.Board + 1; i < len(from.Train.Stops); i++ {
		if !from.Train.alights(i) || c.ends(from.Train.Station(i)) || !c.sn.sells(from.Train, from.Board, i) {
			continue
		}
		arrives := from.Train.Arrives(from.Date, i)
		for _, e := range c.sn.Network.Edges(from.Train.Stops[i].Alight) {
			earliest := arrives.Add(time.Duration(e.Seconds) * time.Second)
			for _, t := range c.variants[n] {
				for j := range t.Stops {
					if t.Stops[j].Board != e.To && t.Stops[j].Seated != e.To || c.ends(t.Station(j)) || last && !(t.Rideable(j, c.alight) && c.sn.sells(t, j, c.alight)) {
						continue
					}
					if c.looks++; c.looks > maxLooks {
						return nil
					}
					d, departs, ok := t.next(j, earliest, c.until, from.Run())
					if !ok {
						continue
					}
					all = append(all, change{alight: i, board: j, date: d, walk: from.Train.Station(i) != t.Station(j), slack: departs.Sub(earliest), arrives: arrives})
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.date, b.date), compareBool(a.walk, b.walk), cmp.Compare(b.slack, a.slack), a.arrives.Compare(b.arrives), cmp.Compare(a.alight, b.alight), cmp.Compare(a.board, b.board))
	})
	return all
}

// next finds the first run but one that departs from a call at or after an
// instant, and not after another.
func (t *Train) next(call int, earliest, until time.Time, but rail.RunID) (rail.Date, time.Time, bool) {
	offset := time.Duration(t.depart(call)) * time.Second
	for d := rail.DateOf(earliest.Add(-offset).In(t.Location)) - 1; ; d++ {
		departs := t.Departs(d, call)
		if departs.After(until) || d > t.Days.Last {
			return 0, time.Time{}, false
		}
		if !departs.Before(earliest) && t.Days.Runs(d) && t.Run(d) != but {
			return d, departs, d >= t.since // before, the number meant another train
		}
	}
}
