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
	// Direct leaves only trips without a change.
	Direct bool
	Page   Page
}

// SearchTrips lists the trips that can be booked, by departure, arrival and
// ID: all on one train, and those with up to three changes that no other beats
// in departure, arrival and changes together. Trips that have departed, are further ahead than Options.Horizon, sold
// out or not for sale are left out. Seats may be a little out of date when
// other services sell from the same store.
//
// It returns an [*InvalidError] naming origin, destination, date or a member
// of the page.
func (s *Service) SearchTrips(ctx context.Context, q TripQuery) (_ List[Trip], err error) {
	ctx, end := s.begin(ctx, "SearchTrips")
	defer end(&err)
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
	trips, err := s.find(ctx, sn, &q, ask{
		origin: origin, destination: destination, date: DateOf(q.Depart.In(sn.locations[origin])), from: unixUp(from), to: unixUp(to),
	}, now)
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

// find lists the trips that can be booked, in order: all without a change, and
// of those with changes the ones that no other beats.
func (s *Service) find(ctx context.Context, sn *snapshot, q *TripQuery, a ask, now time.Time) ([]Trip, error) {
	if a.from >= a.to {
		return nil, nil
	}
	var rides [][]ride
	for _, r := range sn.direct(q, a) {
		rides = append(rides, []ride{r})
	}
	trips, _, err := s.bookable(ctx, sn, rides, q.Bicycles, now)
	if err == nil && !q.Direct {
		var more []Trip
		more, err = s.withChanges(ctx, sn, q, a, now)
		trips = append(trips, more...)
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(trips, func(a, b Trip) int {
		return cmp.Or(a.Origin().Time.Compare(b.Origin().Time), a.Destination().Time.Compare(b.Destination().Time), slices.Compare(a.ID[:], b.ID[:]))
	})
	return slices.CompactFunc(trips, func(a, b Trip) bool { return a.ID == b.ID }), nil
}

// bookable makes trips of rides and keeps those that can be sold. It also
// returns the rides of those that could be, were there room.
func (s *Service) bookable(ctx context.Context, sn *snapshot, found [][]ride, bicycle bool, now time.Time) (trips []Trip, crowded [][]ride, err error) {
	trips = make([]Trip, 0, len(found))
	kept := found[:0]
	for _, rides := range found {
		t := sn.trip(rides)
		price, ok, err := s.price(rides, t)
		if err != nil { // the other trips are for sale
			s.mispriced.tell(s.log, t, err)
			continue
		}
		if t.Price = price; ok {
			trips, kept = append(trips, t), append(kept, rides)
		}
	}
	full, err := s.count(ctx, sn, trips, kept, bicycle, now)
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
			if inv.readable() != nil {
				full[i], places = true, 0 // whoever wrote it sells the run
			} else if inv != nil {
				inv = sn.fitted(inv, r.train)
				full[i] = full[i] || inv.cancelled
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

// Trip returns a trip by its ID: ErrNotFound if it does not exist in this
// timetable or is not for sale. A trip that is sold out or has departed is
// still returned.
func (s *Service) Trip(ctx context.Context, id uuid.UUID) (_ Trip, err error) {
	ctx, end := s.begin(ctx, "Trip")
	defer end(&err)
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
	for _, r := range rides {
		inv, err := s.inventories(ctx, []RunID{r.run()})
		if err != nil {
			return Trip{}, err
		}
		if err := inv[0].readable(); err != nil {
			return Trip{}, err
		}
		if inv[0] != nil && inv[0].cancelled {
			return Trip{}, ErrNotFound
		}
	}
	return trips[0], nil
}

// HasTrip says whether [Service.Trip] finds a trip: not one that Options.Price makes a
// wrong price of. It counts no seats and, as a rule, reads nothing from the store.
func (s *Service) HasTrip(ctx context.Context, id uuid.UUID) (_ bool, err error) {
	ctx, end := s.begin(ctx, "HasTrip")
	defer end(&err)
	sn, err := s.snapshot(ctx)
	if err != nil {
		if errors.Is(err, ErrNoTimetable) || unreadable(err) {
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
	if err != nil {
		s.mispriced.tell(s.log, sn.trip(rides), err)
	}
	return ok && err == nil, nil
}
