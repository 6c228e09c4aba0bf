// Package raptor finds the journeys of a day through a timetable that are the
// best: none of the others departs as late, arrives as early and has as few
// legs. It knows numbers only: stations, trains, days. What a train is and costs,
// and whether it has a seat left, is its caller's business.
//
// The search goes round by round, one leg a round (Delling, Pajor, Werneck:
// Round-Based Public Transit Routing, 2012), for one departure after the other,
// the last first. What later departures have reached, earlier ones need not look
// at again. Before it begins, it finds out how long it takes from each node to
// the target at the very least; what cannot be an improvement any more is then
// left aside early.
package raptor

import (
	"cmp"
	"slices"
	"sync"
)

// A Stop is one of the calls that all trains of a sequence make. Who gets off
// reaches the node Alight, who gets on does so at the node Board, or at Seated if
// there is one: those who have never got off, for the train goes on as another.
// -1 is none. Nodes to get on and nodes to get off are counted apart. Metres is
// not looked at.
type Stop struct {
	Station, Board, Seated, Alight int32
	Metres                         int32
}

// boards are the nodes at which one gets on.
func (s *Stop) boards() [2]int32 { return [...]int32{s.Board, s.Seated} }

// A Time is when a train is at a stop, in seconds after the start of its
// service day.
type Time struct{ Arrive, Depart int32 }

// An Edge says that who has reached a node to get off can get on at the node To
// after so many seconds.
type Edge struct{ To, Seconds int32 }

// A Train is what Build takes of a train.
type Train struct {
	Sequence int32 // index of its stops
	Group    int32 // of trains that run on the same days, and of the same kind
	Zone     int32 // index of the time zone of its times
	Times    []Time
}

// A Timetable is what Build makes a network of.
type Timetable struct {
	Stations int
	// Boards are the stations of the nodes where one gets on, Alights those
	// of the nodes where one gets off.
	Boards, Alights []int32
	Edges           [][]Edge // by node where one gets off
	Sequences       [][]Stop
	// Rides say, for the sequences on whose trains not every ride is to be had,
	// which are: from the stop i of n to the stop j by its element i*n+j.
	Rides map[int32][]bool
	// Trains in any order. Of a train's times none is less than the one before.
	Trains []Train
	// Start is when a service day of a time zone begins, in Unix seconds.
	// Days are counted in any way that is one by one, in which Start of two
	// days differs by 23 to 25 hours.
	Start func(zone, day int32) int64
}

// A Network is a timetable made ready for searching. Nothing in it changes, so
// any number of searches may run at once.
type Network struct {
	stations  int
	sequences []sequence
	stops     []Stop
	rides     [][]bool // by sequence, nil for all; none if it is so everywhere
	least     []Time   // by stop: the least time since the first departure
	patterns  []pattern
	trains    []int32 // by slot: the index of the train
	groups    []int32 // by slot
	times     []Time
	slots     []slot // by train
	visits    lists[Visit]
	calls     []int32      // by station: of all trains
	boarding  []int32      // by node: its station
	boards    lists[call]  // by node: where one gets on there
	leavings  []leaving    // of all nodes
	zoned     lists[zoned] // by node: where its leavings are
	alights   lists[int32] // by node: the sequences on which one gets off there
	edges     lists[Edge]
	sources   lists[int32] // by node to get on at: those to get off at that have an edge to it
	start     func(zone, day int32) int64
	latest    int32 // of all departures, in seconds of a service day
	pool      sync.Pool
	days      dayCache
}

// A sequence is a list of stops, where all its patterns call.
type sequence struct {
	stop, stops       int32 // the first, and how many
	pattern, patterns int32
}

// A call is a stop of a pattern.
type call struct {
	pattern int32
	stop    int32 // of all sequences
}

// A pattern is trains of one sequence and time zone of which none overtakes
// another, on whatever days they run. They are sorted by time, and take slots.
type pattern struct {
	sequence    int32
	stop, stops int32 // of its sequence: the first, and how many
	first, n    int32 // slots
	times       int32 // of the first slot; the others follow
	zone        int32
}

// slot says where a train is.
type slot struct{ pattern, at int32 }

// A Visit is a stop of a pattern.
type Visit struct{ Pattern, Index int32 }

// lists are many lists in one.
type lists[T any] struct {
	from []int32
	all  []T
}

func (l *lists[T]) of(i int32) []T { return l.all[l.from[i]:l.from[i+1]] }

