package raptor

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// oracle finds the best journeys by trying every train of every day, departure
// after departure, written to be understood. It returns for each when it
// departs and arrives, and with how many legs.
func oracle(t *Timetable, runs func(group, day int32) bool, date int32, q *Query) [][3]int64 {
	type event struct{ arrive, depart int64 }
	type oneRun struct {
		train, day int32
		stops      []Stop
		at         []event
		reach      []int16
		rides      []bool
	}
	var all []oneRun
	departures := map[int64]bool{}
	for i, tr := range t.Trains {
		for day := date - 20; day <= date+Longest+1; day++ {
			if !runs(tr.Group, day) || q.Allow != nil && !q.Allow(tr.Group) {
				continue
			}
			one := oneRun{train: int32(i), day: day, stops: t.Sequences[tr.Sequence], rides: t.Rides[tr.Sequence]}
			for _, x := range tr.Times {
				start := t.Start(tr.Zone, day)
				one.at = append(one.at, event{start + int64(x.Arrive), start + int64(x.Depart)})
			}
			for _, l := range q.Limits {
				if l.Train == one.train && l.Day == day {
					one.reach = l.Reach
				}
			}
			for j, s := range one.stops {
				if at := one.at[j].depart; s.Station == q.Origin && s.Board >= 0 && at >= q.From && at < q.To {
					departures[at] = true
				}
			}
			all = append(all, one)
		}
	}
	var found [][3]int64
	for depart := range departures {
		ready := map[int32]int64{} // by node, with fewer legs than now
		for legs := int64(1); legs <= int64(q.Legs); legs++ {
			next := map[int32]int64{}
			for node, at := range ready {
				next[node] = at
			}
			for _, one := range all {
				for i, board := range one.stops {
					if legs == 1 {
						if board.Board < 0 || board.Station != q.Origin || one.at[i].depart != depart {
							continue
						}
					} else if board.Station == q.Origin || board.Station == q.Target {
						continue // nobody changes there
					} else if at := min(at(ready, board.Board), at(ready, board.Seated)); at > one.at[i].depart {
						continue
					}
					for j := i + 1; j < len(one.stops); j++ {
						if one.rides != nil && !one.rides[i*len(one.stops)+j] {
							continue
						}
						if one.reach != nil && j > int(one.reach[i]) || one.stops[j].Alight < 0 || one.at[j].arrive > depart+Longest*86400 {
							continue
						}
						if one.stops[j].Station == q.Target {
							found = append(found, [3]int64{depart, one.at[j].arrive, legs})
							continue
						}
						if one.stops[j].Station == q.Origin {
							continue
						}
						for _, e := range t.Edges[one.stops[j].Alight] {
							at := one.at[j].arrive + int64(e.Seconds)
							if old, ok := next[e.To]; !ok || at < old {
								next[e.To] = at
							}
						}
					}
				}
			}
			ready = next
		}
	}
	return pareto(found)
}

// at is when one is ready at a node.
func at(ready map[int32]int64, node int32) int64 {
	if at, ok := ready[node]; ok && node >= 0 {
		return at
	}
	return 1 << 60
}

// pareto keeps what nothing else beats, each once, as Search sorts it.
func pareto(all [][3]int64) (best [][3]int64) {
	for _, a := range all {
		beaten := slices.ContainsFunc(all, func(b [3]int64) bool { return b != a && b[0] >= a[0] && b[1] <= a[1] && b[2] <= a[2] })
		if !beaten && !slices.Contains(best, a) {
			best = append(best, a)
		}
	}
	slices.SortFunc(best, func(a, b [3]int64) int { return cmp.Or(cmp.Compare(b[0], a[0]), cmp.Compare(a[1], b[1])) })
	return best
}

// A world is a small and nasty timetable.
type world struct {
	Timetable
	days   [][]int32 // by group
	groups int
	zones  int
}

const today = 100

func (w *world) runs(group, day int32) bool { return slices.Contains(w.days[group], day) }

