package traintravel

import (
	"cmp"
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
	directory  directory
	locations  []*time.Location
	stationAt  map[uuid.UUID]int32
	trains     []train
	byNumber   map[uint32][]int32    // trains with a registered number: variants that never run on one date
	byTrain    map[uuid.UUID][]int32 // the same by identity
	moved      map[RunID]*train      // the runs of train.moved
	network    *raptor.Network
	groups     []group          // of the network
	zones      []*time.Location // of the network

	currenciesAt [][]string // for each station
}

// train is a Train compiled.
type train struct {
	index    int32
	id       uuid.UUID          // identity: the same in later timetables
	moved    map[Date]uuid.UUID // where it has another's: see move
	number   uint32             // for trip IDs
	since    Date               // the number means this train from this date on
	list     uint64
	operator string
	name     string
	location *time.Location
	days     *days
	stops    []raptor.Stop // shared with trains of the same calls
	times    []raptor.Time
	coaches  []Coach
	places   int
	bicycles Allowance
	dogs     Allowance
	hooks    int
	fare     Fare
}

// compile makes a snapshot of a checked timetable and what register found.
func compile(t *Timetable, ids []numbering, reg registry, z *zones) *snapshot {
	sn := &snapshot{
		stations:  slices.Clone(t.Stations),
		stationAt: make(map[uuid.UUID]int32, len(t.Stations)),
		byNumber:  make(map[uint32][]int32, len(t.Trains)),
		byTrain:   make(map[uuid.UUID][]int32, len(t.Trains)),
	}
	sn.sortStations()
	sn.makeDirectory()
	for i, s := range sn.stations {
		sn.stationAt[s.ID] = int32(i)
		sn.locations = append(sn.locations, z.get(s.Zone))
	}

	since := make(map[uint32]Date, len(reg.entries))
	for _, e := range reg.entries {
		since[e.number] = e.since
	}
	calendars := calendarCache{}
	sn.trains = make([]train, len(t.Trains))
	for i := range t.Trains {
		src := &t.Trains[i]
		tr := &sn.trains[i]
		*tr = train{
			index: int32(i),
			id:    ids[i].train, number: ids[i].number, since: since[ids[i].number], list: ids[i].list,
			operator: src.Operator, name: src.Number, location: z.get(src.Zone), days: calendars.get(src.Days),
			coaches:  src.Coaches,
			bicycles: src.Bicycles, dogs: src.Dogs, hooks: src.Hooks, fare: src.Fare,
		}
		if tr.list == 0 {
			tr.list = listMark(src.Calls)
		}
		for _, c := range src.Coaches {
			tr.places += c.Seats
		}
		sn.byNumber[tr.number] = append(sn.byNumber[tr.number], int32(i))
		sn.byTrain[tr.id] = append(sn.byTrain[tr.id], int32(i))
	}
	sn.compileNetwork(t)
	sn.findCurrencies()
	return sn
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
		tr.moved[m.date] = twin(t.Trains[m.train].base(), m.slot)
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
	t, ok := sn.onDate(sn.byTrain[id.Train], id.Date)
	return t, ok && t.run(id.Date) == id
}

// numbered finds the train that a number in a trip's ID means on a date.
func (sn *snapshot) numbered(number uint32, d Date) (*train, bool) {
	t, ok := sn.onDate(sn.byNumber[number], d)
	return t, ok && d >= t.since
}

func (sn *snapshot) onDate(variants []int32, d Date) (*train, bool) {
	for _, i := range variants {
		if t := &sn.trains[i]; t.days.runs(d) {
			return t, true
		}
	}
	return nil, false
}

// departs and arrives say when a run is at a call.
func (t *train) departs(d Date, call int) time.Time {
	return t.depart(call).Instant(d, t.location)
}
func (t *train) arrives(d Date, call int) time.Time {
	return t.arrive(call).Instant(d, t.location)
}

// rideable says whether a traveller can get on at one call, or stay seated there
// from another train, and off at another.
func (t *train) rideable(from, to int) bool {
	return from >= 0 && from < to && to < len(t.stops) && (t.boards(from) || t.stops[from].Seated >= 0) && t.alights(to)
}

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
