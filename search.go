package traintravel

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
)

// trips lists the trips that can be booked, in order: all without a change, and
// of those with changes the ones that no other beats.
func (f *finder) trips(ctx context.Context, sn *snapshot, a ask, now time.Time) ([]Trip, error) {
	if a.from >= a.to {
		return nil, nil
	}
	s := &search{f, sn, a, now}
	var rides [][]ride
	for _, r := range sn.direct(a) {
		rides = append(rides, []ride{r})
	}
	trips, _, err := s.bookable(ctx, rides)
	if err == nil && !a.onlyDirect {
		var more []Trip
		more, err = s.withChanges(ctx)
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

// trip finds a trip by its ID, with its price and seats. It is ErrNotFound if it is not for
// sale, or on a run that is cancelled.
func (f *finder) trip(ctx context.Context, sn *snapshot, id uuid.UUID, now time.Time) (Trip, error) {
	rides, err := sn.resolve(id)
	if err != nil {
		return Trip{}, err
	}
	t := sn.trip(rides)
	price, ok, err := f.price(rides, t)
	if err != nil {
		return Trip{}, err
	}
	if !ok {
		return Trip{}, ErrNotFound
	}
	t.Price = price
	s := &search{f, sn, ask{}, now}
	trips := []Trip{t}
	if _, err := s.count(ctx, trips, [][]ride{rides}); err != nil {
		return Trip{}, err
	}
	for _, r := range rides {
		inv, err := f.inventories(ctx, []RunID{r.run()})
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

// has says whether a trip exists and is for sale. It reads nothing.
func (f *finder) has(sn *snapshot, id uuid.UUID) bool {
	rides, err := sn.resolve(id)
	if err != nil {
		return false
	}
	var trip Trip
	if f.hook != nil {
		trip = sn.trip(rides)
	}
	_, ok, err := f.price(rides, trip)
	if err != nil {
		f.mispriced.tell(f.log, sn.trip(rides), err)
	}
	return ok && err == nil
}
