package models_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/memstore"
	"pgregory.net/rapid"
)

// TestPaymentsModel lets two processes die at any step of any sequence of payments,
// repeated and simultaneous requests, cancellations, late answers, and hours or days in
// which the bank does not answer or nobody works. After each step what the payer was
// told is true at the bank, what has ended is called off there, and nothing that ended
// long ago comes back. In the end nobody is charged twice, nobody travels unpaid, and no
// money is kept without a place.
func TestPaymentsModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := newCounter(t)
		t.Repeat(map[string]func(*rapid.T){
			"":          func(t *rapid.T) { c.audit(t) },
			"book":      c.book,
			"pay":       c.payNew,
			"pay again": c.payAgain,
			"cancel":    c.cancel,
			"withdraw":  c.withdraw,
			"work":      c.work,
			"time":      c.time,
			"night":     c.night,
			"outage":    c.outage,
			"late":      c.late,
		})
		c.drain(t)
	})
}

// A counter is two processes that sell on one store and one bank.
type counter struct {
	tills     [2]*till
	trips     []uuid.UUID           // each with one place
	bookings  []traintravel.Booking // of which a client knows
	asked     []payRequest
	payments  map[string]uuid.UUID // by the key that they were asked for with
	way       []lost
	unsettled map[uuid.UUID]bool      // the bank has acted, and does not tell yet
	silent    map[string]string       // how the bank fails to answer an operation, until it does
	sick      time.Time               // when it last failed to answer Run
	ended     map[uuid.UUID]time.Time // when a booking was first seen to have ended
}

// A till is what clients talk to: a process, or the one after that.
type till struct {
	*life
	process *officetest.Process
}

// A payRequest is a payment that a client may ask for again.
type payRequest struct {
	booking traintravel.Booking
	key     string
	card    traintravel.Secret
	at      time.Time
}

func newCounter(t *rapid.T) *counter {
	c := &counter{
		payments: map[string]uuid.UUID{}, unsettled: map[uuid.UUID]bool{},
		silent: map[string]string{}, ended: map[uuid.UUID]time.Time{},
	}
	o := &officetest.Office{T: t, Store: memstore.New(), Bank: &officetest.Bank{Gateway: sandbox.New()}, Post: &officetest.Post{}}
	fences := rapid.Bool().Draw(t, "fences")
	o = o.Another()
	o.Clock.Set(officetest.Opens)
	o.Load(officetest.Network())
	for _, day := range []int{0, 3, 10} {
		c.trips = append(c.trips, o.TripIn(day, 'D', 'E', "R 2"))
	}
	ids := uint16(0) // drawn, a sequence could not be repeated
	newID := func() uuid.UUID { ids++; return uuid.UUID{6: 0x40, 8: 0x80, 14: byte(ids >> 8), 15: byte(ids)} }
	for i := range c.tills {
		c.tills[i] = &till{life: &life{Office: o.Another(), fences: fences, newID: newID}}
		c.tills[i].Clock = o.Clock
		c.tills[i].restart()
	}
	c.listen()
	return c
}

func (l *till) restart() { l.process = l.start(0, false) }

// till draws a process, which lives, and may be about to die.
func (c *counter) till(t *rapid.T) *till {
	l := c.tills[rapid.IntRange(0, 1).Draw(t, "till")]
	for _, l := range c.tills {
		l.T = t
	}
	if l.process.Dead() {
		l.restart()
	}
	if steps := rapid.IntRange(-24, 8).Draw(t, "dies after"); steps > 0 {
		l.process.DieAt, l.process.Panics = l.process.Steps+steps, rapid.Bool().Draw(t, "panics")
	}
	return l
}

func (c *counter) bank() *officetest.Bank { return c.tills[0].Bank }

func (c *counter) now() time.Time { return c.tills[0].Clock.Now() }

