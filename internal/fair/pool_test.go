package fair_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/traintravel/traintravel/internal/fair"
)

var roomy = fair.Limits{Slots: 2, Each: 2, Queue: 1000, InHand: 1000, Patience: time.Hour}

// enter has a caller do a piece of work, on a goroutine of its own. It returns where
// what Enter said is sent.
func enter(ctx context.Context, p *fair.Pool, caller fair.Caller, cost int64, work func()) <-chan error {
	said := make(chan error, 1)
	go func() {
		err := p.Enter(ctx, caller, cost)
		if err == nil {
			work()
			p.Leave(caller)
		}
		said <- err
	}()
	synctest.Wait()
	return said
}

func TestSmallCallerOvertakesLargeOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := fair.NewPool(roomy)
		for range 1000 {
			enter(t.Context(), p, 1, 1, func() { time.Sleep(time.Second) })
		}
		began := time.Now()
		if err := <-enter(t.Context(), p, 2, 1, func() {}); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(began); waited > time.Second {
			t.Errorf("one piece of work waited %v behind a thousand of another caller, want no more than one of them takes", waited)
		}
		time.Sleep(time.Hour) // until all is done
	})
}

// Callers who all wait get slots in the ratio of nothing but what their work costs.
func TestTurnsByCost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limits := roomy
		limits.Slots, limits.Each = 1, 1
		p := fair.NewPool(limits)
		if err := p.Enter(t.Context(), 9, 1); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var turns []fair.Caller
		for range 60 {
			for caller, cost := range map[fair.Caller]int64{1: 1, 2: 1, 3: 4} {
				enter(t.Context(), p, caller, cost, func() {
					mu.Lock()
					defer mu.Unlock()
					turns = append(turns, caller)
				})
			}
		}
		p.Leave(9)
		synctest.Wait()
		count := func(c fair.Caller) (n int) {
			for _, turn := range turns[:45] {
				if turn == c {
					n++
				}
			}
			return n
		}
		if a, b, c := count(1), count(2), count(3); a != 20 || b != 20 || c != 5 {
			t.Errorf("of 45 turns the callers had %d, %d and %d, want 20, 20 and 5: the work of the third costs four times as much", a, b, c)
		}
	})
}

func TestCallerKeepsToItsShare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := fair.NewPool(fair.Limits{Slots: 4, Each: 2, Queue: 10, InHand: 3, Patience: time.Hour})
		hang := make(chan struct{})
		var said []<-chan error
		for range 5 {
			said = append(said, enter(t.Context(), p, 1, 1, func() { <-hang }))
		}
		if c := p.Counts(); c.Busy != 2 || c.Waiting != 1 || c.OverShare != 2 {
			t.Errorf("a caller has %+v, want two slots, one piece that waits and two that are refused", c)
		}
		if err := <-enter(t.Context(), p, 2, 1, func() {}); err != nil {
			t.Errorf("another caller is refused: %v", err)
		}
		close(hang)
		var errs []error
		for _, s := range said {
			errs = append(errs, <-s)
		}
		if !slices.Equal(errs, []error{nil, nil, nil, fair.ErrShare, fair.ErrShare}) {
			t.Errorf("the caller was told %v", errs)
		}
	})
}

// When too many pieces wait, the newest piece of the caller with the most is refused.
func TestFullQueueRefusesTheCallerWithMost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := fair.NewPool(fair.Limits{Slots: 1, Each: 1, Queue: 4, InHand: 10, Patience: time.Hour})
		hang := make(chan struct{})
		var greedy []<-chan error
		for range 6 {
			greedy = append(greedy, enter(t.Context(), p, 1, 1, func() { <-hang }))
		}
		if err := <-greedy[5]; !errors.Is(err, fair.ErrBusy) {
			t.Errorf("the sixth piece of the only caller is told %v, want that too much work is waiting", err)
		}
		modest := enter(t.Context(), p, 2, 1, func() {})
		if err := <-greedy[4]; !errors.Is(err, fair.ErrBusy) {
			t.Errorf("the newest piece of the caller with most is told %v, want that too much work is waiting", err)
		}
		if last := p.Last(); last.Most != 1 || last.InHand != 5 || last.Of != 5 || last.At.IsZero() {
			t.Errorf("the last refusal is %+v", last)
		}
		close(hang)
		for _, s := range append(greedy[:4:4], modest) {
			if err := <-s; err != nil {
				t.Errorf("a piece that was to be done is told %v", err)
			}
		}
	})
}

func TestWaitingEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limits := roomy
		limits.Slots, limits.Patience = 1, 5*time.Second
		p := fair.NewPool(limits)
		hang := make(chan struct{})
		first := enter(t.Context(), p, 1, 1, func() { <-hang })
		ctx, cancel := context.WithCancel(t.Context())
		gone := enter(ctx, p, 2, 1, func() { t.Error("a piece whose caller is gone is done") })
		cancel()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Errorf("a caller that went is told %v", err)
		}
		began := time.Now()
		if err := <-enter(t.Context(), p, 3, 1, func() { t.Error("a piece that waited too long is done") }); !errors.Is(err, fair.ErrBusy) || time.Since(began) != limits.Patience {
			t.Errorf("a piece that waited %v is told %v", time.Since(began), err)
		}
		close(hang)
		<-first
		if c := p.Counts(); c.Busy != 0 || c.Waiting != 0 {
			t.Errorf("in the end there is %+v", c)
		}
	})
}

// Whatever callers do and whenever they give up, no slot is lost and none is given twice.
func TestPoolOfManyCallers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		limits := fair.Limits{
			Slots: rapid.IntRange(1, 4).Draw(rt, "slots"), Each: rapid.IntRange(1, 4).Draw(rt, "each"), Queue: rapid.IntRange(0, 6).Draw(rt, "queue"),
			InHand: rapid.IntRange(1, 8).Draw(rt, "inHand"), Patience: 10 * time.Millisecond,
		}
		type job struct {
			caller       fair.Caller
			cost         int64
			after, takes int
			patient      int
		}
		jobs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) job {
			return job{fair.Caller(rapid.IntRange(1, 4).Draw(t, "caller")), rapid.Int64Range(1, 5).Draw(t, "cost"), rapid.IntRange(0, 3).Draw(t, "after"), rapid.IntRange(0, 5).Draw(t, "takes"), rapid.IntRange(1, 12).Draw(t, "patient")}
		}), 1, 40).Draw(rt, "jobs")
		synctest.Test(t, func(t *testing.T) {
			p := fair.NewPool(limits)
			var mu sync.Mutex
			busy, each := 0, map[fair.Caller]int{}
			var all sync.WaitGroup
			for _, j := range jobs {
				time.Sleep(time.Duration(j.after) * time.Millisecond)
				all.Go(func() {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(j.patient)*time.Millisecond)
					defer cancel()
					if p.Enter(ctx, j.caller, j.cost) != nil {
						return
					}
					mu.Lock()
					busy++
					each[j.caller]++
					if busy > limits.Slots || each[j.caller] > limits.Each {
						t.Errorf("%d pieces at a time, %d of one caller: the limits are %+v", busy, each[j.caller], limits)
					}
					mu.Unlock()
					time.Sleep(time.Duration(j.takes) * time.Millisecond)
					mu.Lock()
					busy--
					each[j.caller]--
					mu.Unlock()
					p.Leave(j.caller)
				})
			}
			all.Wait()
			if c := p.Counts(); c.Busy != 0 || c.Waiting != 0 {
				t.Errorf("in the end there is %+v", c)
			}
			for c := range limits.Slots { // all slots are there again
				if err := p.Enter(t.Context(), fair.Caller(100+c), 1); err != nil {
					t.Errorf("slot %d is lost: %v", c+1, err)
				}
			}
		})
	})
}

// Each caller has its share, and the greedy cannot keep out those who want little.
func TestBudget(t *testing.T) {
	t.Parallel()
	b := fair.NewBudget(160, 320)
	steps := []struct {
		caller fair.Caller
		n      int64
		want   bool
	}{{1, 160, true}, {1, 1, false}, {2, 160, true}, {3, 11, false}, {3, 10, true}, {3, 1, false}, {4, 10, true}}
	for i, s := range steps {
		if got := b.Take(s.caller, s.n); got != s.want {
			t.Errorf("step %d: taking %d for caller %d is %v", i, s.n, s.caller, got)
		}
	}
	if !b.Full(1) || !b.Full(3) || b.Full(5) {
		t.Error("a budget is not full for whom it should be")
	}
	b.Give(1, 160)
	b.Add(4, 200)
	if b.Take(4, 1) || b.Used() != 380 {
		t.Errorf("a caller may take more than it may have; %d are in use", b.Used())
	}
	for caller, n := range map[fair.Caller]int64{2: 160, 3: 10, 4: 210} {
		b.Give(caller, n)
	}
	if b.Used() != 0 || !b.Take(4, 160) {
		t.Errorf("what was given back cannot be taken: %d are in use", b.Used())
	}
}

func BenchmarkPool(b *testing.B) {
	p := fair.NewPool(fair.Limits{Slots: 16, Each: 16, Queue: 1000, InHand: 256, Patience: time.Second})
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := p.Enter(b.Context(), 7, 1); err != nil {
				b.Fatal(err)
			}
			p.Leave(7)
		}
	})
}
