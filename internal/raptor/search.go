package raptor

import "slices"

// run is a train on a day, and where its times are.
type run struct {
	pattern, at int32
	bit         int32 // of the day
	start       int32 // when the day begins
	limit       int32 // index of its Limit, or none
}

// ride is how a node was reached: with a run, from the label of the leg before.
type ride struct {
	run           run
	board, alight int32
	from          int32 // the node where it was boarded
}

// departure is one from the origin.
type departure struct {
	at   int32
	run  run
	stop int32
}

// A place is what is known of a node where one gets on: for each number of legs,
// when one is ready to board, with so many or fewer, for whatever departure so far.
type place struct {
	ahead ahead
	best  [MaxLegs]int32
	since [MaxLegs]int32 // the turn that did last improve it
	old   [MaxLegs]int32 // what was best before that
}

var unreached = place{ahead: nothingAhead, best: [...]int32{never, never, never, never}}

// before is the instant before which a run must depart that no earlier turn has boarded.
func (p *place) before(r int, turn int32) int32 {
	if p.since[r] == turn {
		return p.old[r]
	}
	return p.best[r]
}

type search struct {
	nw    *Network
	days  *Days
	q     *Query
	legs  int
	until int32 // nothing departs or arrives later, for the current departure
	mask  []uint64

	limited map[[3]int32]int32 // by pattern, place and bit: index of its Limit

	places []place         // by node where one gets on
	along  []ahead         // by stop of a sequence, for who boards or stays on there
	by     [MaxLegs][]ride // by legs and node: the last ride, of exactly so many

	isSeen            []bool  // by node where one gets on: for finding what is ahead
	onList, isTouched []bool  // by sequence
	listed, touched   []int32 // sequences

	// at the target
	arrival [MaxLegs + 1]int32
	last    [MaxLegs + 1]ride

	// fresh[r] are the nodes that the current departure has improved.
	fresh [MaxLegs + 1][]int32
	turn  int32 // counts the departures

	queued  []int32 // by pattern: the first stop to scan, or none
	queue   []int32
	departs []departure
	order   []int64 // of the departures by time: the time, and the index
}

func (nw *Network) newSearch() *search {
	if s, ok := nw.pool.Get().(*search); ok {
		return s
	}
	s := &search{
		nw: nw, queued: make([]int32, len(nw.patterns)), places: make([]place, len(nw.boarding)), along: make([]ahead, len(nw.stops)),
		isSeen: make([]bool, len(nw.boarding)), onList: make([]bool, len(nw.sequences)), isTouched: make([]bool, len(nw.sequences)),
	}
	for i := range s.queued {
		s.queued[i] = none
	}
	for i := range s.places {
		s.places[i] = unreached
	}
	for i := range s.along {
		s.along[i] = nothingAhead
	}
	for r := range s.by {
		s.by[r] = make([]ride, len(nw.boarding))
	}
	return s
}

// Search returns the best journeys of those that change neither at the origin nor at the target, the latest first, and of those that depart
// together the earliest to arrive.
func (nw *Network) Search(days *Days, q *Query) []Journey {
	s := nw.newSearch()
	defer nw.pool.Put(s)
	s.days, s.q, s.legs = days, q, min(max(q.Legs, 1), MaxLegs)
	return s.run()
}

func (s *search) run() (found []Journey) {
	from, to := max(s.q.From-s.days.base, -1<<30), min(s.q.To-s.days.base, 1<<30)
	s.prepare()
	if s.depart(int32(from), int32(to)); len(s.departs) == 0 {
		return nil
	}
	s.lookAhead()
	s.departs = slices.DeleteFunc(s.departs, func(d departure) bool { return d.at >= s.latest(s.at(&d), 0) })
	s.order = s.order[:0]
	for i, d := range s.departs {
		s.order = append(s.order, int64(d.at)<<32|int64(i))
	}
	slices.Sort(s.order)
	for order := s.order; len(order) > 0; {
		n := len(order) - 1
		for n > 0 && order[n-1]>>32 == order[n]>>32 {
			n--
		}
		found = s.leave(order[n:], found)
		order = order[:n]
	}
	return found
}