// newLists makes n lists of what each offers, in its order.
func newLists[T any](n int, each func(add func(list int32, v T))) lists[T] {
	l := lists[T]{from: make([]int32, n+2)}
	total := 0
	each(func(list int32, _ T) { l.from[list+2]++; total++ })
	for i := 2; i < len(l.from); i++ {
		l.from[i] += l.from[i-1]
	}
	l.all = make([]T, total)
	each(func(list int32, v T) {
		l.all[l.from[list+1]] = v
		l.from[list+1]++
	})
	l.from = l.from[:n+1]
	return l
}

// apart is how much earlier all trains of a pattern are than all of the same
// pattern on the day after: the shortest day has 23 hours.
const apart = 23 * 3600

// Build makes a network.
func Build(t *Timetable) *Network {
	nw := &Network{
		stations: t.Stations, start: t.Start, boarding: t.Boards, slots: make([]slot, len(t.Trains)),
	}
	total := 0
	for _, s := range t.Sequences {
		total += len(s)
	}
	nw.stops = make([]Stop, 0, total)
	for _, s := range t.Sequences {
		nw.sequences = append(nw.sequences, sequence{stop: int32(len(nw.stops)), stops: int32(len(s))})
		nw.stops = append(nw.stops, s...)
	}
	if len(t.Rides) > 0 {
		nw.rides = make([][]bool, len(t.Sequences))
		for q, rides := range t.Rides {
			nw.rides[q] = rides
		}
	}
	nw.sortTrains(t.Trains)
	nw.measure()
	nw.visits = newLists(t.Stations, func(add func(int32, Visit)) {
		for p := range nw.patterns {
			for i, s := range nw.stopsOf(&nw.patterns[p]) {
				add(s.Station, Visit{int32(p), int32(i)})
			}
		}
	})
	nw.boards = newLists(len(t.Boards), func(add func(int32, call)) {
		for p := range nw.patterns {
			for i, s := range nw.stopsOf(&nw.patterns[p]) {
				for _, node := range s.boards() {
					if node >= 0 {
						add(node, call{int32(p), nw.patterns[p].stop + int32(i)})
					}
				}
			}
		}
	})
	nw.listLeavings()
	nw.alights = newLists(len(t.Alights), func(add func(int32, int32)) {
		for q := range nw.sequences {
			for _, s := range nw.stopsIn(int32(q)) {
				if s.Alight >= 0 {
					add(s.Alight, int32(q))
				}
			}
		}
	})
	nw.calls = make([]int32, t.Stations)
	for _, p := range nw.patterns {
		for _, s := range nw.stopsOf(&p) {
			nw.calls[s.Station] += p.n
		}
	}
	nw.edges = newLists(len(t.Alights), func(add func(int32, Edge)) {
		for node, edges := range t.Edges {
			for _, e := range edges {
				add(int32(node), e)
			}
		}
	})
	nw.sources = newLists(len(t.Boards), func(add func(int32, int32)) {
		for node, edges := range t.Edges {
			for _, e := range edges {
				add(e.To, int32(node))
			}
		}
	})
	return nw
}

// sortTrains makes patterns of the trains.
func (nw *Network) sortTrains(trains []Train) {
	order := make([]int32, len(trains))
	calls := 0
	for i := range order {
		order[i] = int32(i)
		calls += len(trains[i].Times)
	}
	slices.SortFunc(order, func(a, b int32) int {
		s, t := &trains[a], &trains[b]
		return cmp.Or(cmp.Compare(s.Sequence, t.Sequence), cmp.Compare(s.Zone, t.Zone), cmp.Compare(s.Times[0].Depart, t.Times[0].Depart),
			cmp.Compare(s.Times[len(s.Times)-1].Arrive, t.Times[len(t.Times)-1].Arrive), cmp.Compare(a, b))
	})
	nw.times = make([]Time, 0, calls)
	nw.trains, nw.groups = make([]int32, 0, len(trains)), make([]int32, 0, len(trains))
	for len(order) > 0 {
		head := &trains[order[0]]
		n := 1
		for n < len(order) && trains[order[n]].Sequence == head.Sequence && trains[order[n]].Zone == head.Zone {
			n++
		}
		nw.addPatterns(trains, order[:n])
		order = order[n:]
	}
}

