package officetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/raptor"
	compiled "github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/internal/tz"
)

// Joined makes the trip from A with as many trains as asked, to D, F, G or H.
func (o *Office) Joined(legs int) uuid.UUID {
	o.T.Helper()
	return JoinTrips([]uuid.UUID{
		o.TripID('A', 'D', "R 1"), o.TripID('D', 'F', "R 2"), o.TripID('F', 'G', "S 3"), o.TripID('G', 'H', "R 4"),
	}[:legs]...)
}

func (o *Office) OnlyBooking() uuid.UUID {
	o.T.Helper()
	list, err := o.Bookings(o.T.Context(), Anna, traintravel.Page{})
	if err != nil || len(list.Items) != 1 {
		o.T.Fatalf("%+v, %v", list, err)
	}
	return list.Items[0].ID
}

// RunOf finds the one train of a number on the day of opens.
func (o *Office) RunOf(number string) traintravel.Run {
	o.T.Helper()
	runs, err := o.Runs(o.T.Context(), number, traintravel.DateOf(Opens))
	if err != nil || len(runs) != 1 {
		o.T.Fatalf("trains %q: %v, %v", number, runs, err)
	}
	return runs[0]
}

func (o *Office) ManifestOf(run traintravel.Run) traintravel.Manifest {
	o.T.Helper()
	m, err := o.Manifest(o.T.Context(), run.ID)
	if err != nil {
		o.T.Fatal(err)
	}
	return m
}

func IsInvalid(err error, field string) bool {
	e, ok := errors.AsType[*traintravel.InvalidError](err)
	return ok && e.Field == field
}

// JoinTrips is the ID of the trip that rides the trains of direct trips one
// after another.
func JoinTrips(direct ...uuid.UUID) uuid.UUID {
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

// DirectTrip is the ID of a ride on a train with a number, by the timetable in force in a
// store, be it sold out or departed; ErrNotFound if the timetable has none.
func DirectTrip(ctx context.Context, store traintravel.Store, number string, d traintravel.Date, from, to uuid.UUID) (uuid.UUID, error) {
	return rideOf(ctx, newSource(store), number, d, from, to)
}

// zones are the time zones of all tests of a binary: to load one reads a file.
var zones = sync.OnceValue(func() *tz.Zones { return new(tz.Zones) })

func newSource(store traintravel.Store) *compiled.Source {
	return compiled.NewSource(store, zones(), nil, true)
}

// Direct is directTrip of the office's store.
func (o *Office) Direct(ctx context.Context, number string, d traintravel.Date, from, to uuid.UUID) (uuid.UUID, error) {
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

// TripOn is trip on a later day.
func (o *Office) TripOn(days int, from, to rune, number string) uuid.UUID {
	o.T.Helper()
	id, err := o.Direct(o.T.Context(), number, traintravel.DateOf(Opens)+traintravel.Date(days), Station(from), Station(to))
	if err != nil {
		o.T.Fatal(err)
	}
	return id
}

// Unreserved is a trip on the bubble's second day that never sells out.
func (o *Office) Unreserved() uuid.UUID { return o.Tomorrow('F', 'G', "S 3") }

// TripIn is a direct trip some days after opens.
func (o *Office) TripIn(days int, from, to rune, number string) uuid.UUID {
	o.T.Helper()
	id, err := o.Direct(o.T.Context(), number, traintravel.DateOf(Opens)+traintravel.Date(days), Station(from), Station(to))
	if err != nil {
		o.T.Fatal(err)
	}
	return id
}
