package traintravel

import (
	"context"
	"slices"
	"time"

	"github.com/traintravel/traintravel/internal/raptor"
)

// ask is a TripQuery in the terms of a snapshot.
type ask struct {
	origin, destination int32
	date                Date  // at the origin
	from, to            int64 // departures, in Unix seconds
}

// unixUp is the first whole second at or after an instant: trains depart on
// whole seconds.
func unixUp(t time.Time) int64 {
	s := t.Unix()
	if t.Nanosecond() > 0 {
		s++
	}
	return s
}

// direct finds the rides without a change.
func (sn *snapshot) direct(q *TripQuery, a ask) []ride {
	return sn.rides(sn.network.Direct(sn.daysAround(a.date), &raptor.Query{
		Origin: a.origin, Target: a.destination, From: a.from, To: a.to, Allow: sn.allow(q, ""),
	}, nil))
}

// rides are what the network's legs mean.
func (sn *snapshot) rides(legs []raptor.Leg) []ride {
	rides := make([]ride, len(legs))
	for i, l := range legs {
		rides[i] = ride{train: &sn.trains[l.Train], date: Date(l.Day), board: int(l.Board), alight: int(l.Alight)}
	}
	return rides
}

// allow says which groups of trains may be taken, nil for all: those of a
// currency, unless it is empty.
func (sn *snapshot) allow(q *TripQuery, currency string) func(int32) bool {
	if !q.Bicycles && !q.Dogs && currency == "" {
		return nil
	}
	return func(at int32) bool {
		g := &sn.groups[at]
		return (currency == "" || g.currency == currency) && (!q.Bicycles || g.bicycles == Allowed) && (!q.Dogs || g.dogs == Allowed)
	}
}

// maxSearches bounds how often a search begins again because a train that it
// has found is full.
const maxSearches = 50

// withChanges finds the trips with changes that can be booked and that no other
// that can be beats. A search that meets full trains is done again without
// what is not to be had.
func (s *Service) withChanges(ctx context.Context, sn *snapshot, q *TripQuery, a ask, now time.Time) (trips []Trip, err error) {
	currencies := []string{""} // any
	if s.opts.Price == nil {
		currencies = sn.currencies(a.origin, a.destination)
	}
	for _, currency := range currencies {
		more, err := s.inCurrency(ctx, sn, q, a, currency, now)
		if err != nil {
			return nil, err
		}
		trips = append(trips, more...)
	}
	return trips, nil
}

func (s *Service) inCurrency(ctx context.Context, sn *snapshot, q *TripQuery, a ask, currency string, now time.Time) ([]Trip, error) {
	days := sn.daysAround(a.date)
	query := raptor.Query{
		Origin: a.origin, Target: a.destination, From: a.from, To: a.to, Legs: maxLegs, Allow: sn.allow(q, currency),
	}
	limited := map[RunID]int{} // index of the query's limit
	for n := 1; ; n++ {
		var found [][]ride
		for _, j := range sn.network.Search(days, &query) {
			if rides := sn.canonical(sn.rides(j)); rides != nil {
				found = append(found, rides)
			}
		}
		trips, crowded, err := s.bookable(ctx, sn, found, q.Bicycles, now)
		if err != nil {
			return nil, err
		}
		again := false
		for _, rides := range crowded {
			more, err := s.limit(ctx, sn, &query, rides, limited, q.Bicycles, now)
			if err != nil {
				return nil, err
			}
			again = again || more
		}
		if again && n < maxSearches {
			continue
		}
		if again {
			s.log.Warn("a search met too many full trains: not all its trips are found", "origin", sn.stations[a.origin].ID, "destination", sn.stations[a.destination].ID, "date", a.date)
		}
		return slices.DeleteFunc(trips, func(t Trip) bool { return len(t.Legs) == 1 }), nil
	}
}

// canonical is the trip that the ID of a journey means: the same trains, changed
// where connect says. It arrives no later.
func (sn *snapshot) canonical(rides []ride) []ride {
	if len(rides) == 1 {
		return rides
	}
	numbers := make([]uint32, 0, maxLegs)
	for _, r := range rides[1:] {
		numbers = append(numbers, r.train.number)
	}
	return sn.connect(rides[0], numbers, rides[len(rides)-1].alight)
}

// limit adds to a query how far one can still ride the runs of a trip on which
// there is no room, and says whether there was one to add. If a search has kept
// to that and its ID means a ride without room all the same, the run is barred.
func (s *Service) limit(ctx context.Context, sn *snapshot, query *raptor.Query, rides []ride, limited map[RunID]int, bicycle bool, now time.Time) (more bool, err error) {
	runs := make([]RunID, len(rides))
	for i, r := range rides {
		runs[i] = r.run()
	}
	inventories, err := s.inventories(ctx, runs)
	if err != nil {
		return false, err
	}
	for i, r := range rides {
		inv := inventories[i]
		if inv == nil {
			continue
		}
		known := inv.readable() == nil
		if known {
			inv = sn.fitted(inv, r.train)
		}
		room := func(from, to int) bool {
			return known && !inv.cancelled && (r.train.places == 0 || inv.free(from, to, now) > 0) &&
				(!bicycle || r.train.hooks == 0 || inv.hookFree(r.train.hooks, from, to, now))
		}
		if room(r.board, r.alight) {
			continue
		}
		if at, ok := limited[runs[i]]; ok {
			for from := range query.Limits[at].Reach {
				more = more || query.Limits[at].Reach[from] > 0
				query.Limits[at].Reach[from] = 0
			}
			continue
		}
		reach := make([]int16, len(r.train.stops))
		to := 0
		for from := range reach { // who boards later gets at least as far
			for to = max(to, from); to+1 < len(reach) && room(from, to+1); {
				to++
			}
			reach[from] = int16(to)
		}
		limited[runs[i]] = len(query.Limits)
		query.Limits = append(query.Limits, raptor.Limit{Train: r.train.index, Day: int32(r.date), Reach: reach})
		more = true
	}
	return more, nil
}
