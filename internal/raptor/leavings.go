package raptor

// board puts the patterns on the queue that may depart from a node in ready <= t < before:
// by the times when they do so, or where these are many, one like the other.
func (s *search) board(r int, node, ready, before int32) {
	calls := s.nw.boards.of(node)
	before = min(before, s.until+1, s.latest(&s.places[node].ahead, r-1))
	for _, z := range s.nw.zoned.of(node) {
		leavings, starts := s.nw.leavings[z.first:][:z.n], s.days.start[z.zone]
		first, last := leavings[0].depart(), leavings[z.n-1].depart()
		for bit := s.firstDay(starts, last, ready); bit < 64 && starts[bit]+first < before; bit++ {
			start := starts[bit]
			low := searchLeavings(leavings, int64(ready-start))
			if many := low + len(calls); many < len(leavings) && leavings[many].depart()+start < before {
				for _, c := range calls {
					if ready < s.latest(&s.along[c.stop], r-1) {
						s.enqueue(c)
					}
				}
				return
			}
			for _, l := range leavings[low:] {
				depart := l.depart() + start
				if depart >= before {
					break
				}
				if c := s.nw.boards.all[l.call()]; depart < s.latest(&s.along[c.stop], r-1) {
					s.enqueue(c)
				}
			}
		}
	}
}

// firstDay is the first bit of which something may depart at an instant or later, if
// the last departure of the day is at a time.
func (s *search) firstDay(starts []int32, last, ready int32) int32 {
	bit := max((ready-last-starts[0])/(25*3600), 0)
	for bit < 64 && starts[bit]+last < ready {
		bit++
	}
	return bit
}

// searchLeavings is the place of the first that departs at a time or later.
func searchLeavings(leavings []leaving, time int64) int {
	low, high := 0, len(leavings)
	for low < high {
		if mid := (low + high) / 2; int64(leavings[mid].depart()) < time {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// enqueue puts a pattern on the queue, to be scanned from a call.
func (s *search) enqueue(c call) {
	stop := c.stop - s.nw.patterns[c.pattern].stop
	switch at := s.queued[c.pattern]; {
	case at == none:
		s.queue = append(s.queue, c.pattern)
		s.queued[c.pattern] = stop
	case stop < at:
		s.queued[c.pattern] = stop
	}
}
