package traintravel_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/memstore"
)

// TestPaymentsModel lets two processes die at any step of any sequence of payments,
// repeated and simultaneous requests, cancellations and late answers. In the end
// nobody is charged twice, nobody travels unpaid, no money is kept without a place,
// and what a client was told is true.
func TestPaymentsModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := newCounter(t)
		t.Repeat(map[string]func(*rapid.T){
			"":       func(t *rapid.T) { c.audit(t) },
			"book":   c.book,
			"pay":    c.payNew,
			"again":  c.payAgain,
			"cancel": c.cancel,
			"work":   c.work,
			"time":   c.time,
			"late":   c.late,
		})
		c.drain(t)
	})
}

// A counter is two processes that sell on one store and one bank.
type counter struct {
	tills     [2]*till
	bookings  []traintravel.Booking // of which a client knows
	asked     []payRequest
	payments  map[string]uuid.UUID // by the key that they were asked for with
	way       []lost
	unsettled map[uuid.UUID]bool // the bank does not tell yet
}

// A till is what clients talk to: a process, or the one after that.
type till struct {
	*life
	process *process
}

// A payRequest is a payment that a client may ask for again.
type payRequest struct {
	booking traintravel.Booking
	key     string
	card    traintravel.Secret
	at      time.Time
}

func newCounter(t *rapid.T) *counter {
	c := &counter{payments: map[string]uuid.UUID{}, unsettled: map[uuid.UUID]bool{}}
	o := &office{t: t, store: memstore.New(), bank: &bank{Gateway: sandbox.New()}, post: &post{}}
	fences := rapid.Bool().Draw(t, "fences")
	o = o.another()
	o.clock.set(opens)
	o.load(network())
	for i := range c.tills {
		c.tills[i] = &till{life: &life{office: o.another(), fences: fences, trip: o.trip('D', 'E', "R 2")}}
		c.tills[i].clock = o.clock
		c.tills[i].restart()
	}
	o.bank.after = func(_ string, id uuid.UUID, out *traintravel.Outcome) error {
		if c.unsettled[id] {
			*out = traintravel.Outcome{Status: traintravel.Pending}
		}
		return nil
	}
	return c
}

func (l *till) restart() { l.process = l.start(0, false) }

// till draws a process, which lives, and may be about to die.
func (c *counter) till(t *rapid.T) *till {
	l := c.tills[rapid.IntRange(0, 1).Draw(t, "till")]
	for _, l := range c.tills {
		l.t = t
	}
	if l.process.dead() {
		l.restart()
	}
	if steps := rapid.IntRange(-12, 8).Draw(t, "dies after"); steps > 0 {
		l.process.dieAt, l.process.panics = l.process.steps+steps, rapid.Bool().Draw(t, "panics")
	}
	return l
}

func (c *counter) bank() *bank { return c.tills[0].bank }

func (c *counter) now() time.Time { return c.tills[0].clock.now() }

func (c *counter) audit(t *rapid.T) {
	c.tills[0].t = t
	c.tills[0].audit()
}

func (c *counter) book(t *rapid.T) {
	l := c.till(t)
	by := rapid.SampledFrom([]traintravel.Caller{anna, berta}).Draw(t, "caller")
	survive(func() {
		b, err := l.CreateBooking(t.Context(), by, traintravel.NewBooking{TripID: l.trip, PassengerName: by.ID})
		if err == nil {
			c.bookings, l.sold = append(c.bookings, b), append(l.sold, b.ID)
		}
		expected(t, "booking", err, traintravel.ErrSoldOut, traintravel.ErrDeparted)
	})
}

// expected fails unless an error is none, one of those, or that of a dead process.
func expected(t *rapid.T, what string, err error, expected ...error) {
	for _, e := range append(expected, nil, errDead) {
		if errors.Is(err, e) {
			return
		}
	}
	t.Fatalf("%s: %v", what, err)
}

func (c *counter) payNew(t *rapid.T) {
	if len(c.bookings) == 0 {
		t.Skip("no booking yet")
	}
	r := payRequest{
		booking: rapid.SampledFrom(c.bookings[max(0, len(c.bookings)-4):]).Draw(t, "booking"),
		card:    rapid.SampledFrom([]traintravel.Secret{works, works, declined}).Draw(t, "card"),
		at:      c.now(),
	}
	if rapid.Bool().Draw(t, "key") {
		r.key = fmt.Sprint("key ", len(c.asked))
	}
	c.asked = append(c.asked, r)
	c.pay(t, r)
}

func (c *counter) payAgain(t *rapid.T) {
	if len(c.asked) == 0 {
		t.Skip("no payment yet")
	}
	c.pay(t, rapid.SampledFrom(c.asked[max(0, len(c.asked)-4):]).Draw(t, "request"))
}

// pay asks a process for a payment. The bank may lose the question or the answer, or
// not know yet; and something else may happen while it is asked.
func (c *counter) pay(t *rapid.T, r payRequest) {
	l := c.till(t)
	fault := rapid.SampledFrom([]string{"", "", "", "question lost", "answer lost", "unsettled"}).Draw(t, "fault")
	meanwhile := c.meanwhile(t, l, r)
	inner := c.bank().after
	defer func() { c.bank().before, c.bank().after = nil, inner }()
	c.bank().before = func(op string, id uuid.UUID) error {
		c.bank().before = nil
		if fault == "unsettled" {
			c.unsettled[id] = true
		}
		if fault == "question lost" {
			c.way = append(c.way, lost{traintravel.Charge{ID: id, Booking: r.booking.ID, Amount: r.booking.Price, Source: visa(r.card)}, c.now()})
		}
		meanwhile("before")
		if fault == "question lost" {
			return errLine
		}
		return nil
	}
	c.bank().after = func(op string, id uuid.UUID, out *traintravel.Outcome) error {
		if op == "charge" {
			meanwhile("after")
			if fault == "answer lost" {
				return errLine
			}
		}
		return inner(op, id, out)
	}
	c.ask(t, l, r)
}

