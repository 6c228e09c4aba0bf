package storetest

import (
	"slices"
	"testing"

	"github.com/traintravel/traintravel"
)

// Run proves the behaviour of a store: what reads and updates do when they
// come one at a time. It runs each clause as a parallel subtest on a store of
// its own: open returns a new, empty one, fails the test if it cannot, and
// leaves the cleaning up to t.Cleanup. Every store must pass.
func Run(t *testing.T, open func(t testing.TB) traintravel.Store) {
	t.Helper()
	runAll(t, open, behaviour())
}

// RunConcurrency proves that updates appear to run one after another and that
// views see none of them by half, under real parallel load. It asks of open
// what [Run] does. Every store must pass; run it with the race detector too.
func RunConcurrency(t *testing.T, open func(t testing.TB) traintravel.Store) {
	t.Helper()
	runAll(t, open, concurrency())
}

func behaviour() []check   { return slices.Concat(reading, keeping, viewing, updating, failing) }
func concurrency() []check { return slices.Concat(competing, isolating) }

func runAll(t *testing.T, open func(t testing.TB) traintravel.Store, checks []check) {
	t.Helper()
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := c.on(t.Context(), open(t)); err != nil {
				t.Fatal(err)
			}
		})
	}
}
