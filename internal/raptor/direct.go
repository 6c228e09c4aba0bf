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
			alight := nw.firstAlighting(p, board.Index, b)
			if alight < 0 || nw.boardsLater(p, a, b, alight) {
				continue
			}
			found = nw.departures(days, q, p, board.Index, alight, from, to, found)
		}
	}
	return found
}

// firstAlighting is the first of a pattern's visits to which one can ride from a
// stop, none if there is none; they begin with its own.
func (nw *Network) firstAlighting(p *pattern, board int32, visits []Visit) int32 {
	stops, rides := nw.stopsOf(p), nw.ridesFrom(p, board)
	if stops[board].Board < 0 {
		return none
	}
	for _, v := range visits {
		if &nw.patterns[v.Pattern] != p {
			break
		}
		if v.Index > board && stops[v.Index].Alight >= 0 && (rides == nil || rides[v.Index]) {
			return v.Index
		}
	}
	return none
}

// boardsLater says whether one of a pattern's visits, which begin with its own, is
// a later one from which one can ride no further than to a stop.
func (nw *Network) boardsLater(p *pattern, boards, alights []Visit, stop int32) bool {
	for _, v := range boards {
		if &nw.patterns[v.Pattern] != p || v.Index >= stop {
			break
		}
		if alight := nw.firstAlighting(p, v.Index, alights); alight >= 0 && alight <= stop {
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
