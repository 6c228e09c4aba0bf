package webhooks

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/ledger"
)

// The wait after a failure is at most a fifth more or less than planned, is the same whoever
// works it out, and differs between deliveries that failed together.
func TestJitter(t *testing.T) {
	t.Parallel()
	for failures := range 12 {
		waits := map[time.Duration]bool{}
		for n := range 100 {
			id := uuid.UUID{byte(n)}
			wait, planned := jittered(id, failures), ledger.RetryAfter(failures)
			if wait < planned*4/5 || wait >= planned*6/5 {
				t.Errorf("delivery %d waits %v after failure %d, and %v are planned", n, wait, failures, planned)
			}
			if again := jittered(id, failures); again != wait {
				t.Errorf("delivery %d waits %v and %v after failure %d", n, wait, again, failures)
			}
			waits[wait] = true
		}
		if len(waits) < 90 {
			t.Errorf("100 deliveries wait only %d different times after failure %d", len(waits), failures)
		}
	}
}
