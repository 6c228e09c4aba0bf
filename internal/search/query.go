package search

import (
	"cmp"
	"encoding/binary"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/rail"
)

// A Query is a TripQuery without its page.
type Query struct {
	Origin, Destination    uuid.UUID
	Depart                 time.Time
	Bicycles, Dogs, Direct bool
}

// Ask says in the terms of a timetable what is searched for, of what departs after now and
// no further ahead than a horizon.
func (q Query) Ask(sn *timetable.Snapshot, now time.Time, horizon time.Duration) (timetable.Ask, error) {
	origin, ok := sn.StationAt[q.Origin]
	if !ok {
		return timetable.Ask{}, rail.Invalid("origin", "unknown station %v", q.Origin)
	}
	destination, ok := sn.StationAt[q.Destination]
	switch {
	case !ok:
		return timetable.Ask{}, rail.Invalid("destination", "unknown station %v", q.Destination)
	case origin == destination:
		return timetable.Ask{}, rail.Invalid("destination", "is the same station as the origin")
	case q.Depart.IsZero():
		return timetable.Ask{}, rail.Invalid("date", "is missing")
	case !rail.Sane(q.Depart):
		return timetable.Ask{}, rail.Invalid("date", "is in the year %d: want 1900 to 2199", q.Depart.Year())
	}
	date := rail.DateOf(q.Depart.In(sn.Locations[origin]))
	from, to := q.Depart, (date + 1).Start(sn.Locations[origin])
	if from.Before(now) {
		from = now.Add(1) // what departs now has departed
	}
	if last := now.Add(horizon + 1); to.After(last) {
		to = last
	}
	return timetable.Ask{
		Origin: origin, Destination: destination, Date: date, From: timetable.UnixUp(from), To: timetable.UnixUp(to),
		Bicycles: q.Bicycles, Dogs: q.Dogs, OnlyDirect: q.Direct,
	}, nil
}

// Cut cuts a page out of the trips that were found.
func Cut(trips []rail.Trip, page rail.Page, after string) rail.List[rail.Trip] {
	if after != "" {
		i, _ := slices.BinarySearchFunc(trips, after, func(t rail.Trip, after string) int {
			return cmp.Or(cmp.Compare(tripCursor(t), after), -1) // the cursor's own trip was on the page before
		})
		trips = trips[i:]
	}
	return rail.Cut(rail.TripList, trips, page.Skip(), page.Limit, tripCursor)
}

// tripCursor orders trips as they are listed.
func tripCursor(t rail.Trip) string {
	b := make([]byte, 0, 32)
	b = binary.BigEndian.AppendUint64(b, uint64(codec.Nanos(t.Origin().Time))^1<<63)
	b = binary.BigEndian.AppendUint64(b, uint64(codec.Nanos(t.Destination().Time))^1<<63)
	return string(append(b, t.ID[:]...))
}
