package traintravel

import (
	"cmp"
	"encoding/binary"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/raptor"
)

// A snapshot is a timetable compiled to be searched. Nothing in it changes. The nodes of
// its network are the stations, in their order, and one more for each set of rules that is
// not every train's.
type snapshot struct {
	generation uuid.UUID
	stations   []Station // by folded name, then ID
	directory  *directory
	locations  []*time.Location
	stationAt  map[uuid.UUID]int32
	trains     []train
	byNumber   trainIndex       // by registered number: the variants that have it never run on one date
	byTrain    trainIndex       // the same by identityMark
	moved      map[RunID]*train // the runs of train.moved
	network    *raptor.Network
	groups     []group          // of the network
	zones      []*time.Location // of the network

	currenciesAt [][]string // for each station
	anyRide      bool       // those without a price are taken too
	last         Date       // on which a train runs
}

// move makes trains run under other identities on some dates.
func (sn *snapshot) move(t *Timetable, moves []move) {
	sn.moved = make(map[RunID]*train, len(moves))
	for _, m := range moves {
		tr := &sn.trains[m.train]
		if tr.moved == nil {
			tr.moved = map[Date]uuid.UUID{}
		}
		tr.moved[m.date] = twin(baseOf(&t.Trains[m.train]), m.slot)
		sn.moved[tr.run(m.date)] = tr
	}
}

// run finds the train that runs under an identity on a date.
func (sn *snapshot) run(id RunID) (*train, bool) {
	if t, ok := sn.moved[id]; ok {
		return t, true
	}
	for _, v := range sn.byTrain.of(identityMark(id.Train)) {
		if t := &sn.trains[v.train]; t.id == id.Train && t.days.runs(id.Date) {
			return t, t.run(id.Date) == id
		}
	}
	return nil, false
}

// numbered finds the train that a number in a trip's ID means on a date.
func (sn *snapshot) numbered(number uint32, d Date) (*train, bool) {
	for _, v := range sn.byNumber.of(uint64(number)) {
		if t := &sn.trains[v.train]; t.days.runs(d) {
			return t, d >= t.since
		}
	}
	return nil, false
}

// A trainIndex finds trains by a key.
type trainIndex []indexed

type indexed struct {
	key   uint64
	train int32
}

func indexTrains(trains []train, key func(*train) uint64) trainIndex {
	x := make(trainIndex, len(trains))
	for i := range trains {
		x[i] = indexed{key(&trains[i]), int32(i)}
	}
	slices.SortFunc(x, func(a, b indexed) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.train, b.train)) })
	return x
}

// of is the trains with a key, in their order.
func (x trainIndex) of(key uint64) []indexed {
	first, _ := slices.BinarySearchFunc(x, key, func(e indexed, key uint64) int { return cmp.Compare(e.key, key) })
	n := first
	for n < len(x) && x[n].key == key {
		n++
	}
	return x[first:n]
}

// identityMark is half of an identity, which tells nearly all apart.
func identityMark(id uuid.UUID) uint64 { return binary.BigEndian.Uint64(id[:8]) }

// sells says whether a ride is for sale, as far as Prices say.
func (sn *snapshot) sells(t *train, from, to int) bool { return sn.anyRide || t.priced(from, to) }

// A group is trains that run on the same dates and may be taken alike.
type group struct {
	days           *days
	since          Date // of the number in trip IDs
	bicycles, dogs Allowance
	currency       string // of the prices
}

func (g *group) runs(d Date) bool { return d >= g.since && g.days.runs(d) }

// called is the ID by which a call of a train names its station.
func (sn *snapshot) called(t *train, call int) uuid.UUID {
	if t.named != nil {
		return t.named[call]
	}
	return sn.stations[t.station(call)].ID
}

func (sn *snapshot) stop(station int32, at time.Time) Stop {
	s := &sn.stations[station]
	return Stop{Station: s.ID, Name: s.Name, Time: at.In(sn.locations[station])}
}

// is says whether an ID is one of a station's.
func (sn *snapshot) is(id uuid.UUID, station int32) bool {
	at, ok := sn.stationAt[id]
	return ok && at == station
}

// former is the list of calls of the train that has a run, 0 if there is none.
func (sn *snapshot) former(id RunID) uint64 {
	if sn == nil {
		return 0
	}
	t, ok := sn.run(id)
	if !ok {
		return 0
	}
	return t.list
}

// newInventory is the inventory of a run that nobody has booked.
func (sn *snapshot) newInventory(t *train) *inventory {
	return &inventory{list: t.list, calls: sn.marks(t), coaches: t.coaches}
}

// marks is the list of calls that an inventory of this train counts on.
func (sn *snapshot) marks(t *train) []uint64 {
	m := make([]uint64, len(t.stops))
	for i := range t.stops {
		m[i] = stationMark(sn.called(t, i))
	}
	return m
}

// fitted is the inventory made to count on the train's calls and coaches:
// stations are matched in order, places by coach and seat. What does not fit
// is stranded; what was stranded and fits again comes back if its place is free.
func (sn *snapshot) fitted(v *inventory, t *train) *inventory {
	if v.fits(t.list, t.coaches) {
		return v
	}
	return v.fit(t.list, sn.marks(t), t.coaches)
}

// inventoryOf is an inventory as a train counts, or a new one if there is none.
func (sn *snapshot) inventoryOf(inv *inventory, t *train) *inventory {
	if inv == nil {
		return sn.newInventory(t)
	}
	return sn.fitted(inv, t)
}
