package raptor

// An ahead is how long it takes at the least from being ready to the target, with
// exactly one leg, two and so on, whatever the day; never if it is not possible, or
// of no interest.
type ahead [MaxLegs]int32

var nothingAhead = ahead{never, never, never, never}

// latest is the instant before which one must be ready, after r legs and with this
// ahead, to arrive earlier than is known.
func (s *search) latest(a *ahead, r int) int32 {
	latest := s.arrival[r+1] - a[0]
	for m := 2; m <= s.legs-r; m++ {
		latest = max(latest, s.arrival[r+m]-a[m-1])
	}
	return latest
}

// lookAhead finds what is ahead. With one leg and with two it goes back from the
// target. With more it looks only where one can be by then: with all legs ahead
// on the sequences of the origin, with all but one also on those into which one
// can change from there.
func (s *search) lookAhead() {
	for _, v := range s.nw.visits.of(s.q.Target) {
		s.list(s.nw.patterns[v.Pattern].sequence)
	}
	s.goBack(1)
	if s.legs > 1 {
		s.listBefore()
		s.goBack(2)
	}
	for m := 3; m <= s.legs; m++ {
		s.listAfter(s.legs - m)
		s.goBack(m)
	}
}

// list puts a sequence on the list of those to go back on.
func (s *search) list(q int32) {
	if !s.onList[q] {
		s.onList[q] = true
		s.listed = append(s.listed, q)
	}
}

// goBack finds what is ahead with m legs on the listed sequences.
func (s *search) goBack(m int) {
	for _, q := range s.listed {
		s.onList[q] = false
		s.back(q, m)
	}
	s.listed = s.listed[:0]
}

// listBefore lists the sequences from which one can change to the target's.
func (s *search) listBefore() {
	for _, q := range s.touched {
		for _, stop := range s.nw.stopsIn(q) {
			for _, node := range stop.boards() {
				if node < 0 || s.places[node].ahead[0] == never || s.isSeen[node] {
					continue
				}
				s.isSeen[node] = true
				for _, source := range s.nw.sources.of(node) {
					for _, q := range s.nw.alights.of(source) {
						s.list(q)
					}
				}
			}
		}
	}
}

// listAfter lists the sequences of the origin, and, if changes are possible, those
// into which one can change from them.
func (s *search) listAfter(changes int) {
	for _, v := range s.nw.visits.of(s.q.Origin) {
		s.list(s.nw.patterns[v.Pattern].sequence)
	}
	if changes == 0 {
		return
	}
	for _, q := range s.listed[:len(s.listed):len(s.listed)] {
		for _, stop := range s.nw.stopsIn(q) {
			if stop.Alight < 0 {
				continue
			}
			for _, e := range s.nw.edges.of(stop.Alight) {
				for _, c := range s.nw.boards.of(e.To) {
					s.list(s.nw.patterns[c.pattern].sequence)
				}
			}
		}
	}
}

// back goes back along a sequence to find what is ahead with m legs.
func (s *search) back(q int32, m int) {
	if !s.isTouched[q] {
		s.isTouched[q] = true
		s.touched = append(s.touched, q)
	}
	const far = never / 2
	end := int32(far) // what the rest takes, on the clock of least
	first, stops := s.nw.sequences[q].stop, s.nw.stopsIn(q)
	least, along := s.nw.least[first:][:len(stops)], s.along[first:][:len(stops)]
	for i := len(stops) - 1; i >= 0; i-- {
		stop := &stops[i]
		if end < far {
			takes := end - least[i].Depart
			along[i][m-1] = takes
			for _, node := range stop.boards() {
				if node >= 0 {
					ahead := &s.places[node].ahead[m-1]
					*ahead = min(*ahead, takes)
				}
			}
		}
		if stop.Alight >= 0 {
			if off := s.off(stop, m-1); off < far {
				end = min(end, least[i].Arrive+off)
			}
		}
	}
}

// off is what is ahead of who gets off at a stop, with m legs more.
func (s *search) off(stop *Stop, m int) int32 {
	switch {
	case stop.Station == s.q.Target && m == 0:
		return 0
	case stop.Station == s.q.Target || stop.Station == s.q.Origin || m == 0:
		return never
	}
	off := int32(never)
	for _, e := range s.nw.edges.of(stop.Alight) {
		if further := s.places[e.To].ahead[m-1]; further != never {
			off = min(off, e.Seconds+further)
		}
	}
	return off
}

// forget makes places and sequences what they were before anything was touched.
func (s *search) forget() {
	for _, q := range s.touched {
		s.isTouched[q] = false
		along := s.along[s.nw.sequences[q].stop:]
		for i, stop := range s.nw.stopsIn(q) {
			along[i] = nothingAhead
			for _, node := range stop.boards() {
				if node >= 0 {
					s.places[node], s.isSeen[node] = unreached, false
				}
			}
		}
	}
	for _, q := range s.listed {
		s.onList[q] = false
	}
	s.touched, s.listed = s.touched[:0], s.listed[:0]
}
