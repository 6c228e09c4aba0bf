package webhooks

import (
	"testing"

	"github.com/google/uuid"
)

// However many endpoints keep the service waiting, only so many are remembered, and those
// in hand stay so.
func TestSuspectsAreBounded(t *testing.T) {
	t.Parallel()
	var s slowEndpoints
	inHand := uuid.New()
	if !s.add(inHand) {
		t.Fatal("the first has no place")
	}
	for range 2 * maxSlow {
		if id := uuid.New(); s.add(id) {
			s.End(id)
		}
	}
	if n := len(s.inHand); n != maxSlow {
		t.Errorf("%d are remembered, want %d", n, maxSlow)
	}
	if !s.inHand[inHand] || s.n != 1 {
		t.Errorf("%d are in hand", s.n)
	}
}
