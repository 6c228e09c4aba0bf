package traintravel

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/fold"
)

// A snapshot is a timetable compiled to be searched. Nothing in it changes.
type snapshot struct {
	generation uuid.UUID
	stations   []Station // by folded name, then ID
	folded     []string  // their names and addresses, folded, for searching
	directory  directory
	locations  []*time.Location
	stationAt  map[uuid.UUID]int32
	trains     []train
	byNumber   map[uint32][]int32    // trains with a registered number: variants that never run on one date
	byTrain    map[uuid.UUID][]int32 // the same by identity
	moved      map[RunID]*train      // the runs of train.moved
	visits     [][]visit             // for each station: which trains call there, and when
}

// train is a Train compiled.
type train struct {
	id       uuid.UUID          // identity: the same in later timetables
	moved    map[Date]uuid.UUID // where it has another's: see move
	number   uint32             // for trip IDs
	since    Date               // the number means this train from this date on
	list     uint64
	operator string
	name     string
	location *time.Location
	days     *days
	calls    []call
	coaches  []Coach
	places   int
	bicycles Allowance
	dogs     Allowance
	hooks    int
	fare     Fare
}

type call struct {
	station        int32
	arrive, depart ServiceTime
	metres         int32
	board, alight  bool
}

// visit is one call of a train at a station.
type visit struct {
	train int32
	call  int32
}

// compile makes a snapshot of a checked timetable and what register found.
func compile(t *Timetable, ids []numbering, reg registry, z *zones) *snapshot {
	sn := &snapshot{
		stations:  slices.Clone(t.Stations),
		stationAt: make(map[uuid.UUID]int32, len(t.Stations)),
		byNumber:  make(map[uint32][]int32, len(t.Trains)),
		byTrain:   make(map[uuid.UUID][]int32, len(t.Trains)),
		visits:    make([][]visit, len(t.Stations)),
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
	total := 0
	for i := range t.Trains {
		total += len(t.Trains[i].Calls)
	}
	calls := make([]call, 0, total)
	calendars := calendarCache{}
	sn.trains = make([]train, len(t.Trains))
	for i := range t.Trains {
		src := &t.Trains[i]
		from := len(calls)
		calls = sn.appendCalls(calls, src.Calls)
		tr := &sn.trains[i]
		*tr = train{
			id: ids[i].train, number: ids[i].number, since: since[ids[i].number], list: listMark(src.Calls),
			operator: src.Operator, name: src.Number, location: z.get(src.Zone), days: calendars.get(src.Days),
			calls: calls[from:len(calls):len(calls)], coaches: src.Coaches,
			bicycles: src.Bicycles, dogs: src.Dogs, hooks: src.Hooks, fare: src.Fare,
		}
		for _, c := range src.Coaches {
			tr.places += c.Seats
		}
		sn.byNumber[tr.number] = append(sn.byNumber[tr.number], int32(i))
		sn.byTrain[tr.id] = append(sn.byTrain[tr.id], int32(i))
		for j, c := range tr.calls {
			sn.visits[c.station] = append(sn.visits[c.station], visit{int32(i), int32(j)})
		}
	}
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
	sn.folded = make([]string, len(sn.stations))
	for i, s := range sn.stations {
		sn.folded[i] = names[s.ID] + "\n" + fold.String(s.Address)
	}
}

func (sn *snapshot) appendCalls(calls []call, src []Call) []call {
	measured := src[len(src)-1].Metres > 0
	metres := 0.0
	for j, c := range src {
		at := sn.stationAt[c.Station]
		if j > 0 && !measured {
			metres += sn.stations[at].Distance(sn.stations[calls[len(calls)-1].station])
		}
		k := call{
			station: at, arrive: c.Arrive, depart: c.Depart, metres: int32(min(metres, math.MaxInt32)),
			board: !c.NoBoarding, alight: !c.NoAlighting,
		}
		if measured {
			k.metres = c.Metres
		}
		if j == 0 {
			k.arrive, k.alight = c.Depart, false
		}
		if j == len(src)-1 {
			k.depart, k.board = c.Arrive, false
		}
		calls = append(calls, k)
	}
	return calls
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
	return t.calls[call].depart.Instant(d, t.location)
}
func (t *train) arrives(d Date, call int) time.Time {
	return t.calls[call].arrive.Instant(d, t.location)
}

// rideable says whether a traveller can get on at one call and off at another.
func (t *train) rideable(from, to int) bool {
	return from >= 0 && from < to && to < len(t.calls) && t.calls[from].board && t.calls[to].alight
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
