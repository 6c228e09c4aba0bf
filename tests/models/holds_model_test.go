package models_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/audittest"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/memstore"
	"github.com/traintravel/traintravel/store/storetest"
	"pgregory.net/rapid"
)

// TestHoldsModel has users book, pay and cancel at two processes whose clocks differ and
// which die at any step, while the bank declines, hangs or answers late. No user ever
// holds more than the limits, and nobody is refused who holds less.
func TestHoldsModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := newHoarding(t)
		t.Repeat(map[string]func(*rapid.T){
			"":           h.check,
			"book":       h.book,
			"book more":  h.book,
			"pay":        h.pay,
			"cancel":     h.cancel,
			"work":       h.work,
			"time":       h.time,
			"the bank":   h.settle,
			"cancel run": h.cancelRun,
			"erase":      h.erase,
		})
		h.tills[0].Audit()
	})
}

// A hoarding is what users try to get more than they may by.
type hoarding struct {
	tills   [2]*till
	trips   []uuid.UUID
	told    []traintravel.Booking          // to have been made
	over    map[uuid.UUID]bool             // bookings that are paid or cancelled, as somebody was told
	pending map[uuid.UUID]bool             // charges of which the bank does not tell yet
	keys    map[string]traintravel.Booking // what was answered to them
}

var heldInModel = traintravel.HoldLimits{User: 3, Train: 2}

func newHoarding(t *rapid.T) *hoarding {
	h := &hoarding{over: map[uuid.UUID]bool{}, pending: map[uuid.UUID]bool{}, keys: map[string]traintravel.Booking{}}
	var store traintravel.Store = memstore.New()
	if rapid.Bool().Draw(t, "twice") {
		store = storetest.Twice(store)
	}
	o := &officetest.Office{T: t, Store: store, Bank: &officetest.Bank{Gateway: sandbox.New()}, Post: &officetest.Post{}}
	o = o.Another()
	o.Clock.Set(officetest.Opens)
	o.Load(officetest.Network())
	for day := range 3 {
		h.trips = append(h.trips, o.TripIn(day, 'F', 'G', "S 3"))
	}
	h.trips = append(h.trips, o.TripIn(0, 'A', 'D', "R 1"), officetest.JoinTrips(o.TripIn(0, 'D', 'F', "R 2"), o.TripIn(0, 'F', 'G', "S 3")))
	ids := uint16(0) // drawn, a sequence could not be repeated
	newID := func() uuid.UUID { ids++; return uuid.UUID{6: 0x40, 8: 0x80, 14: byte(ids >> 8), 15: byte(ids)} }
	skew := rapid.SampledFrom([]time.Duration{0, 5 * time.Second, 10 * time.Minute}).Draw(t, "skew")
	for i := range h.tills {
		h.tills[i] = &till{life: &life{Office: o.Another(), newID: newID, holds: heldInModel, fences: true}}
		h.tills[i].restart()
	}
	h.tills[1].Clock.Add(skew)
	o.Bank.After = func(_ string, id uuid.UUID, out *traintravel.Outcome) error {
		if h.pending[id] {
			*out = traintravel.Outcome{Status: traintravel.Pending}
		}
		return nil
	}
	return h
}

// till draws a process, which lives, and may be about to die.
func (h *hoarding) till(t *rapid.T) *till {
	l := h.tills[rapid.IntRange(0, 1).Draw(t, "till")]
	l.T = t
	if l.process.Dead() {
		l.restart()
	}
	if steps := rapid.IntRange(-24, 8).Draw(t, "dies after"); steps > 0 {
		l.process.DieAt, l.process.Panics = l.process.Steps+steps, rapid.Bool().Draw(t, "panics")
	}
	return l
}

// stored are all bookings.
func (h *hoarding) stored() []traintravel.Booking {
	all, err := audittest.StoredBookings(context.Background(), h.tills[0].Store)
	if err != nil {
		h.tills[0].T.Fatal(err)
	}
	return all
}

// held are the bookings of a user that are held, in all and on each run of a trip; those
// whose time is over at an instant, and that nobody has ended, do not count.
func (h *hoarding) held(by traintravel.Caller, now time.Time) (all int, on map[traintravel.RunID]int) {
	on = map[traintravel.RunID]int{}
	for _, b := range h.stored() {
		if b.Owner != by.Subject || b.Status != traintravel.Held || !now.Before(b.HeldUntil()) {
			continue
		}
		all++
		for _, l := range b.Legs {
			on[l.Run]++
		}
	}
	return all, on
}

// check looks at the limits by a clock that is slower than all, and at what callers were told.
func (h *hoarding) check(t *rapid.T) {
	for _, l := range h.tills {
		l.T = t
	}
	for _, by := range []traintravel.Caller{officetest.Anna, officetest.Berta} {
		// One that was over long ago is not ended, as no clock is that slow.
		all, on := h.held(by, h.tills[0].Clock.Now().Add(-20*time.Minute))
		if all > heldInModel.User {
			t.Fatalf("%s holds %d", by.ID, all)
		}
		for run, n := range on {
			if n > heldInModel.Train {
				t.Fatalf("%s holds %d of %v", by.ID, n, run)
			}
		}
	}
	told := map[traintravel.Subject]int{}
	now := h.tills[1].Clock.Now() // which is ahead
	for _, b := range h.told {
		h.over[b.ID] = h.over[b.ID] || !now.Before(b.Expires)
		if !h.over[b.ID] {
			told[b.Owner]++
		}
	}
	for of, n := range told {
		if n > heldInModel.User {
			t.Fatalf("%s was told of %d holds", of.ID, n)
		}
	}
}

