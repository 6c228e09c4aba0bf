package traintravel

import (
	"context"
	"math"
	"time"
)

// A search is one search at work on a timetable.
type search struct {
	*finder
	sn  *snapshot
	ask ask
	now time.Time
}

// bookable makes trips of rides and keeps those that can be sold. It also
// returns the rides of those that could be, were there room.
func (s *search) bookable(ctx context.Context, found [][]ride) (trips []Trip, crowded [][]ride, err error) {
	trips = make([]Trip, 0, len(found))
	kept := found[:0]
	for _, rides := range found {
		t := s.sn.trip(rides)
		price, ok, err := s.price(rides, t)
		if err != nil { // the other trips are for sale
			s.mispriced.tell(s.log, t, err)
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
func (s *search) count(ctx context.Context, trips []Trip, found [][]ride) ([]bool, error) {
	runs := make([]RunID, 0, len(found))
	for _, rides := range found {
		for _, r := range rides {
			runs = append(runs, r.run())
		}
	}
	inventories, err := s.inventories(ctx, runs)
	if err != nil {
		return nil, err
	}
	full := make([]bool, len(trips))
	for i, rides := range found {
		seats := math.MaxInt
		for _, r := range rides {
			inv, places := inventories[0], r.train.places
			inventories = inventories[1:]
			if inv.readable() != nil {
				full[i], places = true, 0 // whoever wrote it sells the run
			} else if inv != nil {
				inv = s.sn.fitted(inv, r.train)
				full[i] = full[i] || inv.cancelled
				places = inv.free(r.board, r.alight, s.now)
				full[i] = full[i] || s.ask.bicycles && r.train.hooks > 0 && !inv.hookFree(r.train.hooks, r.board, r.alight, s.now)
			}
			if r.train.places > 0 {
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
