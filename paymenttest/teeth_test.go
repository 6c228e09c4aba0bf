package paymenttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// A mistake is a gateway with one thing wrong, and the checks that must find it.
type mistake struct {
	name  string
	make  func(*faulty)
	found []string
}

func mistakes() []mistake {
	return slices.Concat(wrongCharges, wrongAnswers, wrongCancels, wrongRefunds)
}

// TestChecksFindFaults runs, on a gateway with each mistake, the checks that must find it.
func TestChecksFindFaults(t *testing.T) {
	t.Parallel()
	byName := make(map[string]check)
	for _, c := range checks() {
		byName[c.name] = c
	}
	for _, m := range mistakes() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			for _, name := range m.found {
				c, ok := byName[name]
				if !ok {
					t.Fatalf("there is no check %s", name)
				}
				g := sound()
				m.make(g)
				s := subject(g).withDefaults()
				if lack := c.lacks(s); lack != "" {
					t.Errorf("%s is skipped: %s", name, lack)
					continue
				}
				err := attempt(t.Context(), c, s)
				if err == nil {
					t.Errorf("%s does not find it", name)
				} else if testing.Verbose() {
					t.Logf("%s: %.300s", name, err.Error())
				}
			}
		})
	}
}

// attempt runs a check, to which a panic is a failure like another.
func attempt(ctx context.Context, c check, g Gateway) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return c.run(ctx, g)
}

// TestEveryCheckFindsAFault: for each check there is a mistake that it finds.
func TestEveryCheckFindsAFault(t *testing.T) {
	t.Parallel()
	missing := make(map[string]bool)
	for _, c := range checks() {
		missing[c.name] = true
	}
	for _, m := range mistakes() {
		for _, name := range m.found {
			delete(missing, name)
		}
	}
	if d := cmp.Diff(map[string]bool{}, missing); d != "" {
		t.Errorf("checks that no mistake proves (-want +got):\n%s", d)
	}
}

// TestSound: the suite passes on the gateway that the mistakes are made in.
func TestSound(t *testing.T) {
	t.Parallel()
	Run(t, func(testing.TB) Gateway { return subject(sound()) })
}

// TestLacks: a gateway without optional features passes the other checks.
func TestLacks(t *testing.T) {
	t.Parallel()
	for _, c := range checks() {
		g := subject(sound())
		g = Gateway{PaymentGateway: onlyGateway{g.PaymentGateway}, Succeeds: g.Succeeds}.withDefaults()
		if lack := c.lacks(g); (lack != "") != (len(c.needs) > 0) {
			t.Errorf("%s needs %d things, and lacks: %q", c.name, len(c.needs), lack)
		} else if lack != "" {
			continue
		}
		if err := c.run(t.Context(), g); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestUnsupportedCancel: a gateway whose Cancel says that it cannot is like one without.
func TestUnsupportedCancel(t *testing.T) {
	t.Parallel()
	g := sound()
	g.cancel = func(context.Context, uuid.UUID) (traintravel.Outcome, error) {
		return traintravel.Outcome{}, fmt.Errorf("cancel: %w", errors.ErrUnsupported)
	}
	if s := subject(g).supported(t.Context()); s.canceller() != nil {
		t.Error("its Cancel is checked")
	}
	if s := subject(sound()).supported(t.Context()); s.canceller() == nil {
		t.Error("the Cancel of one that can is not checked")
	}
}
