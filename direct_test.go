package traintravel_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/raptor"
	compiled "github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/internal/tz"
)

// joinTrips is the ID of the trip that rides the trains of direct trips one
// after another.
func joinTrips(direct ...uuid.UUID) uuid.UUID {
	var joined compiled.TripCode
	for i, id := range direct {
		c, ok := compiled.ParseTripID(id)
		if !ok || c.Legs != 1 {
			panic(fmt.Sprintf("%v is not a direct trip", id))
		}
		if i == 0 {
			joined = c
		}
		joined.Numbers[i], joined.Alight, joined.Legs = c.Numbers[0], c.Alight, i+1
	}
	return joined.ID()
}

// directTrip is the ID of a ride on a train with a number, by the timetable in force in a
// store, be it sold out or departed; ErrNotFound if the timetable has none.
func directTrip(ctx context.Context, store traintravel.Store, number string, d traintravel.Date, from, to uuid.UUID) (uuid.UUID, error) {
	return rideOf(ctx, newSource(store), number, d, from, to)
}

func newSource(store traintravel.Store) *compiled.Source {
	return compiled.NewSource(store, new(tz.Zones), nil, true)
}

// direct is directTrip of the office's store.
func (o *office) direct(ctx context.Context, number string, d traintravel.Date, from, to uuid.UUID) (uuid.UUID, error) {
	o.source.Expire()
	return rideOf(ctx, o.source, number, d, from, to)
}

func rideOf(ctx context.Context, source *compiled.Source, number string, d traintravel.Date, from, to uuid.UUID) (uuid.UUID, error) {
	sn, err := source.Snapshot(ctx)
	if err != nil {
		return uuid.Nil, err
	}
	at := func(t *compiled.Train, station uuid.UUID) int {
		return slices.IndexFunc(t.Stops, func(s raptor.Stop) bool { return sn.Is(station, s.Station) })
	}
	for i := range sn.Trains {
		t := &sn.Trains[i]
		if r := (compiled.Ride{Train: t, Date: d, Board: at(t, from), Alight: at(t, to)}); t.Name == number && t.Days.Runs(d) && t.Rideable(r.Board, r.Alight) {
			return compiled.TripID([]compiled.Ride{r}), nil
		}
	}
	return uuid.Nil, traintravel.ErrNotFound
}
