package history_test

import (
	"runtime"
	"testing"

	"github.com/traintravel/traintravel/internal/need"
	"github.com/traintravel/traintravel/internal/sim/chance"
	"github.com/traintravel/traintravel/internal/sim/history"
)

// No history with windows of traffic breaks an invariant.
func TestTraffic(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // the order of what happens at one instant
	for seed := range chance.Seed(need.Sample(1, 3)) {
		a := history.Run(t, history.Config{Seed: seed, Days: 3, Speed: history.Mixed})
		for _, f := range a.Failures {
			t.Errorf("seed %d, operation %d: %s: %s", seed, a.FailedAt, f.Invariant, f.Text)
		}
		if a.Traffic == 0 {
			t.Errorf("seed %d has no traffic", seed)
		}
	}
}
