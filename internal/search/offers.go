package search

import (
	"context"
	"math"
	"time"

	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/rail"
)

// A search is one search at work on a timetable.
type search struct {
	*Finder
	sn  *timetable.Snapshot
	ask timetable.Ask
	now time.Time
}

// bookable makes trips of rides and keeps those that can be sold. It also
// returns the rides of those that could be, were there room.
func (s *search) bookable(ctx context.Context, found [][]timetable.Ride) (trips []rail.Trip, crowded [][]timetable.Ride, err error) {
	trips = make([]rail.Trip, 0, len(found))
	kept := found[:0]
	for _, rides := range found {
		t := s.sn.Trip(rides)
		price, ok, err := s.Price(rides, t)
		if err != nil { // the other trips are for sale
			s.mispriced.tell(s.Log, t, err)
			continue
		}
		if t.Price = price; ok {
			trips, kept = append(trips, t), append(kept, rides)
		}
	}
	full, err := s.count(ctx, trips, kept)
	if err != nil {
		return nil, nil, err
	}
	n := 0
	for i, t := range trips {
		if full[i] {
			crowded = append(crowded, kept[i])
			continue
		}
		trips[n] = t
		n++
	}
	return trips[:n], crowded, nil
}

// count fills in how many places are left on each trip, and says which trips
// are full: no place or, for a bicycle, no hook is left on one of the legs, or what is
// sold of one cannot be read.
func (s *search) count(ctx context.Context, trips []rail.Trip, found [][]timetable.Ride) ([]bool, error) {
	runs := make([]rail.RunID, 0, len(found))
	for _, rides := range found {
		for _, r := range rides {
			runs = append(runs, r.Run())
		}
	}
	inventories, err := s.Inventories(ctx, runs)
	if err != nil {
		return nil, err
	}
	full := make([]bool, len(trips))
	for i, rides := range found {
		seats := math.MaxInt
		for _, r := range rides {
			inv, places := inventories[0], r.Train.Places
			inventories = inventories[1:]
			if inv.Readable() != nil {
				full[i], places = true, 0 // whoever wrote it sells the run
			} else if inv != nil {
				inv = s.sn.Fitted(inv, r.Train)
				full[i] = full[i] || inv.Cancelled
				places = inv.Free(r.Board, r.Alight, s.now)
				full[i] = full[i] || s.ask.Bicycles && r.Train.Hooks > 0 && !inv.HookFree(r.Train.Hooks, r.Board, r.Alight, s.now)
			}
			if r.Train.Places > 0 {
				seats = min(seats, places)
			}
		}
		if trips[i].Reserved {
			trips[i].Seats = seats
			full[i] = full[i] || seats == 0
		}
	}
	return full, nil
}
