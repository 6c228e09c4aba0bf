package traintravel

import (
	"cmp"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// The agenda is read in the order of its keys: kind by kind, by due time.
func TestAgendaKeysOrderByTime(t *testing.T) {
	t.Parallel()
	kinds := []kind{eventDue, holdEnds, keyForgotten, paymentDue} // by their letters
	due := rapid.Map(rapid.Int64Range(0, 1<<63-1), func(n int64) time.Time { return time.Unix(0, n) })
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(0, 3).Draw(t, "kind")
		a, b := due.Draw(t, "a"), due.Draw(t, "b")
		x, y := agendaKey(kinds[k], a, drawID(t)), agendaKey(kinds[k], b, drawID(t))
		if c := a.Compare(b); c != 0 && cmp.Compare(x.ID, y.ID) != c {
			t.Fatalf("%v and %v order as %q and %q", a, b, x.ID, y.ID)
		}
		for i, other := range kinds {
			if c := cmp.Compare(k, i); c != 0 && cmp.Compare(x.ID, agendaKey(other, b, uuid.Max).ID) != c {
				t.Fatalf("%c comes among %c", kinds[k], other)
			}
		}
		if err := CheckKey(x, nil); err != nil || x.Table != TableAgenda {
			t.Fatal(x, err)
		}
	})
}

func TestAgendaKeyBounds(t *testing.T) {
	t.Parallel()
	id := nth(1)
	zero := agendaKey(holdEnds, time.Unix(0, 0), id)
	for _, due := range []time.Time{{}, time.Unix(-1, 0), time.Unix(0, -1)} {
		if got := agendaKey(holdEnds, due, id); got != zero {
			t.Errorf("due at %v: %q, want it due at once", due, got.ID)
		}
	}
	if got := agendaKey(holdEnds, time.Unix(0, 1), id); got.ID <= zero.ID {
		t.Errorf("a nanosecond later: %q", got.ID)
	}
}

func TestWhereThingsStandOnTheAgenda(t *testing.T) {
	t.Parallel()
	b := Booking{ID: nth(1), Status: Held, Expires: noon}
	if got := holdKey(&b); got != agendaKey(holdEnds, noon, nth(1)) {
		t.Errorf("a hold: %q", got.ID)
	}
	b.OpenPayment, b.PinnedUntil = nth(2), later
	if got := holdKey(&b); got != agendaKey(holdEnds, later, nth(1)) {
		t.Errorf("a hold that a payment keeps: %q", got.ID)
	}
	for _, s := range []BookingStatus{Confirmed, Expired, Cancelled} {
		if b.Status = s; holdKey(&b) != (Key{}) {
			t.Errorf("a booking that is %s: %q", s, holdKey(&b).ID)
		}
	}
	p := payment{Payment: Payment{ID: nth(3)}, next: noon}
	if got := p.agendaKey(); got != agendaKey(paymentDue, noon, nth(3)) {
		t.Errorf("a payment: %q", got.ID)
	}
	if p.next = (time.Time{}); p.agendaKey() != (Key{}) {
		t.Errorf("a payment that is settled: %q", p.agendaKey().ID)
	}
}

func TestRunKeysOrderByDate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := RunID{drawID(t), Date(rapid.Int32Range(0, 1<<31-1).Draw(t, "date"))}
		b := RunID{drawID(t), Date(rapid.Int32Range(0, 1<<31-1).Draw(t, "date"))}
		if got := parseRunKey(runKey(a).ID); got != a {
			t.Fatalf("%v is read as %v", a, got)
		}
		if c := cmp.Compare(a.Date, b.Date); c != 0 && cmp.Compare(runKey(a).ID, runKey(b).ID) != c {
			t.Fatalf("%v and %v do not order by date", a, b)
		}
	})
}

// The bookings of an owner and a period lie between two keys, and nobody else's do.
func TestOwnersKeysLieTogether(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		mine := Booking{ID: drawID(t), Owner: Subject{drawText(t), drawText(t)}}
		other := Booking{ID: drawID(t), Owner: Subject{drawText(t), drawText(t)}}
		from := ownedKey(&mine).ID[:10]
		to := prefixEnd(from)
		within := func(b *Booking) bool { k := ownedKey(b).ID; return k >= from && (to == "" || k < to) }
		if !within(&mine) || within(&other) != (mine.Owner == other.Owner && mine.ID[0] == other.ID[0] && mine.ID[1] == other.ID[1]) {
			t.Fatalf("%v and %v", mine.Owner, other.Owner)
		}
	})
	if ownerMark(Subject{"ab", "c"}) == ownerMark(Subject{"a", "bc"}) {
		t.Error("issuer and name run into each other")
	}
	if got := prefixEnd("\xff\xff"); got != "" {
		t.Errorf("after the last prefix comes %q", got)
	}
	if got := prefixEnd("\x00\x01\xff"); got != "\x00\x02" {
		t.Errorf("after 255 comes %q", got)
	}
}
