package records

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/traintravel/traintravel/internal/ids"
	"github.com/traintravel/traintravel/internal/railtest"
)

func TestTimeIDsOrderByTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		random := rapid.Map(rapid.SliceOfN(rapid.Byte(), 16, 16), func(b []byte) uuid.UUID { return uuid.UUID(b) })
		// From 1970 to 2262. IDs resolve 1/4096 of a millisecond.
		at := time.Unix(0, rapid.Int64Range(0, 1<<63-1-1e9).Draw(t, "ns"))
		after := at.Add(time.Duration(rapid.Int64Range(245, 1e9).Draw(t, "later")))
		a, b := ids.TimeID(at, random.Draw(t, "random")), ids.TimeID(after, random.Draw(t, "random"))
		if a.Version() != 7 || a.Variant() != uuid.RFC4122 {
			t.Fatalf("%v has version %d and variant %v", a, a.Version(), a.Variant())
		}
		if bytes.Compare(a[:], b[:]) >= 0 {
			t.Fatalf("%v at %v is not before %v at %v", a, at, b, after)
		}
		if sec, ns := a.Time().UnixTime(); time.Unix(sec, ns).UnixMilli() != at.UnixMilli() {
			t.Fatalf("%v is of %v, not of %v", a, time.Unix(sec, ns), at)
		}
	})
	before := ids.TimeID(time.Unix(-1, 5), uuid.Max)
	if before.Version() != 7 || before.Variant() != uuid.RFC4122 {
		t.Errorf("before 1970: %v", before)
	}
}

func TestTimeIDKeepsTheRandomBits(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 4, 8, 0, 0, 999_999_999, time.UTC)
	none, all := ids.TimeID(at, uuid.Nil), ids.TimeID(at, uuid.Max)
	if !bytes.Equal(none[:8], all[:8]) || none[8] != 0x80 || all[8] != 0xbf || !bytes.Equal(all[9:], uuid.Max[9:]) || !bytes.Equal(none[9:], uuid.Nil[9:]) {
		t.Errorf("%v and %v", none, all)
	}
}

// A later ID orders after the other one, whatever the clock says, and by as little as there is.
func TestLaterID(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at := func(name string) time.Time {
			return time.UnixMilli(rapid.Int64Range(0, 1<<47).Draw(t, name)).Add(time.Duration(rapid.IntRange(0, 999_999).Draw(t, name+" ns")))
		}
		than, now := ids.TimeID(at("than"), railtest.DrawID(t)), at("now")
		random := railtest.DrawID(t)
		id := ids.LaterID(now, random, than)
		if bytes.Compare(id[:], than[:]) <= 0 || id.Version() != 7 || id.Variant() != uuid.RFC4122 {
			t.Fatalf("%v is to be after %v", id, than)
		}
		if plain := ids.TimeID(now, random); bytes.Compare(plain[:8], than[:8]) > 0 && id != plain {
			t.Fatalf("%v is later, and becomes %v", plain, id)
		}
		if got := ids.TimeOf(id); got.After(now) && got.Sub(ids.TimeOf(than)) > time.Millisecond {
			t.Fatalf("%v is far after %v", id, than)
		}
	})
}
