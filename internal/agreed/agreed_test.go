package agreed_test

import (
	"errors"
	"testing"

	"github.com/traintravel/traintravel/internal/agreed"
	"github.com/traintravel/traintravel/internal/keys"
	"github.com/traintravel/traintravel/store/memstore"
)

// Keys for signing may be changed one after the other.
func TestAgrees(t *testing.T) {
	t.Parallel()
	prints := func(fingerprint string, signing ...string) agreed.Record {
		return agreed.Record{Prints: keys.Prints{Fingerprint: fingerprint, Signing: signing}}
	}
	for _, c := range []struct {
		own, before agreed.Record
		signs, want bool
	}{
		{prints("x", "a"), prints("x", "a"), true, true},
		{prints("x", "b", "a"), prints("x", "a"), true, true},
		{prints("x", "b"), prints("x", "b", "a"), true, true},
		{prints("x", "b"), prints("x", "a"), true, false},
		{prints("x", "b"), prints("x", "a"), false, true},
		{prints("x", "b"), prints("x"), true, true},
		{prints("y", "a"), prints("x", "a"), true, false},
		{prints("y", "a"), prints("x", "a"), false, false},
	} {
		if got := c.own.Agrees(c.before, c.signs); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// A server with other keys is refused until it may replace those of before; the data keeps its
// ID.
func TestSettle(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	ring := func() *keys.Ring {
		r, err := keys.New()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	one, two := ring(), ring()
	id := ""
	for i, c := range []struct {
		server   agreed.Server
		before   string // base URL
		replaced bool
		err      error
	}{
		{agreed.Server{Ring: one, Base: "http://a", Signs: true}, "", false, nil},
		{agreed.Server{Ring: one, Base: "http://b", Signs: true}, "http://a", false, nil},
		{agreed.Server{Ring: two, Base: "http://c", Signs: true}, "http://b", true, agreed.ErrOtherKeys},
		{agreed.Server{Ring: two, Base: "http://c"}, "http://b", true, agreed.ErrOtherKeys},
		{agreed.Server{Ring: two, Base: "http://c", Signs: true, Replace: true}, "http://b", true, nil},
		{agreed.Server{Ring: one, Base: "http://c", Signs: true}, "http://c", true, agreed.ErrOtherKeys},
	} {
		before, replaced, err := agreed.Settle(t.Context(), store, c.server)
		base := ""
		if before != nil {
			base = before.Base
		}
		if base != c.before || replaced != c.replaced || !errors.Is(err, c.err) {
			t.Errorf("%d: %q, %v, %v", i, base, replaced, err)
		}
		now, err := agreed.Read(t.Context(), store)
		if err != nil || now == nil || now.ID == "" || id != "" && now.ID != id {
			t.Fatalf("%d: %+v, %v", i, now, err)
		}
		id = now.ID
	}
}
