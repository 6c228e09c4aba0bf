package traintravel

import (
	"cmp"
	"slices"
	"time"

	"github.com/traintravel/traintravel/internal/raptor"
)

// longestTrip is how long a trip with changes may take: who depends on later
// trains does not take them.
const longestTrip = raptor.Longest * 24 * time.Hour

// A change is one way to get from a train to the next.
type change struct {
	alight, board int // calls of the one and of the other
	date          Date
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
func (sn *snapshot) connect(first ride, numbers []uint32, alight int) []ride {
	if len(numbers) == 0 {
		return nil
	}
	c := connector{
		sn: sn, numbers: numbers, alight: alight, origin: first.train.station(first.board), target: -1, until: first.departs().Add(longestTrip), known: map[boarding][]ride{},
	}
	for _, v := range sn.byNumber.of(uint64(numbers[len(numbers)-1])) {
		if t := &sn.trains[v.train]; alight < len(t.stops) {
			c.target = t.station(alight) // of all that have the number
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
func (sn *snapshot) variants(number uint32, from, to time.Time) (all []*train) {
	first, last := DateOf(from.UTC()), DateOf(to.UTC())+1
	for _, v := range sn.byNumber.of(uint64(number)) {
		t := &sn.trains[v.train]
		days := Date(t.times[len(t.times)-1].Depart/86400) + 2
		if t.days.first <= last && t.days.last >= first-days {
			all = append(all, t)
		}
	}
	return all
}

// A connector remembers where it has been: trains that share many stations can
// be changed in more ways than anybody could go through.
type connector struct {
	sn      *snapshot
	numbers []uint32
	alight  int
	origin  int32     // nobody changes here
	target  int32     // nor here
	until   time.Time // the last train departs no later
	known   map[boarding][]ride

	variants [maxLegs][]*train // of the numbers, those that may come in question
	looks    int
}

// A boarding is a call of a run of the n-th number.
type boarding struct {
	run   RunID
	board int
	n     int
}

// from completes the trip with the trains from the n-th number on.
func (c *connector) from(first ride, n int) []ride {
	key := boarding{first.run(), first.board, n}
	trip, ok := c.known[key]
	if !ok {
		trip = c.search(first, n)
		c.known[key] = trip
	}
	return trip
}

func (c *connector) search(first ride, n int) (trip []ride) {
	last := n == len(c.numbers)-1
	for _, ch := range c.changes(first, n, last) {
		if trip != nil && ch.date > trip[1].date {
			break
		}
		first.alight = ch.alight
		next := ride{date: ch.date, board: ch.board}
		next.train, _ = c.sn.numbered(c.numbers[n], ch.date)
		if last {
			next.alight = c.alight
			return []ride{first, next}
		}
		rest := c.from(next, n+1)
		if rest != nil && !rides(rest, first.run()) && (trip == nil || arrival(rest).Before(arrival(trip))) {
			trip = append([]ride{first}, rest...)
		}
	}
	return trip
}

func arrival(trip []ride) time.Time { return trip[len(trip)-1].arrives() }

func rides(trip []ride, run RunID) bool {
	return slices.ContainsFunc(trip, func(r ride) bool { return r.run() == run })
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
func (c *connector) changes(from ride, n int, last bool) []change {
	var all []change
	for i := from.board + 1; i < len(from.train.stops); i++ {
		if !from.train.alights(i) || c.ends(from.train.station(i)) || !c.sn.sells(from.train, from.board, i) {
			continue
		}
		arrives := from.train.arrives(from.date, i)
		for _, e := range c.sn.network.Edges(from.train.stops[i].Alight) {
			earliest := arrives.Add(time.Duration(e.Seconds) * time.Second)
			for _, t := range c.variants[n] {
				for j := range t.stops {
					if t.stops[j].Board != e.To && t.stops[j].Seated != e.To || c.ends(t.station(j)) || last && !(t.rideable(j, c.alight) && c.sn.sells(t, j, c.alight)) {
						continue
					}
					if c.looks++; c.looks > maxLooks {
						return nil
					}
					d, departs, ok := t.next(j, earliest, c.until, from.run())
					if !ok {
						continue
					}
					all = append(all, change{alight: i, board: j, date: d, walk: from.train.station(i) != t.station(j), slack: departs.Sub(earliest), arrives: arrives})
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
func (t *train) next(call int, earliest, until time.Time, but RunID) (Date, time.Time, bool) {
	offset := time.Duration(t.depart(call)) * time.Second
	for d := DateOf(earliest.Add(-offset).In(t.location)) - 1; ; d++ {
		departs := t.departs(d, call)
		if departs.After(until) || d > t.days.last {
			return 0, time.Time{}, false
		}
		if !departs.Before(earliest) && t.days.runs(d) && t.run(d) != but {
			return d, departs, d >= t.since // before, the number meant another train
		}
	}
}