// prepare forgets the search before.
func (s *search) prepare() {
	s.mask = append(s.mask[:0], s.days.mask...)
	if s.q.Allow != nil {
		for g := range s.mask {
			if !s.q.Allow(int32(g)) {
				s.mask[g] = 0
			}
		}
	}
	s.limited = nil
	for i, l := range s.q.Limits {
		if bit := l.Day - s.days.first; bit >= 0 && bit < 64 {
			if s.limited == nil {
				s.limited = map[[3]int32]int32{}
			}
			at := s.nw.slots[l.Train]
			s.limited[[3]int32{at.pattern, at.at, bit}] = int32(i)
		}
	}
	s.forget()
	for r := range s.arrival {
		s.arrival[r] = never
	}
	s.turn = 0
}

// depart finds the departures from the origin in from <= t < to, in no order.
func (s *search) depart(from, to int32) {
	s.departs = s.departs[:0]
	for _, v := range s.nw.visits.of(s.q.Origin) {
		p := &s.nw.patterns[v.Pattern]
		if s.nw.stops[p.stop+v.Index].Board < 0 {
			continue
		}
		first, last := s.span(p, v.Index)
		starts := s.days.start[p.zone]
		for bit := range int32(64) {
			start := starts[bit]
			if start+last < from {
				continue
			}
			if start+first >= to {
				break
			}
			for at := p.after(s.nw.times[p.times+v.Index:], int64(from-start)); at < p.n; at++ {
				depart := s.nw.times[p.times+at*p.stops+v.Index].Depart + start
				if depart >= to {
					break
				}
				if s.mask[s.nw.groups[p.first+at]]>>bit&1 != 0 {
					s.departs = append(s.departs, departure{depart, run{v.Pattern, at, bit, start, s.limitOf(v.Pattern, at, bit)}, v.Index})
				}
			}
		}
	}
}

// at is what is ahead of a departure.
func (s *search) at(d *departure) *ahead { return &s.along[s.nw.patterns[d.run.pattern].stop+d.stop] }

func (s *search) limitOf(pattern, at, bit int32) int32 {
	if s.limited != nil {
		if i, ok := s.limited[[3]int32{pattern, at, bit}]; ok {
			return i
		}
	}
	return none
}

// span is the first and the last departure of a pattern from a stop.
func (s *search) span(p *pattern, stop int32) (first, last int32) {
	return s.nw.times[p.times+stop].Depart, s.nw.times[p.times+(p.n-1)*p.stops+stop].Depart
}

// next is the first run without a limit that departs from a stop in ready <= t < before.
func (s *search) next(pattern int32, p *pattern, stop, ready, before int32) (run, bool) {
	first, last := s.span(p, stop)
	starts := s.days.start[p.zone]
	times := s.nw.times[p.times+stop:]
	for bit := s.firstDay(starts, last, ready); bit < 64 && starts[bit]+first < before; bit++ {
		start := starts[bit]
		for at := p.after(times, int64(ready-start)); at < p.n; at++ {
			if times[at*p.stops].Depart+start >= before {
				break
			}
			if s.mask[s.nw.groups[p.first+at]]>>bit&1 != 0 && s.limitOf(pattern, at, bit) == none {
				return run{pattern, at, bit, start, none}, true
			}
		}
	}
	return run{}, false
}

