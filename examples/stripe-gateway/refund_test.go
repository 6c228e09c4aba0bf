package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// A refund made in the dashboard, in full or in part, is not requested for ever, whether the
// first response of Stripe is lost or not.
func TestRefundsInTheDashboard(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		given int64
		lost  bool
		want  string
	}{
		{4999, false, "succeeded made_elsewhere "},
		{4999, true, "succeeded made_elsewhere "},
		{1000, false, "failed impossible amount_not_left"},
		{1000, true, "failed impossible amount_not_left"},
	} {
		f, b := newFake(t, mock), newBooks(t)
		paid := charge(good)
		if out, err := open(f, b).Charge(t.Context(), paid); err != nil || out.Status != traintravel.Succeeded {
			t.Fatal(out, err)
		}
		f.giveBack(paid.ID, c.given)
		r := traintravel.Refund{ID: uuid.New(), Charge: paid.ID, Amount: paid.Amount}
		if c.lost {
			f.lose = func(int) bool { return true }
			if out, err := open(f, b).Refund(t.Context(), r); err == nil {
				t.Fatalf("%+v", out)
			}
			f.lose = func(int) bool { return false }
		}
		for range 2 {
			out, err := open(f, b).Refund(t.Context(), r)
			if got := fmt.Sprintf("%s %s %s", out.Status, out.Resolution, out.Failure.Code); err != nil || got != c.want {
				t.Errorf("%+v: %s, %v", c, got, err)
			}
			if again, err := open(f, b).Lookup(t.Context(), r.ID); err != nil || again != out {
				t.Errorf("%+v is looked up as %+v, %v", out, again, err)
			}
		}
		if left, _, _ := f.kept(paid.ID.String()); left != 4999-c.given {
			t.Errorf("%+v: %d is left", c, left)
		}
	}
}

// A refund that an earlier version recorded as failed is impossible, as Stripe reports.
func TestFailedRefundOfEarlierVersion(t *testing.T) {
	t.Parallel()
	f, b := newFake(t, mock), newBooks(t)
	paid := charge(good)
	if out, err := open(f, b).Charge(t.Context(), paid); err != nil || out.Status != traintravel.Succeeded {
		t.Fatal(out, err)
	}
	r := traintravel.Refund{ID: uuid.New(), Charge: paid.ID, Amount: paid.Amount}
	if err := b.write(r.ID, entry{Amount: r.Amount, Charge: r.Charge, Intent: "pi_1", Outcome: failed("refund_failed", "It has failed.")}); err != nil {
		t.Fatal(err)
	}
	if out, err := open(f, b).Refund(t.Context(), r); err != nil || out != impossible("refund_failed", "It has failed.") {
		t.Errorf("%+v, %v", out, err)
	}
}

// If the process dies after Stripe has made a PaymentIntent and before its ID is recorded, a
// cancellation cancels that PaymentIntent too.
func TestCancelLeavesNoIntentBehind(t *testing.T) {
	t.Parallel()
	f, b := newFake(t, mock), newBooks(t)
	c := charge(good)
	f.lose = func(n int) bool { return n == 2 } // the second request makes it
	if out, err := open(f, b).Charge(t.Context(), c); err == nil {
		t.Fatalf("%+v", out)
	}
	if e, _, err := b.read(c.ID); err != nil || e.Intent != "" {
		t.Fatalf("the books know of it: %+v, %v", e, err)
	}
	f.lose = func(n int) bool { return n == 3 } // and again
	g := open(f, b)
	if out, err := g.Cancel(t.Context(), c.ID); err == nil {
		t.Fatalf("Stripe was not asked for it: %+v", out)
	}
	if out, err := g.Cancel(t.Context(), c.ID); err != nil || out != cancelled {
		t.Fatalf("%+v, %v", out, err)
	}
	if len(f.intents) != 1 {
		t.Errorf("%d PaymentIntents were made", len(f.intents))
	}
	for id, pi := range f.intents {
		if pi.object["status"] != "canceled" {
			t.Errorf("%s is %s", id, pi.object["status"])
		}
	}
	// One that never came is fenced without asking Stripe.
	asked := f.asked
	if out, err := g.Cancel(t.Context(), uuid.New()); err != nil || out != cancelled || f.asked != asked {
		t.Errorf("%+v, %v, Stripe was asked %d times", out, err, f.asked-asked)
	}
}

// A second process on the file reports which process has it open, and what to do.
func TestFileInUse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "b.db")
	b, err := openBooks(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = openBooks(path)
	if err == nil {
		t.Fatal("it is opened twice")
	}
	for _, part := range []string{path, fmt.Sprintf("process %d", os.Getpid()), "Stop that one first"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not say %q", err, part)
		}
	}
	b.close()
	b, err = openBooks(path)
	if err != nil {
		t.Fatal(err)
	}
	b.close()
}
