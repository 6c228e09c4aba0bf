package traintravel

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
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
	currency       string // of the fare
}

func (g *group) runs(d Date) bool { return d >= g.since && g.days.runs(d) }

// compileNetwork makes the network, and gives the trains their stops and times.
func (sn *snapshot) compileNetwork(t *Timetable) {
	nodes := sn.newNodes(t)
	tt := &raptor.Timetable{Stations: len(sn.stations), Trains: make([]raptor.Train, len(t.Trains)), Start: sn.start}
	total := 0
	for i := range t.Trains {
		total += len(t.Trains[i].Calls)
	}
	times := make([]raptor.Time, 0, total)
	sequences := map[string]int32{}
	groups := map[group]int32{}
	zones := map[*time.Location]int32{}
	var stops []raptor.Stop
	var key []byte
	for i := range t.Trains {
		src, tr := &t.Trains[i], &sn.trains[i]
		stops = sn.appendStops(stops[:0], src, nodes)
		key = append(key[:0], byte(min(src.Calls[len(src.Calls)-1].Metres, 1))) // measured or not
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
		}
		g := group{tr.days, tr.since, tr.bicycles, tr.dogs, tr.fare.Currency}
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
	tt.Boards, tt.Alights, tt.Edges = nodes.boards.stations, nodes.alights.stations, nodes.edges()
	sn.network = raptor.Build(tt)
	for i := range sn.trains {
		sn.trains[i].stops, sn.trains[i].times = sn.network.Stops(i), sn.network.Times(i)
	}
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
			s.Board = nodes.board(t, at)
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

// nodes are where trains are boarded and left.
type nodes struct {
	sn              *snapshot
	changes         []Change
	from, to        selectors // of the rules that do not say that one stays seated
	stays, goesOn   selectors // of those that do
	boards, alights side
	seats           map[int32][]int32  // by rule: the nodes of those who stay seated
	pairs           map[[2]int32]int32 // by nodes: the rule that counts of those that single out both
}

// side is the nodes where one gets on, or those where one gets off.
type side struct {
	stations []int32   // of each node
	rules    [][]int32 // of each node: those that single out its trains
	known    map[string]int32
}

// selectors are the rules that single out trains, by what they ask for.
type selectors map[selector][]int32

type selector struct {
	station           int32
	feed, line, train string
}

// newNodes makes the nodes that all trains share: one for each station.
func (sn *snapshot) newNodes(t *Timetable) *nodes {
	n := &nodes{
		sn: sn, changes: t.Changes, from: selectors{}, to: selectors{}, stays: selectors{}, goesOn: selectors{}, seats: map[int32][]int32{},
	}
	for _, s := range []*side{&n.boards, &n.alights} {
		s.known = map[string]int32{}
		for at := range sn.stations {
			s.stations = append(s.stations, int32(at))
		}
		s.rules = make([][]int32, len(sn.stations))
	}
	goesOn := sn.goOn(t)
	for i, c := range t.Changes {
		from, to := n.from, n.to
		if c.Kind == StaySeated {
			if from, to = n.stays, n.goesOn; !goesOn(&c) {
				continue
			}
		}
		from.add(int32(i), sn.stationAt[c.From], c.Feed, c.FromLine, c.FromTrain)
		to.add(int32(i), sn.stationAt[c.To], c.Feed, c.ToLine, c.ToTrain)
	}
	return n
}

// maxStand is how long a train may stand before it goes on as another.
const maxStand = time.Hour

// goOn returns a function that says whether trains always go on as a rule says:
// on each day, and within maxStand. One cannot stay seated on a train that does
// so on some days alone: on the others, one would wait in it for days.
func (sn *snapshot) goOn(t *Timetable) func(c *Change) bool {
	type name struct{ feed, id string }
	var named map[name][]int
	return func(c *Change) bool {
		if named == nil {
			named = map[name][]int{}
			for i := range t.Trains {
				n := name{t.Trains[i].Feed, t.Trains[i].ID}
				named[n] = append(named[n], i)
			}
		}
		fits := func(i int, line string) bool { return line == "" || line == t.Trains[i].Line }
		any := false
		for _, a := range named[name{c.Feed, c.FromTrain}] {
			for _, b := range named[name{c.Feed, c.ToTrain}] {
				if !fits(a, c.FromLine) || !fits(b, c.ToLine) {
					continue
				}
				if any = sn.goesOn(t, a, b); !any {
					return false
				}
			}
		}
		return any
	}
}

// goesOn says whether a train goes on as another on each day.
func (sn *snapshot) goesOn(t *Timetable, a, b int) bool {
	from, to := &sn.trains[a], &sn.trains[b]
	arrive, depart := t.Trains[a].Calls[len(t.Trains[a].Calls)-1].Arrive, t.Trains[b].Calls[0].Depart
	stand := time.Duration(depart-arrive) * time.Second
	if from.days == to.days && from.location == to.location && stand >= 0 && stand <= maxStand {
		return true
	}
	for d := from.days.first; d <= from.days.last; d++ {
		if !from.days.runs(d) {
			continue
		}
		at, ok := arrive.Instant(d, from.location), false
		near := d + Date((arrive-depart)/86400)
		for e := near - 2; e <= near+2 && !ok; e++ {
			if to.days.runs(e) {
				wait := depart.Instant(e, to.location).Sub(at)
				ok = wait >= 0 && wait <= maxStand
			}
		}
		if !ok {
			return false
		}
	}
	return from.days.first <= from.days.last
}

func (s selectors) add(rule, station int32, feed, line, train string) {
	if line != "" || train != "" {
		k := selector{station, feed, line, train}
		s[k] = append(s[k], rule)
	}
}

// of lists the rules that single out a train's call at a station, in order.
func (s selectors) of(t *Train, station int32) (found []int32) {
	if len(s) == 0 {
		return nil
	}
	for _, k := range [...]selector{{station, t.Feed, t.Line, t.ID}, {station, t.Feed, "", t.ID}, {station, t.Feed, t.Line, ""}} {
		if k.line != "" || k.train != "" {
			found = append(found, s[k]...)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// node is the one of a station's that rules share: all trains' if there is none.
func (s *side) node(station int32, rules []int32, kind byte) int32 {
	if len(rules) == 0 {
		return station
	}
	key := binary.AppendUvarint([]byte{kind}, uint64(station))
	for _, r := range rules {
		key = binary.AppendUvarint(key, uint64(r))
	}
	node, ok := s.known[string(key)]
	if !ok {
		node = int32(len(s.stations))
		s.known[string(key)] = node
		s.stations, s.rules = append(s.stations, station), append(s.rules, rules)
	}
	return node
}

func (n *nodes) board(t *Train, station int32) int32 {
	return n.boards.node(station, n.to.of(t, station), 'b')
}

// alight is the node where one gets off. Who does so at the end may stay seated.
func (n *nodes) alight(t *Train, station int32, call int) int32 {
	rules := n.from.of(t, station)
	if call == len(t.Calls)-1 {
		rules = append(rules, n.stays.of(t, station)...)
	}
	return n.alights.node(station, rules, 'a')
}

// seated is the node of those who stay seated as another train becomes this
// one; -1 if none does.
func (n *nodes) seated(t *Train, station int32) int32 {
	rules := n.goesOn.of(t, station)
	if len(rules) == 0 {
		return -1
	}
	before := len(n.boards.stations)
	node := n.boards.node(station, rules, 's')
	if int(node) == before { // new
		for _, r := range rules {
			n.seats[r] = append(n.seats[r], node)
		}
		n.boards.rules[node] = nil
	}
	return node
}

// edges says where one can get on after getting off.
func (n *nodes) edges() [][]raptor.Edge {
	general := map[[2]int32][]int32{} // by stations: the rules that single out nobody
	near := n.sn.walks()
	for i, c := range n.changes {
		if c.Kind == StaySeated {
			continue
		}
		from, to := n.sn.stationAt[c.From], n.sn.stationAt[c.To]
		near[from] = append(near[from], to)
		if c.FromLine == "" && c.FromTrain == "" && c.ToLine == "" && c.ToTrain == "" {
			general[[2]int32{from, to}] = append(general[[2]int32{from, to}], int32(i))
		}
	}
	seat := map[int32]bool{}
	for _, nodes := range n.seats {
		for _, node := range nodes {
			seat[node] = true
		}
	}
	boards := make([][]int32, len(n.sn.stations))
	for node, station := range n.boards.stations {
		if !seat[int32(node)] {
			boards[station] = append(boards[station], int32(node))
		}
	}
	for station := range near {
		near[station] = append(near[station], int32(station))
		slices.Sort(near[station])
		near[station] = slices.Compact(near[station])
	}
	n.pairs = n.pairRules()
	edges := make([][]raptor.Edge, len(n.alights.stations))
	for node, station := range n.alights.stations {
		for _, to := range near[station] {
			for _, board := range boards[to] {
				if seconds, ok := n.takes(general[[2]int32{station, to}], int32(node), board, station, to); ok {
					edges[node] = append(edges[node], raptor.Edge{To: board, Seconds: seconds})
				}
			}
		}
		for _, r := range n.alights.rules[node] {
			for _, board := range n.seats[r] {
				edges[node] = append(edges[node], raptor.Edge{To: board})
			}
		}
	}
	return edges
}

// pairRules finds the rules that single out the trains on both sides.
func (n *nodes) pairRules() map[[2]int32]int32 {
	boards := map[int32][]int32{} // by rule
	for node, rules := range n.boards.rules {
		for _, r := range rules {
			boards[r] = append(boards[r], int32(node))
		}
	}
	pairs := map[[2]int32]int32{}
	for node, rules := range n.alights.rules {
		for _, r := range rules {
			for _, board := range boards[r] {
				pair := [2]int32{int32(node), board}
				if best, ok := pairs[pair]; !ok || n.counts(r, best) {
					pairs[pair] = r
				}
			}
		}
	}
	return pairs
}

// counts says whether a rule counts and not another.
func (n *nodes) counts(rule, other int32) bool {
	if other < 0 {
		return true
	}
	a, b := n.changes[rule].weight(), n.changes[other].weight()
	return a > b || a == b && rule > other
}

// takes says how long a change takes, and whether it is possible.
func (n *nodes) takes(general []int32, alight, board, from, to int32) (seconds int32, ok bool) {
	best := int32(-1)
	consider := func(rules []int32, singlesOut func(c *Change) bool) {
		for _, i := range rules {
			c := &n.changes[i]
			if c.Kind == StaySeated || singlesOut(c) || n.sn.stationAt[c.From] != from || n.sn.stationAt[c.To] != to {
				continue
			}
			if n.counts(i, best) {
				best = i
			}
		}
	}
	consider(general, func(*Change) bool { return false })
	consider(n.alights.rules[alight], func(c *Change) bool { return c.ToLine != "" || c.ToTrain != "" })
	consider(n.boards.rules[board], func(c *Change) bool { return c.FromLine != "" || c.FromTrain != "" })
	if both, ok := n.pairs[[2]int32{alight, board}]; ok && n.counts(both, best) {
		best = both
	}
	if best >= 0 {
		c := &n.changes[best]
		return int32(c.Time / time.Second), c.Kind == Takes
	}
	seconds = int32(changeTime / time.Second)
	if from != to {
		metres := n.sn.stations[from].Distance(n.sn.stations[to])
		if metres > walkable {
			return 0, false
		}
		seconds += int32(math.Ceil(metres))
	}
	return seconds, true
}

// weight orders rules by how exactly they say which trains they mean.
func (c *Change) weight() int {
	w := 0
	for _, t := range []struct{ line, train string }{{c.FromLine, c.FromTrain}, {c.ToLine, c.ToTrain}} {
		switch {
		case t.train != "":
			w += 10
		case t.line != "":
			w++
		}
	}
	return w
}

// walks lists for each station those that are near enough to walk to.
func (sn *snapshot) walks() [][]int32 {
	near := make([][]int32, len(sn.stations))
	north := slices.Clone(sn.directory.north)
	const reach = walkable / (earth * degree) * 1.01
	for i, a := range north {
		for _, b := range north[i+1:] {
			if sn.stations[b].Latitude > sn.stations[a].Latitude+reach {
				break
			}
			if sn.stations[a].Distance(sn.stations[b]) <= walkable {
				near[a], near[b] = append(near[a], b), append(near[b], a)
			}
		}
	}
	return near
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
			if at := &sn.currenciesAt[s.Station]; !slices.Contains(*at, t.fare.Currency) {
				*at = append(*at, t.fare.Currency)
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
