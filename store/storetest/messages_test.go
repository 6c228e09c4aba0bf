package storetest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/traintravel/traintravel"
)

// TestMessages: what a check says is what an author of a store looks for.
func TestMessages(t *testing.T) {
	t.Parallel()
	checks := make(map[string]check)
	for _, c := range append(behaviour(), concurrency()...) {
		checks[c.name] = c
	}
	stores := make(map[string]func() traintravel.Store)
	for _, m := range mistakes() {
		stores[m.name] = m.store
	}
	for _, c := range []struct{ mistake, check, want string }{
		{"an empty value reads as absent", "Get", "read by the Store, in a View, in an Update: values differ (-want +got):\n- \"\"\n+ absent"},
		{"an absent key reads as empty", "Empty", `returned [""], want [absent]`},
		{"an absent key reads as empty", "Counter", `"hot": the counter's value is empty, not a number`},
		{"an empty value reads as absent", "Values", `Get returned [absent], not the one value put, ""`},
		{"a refused update is written, and its error is right", "Refusal", "the table's records differ (-want +got):\n- \"a\": \"before\"\n+ \"new\": \"scribbled\""},
		{"the context is looked at after the writes", "Context", "Update returned the context's error and wrote"},
		{"the context is looked at after the writes", "Cancelled", "Update returned the context's error and wrote"},
		{"an update whose context has ended is dropped without an error", "Cancelled", "Update returned nil and wrote nothing"},
		{"a closure's own error goes before ErrReadAfterWrite", "ReadAfterWrite", "in a closure that returns another error: Update returned other, not ErrReadAfterWrite"},
	} {
		t.Run(c.mistake+"/"+c.check, func(t *testing.T) {
			t.Parallel()
			err := attempt(t.Context(), checks[c.check], stores[c.mistake]())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the check says:\n%v\nwhich lacks:\n%s", err, c.want)
			}
			if err != nil && strings.Count(err.Error(), c.want) > 3 {
				t.Errorf("the check repeats itself:\n%v", err)
			}
		})
	}
}

// TestUsedStore: every check reports a store that tests share.
func TestUsedStore(t *testing.T) {
	t.Parallel()
	used := sound()
	err := used.Update(t.Context(), func(tx traintravel.Tx) error {
		tx.Put(traintravel.Key{Table: traintravel.TableAgenda, ID: "left"}, nil)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range append(behaviour(), concurrency()...) {
		err := attempt(t.Context(), c, used)
		if err == nil || err.Error() != "open must return a new, empty store; this one has records" {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestSameFindingIsReportedOnce: a fault that all readers find is reported once, and one that
// only one of them finds is reported for that one.
func TestSameFindingIsReportedOnce(t *testing.T) {
	t.Parallel()
	wrong := errors.New("wrong")
	for _, c := range []struct {
		store traintravel.Store
		want  string
	}{
		{sound(), "read by the Store, in a View, in an Update: wrong"},
		{wrongView(func(context.Context, traintravel.Store, func(traintravel.Reader) error) error {
			return errors.New("otherwise")
		})(), "read by the Store, in an Update: wrong\nread in a View: otherwise"},
	} {
		err := everyReader(t.Context(), c.store, func(traintravel.Reader) error { return wrong })
		if err == nil || err.Error() != c.want || !errors.Is(err, wrong) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// TestTwiceReadAfterWrite: Twice too lets ErrReadAfterWrite go before the
// closure's own error.
func TestTwiceReadAfterWrite(t *testing.T) {
	t.Parallel()
	err := Twice(sound()).Update(t.Context(), func(tx traintravel.Tx) error {
		tx.Put(key("a"), nil)
		_, _ = tx.Get(t.Context(), key("a"))
		return errRefused
	})
	if !errors.Is(err, traintravel.ErrReadAfterWrite) {
		t.Errorf("Update returned %v, not ErrReadAfterWrite", err)
	}
}
