package search

import (
	"context"
	"slices"

	"github.com/traintravel/traintravel/internal/raptor"
	"github.com/traintravel/traintravel/internal/seats"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/rail"
)

// maxSearches bounds how often a search begins again because a train that it
// has found is full.
const maxSearches = 50

// withChanges finds the trips with changes that can be booked and that no other
// that can be beats.
func (s *search) withChanges(ctx context.Context) (trips []rail.Trip, err error) {
	currencies := []string{""} // any
	if s.Hook == nil {
		currencies = s.sn.Currencies(s.ask)
	}
	for _, currency := range currencies {
		j := journeys{search: s, query: s.sn.Query(s.ask, currency), limited: map[rail.RunID]int{}}
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
	limited map[rail.RunID]int // indexes of the query's limits
}

func (j *journeys) find(ctx context.Context) ([]rail.Trip, error) {
	days := j.sn.DaysAround(j.ask.Date)
	for n := 1; ; n++ {
		var found [][]timetable.Ride
		for _, legs := range j.sn.Network.Search(days, &j.query) {
			if rides := j.sn.Canonical(j.sn.Rides(legs)); rides != nil {
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
			origin, destination := &j.sn.Stations[j.ask.Origin], &j.sn.Stations[j.ask.Destination]
			j.Log.Warn("search incomplete: too many trains are full", "origin", origin.ID, "destination", destination.ID, "date", j.ask.Date)
		}
		return slices.DeleteFunc(trips, func(t rail.Trip) bool { return len(t.Legs) == 1 }), nil
	}
}

// limit adds to the query how far one can still ride the runs of a trip on which
// there is no room, and says whether there was one to add. If a search has kept
// to that and its ID means a ride without room all the same, the run is barred.
func (j *journeys) limit(ctx context.Context, rides []timetable.Ride) (more bool, err error) {
	runs := make([]rail.RunID, len(rides))
	for i, r := range rides {
		runs[i] = r.Run()
	}
	inventories, err := j.Inventories(ctx, runs)
	if err != nil {
		return false, err
	}
	for i, r := range rides {
		inv := inventories[i]
		if inv == nil {
			continue
		}
		room := j.room(inv, r.Train)
		if room(r.Board, r.Alight) {
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
		j.query.Limits = append(j.query.Limits, raptor.Limit{Train: r.Train.Index, Day: int32(r.Date), Reach: reach(len(r.Train.Stops), room)})
		more = true
	}
	return more, nil
}

// room returns a function that says whether a train has room between two calls.
func (j *journeys) room(inv *seats.Inventory, t *timetable.Train) func(from, to int) bool {
	if inv.Readable() != nil {
		return func(int, int) bool { return false }
	}
	inv = j.sn.Fitted(inv, t)
	return func(from, to int) bool {
		return !inv.Cancelled && (t.Places == 0 || inv.Free(from, to, j.now) > 0) &&
			(!j.ask.Bicycles || t.Hooks == 0 || inv.HookFree(t.Hooks, from, to, j.now))
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
