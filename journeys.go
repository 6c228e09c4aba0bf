package traintravel

import (
	"context"
	"slices"

	"github.com/traintravel/traintravel/internal/raptor"
)

// maxSearches bounds how often a search begins again because a train that it
// has found is full.
const maxSearches = 50

// withChanges finds the trips with changes that can be booked and that no other
// that can be beats.
func (s *search) withChanges(ctx context.Context) (trips []Trip, err error) {
	currencies := []string{""} // any
	if s.hook == nil {
		currencies = s.sn.currencies(s.ask)
	}
	for _, currency := range currencies {
		j := journeys{search: s, query: s.sn.query(s.ask, currency), limited: map[RunID]int{}}
		more, err := j.find(ctx)
		if err != nil {
			return nil, err
		}
		trips = append(trips, more...)
	}
	return trips, nil
}

// journeys are a search for trips with changes, all in one currency. If it meets full
// trains, it is done again without what is not to be had.
type journeys struct {
	*search
	query   raptor.Query
	limited map[RunID]int // indexes of the query's limits
}

func (j *journeys) find(ctx context.Context) ([]Trip, error) {
	days := j.sn.daysAround(j.ask.date)
	for n := 1; ; n++ {
		var found [][]ride
		for _, legs := range j.sn.network.Search(days, &j.query) {
			if rides := j.sn.canonical(j.sn.rides(legs)); rides != nil {
				found = append(found, rides)
			}
		}
		trips, crowded, err := j.bookable(ctx, found)
		if err != nil {
			return nil, err
		}
		again := false
		for _, rides := range crowded {
			more, err := j.limit(ctx, rides)
			if err != nil {
				return nil, err
			}
			again = again || more
		}
		if again && n < maxSearches {
			continue
		}
		if again {
			origin, destination := &j.sn.stations[j.ask.origin], &j.sn.stations[j.ask.destination]
			j.log.Warn("a search met too many full trains: not all its trips are found", "origin", origin.ID, "destination", destination.ID, "date", j.ask.date)
		}
		return slices.DeleteFunc(trips, func(t Trip) bool { return len(t.Legs) == 1 }), nil
	}
}

// limit adds to the query how far one can still ride the runs of a trip on which
// there is no room, and says whether there was one to add. If a search has kept
// to that and its ID means a ride without room all the same, the run is barred.
func (j *journeys) limit(ctx context.Context, rides []ride) (more bool, err error) {
	runs := make([]RunID, len(rides))
	for i, r := range rides {
		runs[i] = r.run()
	}
	inventories, err := j.inventories(ctx, runs)
	if err != nil {
		return false, err
	}
	for i, r := range rides {
		inv := inventories[i]
		if inv == nil {
			continue
		}
		room := j.room(inv, r.train)
		if room(r.board, r.alight) {
			continue
		}
		if at, ok := j.limited[runs[i]]; ok {
			for from := range j.query.Limits[at].Reach {
				more = more || j.query.Limits[at].Reach[from] > 0
				j.query.Limits[at].Reach[from] = 0
			}
			continue
		}
		j.limited[runs[i]] = len(j.query.Limits)
		j.query.Limits = append(j.query.Limits, raptor.Limit{Train: r.train.index, Day: int32(r.date), Reach: reach(len(r.train.stops), room)})
		more = true
	}
	return more, nil
}

// room returns a function that says whether a train has room between two calls.
func (j *journeys) room(inv *inventory, t *train) func(from, to int) bool {
	if inv.readable() != nil {
		return func(int, int) bool { return false }
	}
	inv = j.sn.fitted(inv, t)
	return func(from, to int) bool {
		return !inv.cancelled && (t.places == 0 || inv.free(from, to, j.now) > 0) &&
			(!j.ask.bicycles || t.hooks == 0 || inv.hookFree(t.hooks, from, to, j.now))
	}
}

// reach is how far one gets from each call of a train with room.
func reach(calls int, room func(from, to int) bool) []int16 {
	reach := make([]int16, calls)
	to := 0
	for from := range reach { // who boards later gets at least as far
		for to = max(to, from); to+1 < calls && room(from, to+1); {
			to++
		}
		reach[from] = int16(to)
	}
	return reach
}
