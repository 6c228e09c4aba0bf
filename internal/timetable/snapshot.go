package timetable

import (
	"cmp"
	"encoding/binary"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/raptor"
	"github.com/traintravel/traintravel/internal/seats"
	"github.com/traintravel/traintravel/internal/stations"
	"github.com/traintravel/traintravel/internal/trains"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

// A Snapshot is a timetable compiled to be searched. Nothing in it changes. The nodes of
// its network are the stations, in their order, and one more for each set of rules that is
// not every train's.
type Snapshot struct {
	Generation uuid.UUID
	Stations   []rail.Station // by folded name, then ID
	Directory  *stations.Directory
	Locations  []*time.Location
	StationAt  map[uuid.UUID]int32
	Trains     []Train
	byNumber   trainIndex            // by registered number: the variants that have it never run on one date
	ByTrain    trainIndex            // the same by IdentityMark
	moved      map[rail.RunID]*Train // the runs of train.moved
	Network    *raptor.Network
	groups     []group          // of the network
	zones      []*time.Location // of the network

	currenciesAt [][]string // for each station
	anyRide      bool       // those without a price are taken too
	Last         rail.Date  // on which a train runs
}

// Move makes trains run under other identities on some dates.
func (sn *Snapshot) Move(t *schedule.Timetable, moves []trains.Move) {
	sn.moved = make(map[rail.RunID]*Train, len(moves))
	for _, m := range moves {
		tr := &sn.Trains[m.Train]
		if tr.moved == nil {
			tr.moved = map[rail.Date]uuid.UUID{}
		}
		tr.moved[m.Date] = trains.Twin(trains.BaseOf(&t.Trains[m.Train]), m.Slot)
		sn.moved[tr.Run(m.Date)] = tr
	}
}

// Run finds the train that runs under an identity on a date.
func (sn *Snapshot) Run(id rail.RunID) (*Train, bool) {
	if t, ok := sn.moved[id]; ok {
		return t, true
	}
	for _, v := range sn.ByTrain.Of(IdentityMark(id.Train)) {
		if t := &sn.Trains[v.Train]; t.ID == id.Train && t.Days.Runs(id.Date) {
			return t, t.Run(id.Date) == id
		}
	}
	return nil, false
}

// numbered finds the train that a number in a trip's ID means on a date.
func (sn *Snapshot) numbered(number uint32, d rail.Date) (*Train, bool) {
	for _, v := range sn.byNumber.Of(uint64(number)) {
		if t := &sn.Trains[v.Train]; t.Days.Runs(d) {
			return t, d >= t.since
		}
	}
	return nil, false
}

// A trainIndex finds trains by a key.
type trainIndex []indexed

type indexed struct {
	key   uint64
	Train int32
}

func indexTrains(trains []Train, key func(*Train) uint64) trainIndex {
	x := make(trainIndex, len(trains))
	for i := range trains {
		x[i] = indexed{key(&trains[i]), int32(i)}
	}
	slices.SortFunc(x, func(a, b indexed) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.Train, b.Train)) })
	return x
}

// Of is the trains with a key, in their order.
func (x trainIndex) Of(key uint64) []indexed {
	first, _ := slices.BinarySearchFunc(x, key, func(e indexed, key uint64) int { return cmp.Compare(e.key, key) })
	n := first
	for n < len(x) && x[n].key == key {
		n++
	}
	return x[first:n]
}

// IdentityMark is half of an identity, which tells nearly all apart.
func IdentityMark(id uuid.UUID) uint64 { return binary.BigEndian.Uint64(id[:8]) }

// sells says whether a ride is for sale, as far as Prices say.
func (sn *Snapshot) sells(t *Train, from, to int) bool { return sn.anyRide || t.priced(from, to) }

// A group is trains that run on the same dates and may be taken alike.
type group struct {
	days           *trains.Days
	since          rail.Date // of the number in trip IDs
	bicycles, dogs rail.Allowance
	currency       string // of the prices
}

func (g *group) runs(d rail.Date) bool { return d >= g.since && g.days.Runs(d) }

// Called is the ID by which a call of a train names its station.
func (sn *Snapshot) Called(t *Train, call int) uuid.UUID {
	if t.named != nil {
		return t.named[call]
	}
	return sn.Stations[t.Station(call)].ID
}

// Stop is a station at an instant, which shows in the zone of the station.
func (sn *Snapshot) Stop(station int32, at time.Time) rail.Stop {
	s := &sn.Stations[station]
	return rail.Stop{Station: s.ID, Name: s.Name, Time: at.In(sn.Locations[station])}
}

// Is says whether an ID is one of a station's.
func (sn *Snapshot) Is(id uuid.UUID, station int32) bool {
	at, ok := sn.StationAt[id]
	return ok && at == station
}

// Former is the list of calls of the train that has a run, 0 if there is none.
func (sn *Snapshot) Former(id rail.RunID) uint64 {
	if sn == nil {
		return 0
	}
	t, ok := sn.Run(id)
	if !ok {
		return 0
	}
	return t.list
}

// NewInventory is the inventory of a run that nobody has booked.
func (sn *Snapshot) NewInventory(t *Train) *seats.Inventory {
	return &seats.Inventory{List: t.list, Calls: sn.marks(t), Coaches: t.Coaches}
}

// marks is the list of calls that an inventory of this train counts on.
func (sn *Snapshot) marks(t *Train) []uint64 {
	m := make([]uint64, len(t.Stops))
	for i := range t.Stops {
		m[i] = trains.StationMark(sn.Called(t, i))
	}
	return m
}

// Fitted is the inventory made to count on the train's calls and coaches:
// stations are matched in order, places by coach and seat. What does not fit
// is stranded; what was stranded and fits again comes back if its place is free.
func (sn *Snapshot) Fitted(v *seats.Inventory, t *Train) *seats.Inventory {
	if v.Fits(t.list, t.Coaches) {
		return v
	}
	return v.Fit(t.list, sn.marks(t), t.Coaches)
}

// InventoryOf is an inventory as a train counts, or a new one if there is none.
func (sn *Snapshot) InventoryOf(inv *seats.Inventory, t *Train) *seats.Inventory {
	if inv == nil {
		return sn.NewInventory(t)
	}
	return sn.Fitted(inv, t)
}
