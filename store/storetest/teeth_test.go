package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/traintravel/traintravel"
)

// A mistake is a store with one thing wrong, and the checks that must find it.
type mistake struct {
	name  string
	store func() traintravel.Store
	found []string
}

func mistakes() []mistake {
	return slices.Concat(wrongReads, wrongKeeping, wrongUpdates, wrongFailures, wrongTogether)
}

// TestChecksFindFaults runs, on a store with each mistake, the checks that must find it.
func TestChecksFindFaults(t *testing.T) {
	t.Parallel()
	checks := make(map[string]check)
	for _, c := range slices.Concat(behaviour(), concurrency()) {
		checks[c.name] = c
	}
	for _, m := range mistakes() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			for _, name := range m.found {
				c, ok := checks[name]
				if !ok {
					t.Fatalf("there is no check %s", name)
				}
				err := attempt(t.Context(), c, m.store())
				if err == nil {
					t.Errorf("%s does not find it", name)
				} else if testing.Verbose() {
					t.Logf("%s: %.300s", name, err.Error())
				}
			}
		})
	}
}

// attempt runs a check, to which a panic is a failure like another.
func attempt(ctx context.Context, c check, s traintravel.Store) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return c.on(ctx, s)
}

// TestEveryCheckFindsAFault: for each check there is a mistake that it finds.
func TestEveryCheckFindsAFault(t *testing.T) {
	t.Parallel()
	missing := make(map[string]bool)
	for _, c := range slices.Concat(behaviour(), concurrency()) {
		missing[c.name] = true
	}
	for _, m := range mistakes() {
		for _, name := range m.found {
			delete(missing, name)
		}
	}
	if d := cmp.Diff(map[string]bool{}, missing); d != "" {
		t.Errorf("checks that no mistake proves (-want +got):\n%s", d)
	}
}

// TestSoundStore: the suite passes on a sound store behind the faulty one's
// scaffolding, so that it is the mistakes which the checks find; and on Twice.
func TestSoundStore(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(testing.TB) traintravel.Store{
		"scaffolding": func(testing.TB) traintravel.Store { return &faulty{Store: sound()} },
		"mangling":    func(testing.TB) traintravel.Store { return mangled(sameKey, func(v []byte) []byte { return v }) },
		"Twice":       func(testing.TB) traintravel.Store { return Twice(sound()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			Run(t, open)
			RunConcurrency(t, open)
		})
	}
}
