package traintravel

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/fold"
	"github.com/traintravel/traintravel/internal/raptor"
)

// A snapshot is a timetable compiled to be searched. Nothing in it changes.
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

// compiling is what a timetable is compiled with. If any ride may be sold, Prices
// do not say which.
type compiling struct {
	zones   *zones
	cities  *gazetteer
	anyRide bool
}

// compile makes a snapshot of a checked timetable and what register found.
func compile(ctx context.Context, t *Timetable, ids []numbering, reg registry, with compiling) (*snapshot, error) {
	z := with.zones
	sn := &snapshot{
		anyRide:   with.anyRide,
		stations:  slices.Clone(t.Stations),
		stationAt: make(map[uuid.UUID]int32, len(t.Stations)),
	}
	for i := range sn.stations {
		sn.stations[i].Country = cmp.Or(sn.stations[i].Country, UnknownCountry)
	}
	sn.sortStations()
	sn.directory = newDirectory(sn.stations, with.cities, func(station int32) int { return sn.network.Calls(station) })
	for i, s := range sn.stations {
		sn.stationAt[s.ID] = int32(i)
		for _, id := range s.OtherIDs {
			sn.stationAt[id] = int32(i)
		}
		sn.locations = append(sn.locations, z.get(s.Zone))
	}

	byNumber := reg.byNumber()
	calendars := calendarCache{}
	sn.trains = make([]train, len(t.Trains))
	for i := range t.Trains {
		if err := interrupted(ctx, i); err != nil {
			return nil, err
		}
		src := &t.Trains[i]
		tr := &sn.trains[i]
		*tr = train{
			index: int32(i),
			id:    ids[i].train, number: ids[i].number, since: numbered(byNumber, ids[i].number).since, list: ids[i].list,
			feed: src.Feed, operator: src.Operator, name: src.Number, location: z.get(src.Zone), days: calendars.get(src.Days),
			coaches:  src.Coaches,
			bicycles: src.Bicycles, dogs: src.Dogs, hooks: src.Hooks, fare: src.Fare, prices: src.Prices,
		}
		if tr.list == 0 {
			tr.list = listMark(src.Calls)
		}
		for _, c := range src.Coaches {
			tr.places += c.Seats
		}
		if len(sn.stationAt) > len(sn.stations) { // some have other IDs
			tr.named = sn.namesOf(src.Calls)
		}
		sn.last = max(sn.last, tr.days.last)
	}
	sn.byNumber = indexTrains(sn.trains, func(t *train) uint64 { return uint64(t.number) })
	sn.byTrain = indexTrains(sn.trains, func(t *train) uint64 { return identityMark(t.id) })
	if err := sn.compileNetwork(ctx, t); err != nil {
		return nil, err
	}
	sn.findCurrencies()
	return sn, nil
}

// namesOf lists what calls name their stations by, nil if by their IDs.
func (sn *snapshot) namesOf(calls []Call) []uuid.UUID {
	if !slices.ContainsFunc(calls, func(c Call) bool { return sn.stations[sn.stationAt[c.Station]].ID != c.Station }) {
		return nil
	}
	names := make([]uuid.UUID, len(calls))
	for i, c := range calls {
		names[i] = c.Station
	}
	return names
}

// sortStations puts the stations in the order in which they are listed.
func (sn *snapshot) sortStations() {
	names := make(map[uuid.UUID]string, len(sn.stations))
	for _, s := range sn.stations {
		names[s.ID] = fold.String(s.Name)
	}
	slices.SortFunc(sn.stations, func(a, b Station) int {
		return cmp.Or(cmp.Compare(names[a.ID], names[b.ID]), slices.Compare(a.ID[:], b.ID[:]))
	})
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

// run is a train on a date.
func (t *train) run(d Date) RunID {
	if id, ok := t.moved[d]; ok {
		return RunID{id, d}
	}
	return RunID{t.id, d}
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

// sells says whether a ride is for sale, as far as Prices say.
func (sn *snapshot) sells(t *train, from, to int) bool { return sn.anyRide || t.priced(from, to) }

// calendarCache compiles each Calendar once.
type calendarCache map[*Calendar]*days

func (c calendarCache) get(src *Calendar) *days {
	d, ok := c[src]
	if !ok {
		d = compileCalendar(src)
		c[src] = d
	}
	return d
}
