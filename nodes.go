package traintravel

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/raptor"
)

// nodes are where trains are boarded and left.
type nodes struct {
	sn              *snapshot
	changes         []Change
	from, to        selectors // of the rules that do not say that one stays seated
	stays, goesOn   selectors // of those that do
	boards, alights side
	seats           map[int32][]int32  // by rule: the nodes of those who stay seated
	pairs           map[[2]int32]int32 // by nodes: the rule that counts of those that single out both
	looks           int                // how often a rule was looked for, which must not grow with the square of their number
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
	platform          uint16
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
		from.add(int32(i), selector{sn.stationAt[c.From], c.Feed, c.FromLine, c.FromTrain, c.FromPlatform})
		to.add(int32(i), selector{sn.stationAt[c.To], c.Feed, c.ToLine, c.ToTrain, c.ToPlatform})
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

func (s selectors) add(rule int32, k selector) {
	if k.line != "" || k.train != "" || k.platform != 0 {
		s[k] = append(s[k], rule)
	}
}

// of lists the rules that single out a train's call at a station, in order.
func (s selectors) of(t *Train, station int32, call int) (found []int32) {
	if len(s) == 0 {
		return nil
	}
	platforms := []uint16{0, t.Calls[call].Platform}
	if platforms[1] == 0 {
		platforms = platforms[:1]
	}
	for _, platform := range platforms {
		for _, k := range [...]selector{{line: t.Line, train: t.ID}, {train: t.ID}, {line: t.Line}, {}} {
			k.station, k.feed, k.platform = station, t.Feed, platform
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

func (n *nodes) board(t *Train, station int32, call int) int32 {
	return n.boards.node(station, n.to.of(t, station, call), 'b')
}

// alight is the node where one gets off. Who does so at the end may stay seated.
func (n *nodes) alight(t *Train, station int32, call int) int32 {
	rules := n.from.of(t, station, call)
	if call == len(t.Calls)-1 {
		rules = append(rules, n.stays.of(t, station, call)...)
	}
	return n.alights.node(station, rules, 'a')
}

// seated is the node of those who stay seated as another train becomes this
// one; -1 if none does.
func (n *nodes) seated(t *Train, station int32) int32 {
	rules := n.goesOn.of(t, station, 0)
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
func (n *nodes) edges(ctx context.Context) ([][]raptor.Edge, error) {
	general := map[[2]int32]int32{} // by stations: the rule that counts of those that single out nobody
	near := n.sn.directory.neighbours(walkable)
	for i, c := range n.changes {
		if c.Kind == StaySeated {
			continue
		}
		from, to := n.sn.stationAt[c.From], n.sn.stationAt[c.To]
		near[from] = append(near[from], to)
		if fromAll(&c) && toAll(&c) {
			n.keep(general, [2]int32{from, to}, int32(i))
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
	left := n.oneSided(&n.alights, func(c *Change) (uuid.UUID, bool) { return c.To, toAll(c) })
	entered := n.oneSided(&n.boards, func(c *Change) (uuid.UUID, bool) { return c.From, fromAll(c) })
	edges := make([][]raptor.Edge, len(n.alights.stations))
	for node, station := range n.alights.stations {
		if err := ctx.Err(); err != nil { // a node may have very many edges
			return nil, err
		}
		for _, to := range near[station] {
			without, possible := n.withoutRule(station, to)
			rule := n.better(-1, general, [2]int32{station, to})
			rule = n.better(rule, left, [2]int32{int32(node), to})
			for _, board := range boards[to] {
				best := n.better(rule, entered, [2]int32{board, station})
				best = n.better(best, n.pairs, [2]int32{int32(node), board})
				seconds, ok := without, possible
				if best >= 0 {
					c := &n.changes[best]
					seconds, ok = int32(c.Time/time.Second), c.Kind == Takes
				}
				if ok {
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
	return edges, nil
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
				n.keep(pairs, [2]int32{int32(node), board}, r)
			}
		}
	}
	return pairs
}

// oneSided finds by node and by the other station the rule that counts of those
// that single out the trains on one side alone.
func (n *nodes) oneSided(s *side, other func(c *Change) (uuid.UUID, bool)) map[[2]int32]int32 {
	found := map[[2]int32]int32{}
	for node, rules := range s.rules {
		for _, r := range rules {
			c := &n.changes[r]
			if at, ok := other(c); ok && c.Kind != StaySeated {
				n.keep(found, [2]int32{int32(node), n.sn.stationAt[at]}, r)
			}
		}
	}
	return found
}

// counts says whether a rule counts and not another.
func (n *nodes) counts(rule, other int32) bool {
	if other < 0 {
		return true
	}
	a, b := weightOf(&n.changes[rule]), weightOf(&n.changes[other])
	return a > b || a == b && rule > other
}

// keep puts a rule in its place, unless one is there that counts instead.
func (n *nodes) keep(rules map[[2]int32]int32, at [2]int32, rule int32) {
	n.looks++
	if best, ok := rules[at]; !ok || n.counts(rule, best) {
		rules[at] = rule
	}
}

// better is the rule that is in a place, if it counts and not another.
func (n *nodes) better(rule int32, rules map[[2]int32]int32, at [2]int32) int32 {
	n.looks++
	if r, ok := rules[at]; ok && n.counts(r, rule) {
		return r
	}
	return rule
}

// withoutRule says how long a change takes of which no rule speaks, and whether
// it is possible.
func (n *nodes) withoutRule(from, to int32) (seconds int32, ok bool) {
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

// fromAll and toAll say whether the rule is about all trains that one leaves, or enters,
// at its station.
func fromAll(c *Change) bool { return c.FromLine == "" && c.FromTrain == "" && c.FromPlatform == 0 }
func toAll(c *Change) bool   { return c.ToLine == "" && c.ToTrain == "" && c.ToPlatform == 0 }

// weightOf orders rules by how exactly they say which calls they mean.
func weightOf(c *Change) int {
	w := 0
	for _, t := range []struct {
		line, train string
		platform    uint16
	}{{c.FromLine, c.FromTrain, c.FromPlatform}, {c.ToLine, c.ToTrain, c.ToPlatform}} {
		switch {
		case t.train != "":
			w += 100
		case t.line != "":
			w += 10
		}
		if t.platform != 0 {
			w++
		}
	}
	return w
}

const (
	// changeTime is the least time to change trains at one station.
	changeTime = 5 * time.Minute
	// walkable is how far apart stations may be, in metres, for people to walk
	// from one to the other. A metre takes a second.
	walkable = 500
)
