package fair_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/traintravel/traintravel/internal/fair"
)

// A caller spends so much at once, waits for what it spends beyond, and has all again when
// it has stopped for long enough. Nobody else waits for it.
func TestPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := fair.NewPace(1000, 500)
		spend := func(who fair.Caller, n int64, want time.Duration) {
			t.Helper()
			if wait := p.Spend(who, n); wait != want {
				t.Errorf("caller %d waits %v for %d more, want %v", who, wait, n, want)
			}
		}
		spend(1, 500, 0)
		spend(1, 100, 100*time.Millisecond)
		spend(1, 100, 200*time.Millisecond)
		spend(2, 500, 0)
		time.Sleep(300 * time.Millisecond)
		spend(1, 100, 0)
		spend(1, 1, time.Millisecond)
		time.Sleep(time.Hour)
		spend(1, 501, time.Millisecond)
	})
}

// However many callers come, the memory of instants is bounded, and those in use are kept.
func TestInstantsAreBounded(t *testing.T) {
	t.Parallel()
	var all fair.Instants
	set := func(who fair.Caller, at int64) {
		s := all.Of(who)
		s.Lock()
		defer s.Unlock()
		s.Set(who, at)
	}
	for who := range fair.Caller(300_000) {
		if set(who+1, 1); who%20_000 == 0 {
			set(0, 7)
		}
	}
	if n, most := all.Len(); n > most {
		t.Errorf("%d instants are kept, more than %d", n, most)
	}
	s := all.Of(0)
	s.Lock()
	defer s.Unlock()
	if s.Get(0) != 7 {
		t.Error("an instant in use is forgotten")
	}
}
