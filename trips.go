package traintravel

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
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
// in departure, arrival and changes together. Trips that have departed, are
// further ahead than Options.Horizon, sold out or not for sale are left out. Seats
// may be a little out of date when other services sell from the same store.
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
	sn, err := s.timetable.snapshot(ctx)
	if err != nil {
		return List[Trip]{}, err
	}
	now := s.now()
	a, err := q.ask(sn, now, s.opts.Horizon)
	if err != nil {
		return List[Trip]{}, err
	}
	trips, err := s.finder.trips(ctx, sn, a, now)
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

// ask says in the terms of a timetable what is searched for, of what departs after now and
// no further ahead than a horizon.
func (q *TripQuery) ask(sn *snapshot, now time.Time, horizon time.Duration) (ask, error) {
	origin, ok := sn.stationAt[q.Origin]
	if !ok {
		return ask{}, invalid("origin", "there is no station %v", q.Origin)
	}
	destination, ok := sn.stationAt[q.Destination]
	switch {
	case !ok:
		return ask{}, invalid("destination", "there is no station %v", q.Destination)
	case origin == destination:
		return ask{}, invalid("destination", "is the same station as the origin")
	case q.Depart.IsZero():
		return ask{}, invalid("date", "is missing")
	case !sane(q.Depart):
		return ask{}, invalid("date", "lies in the year %d, and only 1900 to 2199 are known", q.Depart.Year())
	}
	date := DateOf(q.Depart.In(sn.locations[origin]))
	from, to := q.Depart, (date + 1).Start(sn.locations[origin])
	if from.Before(now) {
		from = now.Add(1) // what departs now has departed
	}
	if last := now.Add(horizon + 1); to.After(last) {
		to = last
	}
	return ask{
		origin: origin, destination: destination, date: date, from: unixUp(from), to: unixUp(to),
		bicycles: q.Bicycles, dogs: q.Dogs, onlyDirect: q.Direct,
	}, nil
}

// tripCursor orders trips as they are listed.
func tripCursor(t Trip) string {
	b := make([]byte, 0, 32)
	b = binary.BigEndian.AppendUint64(b, uint64(nanos(t.Origin().Time))^1<<63)
	b = binary.BigEndian.AppendUint64(b, uint64(nanos(t.Destination().Time))^1<<63)
	return string(append(b, t.ID[:]...))
}

// Trip returns a trip by its ID: ErrNotFound if it does not exist in this
// timetable or is not for sale. A trip that is sold out or has departed is
// still returned.
func (s *Service) Trip(ctx context.Context, id uuid.UUID) (_ Trip, err error) {
	ctx, end := s.begin(ctx, "Trip")
	defer end(&err)
	sn, err := s.timetable.snapshot(ctx)
	if err != nil {
		return Trip{}, err
	}
	return s.finder.trip(ctx, sn, id, s.now())
}

// HasTrip says whether [Service.Trip] finds a trip: not one that Options.Price makes a
// wrong price of. It counts no seats and, as a rule, reads nothing from the store.
func (s *Service) HasTrip(ctx context.Context, id uuid.UUID) (_ bool, err error) {
	ctx, end := s.begin(ctx, "HasTrip")
	defer end(&err)
	sn, err := s.timetable.snapshot(ctx)
	if err != nil {
		if errors.Is(err, ErrNoTimetable) || unreadable(err) {
			return false, nil
		}
		return false, err
	}
	return s.finder.has(sn, id), nil
}
