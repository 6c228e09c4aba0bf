package raptor

import (
	"cmp"
	"slices"
)

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

// apart is how much earlier all trains of a pattern are than all of the same
// pattern on the day after: the shortest day has 23 hours.
const apart = 23 * 3600

// listLeavings lists when trains depart from each node.
func (nw *Network) listLeavings() {
	total := 0
	for _, c := range nw.boards.all {
		total += int(nw.patterns[c.pattern].n)
	}
	all := make([]leaving, 0, total)
	nw.zoned.from = append(nw.zoned.from, 0)
	var zones []int32
	for node := range int32(len(nw.boarding)) {
		calls := nw.boards.of(node)
		zones = zones[:0]
		for _, c := range calls {
			if zone := nw.patterns[c.pattern].zone; !slices.Contains(zones, zone) {
				zones = append(zones, zone)
			}
		}
		for _, zone := range zones {
			first := len(all)
			for i, c := range calls {
				p := &nw.patterns[c.pattern]
				if p.zone != zone {
					continue
				}
				last := int32(none)
				for at := p.times + c.stop - p.stop; at < p.times+p.n*p.stops; at += p.stops {
					if depart := nw.times[at].Depart; depart != last {
						all = append(all, leaving(depart)<<32|leaving(nw.boards.from[node]+int32(i)))
						last = depart
					}
				}
			}
			slices.Sort(all[first:])
			nw.zoned.all = append(nw.zoned.all, zoned{zone, int32(first), int32(len(all) - first)})
		}
		nw.zoned.from = append(nw.zoned.from, int32(len(nw.zoned.all)))
	}
	nw.leavings = slices.Clone(all)
}