func (c *counter) book(t *rapid.T) {
	l := c.till(t)
	by := rapid.SampledFrom([]traintravel.Caller{officetest.Anna, officetest.Berta}).Draw(t, "caller")
	trip := c.trips[rapid.IntRange(0, 2).Draw(t, "trip")]
	survive(func() {
		b, err := l.CreateBooking(t.Context(), by, traintravel.NewBooking{TripID: trip, PassengerName: by.ID})
		if err == nil {
			c.bookings, l.sold = append(c.bookings, b), append(l.sold, b.ID)
		}
		expected(t, "booking", err, traintravel.ErrSoldOut, traintravel.ErrDeparted, traintravel.ErrNotFound)
	})
	if len(c.bookings) > 0 && rapid.Bool().Draw(t, "and pay") {
		c.payNew(t)
	}
}

// expected fails unless an error is none, one of those, or that of a dead process.
func expected(t *rapid.T, what string, err error, expected ...error) {
	for _, e := range append(expected, nil, officetest.ErrDead) {
		if errors.Is(err, e) {
			return
		}
	}
	t.Fatalf("%s: %v", what, err)
}

// booking draws one of the latest bookings.
func (c *counter) booking(t *rapid.T) traintravel.Booking {
	return c.bookings[len(c.bookings)-1-rapid.IntRange(0, min(3, len(c.bookings)-1)).Draw(t, "booking")]
}

