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

// compileNetwork makes the network, and gives the trains their stops and times.
func (sn *snapshot) compileNetwork(ctx context.Context, t *Timetable) error {
	b := newNetworkBuilder(sn, t)
	for i := range t.Trains {
		if err := interrupted(ctx, i); err != nil {
			return err
		}
		b.add(i, &t.Trains[i])
	}
	edges, err := b.nodes.edges(ctx)
	if err != nil {
		return err
	}
	b.tt.Boards, b.tt.Alights, b.tt.Edges = b.nodes.boards.stations, b.nodes.alights.stations, edges
	sn.network = raptor.Build(b.tt)
	for i := range sn.trains {
		sn.trains[i].stops, sn.trains[i].times = sn.network.Stops(i), sn.network.Times(i)
	}
	return nil
}

// A networkBuilder makes of trains what a network is built of.
type networkBuilder struct {
	sn    *snapshot
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

func newNetworkBuilder(sn *snapshot, t *Timetable) *networkBuilder {
	total := 0
	for i := range t.Trains {
		total += len(t.Trains[i].Calls)
	}
	return &networkBuilder{
		sn: sn, nodes: sn.newNodes(t),
		tt:    &raptor.Timetable{Stations: len(sn.stations), Trains: make([]raptor.Train, len(t.Trains)), Start: sn.start, Rides: map[int32][]bool{}},
		times: make([]raptor.Time, 0, total), sequences: map[string]int32{}, groups: map[group]int32{}, zones: map[*time.Location]int32{},
	}
}

func (b *networkBuilder) add(train int, src *Train) {
	tr := &b.sn.trains[train]
	b.tt.Trains[train] = raptor.Train{Sequence: b.sequence(src, tr), Group: b.group(tr), Zone: b.zone(tr.location), Times: b.timesOf(src.Calls)}
}

// sequence is the number of the train's stops, which trains of the same calls share.
func (b *networkBuilder) sequence(src *Train, tr *train) int32 {
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

func (b *networkBuilder) group(t *train) int32 {
	g := group{t.days, t.since, t.bicycles, t.dogs, t.currency()}
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
func (b *networkBuilder) timesOf(calls []Call) []raptor.Time {
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
