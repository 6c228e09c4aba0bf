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
			fill(s.along[1], never)
			s.backFromTarget()
			continue
		}
		copy(ahead, s.ahead[m-1])
		for _, q := range nw.sequences {
			s.back(q, m)
		}
	}
}

// backFromTarget looks at the sequences that call at the target.
func (s *search) backFromTarget() {
	done := int32(-1)
	for _, v := range s.nw.visits.of(s.q.Target) {
		if q := s.nw.patterns[v.Pattern].sequence; q.first != done {
			done = q.first
			s.back(q, 1)
		}
	}
}

// back goes back along a sequence, where to get off costs what first says, and
// finds what is ahead with m legs.
func (s *search) back(q sequence, m int) {
	off, ahead, along := s.first[m], s.ahead[m], s.along[m][q.first:][:q.n]
	stops, least := s.nw.stops[q.first:][:q.n], s.nw.least[q.first:][:q.n]
	const far = never / 2
	end := int32(far) // what the rest takes, on the clock of least
	for i := len(stops) - 1; i >= 0; i-- {
		along[i] = never
		for _, node := range [...]int32{stops[i].Board, stops[i].Seated} {
			if node >= 0 && end < far {
				along[i] = end - least[i].Depart
				ahead[node] = min(ahead[node], along[i])
			}
		}
		if node := stops[i].Alight; node >= 0 && off[node] < far {
			end = min(end, least[i].Arrive+off[node])
		}
	}
}
