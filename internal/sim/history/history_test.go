package history_test

import (
	"testing"

	"github.com/traintravel/traintravel/internal/need"
	"github.com/traintravel/traintravel/internal/sim/chance"
	"github.com/traintravel/traintravel/internal/sim/history"
)

// No history breaks an invariant.
func TestHistories(t *testing.T) {
	for seed := range chance.Seed(need.Sample(4, 8)) {
		r := history.Run(t, history.Config{Seed: seed, Days: 10})
		for _, f := range r.Failures {
			t.Errorf("seed %d, operation %d: %s: %s", seed, r.FailedAt, f.Invariant, f.Text)
		}
	}
}

// The same seed makes the same history.
func TestReplay(t *testing.T) {
	run := func() history.Result { return history.Run(t, history.Config{Seed: 7, Days: 5}) }
	if a, b := run(), run(); a.Hash != b.Hash || a.Lines != b.Lines {
		t.Errorf("two runs of one seed: %v, %v", a, b)
	}
}
