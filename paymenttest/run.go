package paymenttest

import (
	"slices"
	"testing"
)

// Run tests a gateway against the contract. It runs each check as a parallel subtest.
// open returns the gateway for one check, which may be shared. If it cannot, it fails
// the test; it cleans up with t.Cleanup.
func Run(t *testing.T, open func(t testing.TB) Gateway) {
	t.Helper()
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := open(t).withDefaults().supported(t.Context())
			if lack := c.lacks(g); lack != "" {
				t.Skip(lack)
			}
			if err := c.run(t.Context(), g); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func checks() []check {
	return slices.Concat(charging, looking, losing, cancelling, refunding, settling, telling)
}
