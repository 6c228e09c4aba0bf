package records

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/traintravel/traintravel/internal/ids"
)

// The ID of a refund follows from its charge and purpose, and stands in the order of IDs
// after the charge and before what is paid in a later millisecond.
func TestRefundIDs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		random := rapid.Map(rapid.SliceOfN(rapid.Byte(), 16, 16), func(b []byte) uuid.UUID { return uuid.UUID(b) })
		at := time.Unix(0, rapid.Int64Range(0, 1<<63-1-1e9).Draw(t, "ns"))
		charge, later := ids.TimeID(at, random.Draw(t, "random")), ids.TimeID(at.Add(time.Millisecond), random.Draw(t, "random"))
		seen := map[uuid.UUID]Purpose{}
		for _, why := range Purposes() {
			id := RefundID(charge, why)
			if other, ok := seen[id]; ok {
				t.Fatalf("%v is the refund of %v for %q and for %q", id, charge, other, why)
			}
			seen[id] = why
			if id.Version() != 8 || id.Variant() != uuid.RFC4122 || id != RefundID(charge, why) {
				t.Fatalf("%v", id)
			}
			if bytes.Compare(charge[:], id[:]) >= 0 || bytes.Compare(id[:], later[:]) >= 0 {
				t.Fatalf("the refund %v is not between its charge %v and the later %v", id, charge, later)
			}
		}
	})
	// What a gateway has heard of once never changes.
	charge := uuid.MustParse("0194f3a2-7b1c-7d4e-9f00-112233445566")
	for why, want := range map[Purpose]string{
		ForCancelling:    "0194f3a2-7b1c-8ea2-890f-14dd21973759",
		ForCancelledRun:  "0194f3a2-7b1c-8a53-a89b-e975e7cce061",
		ForPayingTooLate: "0194f3a2-7b1c-8174-8b47-9d250173c538",
	} {
		if got := RefundID(charge, why).String(); got != want {
			t.Errorf("for %q: %s, want %s", why, got, want)
		}
	}
}