// newWorld makes one of numbers that it draws, each below a bound.
func newWorld(draw func(n int) int) *world {
	w := &world{groups: 1 + draw(3), zones: 1 + draw(2)}
	w.Stations = 3 + draw(4)
	for node := range w.Stations {
		w.Boards = append(w.Boards, int32(node))
		w.Alights = append(w.Alights, int32(node))
		w.Edges = append(w.Edges, []Edge{{int32(node), int32(draw(3) * 300)}})
	}
	for range draw(3) { // rules of their own
		at := draw(w.Stations)
		w.Boards = append(w.Boards, int32(at))
		w.Alights = append(w.Alights, int32(at))
		w.Edges = append(w.Edges, nil)
	}
	for range draw(4) {
		w.Edges[draw(len(w.Alights))] = append(w.Edges[draw(len(w.Alights))], Edge{int32(draw(len(w.Boards))), int32(draw(4) * 300)})
	}
	for i, e := range w.Edges {
		w.Edges[i] = slices.Clip(e)
	}
	for range w.groups {
		var days []int32
		for day := int32(today - 3); day <= today+3; day++ {
			if draw(4) > 0 {
				days = append(days, day)
			}
		}
		w.days = append(w.days, days)
	}
	change := int32(today + draw(3) - 1) // the day of the change of clocks, forward or back
	hour := int64(draw(3)-1) * 3600
	w.Start = func(zone, day int32) int64 {
		start := int64(day)*86400 - int64(zone)*7200
		if day > change {
			start += hour
		}
		return start
	}
	node := func(nodes []int32, station int32) int32 { // one of a station, or none
		if draw(8) == 0 {
			return -1
		}
		var of []int32
		for n, s := range nodes {
			if s == station {
				of = append(of, int32(n))
			}
		}
		return of[draw(len(of))]
	}
	for range 1 + draw(4) {
		var stops []Stop
		for range 2 + draw(4) {
			station := int32(draw(w.Stations))
			stop := Stop{Station: station, Board: node(w.Boards, station), Seated: -1, Alight: node(w.Alights, station)}
			if draw(4) == 0 {
				stop.Seated = node(w.Boards, station)
			}
			stops = append(stops, stop)
		}
		stops[0].Alight, stops[len(stops)-1].Board, stops[len(stops)-1].Seated = -1, -1, -1
		w.Sequences = append(w.Sequences, stops)
	}
	w.Rides = map[int32][]bool{}
	for q, stops := range w.Sequences {
		if draw(3) > 0 {
			continue
		}
		for range len(stops) * len(stops) {
			w.Rides[int32(q)] = append(w.Rides[int32(q)], draw(3) > 0)
		}
	}
	for range 1 + draw([]int{12, 30}[draw(2)]) {
		tr := Train{Sequence: int32(draw(len(w.Sequences))), Group: int32(draw(w.groups)), Zone: int32(draw(w.zones))}
		at := int32(draw(30) * 3600)
		if draw(2) > 0 {
			at += int32(draw(12) * 300)
		}
		for range w.Sequences[tr.Sequence] {
			arrive := at + int32(draw(4)*[]int{0, 300, 1800, 5 * 3600}[draw(4)])
			at = arrive + int32(draw(3)*300)
			tr.Times = append(tr.Times, Time{arrive, at})
		}
		tr.Times[0].Arrive = tr.Times[0].Depart
		tr.Times[len(tr.Times)-1].Depart = tr.Times[len(tr.Times)-1].Arrive
		w.Trains = append(w.Trains, tr)
	}
	return w
}

func (w *world) query(draw func(n int) int) *Query {
	q := &Query{Origin: int32(draw(w.Stations)), Legs: 1 + draw(MaxLegs)}
	q.Target = int32((int(q.Origin) + 1 + draw(w.Stations-1)) % w.Stations)
	q.From = int64(today)*86400 + int64(draw(12)*3600)
	q.To = int64(today+1) * 86400
	if draw(4) == 0 && w.groups > 1 {
		not := int32(draw(w.groups))
		q.Allow = func(g int32) bool { return g != not }
	}
	limited := map[[2]int32]bool{}
	for range max(draw(6)-2, 0) {
		l := Limit{Train: int32(draw(len(w.Trains))), Day: int32(today - 1 + draw(3))}
		if limited[[2]int32{l.Train, l.Day}] {
			continue
		}
		limited[[2]int32{l.Train, l.Day}] = true
		n, reach := len(w.Trains[l.Train].Times), 0
		for range n {
			reach = min(n-1, reach+draw(3))
			l.Reach = append(l.Reach, int16(reach))
		}
		q.Limits = append(q.Limits, l)
	}
	return q
}

