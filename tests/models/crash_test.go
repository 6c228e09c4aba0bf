package models_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/audittest"
	"github.com/traintravel/traintravel/internal/need"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/memstore"
)

// fencing is a process whose gateway can cancel.
type fencing struct{ *officetest.Process }

func (f fencing) Cancel(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	return f.Ask(func() (traintravel.Outcome, error) {
		return f.Gateway.(traintravel.Canceller).Cancel(ctx, id)
	})
}

// A life is what clients do to a process, whether it lives or not.
type life struct {
	*officetest.Office
	fences bool
	trip   uuid.UUID // with one place
	sold   []uuid.UUID
	paid   []uuid.UUID // bookings of which a client was told that they are paid
	lost   traintravel.Charge
	mail   *officetest.Mailroom // nil if there are no webhooks
	newID  func() uuid.UUID     // Options.NewID
	holds  traintravel.HoldLimits
}

// start begins a process that dies at a step.
func (l *life) start(dieAt int, panics bool) *officetest.Process {
	p := &officetest.Process{Store: l.Store, Gateway: l.Bank, Post: l.Post, Mail: l.mail, DieAt: dieAt, Panics: panics}
	opts := traintravel.Options{Now: l.Clock.Now, NewID: l.newID, Notifier: p, Gateway: p, KeepUnpaid: -1, Holds: l.holds, Declines: traintravel.DeclineLimits{Card: -1, User: -1}}
	if l.mail != nil {
		opts.Webhooks = &traintravel.WebhookOptions{Sender: p, SealKey: make([]byte, 32), PerHost: 1000, Clients: []string{"partner"}}
	}
	if l.fences {
		opts.Gateway = fencing{p}
	}
	var err error
	if l.Service, err = traintravel.New(p, opts); err != nil {
		l.T.Fatal(err)
	}
	return p
}

// survive does something that a dying process may panic in.
func survive(act func()) {
	defer func() {
		if r := recover(); r != nil && r != any(officetest.ErrDead) {
			panic(r)
		}
	}()
	act()
}

func (l *life) buys(by traintravel.Caller) {
	survive(func() {
		b, err := l.CreateBooking(l.T.Context(), by, traintravel.NewBooking{TripID: l.trip, PassengerName: by.ID})
		if err == nil {
			l.sold = append(l.sold, b.ID)
			l.pays(b)
		}
	})
}

func (l *life) pays(b traintravel.Booking) {
	survive(func() {
		if p, err := l.Pay(b); err == nil && p.Status == traintravel.Succeeded {
			l.paid = append(l.paid, b.ID)
		}
	})
}

func (l *life) cancels(by traintravel.Caller) {
	survive(func() {
		for _, id := range l.sold {
			l.CancelBooking(l.T.Context(), by, id)
		}
	})
}

func (l *life) works(after time.Duration) {
	survive(func() {
		l.Clock.Add(after)
		l.RunDue(l.T.Context())
	})
}

// loses makes the bank lose the next charge on its way; arrives brings it.
func (l *life) loses() {
	l.Bank.During("charge", func() error { return officetest.ErrLine }, nil)
	inner := l.Bank.Before
	l.Bank.Before = func(op string, id uuid.UUID) error {
		err := inner(op, id)
		if err != nil {
			l.lost = traintravel.Charge{ID: id}
		}
		return err
	}
}

func (l *life) arrives() {
	for _, b := range l.Audit().Bookings {
		if l.lost.ID != uuid.Nil && (b.LatestPayment == l.lost.ID) {
			l.Bank.Gateway.Charge(l.T.Context(), traintravel.Charge{ID: l.lost.ID, Booking: b.ID, Amount: b.Price, Source: officetest.Visa(officetest.Works)})
		}
	}
}

// lives are what may be interrupted.
var lives = map[string]func(*life){
	"pay and cancel": func(l *life) {
		l.buys(officetest.Anna)
		l.works(0)
		l.cancels(officetest.Anna)
		l.works(0)
	},
	"an answer is lost": func(l *life) {
		l.Bank.During("charge", nil, func() error { return officetest.ErrLine })
		l.buys(officetest.Anna)
		l.works(31 * time.Second)
		l.cancels(officetest.Anna)
		l.works(0)
	},
	"a charge is lost": func(l *life) {
		l.loses()
		l.buys(officetest.Anna)
		l.works(91 * time.Second)
		l.works(0)
		l.buys(officetest.Berta)
	},
	"a charge comes late": func(l *life) {
		l.loses()
		l.buys(officetest.Anna)
		l.works(91 * time.Second)
		l.arrives()
		l.works(time.Minute)
		l.works(time.Minute)
	},
	"a charge comes too late": func(l *life) {
		l.loses()
		l.buys(officetest.Anna)
		l.works(91 * time.Second)
		l.Clock.Add(time.Hour)
		l.buys(officetest.Berta)
		l.arrives()
		l.works(2 * time.Hour)
	},
}

