// Package search finds the trips that are offered between two stations, with their prices and
// free places. It only reads. It must not know of payments or of bookings of users.
package search

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/rail"
)

// Trips lists the trips that can be booked, in order: all without a change, and
// of those with changes the ones that no other beats.
func (f *Finder) Trips(ctx context.Context, sn *timetable.Snapshot, a timetable.Ask, now time.Time) ([]rail.Trip, error) {
	if a.From >= a.To {
		return nil, nil
	}
	s := &search{f, sn, a, now}
	var rides [][]timetable.Ride
	for _, r := range sn.Direct(a) {
		rides = append(rides, []timetable.Ride{r})
	}
	trips, _, err := s.bookable(ctx, rides)
	if err == nil && !a.OnlyDirect {
		var more []rail.Trip
		more, err = s.withChanges(ctx)
		trips = append(trips, more...)
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(trips, func(a, b rail.Trip) int {
		return cmp.Or(a.Origin().Time.Compare(b.Origin().Time), a.Destination().Time.Compare(b.Destination().Time), slices.Compare(a.ID[:], b.ID[:]))
	})
	return slices.CompactFunc(trips, func(a, b rail.Trip) bool { return a.ID == b.ID }), nil
}

// Trip finds a trip by its ID, with its price and seats. It is ErrNotFound if it is not for
// sale, or on a run that is cancelled.
func (f *Finder) Trip(ctx context.Context, sn *timetable.Snapshot, id uuid.UUID, now time.Time) (rail.Trip, error) {
	rides, err := sn.Resolve(id)
	if err != nil {
		return rail.Trip{}, err
	}
	t := sn.Trip(rides)
	price, ok, err := f.Price(rides, t)
	if err != nil {
		return rail.Trip{}, err
	}
	if !ok {
		return rail.Trip{}, rail.ErrNotFound
	}
	t.Price = price
	s := &search{f, sn, timetable.Ask{}, now}
	trips := []rail.Trip{t}
	if _, err := s.count(ctx, trips, [][]timetable.Ride{rides}); err != nil {
		return rail.Trip{}, err
	}
	for _, r := range rides {
		inv, err := f.Inventories(ctx, []rail.RunID{r.Run()})
		if err != nil {
			return rail.Trip{}, err
		}
		if err := inv[0].Readable(); err != nil {
			return rail.Trip{}, err
		}
		if inv[0] != nil && inv[0].Cancelled {
			return rail.Trip{}, rail.ErrNotFound
		}
	}
	return trips[0], nil
}

// Has says whether a trip exists and is for sale. It reads nothing.
func (f *Finder) Has(sn *timetable.Snapshot, id uuid.UUID) bool {
	rides, err := sn.Resolve(id)
	if err != nil {
		return false
	}
	var trip rail.Trip
	if f.Hook != nil {
		trip = sn.Trip(rides)
	}
	_, ok, err := f.Price(rides, trip)
	if err != nil {
		f.mispriced.tell(f.Log, sn.Trip(rides), err)
	}
	return ok && err == nil
}
