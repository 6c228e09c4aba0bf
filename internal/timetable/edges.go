package timetable

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/raptor"
	"github.com/traintravel/traintravel/schedule"
)

const (
	// changeTime is the least time to change trains at one station.
	changeTime = 5 * time.Minute
	// walkable is how far apart stations may be, in metres, for people to walk
	// from one to the other. A metre takes a second.
	walkable = 500
)

// A ruleTable has by two stations or nodes the rule that counts there.
type ruleTable map[[2]int32]int32

// An edgeMaker finds out where one can get on after getting off.
type edgeMaker struct {
	*nodes
	near   [][]int32 // by station: those to which one may change
	boards [][]int32 // by station: the nodes where one gets on, but for seats

	general ruleTable // by stations: of the rules that single out nobody
	left    ruleTable // by node and station: of those that single out whom one leaves
	entered ruleTable // by node and station: of those that single out whom one enters
	pairs   ruleTable // by nodes: of those that single out both
}

// edges says where one can get on after getting off.
func (n *nodes) edges(ctx context.Context) ([][]raptor.Edge, error) {
	e := edgeMaker{nodes: n, near: n.sn.Directory.Neighbours(walkable), boards: n.boardsAt(), general: ruleTable{}}
	e.addGeneral()
	e.pairs = n.pairRules()
	e.left = n.oneSided(&n.alights, func(c *schedule.Change) (uuid.UUID, bool) { return c.To, toAll(c) })
	e.entered = n.oneSided(&n.boards, func(c *schedule.Change) (uuid.UUID, bool) { return c.From, fromAll(c) })
	edges := make([][]raptor.Edge, len(n.alights.stations))
	for node := range edges {
		if err := ctx.Err(); err != nil { // a node may have very many edges
			return nil, err
		}
		edges[node] = e.from(int32(node))
	}
	return edges, nil
}

// boardsAt lists for each station the nodes where one gets on, but for seats.
func (n *nodes) boardsAt() [][]int32 {
	seat := map[int32]bool{}
	for _, nodes := range n.seats {
		for _, node := range nodes {
			seat[node] = true
		}
	}
	boards := make([][]int32, len(n.sn.Stations))
	for node, station := range n.boards.stations {
		if !seat[int32(node)] {
			boards[station] = append(boards[station], int32(node))
		}
	}
	return boards
}

// addGeneral adds the rules that single out nobody, and the stations of all rules.
func (e *edgeMaker) addGeneral() {
	for i := range e.changes {
		c := &e.changes[i]
		if c.Kind == schedule.StaySeated {
			continue
		}
		from, to := e.sn.StationAt[c.From], e.sn.StationAt[c.To]
		e.near[from] = append(e.near[from], to)
		if fromAll(c) && toAll(c) {
			e.keep(e.general, [2]int32{from, to}, int32(i))
		}
	}
	for station := range e.near {
		e.near[station] = append(e.near[station], int32(station))
		slices.Sort(e.near[station])
		e.near[station] = slices.Compact(e.near[station])
	}
}

// from lists the edges from a node where one gets off.
func (e *edgeMaker) from(node int32) (edges []raptor.Edge) {
	station := e.alights.stations[node]
	for _, to := range e.near[station] {
		without, possible := e.withoutRule(station, to)
		rule := e.better(-1, e.general, [2]int32{station, to})
		rule = e.better(rule, e.left, [2]int32{node, to})
		for _, board := range e.boards[to] {
			best := e.better(rule, e.entered, [2]int32{board, station})
			best = e.better(best, e.pairs, [2]int32{node, board})
			seconds, ok := without, possible
			if best >= 0 {
				c := &e.changes[best]
				seconds, ok = int32(c.Time/time.Second), c.Kind == schedule.Takes
			}
			if ok {
				edges = append(edges, raptor.Edge{To: board, Seconds: seconds})
			}
		}
	}
	for _, r := range e.alights.rules[node] {
		for _, board := range e.seats[r] {
			edges = append(edges, raptor.Edge{To: board})
		}
	}
	return edges
}

// pairRules finds the rules that single out the trains on both sides.
func (n *nodes) pairRules() ruleTable {
	boards := map[int32][]int32{} // by rule
	for node, rules := range n.boards.rules {
		for _, r := range rules {
			boards[r] = append(boards[r], int32(node))
		}
	}
	pairs := ruleTable{}
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
func (n *nodes) oneSided(s *side, other func(c *schedule.Change) (uuid.UUID, bool)) ruleTable {
	found := ruleTable{}
	for node, rules := range s.rules {
		for _, r := range rules {
			c := &n.changes[r]
			if at, ok := other(c); ok && c.Kind != schedule.StaySeated {
				n.keep(found, [2]int32{int32(node), n.sn.StationAt[at]}, r)
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
func (n *nodes) keep(rules ruleTable, at [2]int32, rule int32) {
	n.looks++
	if best, ok := rules[at]; !ok || n.counts(rule, best) {
		rules[at] = rule
	}
}

// better is the rule that is in a place, if it counts and not another.
func (n *nodes) better(rule int32, rules ruleTable, at [2]int32) int32 {
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
		metres := n.sn.Stations[from].Distance(n.sn.Stations[to])
		if metres > walkable {
			return 0, false
		}
		seconds += int32(math.Ceil(metres))
	}
	return seconds, true
}

// fromAll and toAll say whether the rule is about all trains that one leaves, or enters,
// at its station.
func fromAll(c *schedule.Change) bool {
	return c.FromLine == "" && c.FromTrain == "" && c.FromPlatform == 0
}
func toAll(c *schedule.Change) bool { return c.ToLine == "" && c.ToTrain == "" && c.ToPlatform == 0 }

// weightOf orders rules by how exactly they say which calls they mean.
func weightOf(c *schedule.Change) int {
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
