package gtfs

import (
	"math/rand/v2"
	"testing"

	"github.com/traintravel/traintravel"
)

// drawn returns a service with some days around the given one, and its days.
func drawn(rng *rand.Rand, around traintravel.Date) (*service, map[traintravel.Date]bool) {
	s := &service{}
	day := func() traintravel.Date { return around + traintravel.Date(rng.IntN(200)) - 100 }
	for i := range s.Weekdays {
		s.Weekdays[i] = rng.IntN(3) == 0
	}
	s.From = day()
	s.To = s.From + traintravel.Date(rng.IntN(150))
	for range rng.IntN(4) {
		s.Added = append(s.Added, day())
	}
	for range rng.IntN(9) {
		s.Removed = append(s.Removed, day())
	}
	s.span()
	days := map[traintravel.Date]bool{}
	for d := around - 300; d < around+400; d++ {
		if s.Runs(d) {
			days[d] = true
		}
	}
	return s, days
}

// Sets of bits say the same of days as sets of days, before 1970 too.
func TestDaySets(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 3000 {
		f := &feed{}
		around := traintravel.Date([]int{0, 20_000, -20_000}[n%3])
		a, daysA := drawn(rng, around)
		b, daysB := drawn(rng, around)
		c, daysC := drawn(rng, around)
		if !a.runs || !b.runs || !c.runs {
			continue
		}
		later := rng.IntN(140) - 70
		meets := false
		for d := range daysA {
			meets = meets || daysB[d+traintravel.Date(later)]
		}
		if got := f.daysOf(a).meets(f.daysOf(b), later); got != meets {
			t.Fatalf("draw %d: %d days later: %v, want %v", n, later, got, meets)
		}
		whole := f.daysOf(a)
		rest := daySet{whole.first, append([]uint64(nil), whole.words...)}
		some, all := rest.take(whole, f.daysOf(b))
		wantSome := false
		for d := range daysA {
			wantSome = wantSome || daysB[d]
		}
		if some != wantSome || all != wantSome {
			t.Fatalf("draw %d: first take %v, %v, want %v", n, some, all, wantSome)
		}
		some, all = rest.take(whole, f.daysOf(c))
		wantSome, wantAll, left := false, true, false
		for d := range daysA {
			wantSome = wantSome || daysC[d] && !daysB[d]
			wantAll = wantAll && !(daysC[d] && daysB[d])
			left = left || !daysC[d] && !daysB[d]
		}
		if some != wantSome || all != (wantSome && wantAll) || rest.empty() == left {
			t.Fatalf("draw %d: second take %v, %v, left %v, want %v, %v, %v", n, some, all, !rest.empty(), wantSome, wantAll, left)
		}
	}
}