// check compares a search with the oracle, and walks its journeys.
func (w *world) check(nw *Network, q *Query) error {
	days := nw.Days(today, w.groups, w.zones, w.runs)
	found := nw.Search(days, q)
	var got [][3]int64
	for _, j := range found {
		times, err := w.walk(q, j)
		if err != nil {
			return fmt.Errorf("%v: %w", j, err)
		}
		got = append(got, times)
	}
	if want := oracle(&w.Timetable, w.runs, today, q); !slices.Equal(got, want) {
		return fmt.Errorf("%d to %d with %d legs: found %v, want %v", q.Origin, q.Target, q.Legs, got, want)
	}
	return nil
}

// walk travels a journey and says when it departs and arrives.
func (w *world) walk(q *Query, j Journey) (times [3]int64, err error) {
	var edges []Edge
	var arrived int64
	at := q.Origin
	for n, leg := range j {
		tr := &w.Trains[leg.Train]
		stops := w.Sequences[tr.Sequence]
		start := w.Start(tr.Zone, leg.Day)
		departs := start + int64(tr.Times[leg.Board].Depart)
		board, alight := stops[leg.Board], stops[leg.Alight]
		switch {
		case !w.runs(tr.Group, leg.Day) || q.Allow != nil && !q.Allow(tr.Group):
			return times, fmt.Errorf("train %d does not run", leg.Train)
		case leg.Board >= leg.Alight || alight.Alight < 0 || n == 0 && board.Board < 0:
			return times, fmt.Errorf("leg %d cannot be ridden", n)
		case w.Rides[tr.Sequence] != nil && !w.Rides[tr.Sequence][leg.Board*int32(len(stops))+leg.Alight]:
			return times, fmt.Errorf("leg %d is not to be had", n)
		case n == 0 && board.Station != at:
			return times, fmt.Errorf("it begins elsewhere")
		case n > 0 && !slices.ContainsFunc(edges, func(e Edge) bool {
			return (e.To == board.Board || e.To == board.Seated) && arrived+int64(e.Seconds) <= departs
		}):
			return times, fmt.Errorf("leg %d cannot be reached", n)
		}
		for _, l := range q.Limits {
			if l.Train == leg.Train && l.Day == leg.Day && leg.Alight > int32(l.Reach[leg.Board]) {
				return times, fmt.Errorf("leg %d is beyond a limit", n)
			}
		}
		if n == 0 {
			times[0] = departs
		}
		arrived, at, edges = start+int64(tr.Times[leg.Alight].Arrive), alight.Station, w.Edges[alight.Alight]
	}
	if at != q.Target {
		return times, fmt.Errorf("it ends elsewhere")
	}
	times[1], times[2] = arrived, int64(len(j))
	return times, nil
}

// However nasty the timetable, a search finds what the oracle finds.
func TestSearchAgainstOracle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		draw := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "") }
		w := newWorld(draw)
		nw := Build(&w.Timetable)
		for range 3 {
			if err := w.check(nw, w.query(draw)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// The same for as many queries as TRAINTRAVEL_ORACLE_QUERIES says.
func TestManySearchesAgainstOracle(t *testing.T) {
	t.Parallel()
	queries, _ := strconv.Atoi(os.Getenv("TRAINTRAVEL_ORACLE_QUERIES"))
	queries = max(queries, 5_000)
	seed := rand.Uint64()
	for n := 0; n < queries; n += 20 {
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		w := newWorld(r.IntN)
		nw := Build(&w.Timetable)
		for range 20 {
			if err := w.check(nw, w.query(r.IntN)); err != nil {
				t.Fatalf("seed %d, %d: %v", seed, n, err)
			}
		}
	}
}

func FuzzSearch(f *testing.F) {
	f.Add([]byte("a small and nasty timetable, drawn from bytes"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 2000 {
			return
		}
		draw := func(n int) int {
			if len(data) == 0 {
				return 0
			}
			v := int(data[0]) % n
			data = data[1:]
			return v
		}
		w := newWorld(draw)
		if err := w.check(Build(&w.Timetable), w.query(draw)); err != nil {
			t.Error(err)
		}
	})
}
