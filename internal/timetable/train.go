package timetable

import (
	"hash/fnv"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/fold"
	"github.com/traintravel/traintravel/internal/raptor"
	"github.com/traintravel/traintravel/internal/trains"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

// Train is a Train compiled.
type Train struct {
	Index    int32
	ID       uuid.UUID               // identity: the same in later timetables
	moved    map[rail.Date]uuid.UUID // where it has another's: see move
	number   uint32                  // for trip IDs
	since    rail.Date               // the number means this train from this date on
	list     uint64
	Feed     string
	Operator string
	Name     string
	Location *time.Location
	Days     *trains.Days
	Stops    []raptor.Stop // shared with trains of the same calls
	named    []uuid.UUID   // what its calls name their stations by; nil if by their IDs
	times    []raptor.Time
	Coaches  []rail.Coach
	Places   int
	bicycles rail.Allowance
	dogs     rail.Allowance
	Hooks    int
	Fare     schedule.Fare
	Prices   *schedule.Prices
}

// Run is a train on a date.
func (t *Train) Run(d rail.Date) rail.RunID {
	if id, ok := t.moved[d]; ok {
		return rail.RunID{Train: id, Date: d}
	}
	return rail.RunID{Train: t.ID, Date: d}
}

// Departs says when the run of a date departs from a call.
func (t *Train) Departs(d rail.Date, call int) time.Time {
	return t.depart(call).Instant(d, t.Location)
}

// Arrives says when the run of a date arrives at a call.
func (t *Train) Arrives(d rail.Date, call int) time.Time {
	return t.arrive(call).Instant(d, t.Location)
}

// Arrived says whether the run of a date is at its last call, by the timetable.
func (t *Train) Arrived(d rail.Date, now time.Time) bool {
	return !now.Before(t.Arrives(d, len(t.Stops)-1))
}

// Rideable says whether a traveller can get on at one call, or stay seated there
// from another train, and off at another.
func (t *Train) Rideable(from, to int) bool {
	return from >= 0 && from < to && to < len(t.Stops) && (t.boards(from) || t.Stops[from].Seated >= 0) && t.alights(to)
}

func (t *Train) boards(call int) bool { return t.Stops[call].Board >= 0 }

func (t *Train) alights(call int) bool { return t.Stops[call].Alight >= 0 }

// Station is the index of the station of a call.
func (t *Train) Station(call int) int32 { return t.Stops[call].Station }

func (t *Train) depart(call int) rail.ServiceTime { return rail.ServiceTime(t.times[call].Depart) }

func (t *Train) arrive(call int) rail.ServiceTime { return rail.ServiceTime(t.times[call].Arrive) }

// currency is that in which rides on the train are sold, empty if none is.
func (t *Train) currency() string {
	if t.Prices != nil {
		return t.Prices.Currency
	}
	return t.Fare.Currency
}

// priced says whether a ride has a price, if any ride on the train has one.
func (t *Train) priced(board, alight int) bool {
	return t.Prices == nil || t.Prices.Amount(board, alight) > 0
}

// costs is the price of a ride, in minor units.
func (t *Train) costs(board, alight int) int64 {
	if t.Prices != nil {
		return t.Prices.Amount(board, alight)
	}
	metres := int64(t.Stops[alight].Metres - t.Stops[board].Metres)
	return t.Fare.Base + (t.Fare.PerKm*metres+500)/1000
}

// LookMark shortens what travellers know of a train that calls at stations.
func (t *Train) LookMark(at func(call int) int32) uint64 {
	h := fnv.New64a()
	h.Write([]byte(fold.Label(t.Operator) + "\x00" + fold.Label(t.Name) + "\x00"))
	for i := range t.Stops {
		v := uint32(at(i))
		h.Write([]byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)})
		v = uint32(t.times[i].Depart)
		h.Write([]byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)})
	}
	return h.Sum64()
}

// LooksLike says whether travellers cannot tell a train from another one that calls at
// stations.
func (t *Train) LooksLike(was *Train, at func(call int) int32) bool {
	if fold.Label(t.Operator) != fold.Label(was.Operator) || fold.Label(t.Name) != fold.Label(was.Name) ||
		t.Location.String() != was.Location.String() || !slices.Equal(t.times, was.times) {
		return false
	}
	for i := range t.Stops {
		if t.Station(i) != at(i) {
			return false
		}
	}
	return true
}
