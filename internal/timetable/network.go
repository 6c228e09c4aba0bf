package timetable

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/traintravel/traintravel/internal/raptor"
	"github.com/traintravel/traintravel/internal/trains"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

// compileNetwork makes the network, and gives the trains their stops and times.
func (sn *Snapshot) compileNetwork(ctx context.Context, t *schedule.Timetable) error {
	b := newNetworkBuilder(sn, t)
	for i := range t.Trains {
		if err := trains.Interrupted(ctx, i); err != nil {
			return err
		}
		b.add(i, &t.Trains[i])
	}
	edges, err := b.nodes.edges(ctx)
	if err != nil {
		return err
	}
	b.tt.Boards, b.tt.Alights, b.tt.Edges = b.nodes.boards.stations, b.nodes.alights.stations, edges
	sn.Network = raptor.Build(b.tt)
	for i := range sn.Trains {
		sn.Trains[i].Stops, sn.Trains[i].times = sn.Network.Stops(i), sn.Network.Times(i)
	}
	return nil
}

// A networkBuilder makes of trains what a network is built of.
type networkBuilder struct {
	sn    *Snapshot
	nodes *nodes
	tt    *raptor.Timetable
	times []raptor.Time // of all trains

	sequences map[string]int32
	groups    map[group]int32
	zones     map[*time.Location]int32

	// Of the train that is added, used again for the next.
	stops []raptor.Stop
	rides []bool
	key   []byte
}

func newNetworkBuilder(sn *Snapshot, t *schedule.Timetable) *networkBuilder {
	total := 0
	for i := range t.Trains {
		total += len(t.Trains[i].Calls)
	}
	return &networkBuilder{
		sn: sn, nodes: sn.newNodes(t),
		tt:    &raptor.Timetable{Stations: len(sn.Stations), Trains: make([]raptor.Train, len(t.Trains)), Start: sn.start, Rides: map[int32][]bool{}},
		times: make([]raptor.Time, 0, total), sequences: map[string]int32{}, groups: map[group]int32{}, zones: map[*time.Location]int32{},
	}
}

func (b *networkBuilder) add(train int, src *schedule.Train) {
	tr := &b.sn.Trains[train]
	b.tt.Trains[train] = raptor.Train{Sequence: b.sequence(src, tr), Group: b.group(tr), Zone: b.zone(tr.Location), Times: b.timesOf(src.Calls)}
}

// sequence is the number of the train's stops, which trains of the same calls share.
func (b *networkBuilder) sequence(src *schedule.Train, tr *Train) int32 {
	b.stops = b.sn.appendStops(b.stops[:0], src, b.nodes)
	b.rides = b.sn.appendRides(b.rides[:0], tr, b.stops)
	key := append(b.key[:0], byte(min(src.Calls[len(src.Calls)-1].Metres, 1))) // measured or not
	key = binary.AppendUvarint(key, uint64(len(b.rides)))
	for _, priced := range b.rides {
		key = strconv.AppendBool(key, priced)
	}
	for _, s := range b.stops {
		for _, v := range []int32{s.Station, s.Board, s.Seated, s.Alight, s.Metres} {
			key = binary.AppendVarint(key, int64(v))
		}
	}
	b.key = key
	n, ok := b.sequences[string(key)]
	if ok {
		return n
	}
	n = int32(len(b.tt.Sequences))
	b.sequences[string(key)] = n
	if key[0] == 0 {
		b.sn.measure(b.stops)
	}
	b.tt.Sequences = append(b.tt.Sequences, slices.Clone(b.stops))
	if len(b.rides) > 0 {
		b.tt.Rides[n] = slices.Clone(b.rides)
	}
	return n
}

func (b *networkBuilder) group(t *Train) int32 {
	g := group{t.Days, t.since, t.bicycles, t.dogs, t.currency()}
	n, ok := b.groups[g]
	if !ok {
		n = int32(len(b.sn.groups))
		b.groups[g] = n
		b.sn.groups = append(b.sn.groups, g)
	}
	return n
}

func (b *networkBuilder) zone(location *time.Location) int32 {
	n, ok := b.zones[location]
	if !ok {
		n = int32(len(b.sn.zones))
		b.zones[location] = n
		b.sn.zones = append(b.sn.zones, location)
	}
	return n
}

// timesOf are the times of calls. Nothing departs from the last, or arrives at the first.
func (b *networkBuilder) timesOf(calls []schedule.Call) []raptor.Time {
	first := len(b.times)
	for i, c := range calls {
		k := raptor.Time{Arrive: int32(c.Arrive), Depart: int32(c.Depart)}
		if i == 0 {
			k.Arrive = k.Depart
		}
		if i == len(calls)-1 {
			k.Depart = k.Arrive
		}
		b.times = append(b.times, k)
	}
	return b.times[first:]
}

func (sn *Snapshot) start(zone, day int32) int64 {
	return rail.ServiceTime(0).Instant(rail.Date(day), sn.zones[zone]).Unix()
}

// measure fills in the metres of stops as the crow flies.
func (sn *Snapshot) measure(stops []raptor.Stop) {
	metres := 0.0
	for j := range stops[1:] {
		metres += sn.Stations[stops[j].Station].Distance(sn.Stations[stops[j+1].Station])
		stops[j+1].Metres = int32(min(metres, math.MaxInt32))
	}
}

// appendStops adds the stops of a train, with the metres that are given.
func (sn *Snapshot) appendStops(stops []raptor.Stop, t *schedule.Train, nodes *nodes) []raptor.Stop {
	for j, c := range t.Calls {
		at := sn.StationAt[c.Station]
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
func (sn *Snapshot) appendRides(rides []bool, t *Train, stops []raptor.Stop) []bool {
	if t.Prices == nil || sn.anyRide {
		return rides
	}
	all, first := true, len(rides)
	for i := range stops {
		for j := range stops {
			priced := i < j && t.Prices.Amount(i, j) > 0
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
func (sn *Snapshot) findCurrencies() {
	sn.currenciesAt = make([][]string, len(sn.Stations))
	for i := range sn.Trains {
		t := &sn.Trains[i]
		for _, s := range t.Stops {
			if at := &sn.currenciesAt[s.Station]; !slices.Contains(*at, t.currency()) {
				*at = append(*at, t.currency())
			}
		}
	}
	for _, at := range sn.currenciesAt {
		slices.SortFunc(at, func(a, b string) int { return cmp.Compare(a, b) })
	}
}
