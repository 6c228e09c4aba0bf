package agenda_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/need"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
	"github.com/traintravel/traintravel/store/memstore"
)

// A chore is work of every kind, some of which fails.
type chore struct {
	store *memstore.Store
	mu    sync.Mutex
	bad   map[uuid.UUID]bool
	whole bool // one that fails has all that it is worked on with fail
	tries map[string]int
	did   map[string]int
	log   strings.Builder
	told  map[string]int // the latest that the observer was told of a kind
}

// do does what is due, but for the bad.
func (c *chore) do(name string, due map[store.Key]uuid.UUID) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	failed := false
	for _, id := range due {
		if c.bad[id] {
			failed = true
			c.tries[name]++
		}
	}
	if failed && (c.whole || len(due) == 1) {
		return errors.New("it is broken")
	}
	if failed {
		panic("it is broken")
	}
	c.did[name] += len(due)
	return c.store.Update(context.Background(), func(tx store.Tx) error {
		for k := range due {
			tx.Delete(k)
		}
		return nil
	})
}

func (c *chore) failing(f rail.FailingWork) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told[f.Work] = f.Items
}

func (c *chore) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.log.Write(b)
}

// Of each kind of work many things fail, and all are at the head. What is behind
// them is done at once all the same, each that fails is tried again more and more rarely,
// little is logged of it, and when it can be done it is.
func TestFailingWorkDelaysNoOther(t *testing.T) {
	t.Parallel()
	need.Short(t, "thousands of failures")
	synctest.Test(t, func(t *testing.T) {
		const bad, good = 1400, 100
		c := &chore{store: memstore.New(), bad: map[uuid.UUID]bool{}, tries: map[string]int{}, did: map[string]int{}, told: map[string]int{}}
		s := newService(c.store, c)
		works := s.works()
		id := func(n int) uuid.UUID { return uuid.UUID{0: byte(n >> 8), 1: byte(n), 6: 0x40, 8: 0x80} }
		for name, key := range works {
			if err := c.store.Update(t.Context(), func(tx store.Tx) error {
				for n := range bad + good {
					tx.Put(key(time.Now().Add(time.Duration(n-bad-good)*time.Second), id(n)), []byte(name))
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		for n := range bad {
			c.bad[id(n)] = true
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		begun := time.Now()
		go func() { s.run(ctx, c.do); close(ended) }()
		done := func(name string, want int) bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.did[name] == want
		}
		for name := range works {
			for !done(name, good) && time.Since(begun) < time.Minute {
				time.Sleep(time.Second / 10)
			}
		}
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("after %v of %d failures are done: %v", took, bad, c.did)
		}
		time.Sleep(2*time.Minute - time.Since(begun))
		synctest.Wait()
		lines := strings.Count(c.log.String(), "\n")
		if most := 10 * len(works) * 3; lines > most || lines == 0 || !strings.Contains(c.log.String(), "not_logged=") {
			t.Errorf("%d lines are logged in two minutes", lines)
		}
		for name := range works {
			most := 10 * bad
			if name == "fanOut" {
				most *= 2 // together and alone
			}
			if n := c.tries[name]; n < 6*bad || n > most {
				t.Errorf("%s: %d tries in two minutes of %d things", name, n, bad)
			}
			if c.told[name] != bad {
				t.Errorf("%s: the observer was told that %d fail", name, c.told[name])
			}
		}

		// One that is gone is forgotten, and the others are done soon when they can be.
		gone := works["endHold"](begun.Add(time.Duration(-bad-good)*time.Second), id(0))
		if err := c.store.Update(ctx, func(tx store.Tx) error { tx.Delete(gone); return nil }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := c.told["endHold"]; n != bad-1 {
			t.Errorf("the observer was told that %d fail, when one of %d is gone", n, bad)
		}
		c.mu.Lock()
		clear(c.bad)
		c.mu.Unlock()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		for name := range works {
			if c.told[name] != 0 || c.did[name] < good+bad-1 {
				t.Errorf("%s: %d are done and %d fail, when all can be done", name, c.did[name], c.told[name])
			}
		}
		stop()
		<-ended
	})
}

// A failure of many that are worked on together holds up none but those that fail alone.
func TestOneOfABatchFails(t *testing.T) {
	t.Parallel()
	for _, whole := range []bool{false, true} {
		t.Run(fmt.Sprint(whole), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const all = 1000
				c := &chore{store: memstore.New(), whole: whole, tries: map[string]int{}, did: map[string]int{}, told: map[string]int{}}
				s := newService(c.store, c)
				first := uuid.New()
				c.bad = map[uuid.UUID]bool{first: true}
				key := s.works()["fanOut"]
				if err := c.store.Update(t.Context(), func(tx store.Tx) error {
					tx.Put(key(time.Now().Add(-time.Hour), first), nil)
					for range all {
						tx.Put(key(time.Now(), uuid.New()), nil)
					}
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				ctx, stop := context.WithTimeout(t.Context(), time.Minute/2)
				defer stop()
				s.run(ctx, c.do)
				if n := c.did["fanOut"]; n != all || c.tries["fanOut"] > 8 {
					t.Errorf("%d of %d are done, and the one that fails was tried %d times", n, all, c.tries["fanOut"])
				}
			})
		})
	}
}
