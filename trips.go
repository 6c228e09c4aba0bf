package traintravel

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/search"
	"github.com/traintravel/traintravel/rail"
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

// SearchTrips returns the trips that can be booked, ordered by departure, arrival and
// ID: all direct trips, and those with up to three changes that no other trip beats
// in departure, arrival and changes together. It omits trips that have departed, are
// further ahead than Options.Horizon, are sold out or are not for sale. The number of
// seats may be slightly out of date if other services sell from the same store.
//
// It returns an [*InvalidError] that names origin, destination, date or a member
// of the page.
func (s *Service) SearchTrips(ctx context.Context, q TripQuery) (_ List[Trip], err error) {
	ctx, end := s.begin(ctx, "SearchTrips")
	defer end(&err)
	page, err := q.Page.Normalize()
	if err != nil {
		return List[Trip]{}, err
	}
	after, err := page.Cursor(rail.TripList, 32)
	if err != nil {
		return List[Trip]{}, err
	}
	sn, err := s.timetable.Snapshot(ctx)
	if err != nil {
		return List[Trip]{}, err
	}
	now := s.now()
	a, err := search.Query{
		Origin: q.Origin, Destination: q.Destination, Depart: q.Depart, Bicycles: q.Bicycles, Dogs: q.Dogs, Direct: q.Direct,
	}.Ask(sn, now, s.opts.Horizon)
	if err != nil {
		return List[Trip]{}, err
	}
	trips, err := s.finder.Trips(ctx, sn, a, now)
	if err != nil {
		return List[Trip]{}, err
	}
	return search.Cut(trips, page, after), nil
}

// Trip returns a trip by its ID: ErrNotFound if it does not exist in this
// timetable or is not for sale. A trip that is sold out or has departed is
// still returned.
func (s *Service) Trip(ctx context.Context, id uuid.UUID) (_ Trip, err error) {
	ctx, end := s.begin(ctx, "Trip")
	defer end(&err)
	sn, err := s.timetable.Snapshot(ctx)
	if err != nil {
		return Trip{}, err
	}
	return s.finder.Trip(ctx, sn, id, s.now())
}

// TripCalls returns the stops of the train of each leg of a trip, from the beginning of the
// leg to its end, or ErrNotFound if the trip does not exist in this timetable.
func (s *Service) TripCalls(ctx context.Context, id uuid.UUID) (_ [][]CallingPoint, err error) {
	ctx, end := s.begin(ctx, "TripCalls")
	defer end(&err)
	sn, err := s.timetable.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	rides, err := sn.Resolve(id)
	if err != nil {
		return nil, err
	}
	calls := make([][]CallingPoint, len(rides))
	for i, r := range rides {
		calls[i] = sn.CallingPoints(r)
	}
	return calls, nil
}

// HasTrip says whether [Service.Trip] finds a trip. It returns false for a trip for which
// Options.Price returns an invalid price. It counts no seats and usually does not read from
// the store.
func (s *Service) HasTrip(ctx context.Context, id uuid.UUID) (_ bool, err error) {
	ctx, end := s.begin(ctx, "HasTrip")
	defer end(&err)
	sn, err := s.timetable.Snapshot(ctx)
	if err != nil {
		if errors.Is(err, ErrNoTimetable) || records.Unreadable(err) {
			return false, nil
		}
		return false, err
	}
	return s.finder.Has(sn, id), nil
}

// ParseDeparture reads the date of a trip query as the documented API takes
// it, for an origin whose clocks run in loc: an RFC 3339 date-time is an
// instant; without an offset it is wall time at the origin, moved forward where
// clocks skip it and the earlier one where they show it twice; a bare date is
// the beginning of the day there. Fractions of a second are read to the
// nanosecond. A blank before the offset is read as the plus sign that a form
// decoder made it from. The error is an [*InvalidError] naming date; the years
// are 1900 to 2199. loc must not be nil.
func ParseDeparture(text string, loc *time.Location) (time.Time, error) {
	return rail.ParseDeparture(text, loc)
}

type (
	// A Trip is a journey from one station to another on one to four trains, on a given day.
	Trip = rail.Trip
	// A Leg is a ride on one train without a change.
	Leg = rail.Leg
	// A Stop is an end of a leg. Time is in the time zone of the station. In a booking,
	// Station may be one of the station's OtherIDs.
	Stop = rail.Stop
	// A CallingPoint is a stop of the train of a leg.
	CallingPoint = rail.CallingPoint
	// A RunID names a train on one service date.
	RunID = rail.RunID
	// Money is an amount in minor units (cents) of a currency, an ISO 4217 code in lower
	// case.
	Money = rail.Money
)

// ParseMoney reads a decimal number, in the form JSON gives numbers, as an
// amount of a currency. It refuses, with an [*InvalidError] naming the member
// amount or currency, more decimals than the currency has (unless zeros), and
// more than 1e16 minor units, the most that anything may cost in any currency.
func ParseMoney(decimal, currency string) (Money, error) { return rail.ParseMoney(decimal, currency) }
