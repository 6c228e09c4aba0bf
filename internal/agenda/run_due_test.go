package agenda_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/store"
	"github.com/traintravel/traintravel/store/memstore"
)

// newChore is a chore with n things of each kind of work due, of which the first are bad.
func newChore(t *testing.T, n, bad int) (*chore, *service) {
	t.Helper()
	c := &chore{store: memstore.New(), bad: map[uuid.UUID]bool{}, tries: map[string]int{}, did: map[string]int{}, told: map[string]int{}}
	s := newService(c.store, c)
	id := func(n int) uuid.UUID { return uuid.UUID{0: byte(n >> 8), 1: byte(n), 6: 0x40, 8: 0x80} }
	if err := c.store.Update(t.Context(), func(tx store.Tx) error {
		for name, key := range s.works() {
			for i := range n {
				tx.Put(key(time.Now().Add(time.Duration(i-n)*time.Second), id(i)), []byte(name))
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for i := range bad {
		c.bad[id(i)] = true
	}
	return c, s
}

// RunDue does what stands behind all that fails, tries each of that once, and says so.
func TestRunDueBesideFailures(t *testing.T) {
	t.Parallel()
	const all, bad = 1000, 600
	c, s := newChore(t, all, bad)
	works := len(s.works())
	if errs := s.runDue(t.Context(), c.do); len(errs) != works*bad {
		t.Errorf("%d errors of %d failures in each of %d kinds", len(errs), bad, works)
	}
	for name := range s.works() {
		if c.did[name] != all-bad || name != "fanOut" && c.tries[name] != bad {
			t.Errorf("%s: %d of %d are done, and those that fail were tried %d times", name, c.did[name], all-bad, c.tries[name])
		}
	}
	clear(c.bad)
	if errs := s.runDue(t.Context(), c.do); len(errs) != 0 {
		t.Errorf("when all can be done: %v", errors.Join(errs...))
	}
}

// RunDue leaves what another service of the process has in hand, and is left what it has.
func TestRunDueBesideOthers(t *testing.T) {
	t.Parallel()
	c, s := newChore(t, 10, 0)
	inner := 0
	errs := s.runDue(t.Context(), func(name string, due map[store.Key]uuid.UUID) error {
		if inner == 0 {
			inner++
			if errs := s.runDue(t.Context(), func(other string, also map[store.Key]uuid.UUID) error {
				for k := range also {
					if _, ok := due[k]; ok {
						t.Errorf("%s: %v is worked on twice at a time", other, k)
					}
				}
				return c.do(other, also)
			}); len(errs) != 0 {
				t.Error(errs)
			}
		}
		return c.do(name, due)
	})
	if len(errs) != 0 {
		t.Error(errs)
	}
	left, err := c.store.List(t.Context(), store.Range{Table: store.TableAgenda})
	if err != nil || len(left) != 0 {
		t.Errorf("%d things were not done, %v", len(left), err)
	}
}

// RunDue begins nothing more when its context has ended.
func TestRunDueStops(t *testing.T) {
	t.Parallel()
	c, s := newChore(t, 600, 0)
	ctx, stop := context.WithCancel(t.Context())
	done := 0
	_ = s.runDue(ctx, func(name string, due map[store.Key]uuid.UUID) error {
		if done++; done == 300 {
			stop()
		}
		return c.do(name, due)
	})
	if done != 300 {
		t.Errorf("%d things were begun, and the context ended with the 300th", done)
	}
}
