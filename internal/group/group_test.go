package group

import (
	"context"
	"errors"
	"testing"
)

var errClosed = errors.New("closed")

// TestCancelledLeader: whoever is to lead does so although his context has
// ended at that moment.
func TestCancelledLeader(t *testing.T) {
	t.Parallel()
	var q Queue
	ctx, cancel := context.WithCancel(t.Context())
	a, b, c := &Call{Ctx: t.Context()}, &Call{Ctx: ctx}, &Call{Ctx: t.Context()}
	for _, c := range []*Call{a, b, c} {
		if lead, err := q.join(c); err != nil || lead != (c == a) {
			t.Fatal(lead, err)
		}
	}
	q.pass() // to b
	cancel()
	if !q.wait(b) {
		t.Error("b does not lead")
	}
	q.pass()
	if !q.wait(c) || q.Take() != nil {
		t.Error("c does not lead")
	}
	q.pass()
	q.Close(errClosed)
}