func (c *counter) payNew(t *rapid.T) {
	if len(c.bookings) == 0 {
		t.Skip("no booking yet")
	}
	r := payRequest{
		booking: c.booking(t),
		card:    rapid.SampledFrom([]traintravel.Secret{officetest.Works, officetest.Works, officetest.Declined}).Draw(t, "card"),
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
	c.pay(t, c.asked[len(c.asked)-1-rapid.IntRange(0, min(3, len(c.asked)-1)).Draw(t, "request")])
}

// pay asks a process for a payment. The bank may lose the question or the answer, not
// tell yet, or take days for a debit; and something else may happen while it is asked.
func (c *counter) pay(t *rapid.T, r payRequest) {
	l := c.till(t)
	fault := rapid.SampledFrom([]string{"", "", "question lost", "question lost", "answer lost", "unsettled", "debit"}).Draw(t, "fault")
	meanwhile := c.meanwhile(t, l, r)
	c.bank().Debits.Slow = fault == "debit"
	defer c.listen()
	inner, once := c.bank().Before, true
	c.bank().Before = func(op string, id uuid.UUID) error {
		if op != "charge" || !once {
			return inner(op, id)
		}
		once = false
		if fault == "unsettled" {
			c.unsettled[id] = true
		}
		if fault == "question lost" {
			c.way = append(c.way, lost{traintravel.Charge{ID: id, Booking: r.booking.ID, Amount: r.booking.Price, Source: officetest.Visa(r.card)}, c.now()})
		}
		meanwhile("before")
		if fault == "question lost" {
			return officetest.ErrLine
		}
		return nil
	}
	answered := c.bank().After
	c.bank().After = func(op string, id uuid.UUID, out *traintravel.Outcome) error {
		if op == "charge" {
			meanwhile("after")
			if fault == "answer lost" {
				return officetest.ErrLine
			}
		}
		return answered(op, id, out)
	}
	c.ask(t, l, r)
}

func (c *counter) ask(t *rapid.T, l *till, r payRequest) {
	survive(func() {
		p, err := l.PayBooking(t.Context(), traintravel.Caller{Subject: r.booking.Owner}, r.booking.ID,
			traintravel.NewPayment{Amount: r.booking.Price, Source: officetest.Visa(r.card), IdempotencyKey: r.key})
		expected(t, "paying", err, traintravel.ErrNotFound, traintravel.ErrCancelled, traintravel.ErrHoldExpired, traintravel.ErrAlreadyPaid,
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
	what := rapid.SampledFrom([]string{"same", "other", "cancel", "withdraw", "work"}).Draw(t, "what")
	other := c.tills[0]
	if other == busy {
		other = c.tills[1]
	}
	return func(now string) {
		if now != when || other.process.Dead() {
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
		case "withdraw":
			c.withdraws(t, other, r.booking)
		case "work":
			c.works(other)
		}
	}
}

func (c *counter) cancel(t *rapid.T) {
	if len(c.bookings) == 0 {
		t.Skip("no booking yet")
	}
	c.cancels(t, c.till(t), c.booking(t))
}

func (c *counter) cancels(t *rapid.T, l *till, b traintravel.Booking) {
	survive(func() {
		err := l.CancelBooking(t.Context(), traintravel.Caller{Subject: b.Owner}, b.ID)
		expected(t, "cancelling", err, traintravel.ErrNotFound, traintravel.ErrCancelled, traintravel.ErrPaymentInProgress, traintravel.ErrDeparted)
	})
}

func (c *counter) withdraw(t *rapid.T) {
	if len(c.bookings) == 0 {
		t.Skip("no booking yet")
	}
	c.withdraws(t, c.till(t), c.booking(t))
}

// withdraws cancels the run of a booking and all who are on it, again if the process
// dies, and has the run sold again.
func (c *counter) withdraws(t *rapid.T, l *till, b traintravel.Booking) {
	for done := false; !done; {
		if l.process.Dead() {
			l.restart()
		}
		survive(func() {
			_, err := l.CancelRun(t.Context(), b.Legs[0].Run, traintravel.CancelRunOptions{Past: true})
			expected(t, "cancelling a run", err)
			if err == nil {
				err = l.RestoreRun(t.Context(), b.Legs[0].Run)
				expected(t, "restoring a run", err, traintravel.ErrNotFound) // restored before the process died
			}
			done = err == nil || errors.Is(err, traintravel.ErrNotFound)
		})
	}
}

// work lets a process do what is due, and the bank lose one question or answer.
func (c *counter) work(t *rapid.T) {
	l := c.till(t)
	fault := rapid.SampledFrom([]string{"", "question lost", "answer lost", "failed"}).Draw(t, "fault")
	at := rapid.IntRange(1, 3).Draw(t, "at")
	before, after := c.bank().Before, c.bank().After
	defer c.listen()
	c.bank().Before = func(op string, id uuid.UUID) error {
		if at--; at == 0 && fault == "question lost" {
			return c.fails()
		}
		return before(op, id)
	}
	c.bank().After = func(op string, id uuid.UUID, out *traintravel.Outcome) error {
		switch {
		case at == 0 && fault == "answer lost":
			return c.fails()
		case at == 0 && fault == "failed" && op == "refund":
			*out = traintravel.Outcome{Status: traintravel.Failed}
			return nil
		}
		return after(op, id, out)
	}
	if c.works(l) && !l.process.Dead() {
		c.calledOff(t)
	}
}

// works says whether all that was due was done.
func (c *counter) works(l *till) (done bool) {
	survive(func() { done = l.RunDue(l.T.Context()) == nil }) // it fails if the process dies, and for nothing that reckon does not see
	return done
}

func (c *counter) time(t *rapid.T) {
	by := rapid.SampledFrom([]time.Duration{
		time.Second, 31 * time.Second, 2 * time.Minute, 30 * time.Minute, time.Hour, 3 * time.Hour, 9 * time.Hour,
	}).Draw(t, "by")
	c.tills[0].Clock.Add(by)
	c.mayWork(t)
}

func (c *counter) mayWork(t *rapid.T) {
	if rapid.Bool().Draw(t, "and work") {
		c.audit(t)
		c.work(t)
	}
}

// night is a day or more in which nobody works. Before that, what was lost may arrive.
func (c *counter) night(t *rapid.T) {
	if rapid.Bool().Draw(t, "what was lost arrives") {
		c.arrive(t)
	}
	c.tills[0].Clock.Add(rapid.SampledFrom([]time.Duration{24 * time.Hour, 25 * time.Hour, 49 * time.Hour}).Draw(t, "by"))
	c.mayWork(t)
}