func (c *counter) ask(t *rapid.T, l *till, r payRequest) {
	survive(func() {
		p, err := l.PayBooking(t.Context(), traintravel.Caller{Subject: r.booking.Owner}, r.booking.ID,
			traintravel.NewPayment{Amount: r.booking.Price, Source: visa(r.card), IdempotencyKey: r.key})
		expected(t, "paying", err, traintravel.ErrNotFound, traintravel.ErrHoldExpired, traintravel.ErrAlreadyPaid,
			traintravel.ErrPaymentInProgress, traintravel.ErrTooManyDeclines, traintravel.ErrPaidTooLate)
		if err != nil {
			return
		}
		if p.Status == traintravel.Succeeded {
			l.paid = append(l.paid, r.booking.ID)
		}
		if r.key == "" || c.now().Sub(r.at) > 23*time.Hour {
			return
		}
		if first, ok := c.payments[r.key]; ok && first != p.ID {
			t.Fatalf("the key %s stands for the payments %v and %v", r.key, first, p.ID)
		}
		c.payments[r.key] = p.ID
	})
}

// meanwhile draws what happens while the bank is asked, before or after it acts: the
// same request once more, another, a cancellation, or the work of the other process.
func (c *counter) meanwhile(t *rapid.T, busy *till, r payRequest) func(when string) {
	when := rapid.SampledFrom([]string{"never", "never", "before", "after"}).Draw(t, "meanwhile")
	what := rapid.SampledFrom([]string{"same", "other", "cancel", "work"}).Draw(t, "what")
	other := c.tills[0]
	if other == busy {
		other = c.tills[1]
	}
	return func(now string) {
		if now != when || other.process.dead() {
			return
		}
		when = "never"
		switch what {
		case "same":
			c.ask(t, other, r)
		case "other":
			r.key = ""
			c.ask(t, other, r)
		case "cancel":
			c.cancels(t, other, r.booking)
		case "work":
			c.works(other)
		}
	}
}

func (c *counter) cancel(t *rapid.T) {
	if len(c.bookings) == 0 {
		t.Skip("no booking yet")
	}
	c.cancels(t, c.till(t), rapid.SampledFrom(c.bookings[max(0, len(c.bookings)-4):]).Draw(t, "booking"))
}

func (c *counter) cancels(t *rapid.T, l *till, b traintravel.Booking) {
	survive(func() {
		err := l.CancelBooking(t.Context(), traintravel.Caller{Subject: b.Owner}, b.ID)
		expected(t, "cancelling", err, traintravel.ErrNotFound, traintravel.ErrPaymentInProgress, traintravel.ErrDeparted)
	})
}

// work lets a process do what is due, and the bank lose one question or answer.
func (c *counter) work(t *rapid.T) {
	l := c.till(t)
	fault := rapid.SampledFrom([]string{"", "question lost", "answer lost", "failed"}).Draw(t, "fault")
	at := rapid.IntRange(1, 3).Draw(t, "at")
	inner := c.bank().after
	defer func() { c.bank().before, c.bank().after = nil, inner }()
	c.bank().before = func(string, uuid.UUID) error {
		if at--; at == 0 && fault == "question lost" {
			return errLine
		}
		return nil
	}
	c.bank().after = func(op string, id uuid.UUID, out *traintravel.Outcome) error {
		switch {
		case at == 0 && fault == "answer lost":
			return errLine
		case at == 0 && fault == "failed" && op == "refund":
			*out = traintravel.Outcome{Status: traintravel.Failed}
			return nil
		}
		return inner(op, id, out)
	}
	c.works(l)
}

func (c *counter) works(l *till) {
	survive(func() { _ = l.DoDue(l.t.Context()) }) // it fails if the process dies, and for nothing that reckon does not see
}

func (c *counter) time(t *rapid.T) {
	by := rapid.SampledFrom([]time.Duration{time.Second, 31 * time.Second, 2 * time.Minute, 30 * time.Minute, time.Hour, 3 * time.Hour}).Draw(t, "by")
	c.tills[0].clock.add(by)
}

// late lets charges that were lost arrive, or the bank tell what it knows.
func (c *counter) late(t *rapid.T) {
	if rapid.Bool().Draw(t, "arrives") {
		c.arrive(t)
	} else {
		clear(c.unsettled)
	}
}

func (c *counter) arrive(t *rapid.T) {
	for _, l := range c.way {
		if c.now().Before(l.since.Add(23 * time.Hour)) { // attempts are watched for a day
			if _, err := c.bank().Gateway.Charge(t.Context(), l.charge); err != nil {
				t.Fatal(err)
			}
		}
	}
	c.way = nil
}

// drain lets everything come to its end, and reckons.
func (c *counter) drain(t *rapid.T) {
	clear(c.unsettled)
	if rapid.Bool().Draw(t, "the rest arrives") {
		c.arrive(t)
	}
	all := c.tills[0].life
	all.sold, all.paid = append(all.sold, c.tills[1].sold...), append(all.paid, c.tills[1].paid...)
	for _, l := range c.tills {
		l.t = t
		l.restart()
	}
	for _, after := range []time.Duration{0, 31 * time.Second, 91 * time.Second, time.Hour, 3 * time.Hour, 25 * time.Hour, 2 * time.Hour} {
		c.tills[0].clock.add(after)
		for _, l := range c.tills {
			if err := l.DoDue(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	all.reckon(t.Fatalf)
}