func (h *hoarding) book(t *rapid.T) {
	l := h.till(t)
	by := rapid.SampledFrom([]traintravel.Caller{officetest.Anna, officetest.Anna, officetest.Berta}).Draw(t, "caller")
	n := traintravel.NewBooking{TripID: rapid.SampledFrom(h.trips).Draw(t, "trip"), PassengerName: by.ID}
	if rapid.Bool().Draw(t, "key") {
		n.IdempotencyKey = fmt.Sprint(n.TripID, rapid.IntRange(0, 3).Draw(t, "number"))
	}
	key := by.ID + n.IdempotencyKey
	survive(func() {
		all, on := h.held(by, l.Clock.Now())
		b, err := l.CreateBooking(t.Context(), by, n)
		if full, ok := errors.AsType[*traintravel.HoldsError](err); ok {
			most := all
			if full.Train {
				most = 0
				for _, n := range on {
					most = max(most, n)
				}
			}
			if most < full.Limit || len(full.Bookings) != most || full.RetryAfter <= 0 {
				t.Fatalf("refused because of %+v, and there are %d, %v", full, all, on)
			}
			return
		}
		expected(t, "booking", err, traintravel.ErrSoldOut, traintravel.ErrDeparted, traintravel.ErrNotFound)
		if err != nil {
			return
		}
		first, known := h.keys[key]
		forgotten := l.Clock.Now().Sub(first.Created) > 23*time.Hour
		if b.Replayed && known && first.ID != b.ID && !forgotten {
			t.Fatalf("the key %s is answered with %v and %v", key, first.ID, b.ID)
		}
		if h.keys[key] = b; b.Replayed {
			return
		}
		h.told = append(h.told, b)
	})
}

// booking draws one of the latest bookings.
func (h *hoarding) booking(t *rapid.T) traintravel.Booking {
	if len(h.told) == 0 {
		t.Skip("no booking yet")
	}
	return h.told[len(h.told)-1-rapid.IntRange(0, min(5, len(h.told)-1)).Draw(t, "booking")]
}

func (h *hoarding) pay(t *rapid.T) {
	l, b := h.till(t), h.booking(t)
	card := rapid.SampledFrom([]traintravel.Secret{officetest.Works, officetest.Declined}).Draw(t, "card")
	fault := rapid.SampledFrom([]string{"", "pending", "pending", "lost"}).Draw(t, "fault")
	l.Bank.Before = func(_ string, id uuid.UUID) error {
		if fault == "lost" {
			return officetest.ErrLine
		}
		h.pending[id] = h.pending[id] || fault == "pending"
		return nil
	}
	survive(func() {
		p, err := l.Pay(b, card)
		expected(t, "paying", err, traintravel.ErrNotFound, traintravel.ErrCancelled, traintravel.ErrHoldExpired, traintravel.ErrAlreadyPaid,
			traintravel.ErrPaymentInProgress, traintravel.ErrTooManyDeclines, traintravel.ErrPaidTooLate)
		if err == nil && p.Status == traintravel.Succeeded {
			h.over[b.ID] = true
		}
	})
	l.Bank.Before = nil
	h.learnOf(l)
}

func (h *hoarding) cancel(t *rapid.T) {
	l, b := h.till(t), h.booking(t)
	survive(func() {
		err := l.CancelBooking(t.Context(), traintravel.Caller{Subject: b.Owner}, b.ID)
		h.over[b.ID] = h.over[b.ID] || err == nil
	})
	h.learnOf(l)
}

func (h *hoarding) work(t *rapid.T) {
	l := h.till(t)
	survive(func() { _ = l.RunDue(t.Context()) })
	h.learn()
}

// learnOf has users look who were not told what became of a request, as its process died.
func (h *hoarding) learnOf(l *till) {
	if l.process.Dead() {
		h.learn()
	}
}

// learn is what users see when they look: a booking that has been ended by others.
func (h *hoarding) learn() {
	for _, b := range h.stored() {
		h.over[b.ID] = h.over[b.ID] || b.Status != traintravel.Held
	}
}

func (h *hoarding) time(t *rapid.T) {
	by := rapid.SampledFrom([]time.Duration{time.Second, time.Minute, 59 * time.Minute, time.Hour, 25 * time.Hour, -time.Second, -time.Minute}).Draw(t, "by")
	for _, l := range h.tills {
		l.Clock.Add(by)
	}
}

// settle has the bank tell of all that is pending.
func (h *hoarding) settle(*rapid.T) { clear(h.pending) }

func (h *hoarding) cancelRun(t *rapid.T) {
	l, b := h.till(t), h.booking(t)
	l.restart() // broken off, it has to be asked for again
	run := rapid.SampledFrom(b.Legs).Draw(t, "leg").Run
	if _, err := l.CancelRun(t.Context(), run, traintravel.CancelRunOptions{}); err == nil {
		expected(t, "restoring", l.RestoreRun(t.Context(), run))
	}
	h.learn()
}

func (h *hoarding) erase(t *rapid.T) {
	l := h.till(t)
	survive(func() { _, _ = l.EraseSubject(t.Context(), officetest.Berta.Subject) })
	h.learn()
}
