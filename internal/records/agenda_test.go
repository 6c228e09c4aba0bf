package records

import (
	"cmp"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/internal/seats"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// The agenda is read in the order of its keys: kind by kind, by due time.
func TestAgendaKeysOrderByTime(t *testing.T) {
	t.Parallel()
	kinds := []Kind{EventDue, HoldEnds, KeyForgotten, PaymentDue} // by their letters
	due := rapid.Map(rapid.Int64Range(0, 1<<63-1), func(n int64) time.Time { return time.Unix(0, n) })
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(0, 3).Draw(t, "kind")
		a, b := due.Draw(t, "a"), due.Draw(t, "b")
		x, y := AgendaKey(kinds[k], a, railtest.DrawID(t)), AgendaKey(kinds[k], b, railtest.DrawID(t))
		if c := a.Compare(b); c != 0 && cmp.Compare(x.ID, y.ID) != c {
			t.Fatalf("%v and %v order as %q and %q", a, b, x.ID, y.ID)
		}
		for i, other := range kinds {
			if c := cmp.Compare(k, i); c != 0 && cmp.Compare(x.ID, AgendaKey(other, b, uuid.Max).ID) != c {
				t.Fatalf("%c comes among %c", kinds[k], other)
			}
		}
		if err := store.CheckKey(x, nil); err != nil || x.Table != store.TableAgenda {
			t.Fatal(x, err)
		}
	})
}

func TestAgendaKeyBounds(t *testing.T) {
	t.Parallel()
	id := railtest.Nth(1)
	zero := AgendaKey(HoldEnds, time.Unix(0, 0), id)
	for _, due := range []time.Time{{}, time.Unix(-1, 0), time.Unix(0, -1)} {
		if got := AgendaKey(HoldEnds, due, id); got != zero {
			t.Errorf("due at %v: %q, want it due at once", due, got.ID)
		}
	}
	if got := AgendaKey(HoldEnds, time.Unix(0, 1), id); got.ID <= zero.ID {
		t.Errorf("a nanosecond later: %q", got.ID)
	}
}

func TestAgendaKeysOfRecords(t *testing.T) {
	t.Parallel()
	b := rail.Booking{ID: railtest.Nth(1), Status: rail.Held, Expires: railtest.Noon()}
	if got := HoldKey(&b); got != AgendaKey(HoldEnds, railtest.Noon(), railtest.Nth(1)) {
		t.Errorf("a hold: %q", got.ID)
	}
	b.OpenPayment, b.PinnedUntil = railtest.Nth(2), railtest.Later()
	if got := HoldKey(&b); got != AgendaKey(HoldEnds, railtest.Later(), railtest.Nth(1)) {
		t.Errorf("a hold that a payment keeps: %q", got.ID)
	}
	for _, s := range []rail.BookingStatus{rail.Confirmed, rail.Expired, rail.Cancelled} {
		if b.Status = s; HoldKey(&b) != (store.Key{}) {
			t.Errorf("a booking that is %s: %q", s, HoldKey(&b).ID)
		}
	}
	p := Payment{Payment: rail.Payment{ID: railtest.Nth(3)}, Next: railtest.Noon()}
	if got := p.AgendaKey(); got != AgendaKey(PaymentDue, railtest.Noon(), railtest.Nth(3)) {
		t.Errorf("a payment: %q", got.ID)
	}
	if p.Next = (time.Time{}); p.AgendaKey() != (store.Key{}) {
		t.Errorf("a payment that is settled: %q", p.AgendaKey().ID)
	}
}

func TestRunKeysOrderByDate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := rail.RunID{Train: railtest.DrawID(t), Date: rail.Date(rapid.Int32Range(0, 1<<31-1).Draw(t, "date"))}
		b := rail.RunID{Train: railtest.DrawID(t), Date: rail.Date(rapid.Int32Range(0, 1<<31-1).Draw(t, "date"))}
		if got := seats.ParseRunKey(seats.RunKey(a).ID); got != a {
			t.Fatalf("%v is read as %v", a, got)
		}
		if c := cmp.Compare(a.Date, b.Date); c != 0 && cmp.Compare(seats.RunKey(a).ID, seats.RunKey(b).ID) != c {
			t.Fatalf("%v and %v do not order by date", a, b)
		}
	})
}

// The bookings of an owner and a period lie between two keys, and nobody else's do.
func TestKeysOfAnOwnerAreAdjacent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		mine := rail.Booking{ID: railtest.DrawID(t), Status: rail.Held, PassengerName: "Anna", Owner: rail.Subject{Issuer: railtest.DrawText(t), ID: railtest.DrawText(t)}}
		other := rail.Booking{ID: railtest.DrawID(t), Status: rail.Held, PassengerName: "Anna", Owner: rail.Subject{Issuer: railtest.DrawText(t), ID: railtest.DrawText(t)}}
		from := OwnedKey(&mine).ID[:10]
		to := codec.PrefixEnd(from)
		within := func(b *rail.Booking) bool { k := OwnedKey(b).ID; return k >= from && (to == "" || k < to) }
		if !within(&mine) || within(&other) != (mine.Owner == other.Owner && mine.ID[0] == other.ID[0] && mine.ID[1] == other.ID[1]) {
			t.Fatalf("%v and %v", mine.Owner, other.Owner)
		}
	})
	if OwnerMark(rail.Subject{Issuer: "ab", ID: "c"}) == OwnerMark(rail.Subject{Issuer: "a", ID: "bc"}) {
		t.Error("issuer and name run into each other")
	}
	if got := codec.PrefixEnd("\xff\xff"); got != "" {
		t.Errorf("after the last prefix comes %q", got)
	}
	if got := codec.PrefixEnd("\x00\x01\xff"); got != "\x00\x02" {
		t.Errorf("after 255 comes %q", got)
	}
}
