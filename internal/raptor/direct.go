package raptor

// Direct adds the rides without a change that depart in the query's time, in no
// order. Unlike Search, it finds those too that others beat; but nobody rides past
// the target, or by the origin again.
func (nw *Network) Direct(days *Days, q *Query, found []Leg) []Leg {
	from, to := q.From-days.base, q.To-days.base
	a, b := nw.visits.of(q.Origin), nw.visits.of(q.Target)
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].Pattern < b[0].Pattern:
			a = a[1:]
		case a[0].Pattern > b[0].Pattern:
			b = b[1:]
		case b[0].Index <= a[0].Index:
			b = b[1:]
		default:
			board := a[0]
			a = a[1:]
			p := &nw.patterns[board.Pattern]
			stops := nw.stopsOf(p)
			alight := firstAlighting(stops, b, board.Pattern)
			if alight < 0 || stops[board.Index].Board < 0 || boardsBefore(stops, a, board.Pattern, alight) {
				continue
			}
			found = nw.departures(days, q, p, board.Index, alight, from, to, found)
		}
	}
	return found
}

// firstAlighting is the first of a pattern's visits at which one may get off;
// they begin with its own.
func firstAlighting(stops []Stop, visits []Visit, pattern int32) int32 {
	for _, v := range visits {
		if v.Pattern != pattern {
			break
		}
		if stops[v.Index].Alight >= 0 {
			return v.Index
		}
	}
	return none
}

// boardsBefore says whether one may still get on before a stop.
func boardsBefore(stops []Stop, visits []Visit, pattern, stop int32) bool {
	for _, v := range visits {
		if v.Pattern != pattern || v.Index >= stop {
			break
		}
		if stops[v.Index].Board >= 0 {
			return true
		}
	}
	return false
}

// departures adds the rides of a pattern that depart in from <= t < to.
func (nw *Network) departures(days *Days, q *Query, p *pattern, board, alight int32, from, to int64, found []Leg) []Leg {
	times, n := nw.times[p.times+board:], p.stops
	first, last := int64(times[0].Depart), int64(times[(p.n-1)*n].Depart)
	for bit, start := range days.start[p.zone] {
		start := int64(start)
		if start+last < from {
			continue
		}
		if start+first >= to || bit == 64 {
			break
		}
		for at := p.after(times, from-start); at < p.n; at++ {
			if start+int64(times[at*n].Depart) >= to {
				break
			}
			group := nw.groups[p.first+at]
			if days.mask[group]>>bit&1 != 0 && (q.Allow == nil || q.Allow(group)) {
				found = append(found, Leg{Train: nw.trains[p.first+at], Day: days.first + int32(bit), Board: board, Alight: alight})
			}
		}
	}
	return found
}

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
