package traintravel

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/traintravel/traintravel/internal/raptor"
)

// The network is what a snapshot searches. Its nodes are the stations, in
// their order, and one more for each set of rules that is not every train's.

const (
	// changeTime is the least time to change trains at one station.
	changeTime = 5 * time.Minute
	// walkable is how far apart stations may be, in metres, for people to walk
	// from one to the other. A metre takes a second.
	walkable = 500
)

// A group is trains that run on the same dates and may be taken alike.
type group struct {
	days           *days
	since          Date // of the number in trip IDs
	bicycles, dogs Allowance
	currency       string // of the prices
}

func (g *group) runs(d Date) bool { return d >= g.since && g.days.runs(d) }

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
	return serviceStart(Date(day), sn.zones[zone]).Unix()
}

// daysAround are the service days of a search on a date.
func (sn *snapshot) daysAround(d Date) *raptor.Days {
	return sn.network.Days(int32(d), len(sn.groups), len(sn.zones), func(g, day int32) bool { return sn.groups[g].runs(Date(day)) })
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

// The stops of a train, by their index.

func (t *train) boards(call int) bool   { return t.stops[call].Board >= 0 }
func (t *train) alights(call int) bool  { return t.stops[call].Alight >= 0 }
func (t *train) station(call int) int32 { return t.stops[call].Station }

func (t *train) depart(call int) ServiceTime { return ServiceTime(t.times[call].Depart) }
func (t *train) arrive(call int) ServiceTime { return ServiceTime(t.times[call].Arrive) }

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

// currencies are those in which one can depart from the one station and arrive
// at the other.
func (sn *snapshot) currencies(origin, destination int32) []string {
	var both []string
	for _, c := range sn.currenciesAt[origin] {
		if c != "" && slices.Contains(sn.currenciesAt[destination], c) {
			both = append(both, c)
		}
	}
	return both
}
