package seats

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/traintravel/traintravel/internal/railtest"
)

// A model is an inventory written to be seen right: for each section of each
// place, who has it.
type model struct {
	places, sections, hooks int
	have                    map[uuid.UUID]Taken
}

func (m *model) live(now time.Time) (all []Taken) {
	for _, t := range m.have {
		if t.Until > now.UnixNano() {
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
		if x.Place == NoPlace {
			continue
		}
		for s := int(x.From); s < int(x.To); s++ {
			if g[x.Place][s] != uuid.Nil {
				t.Fatalf("bookings %v and %v both have place %d on section %d", g[x.Place][s], x.Booking, x.Place, s)
			}
			g[x.Place][s] = x.Booking
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
		for s := int(x.From); x.Hook && s < int(x.To); s++ {
			used[s]++
		}
	}
	return slices.Max(used[from:to]) < m.hooks
}

// best is the first place with the smallest gap around a leg, and how many are free.
func (m *model) best(g [][]uuid.UUID, from, to int) (best int32, free int) {
	best, size := int32(NoPlace), m.sections+1
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
	railtest.DrawUntil(t, func() bool { return refused >= 100 && won >= 100 }, func(t *rapid.T) {
		calls := "ABCDEFG"[:rapid.IntRange(2, 6).Draw(t, "calls")]
		v := inventoryOf(calls, rapid.SliceOfN(rapid.IntRange(1, 2), 0, 2).Draw(t, "coaches")...)
		m := &model{places: v.Places(), sections: len(calls) - 1, hooks: rapid.IntRange(0, 2).Draw(t, "hooks"), have: map[uuid.UUID]Taken{}}
		now, n := railtest.Noon(), 0
		someone := func(t *rapid.T) uuid.UUID { return railtest.Nth(rapid.IntRange(1, n+1).Draw(t, "booking")) }
		leg := func(t *rapid.T) (from, to int) {
			from = rapid.IntRange(0, m.sections-1).Draw(t, "from")
			return from, rapid.IntRange(from+1, m.sections).Draw(t, "to")
		}
		t.Repeat(map[string]func(*rapid.T){
			"book": func(t *rapid.T) {
				from, to := leg(t)
				n++
				x := Taken{
					Booking: railtest.Nth(n), From: uint8(from), To: uint8(to), Place: v.Choose(from, to, now),
					Hook: rapid.Bool().Draw(t, "bicycle"), Until: now.UnixNano() + rapid.Int64Range(1, 5).Draw(t, "hold"),
				}
				if best, _ := m.best(m.grid(t, now), from, to); x.Place != best {
					t.Fatalf("place %d is chosen from call %d to %d, want %d", x.Place, from, to, best)
				}
				if free := m.hookFree(from, to, now); v.HookFree(m.hooks, from, to, now) != free {
					t.Fatalf("a hook is free from call %d to %d: want %t", from, to, free)
				} else if x.Hook = x.Hook && free; x.Place == NoPlace && !x.Hook {
					refused++
					return
				}
				for _, lapsed := range v.InTheWay(x, now) {
					if o, ok := m.have[lapsed]; !ok || o.Until > now.UnixNano() {
						t.Fatalf("booking %v, which has not lapsed, is in the way", lapsed)
					}
					v.Release(lapsed)
					delete(m.have, lapsed)
				}
				v.Take(x)
				m.have[x.Booking] = x
				won++
			},
			"wait":   func(t *rapid.T) { now = now.Add(time.Duration(rapid.IntRange(1, 3).Draw(t, "ns"))) },
			"rewind": func(t *rapid.T) { now = now.Add(-1) }, // another server's clock
			"cancel": func(t *rapid.T) {
				id := someone(t)
				_, had := m.have[id]
				if v.Has(id) != had || v.Release(id) != had {
					t.Fatalf("booking %v has something: want %t", id, had)
				}
				delete(m.have, id)
			},
			"pay": func(t *rapid.T) { // late too, if nobody took the place
				id := someone(t)
				x, had := m.have[id]
				for _, o := range m.have {
					// A clock behind may show as held what lapsed elsewhere.
					if had && o.Booking != id && o.Place == x.Place && o.Place != NoPlace && o.Overlaps(int(x.From), int(x.To)) {
						t.Fatalf("bookings %v and %v both own place %d", id, o.Booking, o.Place)
					}
				}
				if v.Hold(id, ForGood) != had {
					t.Fatalf("booking %v has something: want %t", id, had)
				}
				if had {
					x.Until = ForGood
					m.have[id] = x
				}
			},
			"store": func(t *rapid.T) {
				again, err := DecodeInventory(v.Encode())
				if err != nil {
					t.Fatal(err)
				}
				v = again
			},
			"": func(t *rapid.T) {
				g := m.grid(t, now)
				for from := range m.sections {
					for to := from + 1; to <= m.sections; to++ {
						if _, free := m.best(g, from, to); v.Free(from, to, now) != free {
							t.Fatalf("%d places are free from call %d to %d, want %d", v.Free(from, to, now), from, to, free)
						}
						for p, row := range g {
							if v.IsFree(int32(p), from, to, now) != (gap(row, from, to) > 0) {
								t.Fatalf("place %d from call %d to %d", p, from, to)
							}
						}
					}
				}
			},
		})
	})
}
