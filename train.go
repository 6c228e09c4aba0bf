package traintravel

import (
	"hash/fnv"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/fold"
	"github.com/traintravel/traintravel/internal/raptor"
)

// train is a Train compiled.
type train struct {
	index    int32
	id       uuid.UUID          // identity: the same in later timetables
	moved    map[Date]uuid.UUID // where it has another's: see move
	number   uint32             // for trip IDs
	since    Date               // the number means this train from this date on
	list     uint64
	feed     string
	operator string
	name     string
	location *time.Location
	days     *days
	stops    []raptor.Stop // shared with trains of the same calls
	named    []uuid.UUID   // what its calls name their stations by; nil if by their IDs
	times    []raptor.Time
	coaches  []Coach
	places   int
	bicycles Allowance
	dogs     Allowance
	hooks    int
	fare     Fare
	prices   *Prices
}

// run is a train on a date.
func (t *train) run(d Date) RunID {
	if id, ok := t.moved[d]; ok {
		return RunID{id, d}
	}
	return RunID{t.id, d}
}

// departs and arrives say when a run is at a call.
func (t *train) departs(d Date, call int) time.Time {
	return t.depart(call).Instant(d, t.location)
}

func (t *train) arrives(d Date, call int) time.Time {
	return t.arrive(call).Instant(d, t.location)
}

// arrived says whether the run of a date is at its last call, by the timetable.
func (t *train) arrived(d Date, now time.Time) bool {
	return !now.Before(t.arrives(d, len(t.stops)-1))
}

// rideable says whether a traveller can get on at one call, or stay seated there
// from another train, and off at another.
func (t *train) rideable(from, to int) bool {
	return from >= 0 && from < to && to < len(t.stops) && (t.boards(from) || t.stops[from].Seated >= 0) && t.alights(to)
}

func (t *train) boards(call int) bool { return t.stops[call].Board >= 0 }

func (t *train) alights(call int) bool { return t.stops[call].Alight >= 0 }

func (t *train) station(call int) int32 { return t.stops[call].Station }

func (t *train) depart(call int) ServiceTime { return ServiceTime(t.times[call].Depart) }

func (t *train) arrive(call int) ServiceTime { return ServiceTime(t.times[call].Arrive) }

// currency is that in which rides on the train are sold, empty if none is.
func (t *train) currency() string {
	if t.prices != nil {
		return t.prices.Currency
	}
	return t.fare.Currency
}

// priced says whether a ride has a price, if any ride on the train has one.
func (t *train) priced(board, alight int) bool {
	return t.prices == nil || t.prices.amount(board, alight) > 0
}

// costs is the price of a ride, in minor units.
func (t *train) costs(board, alight int) int64 {
	if t.prices != nil {
		return t.prices.amount(board, alight)
	}
	metres := int64(t.stops[alight].Metres - t.stops[board].Metres)
	return t.fare.Base + (t.fare.PerKm*metres+500)/1000
}

// lookMark shortens what travellers know of a train that calls at stations.
func (t *train) lookMark(at func(call int) int32) uint64 {
	h := fnv.New64a()
	h.Write([]byte(fold.Label(t.operator) + "\x00" + fold.Label(t.name) + "\x00"))
	for i := range t.stops {
		v := uint32(at(i))
		h.Write([]byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)})
		v = uint32(t.times[i].Depart)
		h.Write([]byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)})
	}
	return h.Sum64()
}

// looksLike says whether travellers cannot tell a train from another one that calls at
// stations.
func (t *train) looksLike(was *train, at func(call int) int32) bool {
	if fold.Label(t.operator) != fold.Label(was.operator) || fold.Label(t.name) != fold.Label(was.name) ||
		t.location.String() != was.location.String() || !slices.Equal(t.times, was.times) {
		return false
	}
	for i := range t.stops {
		if t.station(i) != at(i) {
			return false
		}
	}
	return true
}
