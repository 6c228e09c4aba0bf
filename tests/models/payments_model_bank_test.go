package models_test

import (
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"pgregory.net/rapid"
)

// What goes wrong at the bank of the payments' model, and what must hold.

// listen has the bank answer as it does between the faults of single requests.
func (c *counter) listen() {
	c.bank().Before = func(op string, _ uuid.UUID) error {
		if c.silent[op] == "question lost" {
			return c.fails()
		}
		return nil
	}
	c.bank().After = func(op string, id uuid.UUID, out *traintravel.Outcome) error {
		switch {
		case c.silent[op] == "answer lost":
			return c.fails()
		case c.silent[op] == "pending" || c.unsettled[id]:
			*out = officetest.IsPending
		}
		if op == "cancel" && out.Status == traintravel.Pending {
			_ = c.fails()
		}
		return nil
	}
}

// fails notes that Run has not heard what it should.
func (c *counter) fails() error {
	c.sick = c.now()
	return officetest.ErrLine
}

// outage changes whether the bank answers an operation of Run's, and how it fails; and
// whether a pending debit can still be cancelled.
func (c *counter) outage(t *rapid.T) {
	ops := rapid.SampledFrom([][]string{{"lookup"}, {"cancel"}, {"lookup", "cancel"}, {"lookup", "cancel", "refund"}}).Draw(t, "of")
	how := rapid.SampledFrom([]string{"", "", "question lost", "answer lost", "pending"}).Draw(t, "how")
	for _, op := range ops {
		c.silent[op] = how
	}
	c.bank().Debits.Firm = rapid.IntRange(0, 3).Draw(t, "debits are past recall") == 0
}

// late lets charges that were lost arrive, debits settle, or the bank tell what it knows.
func (c *counter) late(t *rapid.T) {
	switch rapid.SampledFrom([]string{"arrive", "settle", "tell"}).Draw(t, "what") {
	case "arrive":
		c.arrive(t)
	case "settle":
		c.tills[0].T = t
		c.tills[0].Settle()
	default:
		clear(c.unsettled)
	}
}

// arrive lets charges that were lost come to the bank. A gateway sends none later than
// a day after it was asked for it.
func (c *counter) arrive(t *rapid.T) {
	c.bank().Debits.Slow = rapid.Bool().Draw(t, "and are pending")
	for _, l := range c.way {
		if c.now().Before(l.since.Add(23 * time.Hour)) {
			if _, err := c.bank().Debits.Charge(t.Context(), c.bank().Gateway, l.charge); err != nil {
				t.Fatal(err)
			}
		}
	}
	c.way = nil
}

// audit checks the store, and that the bank agrees with what was told of payments.
func (c *counter) audit(t *rapid.T) {
	c.tills[0].T = t
	books := c.tills[0].Audit()
	for id, p := range books.Payments {
		if p.Status == traintravel.Failed && p.RefundOf == uuid.Nil && c.tills[0].fences {
			c.neverTaken(t, id)
		}
	}
	for id, b := range books.Bookings {
		if _, seen := c.ended[id]; !seen && (b.Status == traintravel.Expired || b.Status == traintravel.Cancelled) {
			c.ended[id] = b.Changed
		}
		if ended := c.ended[id]; !ended.IsZero() && b.Status == traintravel.Confirmed && !b.Confirmed.Before(ended.Add(24*time.Hour)) {
			t.Fatalf("a booking that ended at %v was confirmed at %v", ended, b.Confirmed)
		}
	}
}

// neverTaken: the payer was told that nothing was charged. At a bank that can cancel
// nothing will be.
func (c *counter) neverTaken(t *rapid.T, id uuid.UUID) {
	out, err := c.bank().Gateway.Lookup(t.Context(), id)
	if err != nil || out.Status != traintravel.Failed {
		t.Fatalf("payment %v has failed; the bank says %q (%v), pending there: %t", id, out.Status, err, c.bank().Debits.Pending(id))
	}
}

// calledOff: all that was due is done. No booking that has ended, or was paid by another
// attempt, has an open one at a bank that can cancel: unless the bank did not answer, and
// Run asks again in an hour at most.
func (c *counter) calledOff(t *rapid.T) {
	if !c.tills[0].fences {
		return
	}
	for id, b := range c.tills[0].Audit().Bookings {
		heard := b.Changed.After(c.sick) || c.now().Sub(c.sick) > time.Hour
		if b.Status != traintravel.Held && b.OpenPayment != uuid.Nil && heard {
			t.Fatalf("booking %v is %v since %v, and its payment %v is not called off", id, b.Status, b.Changed, b.OpenPayment)
		}
	}
}

// drain lets everything come to its end, and reckons.
func (c *counter) drain(t *rapid.T) {
	clear(c.unsettled)
	clear(c.silent)
	c.bank().Debits.Firm = false
	if rapid.Bool().Draw(t, "the rest arrives") {
		c.arrive(t)
	}
	if rapid.Bool().Draw(t, "debits settle") {
		c.tills[0].Settle()
	}
	all := c.tills[0].life
	all.sold, all.paid = append(all.sold, c.tills[1].sold...), append(all.paid, c.tills[1].paid...)
	for _, l := range c.tills {
		l.T = t
		l.restart()
	}
	for i, after := range []time.Duration{0, 31 * time.Second, 91 * time.Second, time.Hour, 3 * time.Hour, 25 * time.Hour, 2 * time.Hour} {
		c.tills[0].Clock.Add(after)
		if i == 4 {
			c.tills[0].Settle()
		}
		for _, l := range c.tills {
			if err := l.RunDue(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		c.audit(t)
	}
	all.reckon(t.Fatalf)
}
