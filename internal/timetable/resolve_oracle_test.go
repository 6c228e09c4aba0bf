package timetable

import (
	"cmp"
	"slices"
	"time"

	"github.com/traintravel/traintravel/rail"
)

// slowResolve is what a trip's code means, written to be seen right.
func slowResolve(sn *Snapshot, c TripCode) []Ride {
	first, ok := slowRun(sn, c.Numbers[0], c.date)
	if !ok || c.board >= len(first.Stops) || !first.boards(c.board) {
		return nil
	}
	from := Ride{Train: first, Date: c.date, Board: c.board}
	rides := slowConnect(sn, from, c.Numbers[1:c.Legs], c.Alight, slowEnd{from.departs().Add(72 * time.Hour), first.Station(c.board), slowTarget(sn, c)})
	if n := len(rides); n > 0 && rides[n-1].Train.Station(rides[n-1].Alight) == first.Station(c.board) {
		return nil
	}
	return rides
}

// slowRun is the train that a number means on a date.
func slowRun(sn *Snapshot, number uint32, d rail.Date) (*Train, bool) {
	for i := range sn.Trains {
		if t := &sn.Trains[i]; t.number == number && t.Days.Runs(d) && d >= t.since {
			return t, true
		}
	}
	return nil, false
}

// slowConnect completes a trip: see connect.
func slowConnect(sn *Snapshot, r Ride, numbers []uint32, alight int, end slowEnd) (trip []Ride) {
	if len(numbers) == 0 {
		if r.Alight = alight; !r.Train.Rideable(r.Board, alight) {
			return nil
		}
		return []Ride{r}
	}
	for _, c := range slowChanges(sn, r, numbers[0], len(numbers) == 1, alight, end) {
		if trip != nil && c.next.Date > trip[1].Date {
			break
		}
		rest := slowConnect(sn, c.next, numbers[1:], alight, end)
		if rest == nil || slices.ContainsFunc(rest, func(x Ride) bool { return x.Run() == r.Run() }) {
			continue
		}
		if trip == nil || rest[len(rest)-1].arrives().Before(trip[len(trip)-1].arrives()) {
			r.Alight = c.alight
			trip = append([]Ride{r}, rest...)
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
func slowTarget(sn *Snapshot, c TripCode) int32 {
	for i := range sn.Trains {
		if t := &sn.Trains[i]; t.number == c.Numbers[c.Legs-1] && c.Alight < len(t.Stops) {
			return t.Station(c.Alight)
		}
	}
	return -1
}

type slowChange struct {
	alight int
	next   Ride
}

// slowChanges lists where one can change into the next run of a train that can
// be caught anywhere: most time to spare first, then the earliest.
func slowChanges(sn *Snapshot, r Ride, number uint32, last bool, alight int, end slowEnd) []slowChange {
	var all []slowChange
	for i := r.Board + 1; i < len(r.Train.Stops); i++ {
		arrives := r.Train.Arrives(r.Date, i)
		for k := range sn.Trains {
			t := &sn.Trains[k]
			for j := range t.Stops {
				if t.number != number || r.Train.Station(i) != t.Station(j) ||
					!r.Train.alights(i) || !t.boards(j) || t.Station(j) == end.origin || t.Station(j) == end.target || r.Train.Station(i) == end.origin || r.Train.Station(i) == end.target || last && !t.Rideable(j, alight) || !r.Train.priced(r.Board, i) || last && !t.priced(j, alight) {
					continue
				}
				// The first run that departs there in time, if it is one to take.
				for d := rail.DateOf(arrives) - 16; d <= rail.DateOf(arrives)+9; d++ {
					next := Ride{Train: t, Date: d, Board: j}
					wait := t.Departs(d, j).Sub(arrives)
					if !t.Days.Runs(d) || wait < 5*time.Minute || next.Run() == r.Run() {
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
	slack := func(c slowChange) time.Duration { return c.next.departs().Sub(r.Train.Arrives(r.Date, c.alight)) }
	slices.SortFunc(all, func(a, b slowChange) int {
		return cmp.Or(
			cmp.Compare(a.next.Date, b.next.Date), cmp.Compare(slack(b), slack(a)),
			r.Train.Arrives(r.Date, a.alight).Compare(r.Train.Arrives(r.Date, b.alight)),
			cmp.Compare(a.alight, b.alight), cmp.Compare(a.next.Board, b.next.Board),
		)
	})
	return all
}
