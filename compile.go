package traintravel

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/fold"
	"github.com/traintravel/traintravel/internal/raptor"
)

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

// compileNetwork makes the network, and gives the trains their stops and times.
func (sn *snapshot) compileNetwork(ctx context.Context, t *Timetable) error {
	nodes := sn.newNodes(t)
	tt := &raptor.Timetable{Stations: len(sn.stations), Trains: make([]raptor.Train, len(t.Trains)), Start: sn.start, Rides: map[int32][]bool{}}
	total := 0
	for i := range t.Trains {
		total += len(t.Trains[i].Calls)
	}
	times := make([]raptor.Time, 0, total)
	sequences := map[string]int32{}
	groups := map[group]int32{}
	zones := map[*time.Location]int32{}
	var stops []raptor.Stop
	var rides []bool
	var key []byte
	for i := range t.Trains {
		if err := interrupted(ctx, i); err != nil {
			return err
		}
		src, tr := &t.Trains[i], &sn.trains[i]
		stops = sn.appendStops(stops[:0], src, nodes)
		rides = sn.appendRides(rides[:0], tr, stops)
		key = append(key[:0], byte(min(src.Calls[len(src.Calls)-1].Metres, 1))) // measured or not
		key = binary.AppendUvarint(key, uint64(len(rides)))
		for _, priced := range rides {
			key = strconv.AppendBool(key, priced)
		}
		for _, s := range stops {
			for _, v := range []int32{s.Station, s.Board, s.Seated, s.Alight, s.Metres} {
				key = binary.AppendVarint(key, int64(v))
			}
		}
		sequence, ok := sequences[string(key)]
		if !ok {
			sequence = int32(len(tt.Sequences))
			sequences[string(key)] = sequence
			if key[0] == 0 {
				sn.measure(stops)
			}
			tt.Sequences = append(tt.Sequences, slices.Clone(stops))
			if len(rides) > 0 {
				tt.Rides[sequence] = slices.Clone(rides)
			}
		}
		g := group{tr.days, tr.since, tr.bicycles, tr.dogs, tr.currency()}
		at, ok := groups[g]
		if !ok {
			at = int32(len(sn.groups))
			groups[g] = at
			sn.groups = append(sn.groups, g)
		}
		zone, ok := zones[tr.location]
		if !ok {
			zone = int32(len(sn.zones))
			zones[tr.location] = zone
			sn.zones = append(sn.zones, tr.location)
		}
		first := len(times)
		for j, c := range src.Calls {
			k := raptor.Time{Arrive: int32(c.Arrive), Depart: int32(c.Depart)}
			if j == 0 {
				k.Arrive = k.Depart
			}
			if j == len(src.Calls)-1 {
				k.Depart = k.Arrive
			}
			times = append(times, k)
		}
		tt.Trains[i] = raptor.Train{Sequence: sequence, Group: at, Zone: zone, Times: times[first:]}
	}
	edges, err := nodes.edges(ctx)
	if err != nil {
		return err
	}
	tt.Boards, tt.Alights, tt.Edges = nodes.boards.stations, nodes.alights.stations, edges
	sn.network = raptor.Build(tt)
	for i := range sn.trains {
		sn.trains[i].stops, sn.trains[i].times = sn.network.Stops(i), sn.network.Times(i)
	}
	return nil
}

func (sn *snapshot) start(zone, day int32) int64 {
	return ServiceTime(0).Instant(Date(day), sn.zones[zone]).Unix()
}

// measure fills in the metres of stops as the crow flies.
func (sn *snapshot) measure(stops []raptor.Stop) {
	metres := 0.0
	for j := range stops[1:] {
		metres += sn.stations[stops[j].Station].Distance(sn.stations[stops[j+1].Station])
		stops[j+1].Metres = int32(min(metres, math.MaxInt32))
	}
}

// appendStops adds the stops of a train, with the metres that are given.
func (sn *snapshot) appendStops(stops []raptor.Stop, t *Train, nodes *nodes) []raptor.Stop {
	for j, c := range t.Calls {
		at := sn.stationAt[c.Station]
		s := raptor.Stop{Station: at, Board: -1, Seated: -1, Alight: -1, Metres: c.Metres}
		if !c.NoBoarding && j < len(t.Calls)-1 {
			s.Board = nodes.board(t, at, j)
		}
		if j == 0 {
			s.Seated = nodes.seated(t, at)
		}
		if !c.NoAlighting && j > 0 {
			s.Alight = nodes.alight(t, at, j)
		}
		stops = append(stops, s)
	}
	return stops
}

// appendRides adds which rides on a train are to be had, from stop to stop, if
// not all are.
func (sn *snapshot) appendRides(rides []bool, t *train, stops []raptor.Stop) []bool {
	if t.prices == nil || sn.anyRide {
		return rides
	}
	all, first := true, len(rides)
	for i := range stops {
		for j := range stops {
			priced := i < j && t.prices.amount(i, j) > 0
			all = all && (priced || i >= j || stops[i].Board < 0 && stops[i].Seated < 0 || stops[j].Alight < 0)
			rides = append(rides, priced)
		}
	}
	if all {
		return rides[:first]
	}
	return rides
}

// findCurrencies finds in which currencies trains at each station are sold.
func (sn *snapshot) findCurrencies() {
	sn.currenciesAt = make([][]string, len(sn.stations))
	for i := range sn.trains {
		t := &sn.trains[i]
		for _, s := range t.stops {
			if at := &sn.currenciesAt[s.Station]; !slices.Contains(*at, t.currency()) {
				*at = append(*at, t.currency())
			}
		}
	}
	for _, at := range sn.currenciesAt {
		slices.SortFunc(at, func(a, b string) int { return cmp.Compare(a, b) })
	}
}
