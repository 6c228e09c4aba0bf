package traintravel

import (
	"cmp"
	"slices"
	"time"
)

// slowResolve is what a trip's code means, written to be seen right.
func slowResolve(sn *snapshot, c tripCode) []ride {
	first, ok := slowRun(sn, c.numbers[0], c.date)
	if !ok || c.board >= len(first.stops) || !first.boards(c.board) {
		return nil
	}
	from := ride{train: first, date: c.date, board: c.board}
	rides := slowConnect(sn, from, c.numbers[1:c.legs], c.alight, slowEnd{from.departs().Add(72 * time.Hour), first.station(c.board), slowTarget(sn, c)})
	if n := len(rides); n > 0 && rides[n-1].train.station(rides[n-1].alight) == first.station(c.board) {
		return nil
	}
	return rides
}

// slowRun is the train that a number means on a date.
func slowRun(sn *snapshot, number uint32, d Date) (*train, bool) {
	for i := range sn.trains {
		if t := &sn.trains[i]; t.number == number && t.days.runs(d) && d >= t.since {
			return t, true
		}
	}
	return nil, false
}

// slowConnect completes a trip: see connect.
func slowConnect(sn *snapshot, r ride, numbers []uint32, alight int, end slowEnd) (trip []ride) {
	if len(numbers) == 0 {
		if r.alight = alight; !r.train.rideable(r.board, alight) {
			return nil
		}
		return []ride{r}
	}
	for _, c := range slowChanges(sn, r, numbers[0], len(numbers) == 1, alight, end) {
		if trip != nil && c.next.date > trip[1].date {
			break
		}
		rest := slowConnect(sn, c.next, numbers[1:], alight, end)
		if rest == nil || slices.ContainsFunc(rest, func(x ride) bool { return x.run() == r.run() }) {
			continue
		}
		if trip == nil || rest[len(rest)-1].arrives().Before(trip[len(trip)-1].arrives()) {
			r.alight = c.alight
			trip = append([]ride{r}, rest...)
		}
	}
	return trip
}

// slowEnd says when the last train departs at the latest, and where nobody changes.
type slowEnd struct {
	until  time.Time
	origin int32
	target int32
}

// slowTarget is the station where the last train of a code ends, -1 if nowhere.
func slowTarget(sn *snapshot, c tripCode) int32 {
	for i := range sn.trains {
		if t := &sn.trains[i]; t.number == c.numbers[c.legs-1] && c.alight < len(t.stops) {
			return t.station(c.alight)
		}
	}
	return -1
}

type slowChange struct {
	alight int
	next   ride
}

// slowChanges lists where one can change into the next run of a train that can
// be caught anywhere: most time to spare first, then the earliest.
func slowChanges(sn *snapshot, r ride, number uint32, last bool, alight int, end slowEnd) []slowChange {
	var all []slowChange
	for i := r.board + 1; i < len(r.train.stops); i++ {
		arrives := r.train.arrives(r.date, i)
		for k := range sn.trains {
			t := &sn.trains[k]
			for j := range t.stops {
				if t.number != number || r.train.station(i) != t.station(j) ||
					!r.train.alights(i) || !t.boards(j) || t.station(j) == end.origin || t.station(j) == end.target || r.train.station(i) == end.origin || r.train.station(i) == end.target || last && !t.rideable(j, alight) || !r.train.priced(r.board, i) || last && !t.priced(j, alight) {
					continue
				}
				// The first run that departs there in time, if it is one to take.
				for d := DateOf(arrives) - 16; d <= DateOf(arrives)+9; d++ {
					next := ride{train: t, date: d, board: j}
					wait := t.departs(d, j).Sub(arrives)
					if !t.days.runs(d) || wait < 5*time.Minute || next.run() == r.run() {
						continue
					}
					if !next.departs().After(end.until) && d >= t.since {
						all = append(all, slowChange{i, next})
					}
					break
				}
			}
		}
	}
	slack := func(c slowChange) time.Duration { return c.next.departs().Sub(r.train.arrives(r.date, c.alight)) }
	slices.SortFunc(all, func(a, b slowChange) int {
		return cmp.Or(
			cmp.Compare(a.next.date, b.next.date), cmp.Compare(slack(b), slack(a)),
			r.train.arrives(r.date, a.alight).Compare(r.train.arrives(r.date, b.alight)),
			cmp.Compare(a.alight, b.alight), cmp.Compare(a.next.board, b.next.board),
		)
	})
	return all
}