// leave looks for what departures of one instant can improve.
func (s *search) leave(order []int64, found []Journey) []Journey {
	s.turn++
	s.until = int32(order[0]>>32) + Longest*86400
	for r := range s.fresh {
		s.fresh[r] = s.fresh[r][:0]
	}
	before := s.arrival
	for _, o := range order {
		if d := &s.departs[int32(o)]; d.at < s.latest(s.at(d), 0) {
			s.ridesFrom(d)
		}
	}
	for r := 2; r <= s.legs && len(s.fresh[r-1]) > 0; r++ {
		s.round(r)
	}
	for r := s.legs; r > 0; r-- { // fewer legs arrive later
		if s.arrival[r] < before[r] && s.arrival[r] < s.arrival[r-1] {
			found = append(found, s.journey(r))
		}
	}
	return found
}

// ridesFrom rides from the origin.
func (s *search) ridesFrom(d *departure) {
	p := &s.nw.patterns[d.run.pattern]
	s.rideOn(1, p, ride{run: d.run, board: d.stop, from: none}, s.reach(d.run, d.stop, p))
}

// reach is the last stop to which one can ride.
func (s *search) reach(r run, board int32, p *pattern) int32 {
	if r.limit == none {
		return p.stops - 1
	}
	return int32(s.q.Limits[r.limit].Reach[board])
}

// rideOn reaches what can be reached from where a run was boarded.
func (s *search) rideOn(r int, p *pattern, by ride, reach int32) {
	stops, times, along := s.nw.stopsOf(p), s.nw.timesOf(p, by.run.at), s.along[p.stop:]
	rides := s.nw.ridesFrom(p, by.board)
	for i := by.board + 1; i <= reach; i++ {
		had := rides == nil || rides[i]
		if had && !s.alight(r, &stops[i], times[i].Arrive+by.run.start, &by, i) || times[i].Depart+by.run.start >= s.latest(&along[i], r-1) {
			return
		}
	}
}

// alight gets off. It returns false if nobody rides further.
func (s *search) alight(r int, stop *Stop, arrive int32, by *ride, at int32) bool {
	if arrive > s.until {
		return false
	}
	if stop.Alight < 0 {
		return true
	}
	if stop.Station == s.q.Target {
		if arrive < s.arrival[r] {
			by.alight = at
			s.last[r] = *by
			for n := r; n <= s.legs; n++ {
				s.arrival[n] = min(s.arrival[n], arrive)
			}
		}
		return false
	}
	if r == s.legs || stop.Station == s.q.Origin {
		return true
	}
	for _, e := range s.nw.edges.of(stop.Alight) {
		ready := arrive + e.Seconds
		to := &s.places[e.To]
		if ready >= to.best[r] || ready >= s.latest(&to.ahead, r) {
			continue
		}
		if at := s.nw.boarding[e.To]; at == s.q.Origin || at == s.q.Target {
			continue
		}
		if to.since[r] != s.turn {
			to.since[r], to.old[r] = s.turn, to.best[r]
			s.fresh[r] = append(s.fresh[r], e.To)
		}
		for n := r; n < s.legs && ready < to.best[n]; n++ {
			to.best[n] = ready
		}
		by.alight = at
		s.by[r][e.To] = *by
	}
	return true
}

// round takes one leg more from what the round before has improved.
func (s *search) round(r int) {
	for _, node := range s.fresh[r-1] {
		at := &s.places[node]
		ready := at.best[r-1]
		if ready >= s.latest(&at.ahead, r-1) {
			at.since[r-1] = 0
			continue
		}
		s.board(r, node, ready, at.before(r-1, s.turn))
	}
	for _, pattern := range s.queue {
		from := s.queued[pattern]
		s.queued[pattern] = none
		s.scan(r, pattern, from)
	}
	s.queue = s.queue[:0]
	if s.limited != nil {
		s.scanLimited(r)
	}
}

// boarding is the node at which one is ready to board at a stop first, of those
// that the current departure has improved, and when. Runs that do not depart
// before another instant were boarded for later departures.
func (s *search) boarding(r int, stop *Stop) (node, ready, before int32) {
	node, ready, before = none, never, never
	for _, n := range stop.boards() {
		if n < 0 {
			continue
		}
		at := &s.places[n]
		if at.since[r-1] == s.turn && at.best[r-1] < ready {
			node, ready = n, at.best[r-1]
		}
		before = min(before, at.before(r-1, s.turn))
	}
	return node, ready, before
}

