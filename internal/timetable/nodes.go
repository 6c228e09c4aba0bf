package timetable

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

// nodes are where trains are boarded and left.
type nodes struct {
	sn              *Snapshot
	changes         []schedule.Change
	from, to        selectors // of the rules that do not say that one stays seated
	stays, goesOn   selectors // of those that do
	boards, alights side
	seats           map[int32][]int32 // by rule: the nodes of those who stay seated
	looks           int               // how often a rule was looked for, which must not grow with the square of their number
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
func (sn *Snapshot) newNodes(t *schedule.Timetable) *nodes {
	n := &nodes{
		sn: sn, changes: t.Changes, from: selectors{}, to: selectors{}, stays: selectors{}, goesOn: selectors{}, seats: map[int32][]int32{},
	}
	for _, s := range []*side{&n.boards, &n.alights} {
		s.known = map[string]int32{}
		for at := range sn.Stations {
			s.stations = append(s.stations, int32(at))
		}
		s.rules = make([][]int32, len(sn.Stations))
	}
	goesOn := sn.goOn(t)
	for i, c := range t.Changes {
		from, to := n.from, n.to
		if c.Kind == schedule.StaySeated {
			if from, to = n.stays, n.goesOn; !goesOn(&c) {
				continue
			}
		}
		from.add(int32(i), selector{sn.StationAt[c.From], c.Feed, c.FromLine, c.FromTrain, c.FromPlatform})
		to.add(int32(i), selector{sn.StationAt[c.To], c.Feed, c.ToLine, c.ToTrain, c.ToPlatform})
	}
	return n
}

// maxStand is how long a train may stand before it goes on as another.
const maxStand = time.Hour

// goOn returns a function that says whether trains always go on as a rule says:
// on each day, and within maxStand. One cannot stay seated on a train that does
// so on some days alone: on the others, one would wait in it for days.
func (sn *Snapshot) goOn(t *schedule.Timetable) func(c *schedule.Change) bool {
	type name struct{ feed, id string }
	var named map[name][]int
	return func(c *schedule.Change) bool {
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
func (sn *Snapshot) goesOn(t *schedule.Timetable, a, b int) bool {
	from, to := &sn.Trains[a], &sn.Trains[b]
	arrive, depart := t.Trains[a].Calls[len(t.Trains[a].Calls)-1].Arrive, t.Trains[b].Calls[0].Depart
	stand := time.Duration(depart-arrive) * time.Second
	if from.Days == to.Days && from.Location == to.Location && stand >= 0 && stand <= maxStand {
		return true
	}
	for d := from.Days.First; d <= from.Days.Last; d++ {
		if !from.Days.Runs(d) {
			continue
		}
		at, ok := arrive.Instant(d, from.Location), false
		near := d + rail.Date((arrive-depart)/86400)
		for e := near - 2; e <= near+2 && !ok; e++ {
			if to.Days.Runs(e) {
				wait := depart.Instant(e, to.Location).Sub(at)
				ok = wait >= 0 && wait <= maxStand
			}
		}
		if !ok {
			return false
		}
	}
	return from.Days.First <= from.Days.Last
}

func (s selectors) add(rule int32, k selector) {
	if k.line != "" || k.train != "" || k.platform != 0 {
		s[k] = append(s[k], rule)
	}
}

// of lists the rules that single out a train's call at a station, in order.
func (s selectors) of(t *schedule.Train, station int32, call int) (found []int32) {
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

func (n *nodes) board(t *schedule.Train, station int32, call int) int32 {
	return n.boards.node(station, n.to.of(t, station, call), 'b')
}

// alight is the node where one gets off. Who does so at the end may stay seated.
func (n *nodes) alight(t *schedule.Train, station int32, call int) int32 {
	rules := n.from.of(t, station, call)
	if call == len(t.Calls)-1 {
		rules = append(rules, n.stays.of(t, station, call)...)
	}
	return n.alights.node(station, rules, 'a')
}

// seated is the node of those who stay seated as another train becomes this
// one; -1 if none does.
func (n *nodes) seated(t *schedule.Train, station int32) int32 {
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
