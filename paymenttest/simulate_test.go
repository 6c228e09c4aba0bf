package paymenttest

import (
	"slices"
	"testing"

	"github.com/traintravel/traintravel/internal/sim/chance"
)

// A sound gateway passes.
func TestSimulate(t *testing.T) {
	t.Parallel()
	Simulate(t, func(testing.TB) Gateway { return subject(sound()) })
}

// Gateways that make one of these mistakes do not. Others are not met in histories, such as those
// with amounts that no trip costs.
func TestSimulateWrong(t *testing.T) {
	t.Parallel()
	met := []string{
		"nothing is taken", "an ID that is in use has failed", "every call charges", "every call refunds", "an ID never heard has failed",
		"Cancel does not fence", "what is pending stays so",
	}
	const enough = 20
	all := mistakes()
	for _, name := range met {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := slices.IndexFunc(all, func(m mistake) bool { return m.name == name })
			for seed := range chance.Seed(enough) {
				g := sound()
				all[i].make(g)
				if err := simulate(t, seed, subject(g)); err != nil {
					t.Logf("%.300s", err.Error())
					return
				}
			}
			t.Errorf("the gateway passed %d histories", enough)
		})
	}
}