// before says whether a run of the same pattern is the earlier one. Where both
// depart at one time, it is so further on.
func (r run) before(other run) bool {
	return r.bit < other.bit || r.bit == other.bit && r.at < other.at
}

// scan rides along a pattern with the earliest train there is.
func (s *search) scan(r int, pattern, from int32) {
	p := &s.nw.patterns[pattern]
	if s.nw.ridesFrom(p, from) != nil {
		s.scanApart(r, pattern, from)
		return
	}
	stops, along := s.nw.stopsOf(p), s.along[p.stop:]
	var by ride
	var times []Time
	for i := from; i < p.stops; i++ {
		stop := &stops[i]
		if times != nil && !s.alight(r, stop, times[i].Arrive+by.run.start, &by, i) {
			times = nil
		}
		latest := s.latest(&along[i], r-1)
		if times != nil && times[i].Depart+by.run.start >= latest {
			times = nil // there is no use in riding further
		}
		node, ready, before := s.boarding(r, stop)
		if node < 0 {
			continue
		}
		before = min(before, s.until+1, latest)
		if times != nil {
			before = min(before, times[i].Depart+by.run.start+1)
		}
		if ready >= before {
			continue
		}
		if next, ok := s.next(pattern, p, i, ready, before); ok && (times == nil || next.before(by.run)) {
			by = ride{run: next, board: i, from: node}
			times = s.nw.timesOf(p, next.at)
		}
	}
}

// scanApart rides with the earliest train from each stop of a pattern: where not
// every ride is to be had, the one that was boarded first may not go as far.
func (s *search) scanApart(r int, pattern, from int32) {
	p := &s.nw.patterns[pattern]
	stops, along := s.nw.stopsOf(p), s.along[p.stop:]
	for i := from; i < p.stops; i++ {
		node, ready, before := s.boarding(r, &stops[i])
		if node < 0 {
			continue
		}
		if before = min(before, s.until+1, s.latest(&along[i], r-1)); ready >= before {
			continue
		}
		if next, ok := s.next(pattern, p, i, ready, before); ok {
			s.rideOn(r, p, ride{run: next, board: i, from: node}, p.stops-1)
		}
	}
}

// scanLimited rides the runs of which not every ride is to be had.
func (s *search) scanLimited(r int) {
	for i := range s.q.Limits {
		l := &s.q.Limits[i]
		bit := l.Day - s.days.first
		if bit < 0 || bit >= 64 {
			continue
		}
		at := s.nw.slots[l.Train]
		p := &s.nw.patterns[at.pattern]
		if s.mask[s.nw.groups[p.first+at.at]]>>bit&1 == 0 {
			continue
		}
		one := run{at.pattern, at.at, bit, s.days.start[p.zone][bit], int32(i)}
		times := s.nw.timesOf(p, at.at)
		stops := s.nw.stopsOf(p)
		for j := range stops {
			if node, ready, _ := s.boarding(r, &stops[j]); node >= 0 && ready <= times[j].Depart+one.start {
				s.rideOn(r, p, ride{run: one, board: int32(j), from: node}, s.reach(one, int32(j), p))
			}
		}
	}
}

// journey is the one that has reached the target with r legs.
func (s *search) journey(r int) Journey {
	j := make(Journey, r)
	by := s.last[r]
	for {
		r--
		j[r] = Leg{Train: s.nw.trains[s.nw.patterns[by.run.pattern].first+by.run.at], Day: s.days.first + by.run.bit, Board: by.board, Alight: by.alight}
		if r == 0 {
			return j
		}
		by = s.by[r][by.from]
	}
}
