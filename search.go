package traintravel

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"
)

// A TripQuery asks for the trips between two stations.
type TripQuery struct {
	Origin, Destination uuid.UUID
	// Depart is the earliest departure. Results reach from there to the end
	// of its calendar day at the origin, which may have 23 or 25 hours.
	Depart time.Time
	// Bicycles and Dogs leave only trips that are known to allow them.
	Bicycles, Dogs bool
	Page           Page
}

// SearchTrips lists the trips that can be booked, by departure, arrival and
// ID. Trips that have departed, are further ahead than Options.Horizon, sold
// out or not for sale are left out. Seats may be a little out of date when
// other services sell from the same store.
//
// It returns an [*InvalidError] naming origin, destination, date or a member
// of the page.
func (s *Service) SearchTrips(ctx context.Context, q TripQuery) (List[Trip], error) {
	page, err := q.Page.normalize()
	if err != nil {
		return List[Trip]{}, err
	}
	after, err := page.cursor(tripList, 32)
	if err != nil {
		return List[Trip]{}, err
	}
	sn, err := s.snapshot(ctx)
	if err != nil {
		return List[Trip]{}, err
	}
	origin, ok := sn.stationAt[q.Origin]
	if !ok {
		return List[Trip]{}, invalid("origin", "there is no station %v", q.Origin)
	}
	destination, ok := sn.stationAt[q.Destination]
	switch {
	case !ok:
		return List[Trip]{}, invalid("destination", "there is no station %v", q.Destination)
	case origin == destination:
		return List[Trip]{}, invalid("destination", "is the same station as the origin")
	case q.Depart.IsZero():
		return List[Trip]{}, invalid("date", "is missing")
	case !sane(q.Depart):
		return List[Trip]{}, invalid("date", "lies in the year %d, and only 1900 to 2199 are known", q.Depart.Year())
	}
	now := s.now()
	from, to := q.Depart, (DateOf(q.Depart.In(sn.locations[origin])) + 1).Start(sn.locations[origin])
	if from.Before(now) {
		from = now.Add(1) // what departs now has departed
	}
	if last := now.Add(s.opts.Horizon + 1); to.After(last) {
		to = last
	}
	trips, err := s.bookable(ctx, sn, sn.direct(origin, destination, from, to), q, now)
	if err != nil {
		return List[Trip]{}, err
	}
	if after != "" {
		i, _ := slices.BinarySearchFunc(trips, after, func(t Trip, after string) int {
			return cmp.Or(cmp.Compare(tripCursor(t), after), -1) // the cursor's own trip was on the page before
		})
		trips = trips[i:]
	}
	return cut(tripList, trips, page.skip(), page.Limit, tripCursor), nil
}

// tripCursor orders trips as they are listed.
func tripCursor(t Trip) string {
	b := make([]byte, 0, 32)
	b = binary.BigEndian.AppendUint64(b, uint64(nanos(t.Origin().Time))^1<<63)
	b = binary.BigEndian.AppendUint64(b, uint64(nanos(t.Destination().Time))^1<<63)
	return string(append(b, t.ID[:]...))
}

// bookable makes trips of rides and keeps those that can be sold, in order.
func (s *Service) bookable(ctx context.Context, sn *snapshot, found [][]ride, q TripQuery, now time.Time) ([]Trip, error) {
	trips := make([]Trip, 0, len(found))
	kept := found[:0]
	for _, rides := range found {
		t := sn.trip(rides)
		if q.Bicycles && t.Bicycles != Allowed || q.Dogs && t.Dogs != Allowed {
			continue
		}
		price, ok, err := s.price(rides, t)
		if err != nil {
			return nil, err
		}
		if t.Price = price; ok {
			trips, kept = append(trips, t), append(kept, rides)
		}
	}
	full, err := s.count(ctx, sn, trips, kept, q.Bicycles, now)
	if err != nil {
		return nil, err
	}
	n := 0
	for i, t := range trips {
		if !full[i] {
			trips[n] = t
			n++
		}
	}
	trips = trips[:n]
	slices.SortFunc(trips, func(a, b Trip) int {
		return cmp.Or(a.Origin().Time.Compare(b.Origin().Time), a.Destination().Time.Compare(b.Destination().Time), slices.Compare(a.ID[:], b.ID[:]))
	})
	return trips, nil
}

