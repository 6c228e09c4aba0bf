package traintravel

import (
	"cmp"
	"slices"
	"time"
)

const (
	// changeTime is the least time to change trains at one station.
	changeTime = 5 * time.Minute
	// longestChange is the most a traveller is made to wait for the next train
	// after changeTime.
	longestChange = 24 * time.Hour
)

// A change is one way to get from a train to the next.
type change struct {
	alight, board int // calls of the one and of the other
	date          Date
	slack         time.Duration
	arrives       time.Time
}

// connect completes a trip of which the first run and its boarding call, the
// other trains' registered numbers and the last alighting call are known. The
// rule, the same for a search and for the ID it gave away: the next train is
// the next run that can be caught at any station both call at; of these
// stations the one with the most slack, and of those the earliest, from which
// the rest of the trip is possible. It returns nil if there is none.
func (sn *snapshot) connect(first ride, numbers []uint32, alight int) []ride {
	c := connector{sn: sn, numbers: numbers, alight: alight, known: map[boarding][]ride{}}
	return c.from(first, 0)
}

// A connector remembers where it has been: trains that share many stations can
// be changed in more ways than anybody could go through.
type connector struct {
	sn      *snapshot
	numbers []uint32
	alight  int
	known   map[boarding][]ride
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

func (c *connector) search(first ride, n int) []ride {
	last := n == len(c.numbers)-1
	for _, ch := range c.sn.changes(first, c.numbers[n], last, c.alight) {
		first.alight = ch.alight
		next := ride{date: ch.date, board: ch.board}
		next.train, _ = c.sn.numbered(c.numbers[n], ch.date)
		if last {
			next.alight = c.alight
			return []ride{first, next}
		}
		if rest := c.from(next, n+1); rest != nil && !rides(rest, first.run()) {
			return append([]ride{first}, rest...)
		}
	}
	return nil
}

func rides(trip []ride, run RunID) bool {
	return slices.ContainsFunc(trip, func(r ride) bool { return r.run() == run })
}

// changes lists the ways to change into the next run of a train, best first.
func (sn *snapshot) changes(from ride, number uint32, last bool, alight int) []change {
	var all []change
	for i := from.board + 1; i < len(from.train.calls); i++ {
		if !from.train.calls[i].alight {
			continue
		}
		arrives := from.train.arrives(from.date, i)
		earliest := arrives.Add(changeTime)
		for _, v := range sn.byNumber[number] {
			t := &sn.trains[v]
			for j := range t.calls {
				if t.calls[j].station != from.train.calls[i].station || !t.calls[j].board ||
					last && !t.rideable(j, alight) {
					continue
				}
				d, departs, ok := t.next(j, earliest)
				if !ok || d < t.since || t.run(d) == from.run() {
					continue
				}
				all = append(all, change{alight: i, board: j, date: d, slack: departs.Sub(earliest), arrives: arrives})
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	// Of several variants and dates only the next run counts.
	first := slices.MinFunc(all, func(a, b change) int { return cmp.Compare(a.date, b.date) }).date
	all = slices.DeleteFunc(all, func(c change) bool { return c.date != first })
	slices.SortFunc(all, func(a, b change) int {
		return cmp.Or(cmp.Compare(b.slack, a.slack), a.arrives.Compare(b.arrives), cmp.Compare(a.alight, b.alight), cmp.Compare(a.board, b.board))
	})
	return all
}

// next finds the first run that departs from a call at or after an instant,
// within the longest wait.
func (t *train) next(call int, earliest time.Time) (Date, time.Time, bool) {
	offset := time.Duration(t.calls[call].depart) * time.Second
	first := DateOf(earliest.Add(-offset).In(t.location)) - 1
	for d := first; d <= first+3; d++ {
		if !t.days.runs(d) {
			continue
		}
		if departs := t.departs(d, call); !departs.Before(earliest) {
			return d, departs, departs.Sub(earliest) <= longestChange
		}
	}
	return 0, time.Time{}, false
}
