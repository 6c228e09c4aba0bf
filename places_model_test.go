package traintravel

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// A model is an inventory written to be seen right: for each section of each
// place, who has it.
type model struct {
	places, sections, hooks int
	have                    map[uuid.UUID]taken
}

func (m *model) live(now time.Time) (all []taken) {
	for _, t := range m.have {
		if t.until > now.UnixNano() {
			all = append(all, t)
		}
	}
	return all
}

// grid is who sits where, by place and section. It fails where two do.
func (m *model) grid(t *rapid.T, now time.Time) [][]uuid.UUID {
	g := make([][]uuid.UUID, m.places)
	for p := range g {
		g[p] = make([]uuid.UUID, m.sections)
	}
	for _, x := range m.live(now) {
		if x.place == noPlace {
			continue
		}
		for s := int(x.from); s < int(x.to); s++ {
			if g[x.place][s] != uuid.Nil {
				t.Fatalf("bookings %v and %v both have place %d on section %d", g[x.place][s], x.booking, x.place, s)
			}
			g[x.place][s] = x.booking
		}
	}
	return g
}

// gap is the size of the free stretch around a leg, or zero if it is not free.
func gap(row []uuid.UUID, from, to int) int {
	for s := from; s < to; s++ {
		if row[s] != uuid.Nil {
			return 0
		}
	}
	for from > 0 && row[from-1] == uuid.Nil {
		from--
	}
	for to < len(row) && row[to] == uuid.Nil {
		to++
	}
	return to - from
}

func (m *model) hookFree(from, to int, now time.Time) bool {
	used := make([]int, m.sections)
	for _, x := range m.live(now) {
		for s := int(x.from); x.hook && s < int(x.to); s++ {
			used[s]++
		}
	}
	return slices.Max(used[from:to]) < m.hooks
}

// best is the first place with the smallest gap around a leg, and how many are free.
func (m *model) best(g [][]uuid.UUID, from, to int) (best int32, free int) {
	best, size := int32(noPlace), m.sections+1
	for p, row := range g {
		if n := gap(row, from, to); n > 0 {
			free++
			if n < size {
				best, size = int32(p), n
			}
		}
	}
	return best, free
}

// Whatever is booked, lapses, is paid late, cancelled and written to disk
// between: no place is anybody's twice, and nobody loses one unasked.
func TestInventoryAgainstModel(t *testing.T) {
	t.Parallel()
	refused, won := 0, 0
	DrawUntil(t, func() bool { return refused >= 100 && won >= 100 }, func(t *rapid.T) {
		calls := "ABCDEFG"[:rapid.IntRange(2, 6).Draw(t, "calls")]
		v := inventoryOf(calls, rapid.SliceOfN(rapid.IntRange(1, 2), 0, 2).Draw(t, "coaches")...)
		m := &model{places: v.places(), sections: len(calls) - 1, hooks: rapid.IntRange(0, 2).Draw(t, "hooks"), have: map[uuid.UUID]taken{}}
		now, n := noon, 0
		someone := func(t *rapid.T) uuid.UUID { return nth(rapid.IntRange(1, n+1).Draw(t, "booking")) }
		leg := func(t *rapid.T) (from, to int) {
			from = rapid.IntRange(0, m.sections-1).Draw(t, "from")
			return from, rapid.IntRange(from+1, m.sections).Draw(t, "to")
		}
		t.Repeat(map[string]func(*rapid.T){
			"book": func(t *rapid.T) {
				from, to := leg(t)
				n++
				x := taken{
					booking: nth(n), from: uint8(from), to: uint8(to), place: v.choose(from, to, now),
					hook: rapid.Bool().Draw(t, "bicycle"), until: now.UnixNano() + rapid.Int64Range(1, 5).Draw(t, "hold"),
				}
				if best, _ := m.best(m.grid(t, now), from, to); x.place != best {
					t.Fatalf("place %d is chosen from call %d to %d, want %d", x.place, from, to, best)
				}
				if free := m.hookFree(from, to, now); v.hookFree(m.hooks, from, to, now) != free {
					t.Fatalf("a hook is free from call %d to %d: want %t", from, to, free)
				} else if x.hook = x.hook && free; x.place == noPlace && !x.hook {
					refused++
					return
				}
				for _, lapsed := range v.inTheWay(x, now) {
					if o, ok := m.have[lapsed]; !ok || o.until > now.UnixNano() {
						t.Fatalf("booking %v, which has not lapsed, is in the way", lapsed)
					}
					v.release(lapsed)
					delete(m.have, lapsed)
				}
				v.take(x)
				m.have[x.booking] = x
				won++
			},
			"wait":   func(t *rapid.T) { now = now.Add(time.Duration(rapid.IntRange(1, 3).Draw(t, "ns"))) },
			"rewind": func(t *rapid.T) { now = now.Add(-1) }, // another server's clock
			"cancel": func(t *rapid.T) {
				id := someone(t)
				_, had := m.have[id]
				if v.has(id) != had || v.release(id) != had {
					t.Fatalf("booking %v has something: want %t", id, had)
				}
				delete(m.have, id)
			},
			"pay": func(t *rapid.T) { // late too, if nobody took the place
				id := someone(t)
				x, had := m.have[id]
				for _, o := range m.have {
					// A clock behind may show as held what lapsed elsewhere.
					if had && o.booking != id && o.place == x.place && o.place != noPlace && o.overlaps(int(x.from), int(x.to)) {
						t.Fatalf("bookings %v and %v both own place %d", id, o.booking, o.place)
					}
				}
				if v.hold(id, forGood) != had {
					t.Fatalf("booking %v has something: want %t", id, had)
				}
				if had {
					x.until = forGood
					m.have[id] = x
				}
			},
			"store": func(t *rapid.T) {
				again, err := decodeInventory(v.encode())
				if err != nil {
					t.Fatal(err)
				}
				v = again
			},
			"": func(t *rapid.T) {
				g := m.grid(t, now)
				for from := range m.sections {
					for to := from + 1; to <= m.sections; to++ {
						if _, free := m.best(g, from, to); v.free(from, to, now) != free {
							t.Fatalf("%d places are free from call %d to %d, want %d", v.free(from, to, now), from, to, free)
						}
						for p, row := range g {
							if v.isFree(int32(p), from, to, now) != (gap(row, from, to) > 0) {
								t.Fatalf("place %d from call %d to %d", p, from, to)
							}
						}
					}
				}
			},
		})
	})
}