// count fills in how many places are left on each trip, and says which trips
// are full: no place or, for a bicycle, no hook is left on one of the legs.
func (s *Service) count(ctx context.Context, sn *snapshot, trips []Trip, found [][]ride, bicycle bool, now time.Time) ([]bool, error) {
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
			if inv != nil {
				inv = sn.fitted(inv, r.train)
				places = inv.free(r.board, r.alight, now)
				full[i] = full[i] || bicycle && r.train.hooks > 0 && !inv.hookFree(r.train.hooks, r.board, r.alight, now)
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

// direct finds the rides from one station to another that depart in from <= t < to.
func (sn *snapshot) direct(origin, destination int32, from, to time.Time) [][]ride {
	var found [][]ride
	if !from.Before(to) {
		return nil
	}
	a, b := sn.visits[origin], sn.visits[destination]
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].train < b[0].train:
			a = a[1:]
		case a[0].train > b[0].train:
			b = b[1:]
		case b[0].call <= a[0].call:
			b = b[1:]
		default:
			board := a[0]
			a = a[1:]
			t := &sn.trains[board.train]
			if alight, ok := t.firstAlighting(b, board.train); ok && t.calls[board.call].board && !t.boardsBefore(a, board.train, alight) {
				found = t.departures(found, ride{train: t, board: int(board.call), alight: int(alight)}, from, to)
			}
		}
	}
	return found
}

// firstAlighting is the first of a train's calls at a station at which one may
// get off, the visits to which begin with its own.
func (t *train) firstAlighting(visits []visit, train int32) (call int32, ok bool) {
	for _, v := range visits {
		if v.train != train {
			break
		}
		if t.calls[v.call].alight {
			return v.call, true
		}
	}
	return 0, false
}

// boardsBefore says whether one may still get on before a call: who rides on
// is not to come by the origin again.
func (t *train) boardsBefore(visits []visit, train, call int32) bool {
	for _, v := range visits {
		if v.train != train || v.call >= call {
			break
		}
		if t.calls[v.call].board {
			return true
		}
	}
	return false
}

// departures adds a ride for each date on which it departs in from <= t < to.
func (t *train) departures(found [][]ride, r ride, from, to time.Time) [][]ride {
	depart := int64(t.calls[r.board].depart)
	first, last := Date((from.Unix()-depart)/86400-1), Date((to.Unix()-depart)/86400+1)
	for d := max(first, t.days.first, t.since); d <= min(last, t.days.last); d++ {
		if !t.days.runs(d) {
			continue
		}
		if at := t.departs(d, r.board); !at.Before(from) && at.Before(to) {
			r.date = d
			found = append(found, []ride{r})
		}
	}
	return found
}

// Trip returns a trip by its ID: ErrNotFound if it does not exist in this
// timetable or is not for sale. A trip that is sold out or has departed is
// still returned.
func (s *Service) Trip(ctx context.Context, id uuid.UUID) (Trip, error) {
	sn, err := s.snapshot(ctx)
	if err != nil {
		return Trip{}, err
	}
	rides, err := sn.resolve(id)
	if err != nil {
		return Trip{}, err
	}
	t := sn.trip(rides)
	price, ok, err := s.price(rides, t)
	if err != nil {
		return Trip{}, err
	}
	if !ok {
		return Trip{}, ErrNotFound
	}
	t.Price = price
	trips := []Trip{t}
	if _, err := s.count(ctx, sn, trips, [][]ride{rides}, false, s.now()); err != nil {
		return Trip{}, err
	}
	return trips[0], nil
}

// HasTrip says whether [Service.Trip] finds a trip. It counts no seats and, as
// a rule, reads nothing from the store.
func (s *Service) HasTrip(ctx context.Context, id uuid.UUID) (bool, error) {
	sn, err := s.snapshot(ctx)
	if err != nil {
		if errors.Is(err, ErrNoTimetable) {
			return false, nil
		}
		return false, err
	}
	rides, err := sn.resolve(id)
	if err != nil {
		return false, nil
	}
	var trip Trip
	if s.opts.Price != nil {
		trip = sn.trip(rides)
	}
	_, ok, err := s.price(rides, trip)
	return ok, err
}
