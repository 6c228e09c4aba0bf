package raptor

// lookAhead finds how long it takes from each node to the target at the least,
// whatever the day: with one leg, two and three.
func (s *search) lookAhead() {
	nw := s.nw
	for m := 1; m < s.legs; m++ {
		off, ahead := s.first[m], s.ahead[m]
		for node := range off {
			off[node] = never
			if nw.alighting[node] == s.q.Target {
				off[node] = 0
			} else if m > 1 {
				for _, e := range nw.edges.of(int32(node)) {
					if further := s.ahead[m-1][e.To]; further != never {
						off[node] = min(off[node], e.Seconds+further)
					}
				}
			}
		}
		if m == 1 {
			fill(ahead, never)
			s.backFromTarget(ahead)
			continue
		}
		copy(ahead, s.ahead[m-1])
		for _, q := range nw.sequences {
			s.back(q, q.n-1, off, ahead)
		}
	}
}

// backFromTarget looks at the sequences that call at the target.
func (s *search) backFromTarget(ahead []int32) {
	done := int32(-1)
	for _, v := range s.nw.visits.of(s.q.Target) {
		if q := s.nw.patterns[v.Pattern].sequence; q.first != done {
			done = q.first
			s.back(q, q.n-1, s.first[1], ahead)
		}
	}
}

// back goes back along a sequence from a stop, where to get off costs what off
// says, and improves what is ahead of the nodes where one gets on.
func (s *search) back(q sequence, from int32, off, ahead []int32) {
	stops, least := s.nw.stops[q.first:][:q.n], s.nw.least[q.first:][:q.n]
	const far = never / 2
	end := int32(far) // what the rest takes, on the clock of least
	for i := from; i >= 0; i-- {
		if node := stops[i].Board; node >= 0 && end < far {
			ahead[node] = min(ahead[node], end-least[i].Depart)
		}
		if node := stops[i].Alight; node >= 0 && off[node] < far {
			end = min(end, least[i].Arrive+off[node])
		}
	}
}
