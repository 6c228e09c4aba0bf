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

import "sync"

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

// A leaving is when trains of a pattern depart from a node, on any day: the time
// of the service day and, in the low 32 bits, the index of the call.
type leaving int64

func (l leaving) depart() int32 { return int32(l >> 32) }

func (l leaving) call() int32 { return int32(l) }

// zoned says where the leavings of a node in a time zone are, by time.
type zoned struct{ zone, first, n int32 }

// after is the place of the first train that departs at a time or later, of
// the times at one stop.
func (p *pattern) after(times []Time, time int64) int32 {
	low, high, n := int32(0), p.n, p.stops
	for low < high {
		if mid := (low + high) / 2; int64(times[mid*n].Depart) < time {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}