// addPatterns makes patterns of trains of one sequence and zone, sorted.
func (nw *Network) addPatterns(trains []Train, order []int32) {
	sequence := &nw.sequences[trains[order[0]].Sequence]
	if sequence.patterns == 0 {
		sequence.pattern = int32(len(nw.patterns))
	}
	made := divide(order, func(first, last, i int32) bool {
		return follows(trains[first].Times, trains[last].Times, trains[i].Times)
	})
	for _, members := range made {
		p := pattern{
			sequence: trains[members[0]].Sequence, stop: sequence.stop, stops: sequence.stops, first: int32(len(nw.trains)), n: int32(len(members)),
			times: int32(len(nw.times)), zone: trains[members[0]].Zone,
		}
		for at, i := range members {
			nw.slots[i] = slot{int32(len(nw.patterns)), int32(at)}
			nw.trains = append(nw.trains, i)
			nw.groups = append(nw.groups, trains[i].Group)
			nw.times = append(nw.times, trains[i].Times...)
			for _, t := range trains[i].Times {
				nw.latest = max(nw.latest, t.Depart)
			}
		}
		nw.patterns = append(nw.patterns, p)
		sequence.patterns++
	}
}

// maxOpen is how many patterns a train may join: the latest. Where each train
// overtakes all others, to ask every pattern would take a time that grows with the
// square of their number.
const maxOpen = 256

// divide puts each train into the first of the latest patterns in which it
// overtakes nobody: where it joins those from the first to the last.
func divide(order []int32, joins func(first, last, i int32) bool) (made [][]int32) {
next:
	for _, i := range order {
		for m := max(0, len(made)-maxOpen); m < len(made); m++ {
			if members := made[m]; joins(members[0], members[len(members)-1], i) {
				made[m] = append(members, i)
				continue next
			}
		}
		made = append(made, []int32{i})
	}
	return made
}

// follows says whether a train is nowhere earlier than another, and everywhere
// less than the shortest day after the first of both.
func follows(first, last, t []Time) bool {
	for i := range t {
		if t[i].Depart < last[i].Depart || t[i].Arrive < last[i].Arrive || t[i].Depart-first[i].Depart >= apart || t[i].Arrive-first[i].Arrive >= apart {
			return false
		}
	}
	return true
}

// measure finds the least times by which a stop of a sequence can be reached
// and left after the first departure: between two stops, no train takes less
// than their difference.
func (nw *Network) measure() {
	nw.least = make([]Time, len(nw.stops))
	const unknown = 1<<31 - 1
	for i := range nw.least {
		nw.least[i] = Time{unknown, unknown}
	}
	for p := range nw.patterns {
		p := &nw.patterns[p]
		least := nw.least[p.stop:][:p.stops]
		for s := range p.n {
			times := nw.timesOf(p, s)
			for i := 1; i < len(times); i++ {
				least[i].Arrive = min(least[i].Arrive, times[i].Arrive-times[i-1].Depart)
				least[i].Depart = min(least[i].Depart, times[i].Depart-times[i].Arrive)
			}
		}
	}
	for _, s := range nw.sequences {
		least := nw.least[s.stop:][:s.stops]
		least[0] = Time{}
		for i := 1; i < len(least); i++ {
			if least[i].Arrive == unknown { // no train has the sequence
				least[i] = Time{}
			}
			least[i].Arrive += least[i-1].Depart
			least[i].Depart += least[i].Arrive
		}
	}
}

func (nw *Network) stopsIn(sequence int32) []Stop {
	q := nw.sequences[sequence]
	return nw.stops[q.stop:][:q.stops]
}

func (nw *Network) stopsOf(p *pattern) []Stop {
	return nw.stops[p.stop:][:p.stops:p.stops]
}

// ridesFrom says which rides from a stop of a pattern are to be had, by their last
// stop; nil for all.
func (nw *Network) ridesFrom(p *pattern, stop int32) []bool {
	if nw.rides == nil || nw.rides[p.sequence] == nil {
		return nil
	}
	return nw.rides[p.sequence][stop*p.stops:][:p.stops]
}

func (nw *Network) timesOf(p *pattern, at int32) []Time {
	n := p.stops
	return nw.times[p.times+at*n:][:n:n]
}

// Times returns a train's times, as they were given to Build. They are the
// network's own.
func (nw *Network) Times(train int) []Time {
	s := nw.slots[train]
	return nw.timesOf(&nw.patterns[s.pattern], s.at)
}

// Stops returns a train's stops. They are the network's own.
func (nw *Network) Stops(train int) []Stop {
	return nw.stopsOf(&nw.patterns[nw.slots[train].pattern])
}

// Edges returns where one can get on, after getting off at a node.
func (nw *Network) Edges(alight int32) []Edge { return nw.edges.of(alight) }

// Calls returns how many trains call at a station, whatever their days.
func (nw *Network) Calls(station int32) int { return int(nw.calls[station]) }
