package traintravel

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// What makes a train known again, and what does not.
func TestTrainIdentity(t *testing.T) {
	t.Parallel()
	original := trainOf("ICE 1", "Europe/Berlin", allYear, "Köln 8:00", "Bonn 8:20-8:22", "Unna 9:00")
	for _, c := range []struct {
		name   string
		change func(*Train)
		same   bool
	}{
		{"another ID", func(t *Train) { t.ID = "renumbered" }, true},
		{"other days", func(t *Train) { t.Days = on(1) }, true},
		{"other coaches, rules and fare", func(t *Train) { t.Coaches, t.Bicycles, t.Hooks, t.Fare = []Coach{{"1", 9}}, Allowed, 3, Fare{} }, true},
		{"another destination", func(t *Train) { t.Calls[2].Station = stationNamed("Hamm") }, true},
		{"the first call's arrival, which means nothing", func(t *Train) { t.Calls[0].Arrive = 0 }, true},
		{"later on the way", func(t *Train) { t.Calls[1].Depart += 60 }, true},
		{"another feed", func(t *Train) { t.Feed = "x" }, false},
		{"another operator", func(t *Train) { t.Operator = "Other Rail" }, false},
		{"another number", func(t *Train) { t.Number = "ICE 2" }, false},
		{"another first station", func(t *Train) { t.Calls[0].Station = stationNamed("Hamm") }, false},
		{"another first departure", func(t *Train) { t.Calls[0].Depart++ }, false},
		{"a letter moved from one text to the next", func(t *Train) { t.Operator, t.Number = "RailI", "CE 1" }, false},
	} {
		train := trainOf("ICE 1", "Europe/Berlin", allYear, "Köln 8:00", "Bonn 8:20-8:22", "Unna 9:00")
		c.change(&train)
		if got := baseOf(&train) == baseOf(&original); got != c.same {
			t.Errorf("%s: the same train: %t, want %t", c.name, got, c.same)
		}
	}
}

// Identities are in people's bookings: they never change.
func TestTrainIdentityIsForEver(t *testing.T) {
	t.Parallel()
	train := trainOf("ICE 1", "Europe/Berlin", allYear, "Köln 8:00", "Bonn 8:20")
	base := baseOf(&train)
	for n, want := range map[int]string{
		0: "9ce0dc94-3efa-8a32-ac5f-656d3d799ba4", 1: "11594bcc-75e1-8e15-bc71-5251ee2b1922",
	} {
		id := twin(base, n)
		if id.String() != want || id.Version() != 8 || id.Variant() != uuid.RFC4122 {
			t.Errorf("twin %d is %v, want %s", n, id, want)
		}
	}
}

func TestMarksTellListsApart(t *testing.T) {
	t.Parallel()
	list := func(stations ...string) []Call {
		var calls []Call
		for _, s := range stations {
			calls = append(calls, Call{Station: stationNamed(s)})
		}
		return calls
	}
	seen := map[uint64]int{}
	for i, l := range [][]Call{list("A", "B"), list("B", "A"), list("A", "B", "A"), list("A"), list("A", "A"), list("AB")} {
		if j, ok := seen[listMark(l)]; ok {
			t.Errorf("lists %d and %d have one mark", i, j)
		}
		seen[listMark(l)] = i
	}
	timed := list("A", "B")
	timed[1].Arrive, timed[1].NoBoarding = 5, true
	if listMark(timed) != listMark(list("A", "B")) {
		t.Error("times count in the mark of a list of stations")
	}
}

func TestTimeIDsOrderByTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		random := rapid.Map(rapid.SliceOfN(rapid.Byte(), 16, 16), func(b []byte) uuid.UUID { return uuid.UUID(b) })
		// From 1970 to 2262. IDs resolve 1/4096 of a millisecond.
		at := time.Unix(0, rapid.Int64Range(0, 1<<63-1-1e9).Draw(t, "ns"))
		after := at.Add(time.Duration(rapid.Int64Range(245, 1e9).Draw(t, "later")))
		a, b := timeID(at, random.Draw(t, "random")), timeID(after, random.Draw(t, "random"))
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
	before := timeID(time.Unix(-1, 5), uuid.Max)
	if before.Version() != 7 || before.Variant() != uuid.RFC4122 {
		t.Errorf("before 1970: %v", before)
	}
}

func TestTimeIDKeepsTheRandomBits(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 4, 8, 0, 0, 999_999_999, time.UTC)
	none, all := timeID(at, uuid.Nil), timeID(at, uuid.Max)
	if !bytes.Equal(none[:8], all[:8]) || none[8] != 0x80 || all[8] != 0xbf || !bytes.Equal(all[9:], uuid.Max[9:]) || !bytes.Equal(none[9:], uuid.Nil[9:]) {
		t.Errorf("%v and %v", none, all)
	}
}

// The ID of a refund follows from its charge and purpose, and stands in the order of IDs
// after the charge and before what is paid in a later millisecond.
func TestRefundIDs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		random := rapid.Map(rapid.SliceOfN(rapid.Byte(), 16, 16), func(b []byte) uuid.UUID { return uuid.UUID(b) })
		at := time.Unix(0, rapid.Int64Range(0, 1<<63-1-1e9).Draw(t, "ns"))
		charge, later := timeID(at, random.Draw(t, "random")), timeID(at.Add(time.Millisecond), random.Draw(t, "random"))
		seen := map[uuid.UUID]purpose{}
		for _, why := range purposes {
			id := refundID(charge, why)
			if other, ok := seen[id]; ok {
				t.Fatalf("%v is the refund of %v for %q and for %q", id, charge, other, why)
			}
			seen[id] = why
			if id.Version() != 8 || id.Variant() != uuid.RFC4122 || id != refundID(charge, why) {
				t.Fatalf("%v", id)
			}
			if bytes.Compare(charge[:], id[:]) >= 0 || bytes.Compare(id[:], later[:]) >= 0 {
				t.Fatalf("the refund %v is not between its charge %v and the later %v", id, charge, later)
			}
		}
	})
	// What a gateway has heard of once never changes.
	charge := uuid.MustParse("0194f3a2-7b1c-7d4e-9f00-112233445566")
	for why, want := range map[purpose]string{
		forCancelling:    "0194f3a2-7b1c-8ea2-890f-14dd21973759",
		forCancelledRun:  "0194f3a2-7b1c-8a53-a89b-e975e7cce061",
		forPayingTooLate: "0194f3a2-7b1c-8174-8b47-9d250173c538",
	} {
		if got := refundID(charge, why).String(); got != want {
			t.Errorf("for %q: %s, want %s", why, got, want)
		}
	}
}

// A later ID orders after the other one, whatever the clock says, and by as little as there is.
func TestLaterID(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at := func(name string) time.Time {
			return time.UnixMilli(rapid.Int64Range(0, 1<<47).Draw(t, name)).Add(time.Duration(rapid.IntRange(0, 999_999).Draw(t, name+" ns")))
		}
		than, now := timeID(at("than"), drawID(t)), at("now")
		random := drawID(t)
		id := laterID(now, random, than)
		if bytes.Compare(id[:], than[:]) <= 0 || id.Version() != 7 || id.Variant() != uuid.RFC4122 {
			t.Fatalf("%v is to be after %v", id, than)
		}
		if plain := timeID(now, random); bytes.Compare(plain[:8], than[:8]) > 0 && id != plain {
			t.Fatalf("%v is later, and becomes %v", plain, id)
		}
		if got := timeOf(id); got.After(now) && got.Sub(timeOf(than)) > time.Millisecond {
			t.Fatalf("%v is far after %v", id, than)
		}
	})
}