// TestCrash kills the process at every step of each life, and its successor at
// every step of the recovery, or at some of them. In the end money and places agree, nobody is
// charged twice, no event is lost, and what a client was told is true.
func TestCrash(t *testing.T) {
	for name, live := range lives {
		for _, fences := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/fences=%t", name, fences), func(t *testing.T) {
				t.Parallel()
				for n, more := 1, true; more; n++ {
					more = crash(t, memstore.New(), live, fences, n, 0, n%2 == 0)
					every := need.Stride(3)
					for m, more := 1+n%every, more; more; m += every {
						more = crash(t, memstore.New(), live, fences, n, m, m%2 == 0)
					}
				}
			})
		}
	}
}

// TestCrashOnEveryStore kills one process at a time.
func TestCrashOnEveryStore(t *testing.T) {
	for n := 1; n < 24; n += 2 * need.Stride(2) {
		officetest.OnEveryStoreCase(t, fmt.Sprintf("at step %d", n), func(t *testing.T, store traintravel.Store) {
			crash(t, store, lives["pay and cancel"], true, n, 0, false)
		})
	}
}

// crash kills one process at its step n, and the next at its step m unless
// that is zero. It returns false if the last of them has survived.
func crash(t *testing.T, store traintravel.Store, live func(*life), fences bool, n, m int, panics bool) bool {
	o := &officetest.Office{T: t, Store: store, Bank: &officetest.Bank{Gateway: sandbox.New()}, Post: &officetest.Post{}}
	o = o.Another()
	o.Clock.Set(officetest.Opens)
	o.Load(officetest.Network())
	l := &life{Office: o, fences: fences, trip: o.TripID('D', 'E', "R 2")}

	last := l.start(n, panics)
	live(l)
	l.Bank.Before, l.Bank.After = nil, nil
	l.Audit()
	recovery := func() {
		for _, after := range []time.Duration{0, 31 * time.Second, time.Minute, time.Hour, 25 * time.Hour, time.Hour} {
			l.works(after)
		}
	}
	if m > 0 {
		last = l.start(m, panics)
		recovery()
	}
	l.start(0, false)
	recovery()

	l.reckon(func(format string, args ...any) {
		t.Helper()
		t.Fatalf("killed at steps %d and %d: %s", n, m, fmt.Sprintf(format, args...))
	})
	return last.Dead()
}

// reckon compares, when all has been done that there was to do, what is in the
// store with the bank, the events, and what clients were told.
func (l *life) reckon(fail func(string, ...any)) {
	books, err := audittest.Audit(l.T.Context(), l.Store)
	if err != nil {
		fail("%v", err)
	}
	if books.Events != 0 || books.Open["eur"] != 0 || books.Owed["eur"] != 0 || books.Kept["eur"] != l.Bank.Balance("eur").Amount {
		fail("%d events, open %v, owed %v, kept %v, balance %v", books.Events, books.Open, books.Owed, books.Kept, l.Bank.Balance("eur"))
	}
	net := map[uuid.UUID]int64{}
	for _, m := range l.Bank.Movements() {
		if m.Charge == uuid.Nil && m.Outcome.Status == traintravel.Succeeded {
			net[m.Booking] += m.Amount.Amount
		} else if m.Charge != uuid.Nil {
			net[books.Payments[m.Charge].Booking] -= m.Amount.Amount
		}
	}
	for id, b := range books.Bookings {
		switch b.Status {
		case traintravel.Confirmed:
			if net[id] != b.Price.Amount {
				fail("a confirmed booking has cost %d", net[id])
			}
		case traintravel.Held:
			fail("a booking is still held")
		default:
			if net[id] != 0 {
				fail("a booking that is %v has cost %d", b.Status, net[id])
			}
		}
		events := l.Post.Of(id)
		want := map[traintravel.BookingStatus]traintravel.EventType{
			traintravel.Confirmed: traintravel.BookingConfirmed, traintravel.Expired: traintravel.BookingExpired, traintravel.Cancelled: traintravel.BookingCancelled,
		}[b.Status]
		if len(events) < 2 || !slices.Contains(events, traintravel.BookingCreated) || !slices.Contains(events, want) {
			fail("of a booking that is %v were told %v", b.Status, events)
		}
	}
	for _, id := range l.sold {
		if _, ok := books.Bookings[id]; !ok {
			fail("a booking is lost")
		}
	}
	for _, id := range l.paid {
		if s := books.Bookings[id].Status; s != traintravel.Confirmed && s != traintravel.Cancelled {
			fail("a booking was paid and is %v", s)
		}
	}
}
