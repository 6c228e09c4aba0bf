package traintravel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/audit/audittest"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/memstore"
)

var errDead = errors.New("the process is dead")

// A process is what a service has around it, and dies at one of its steps:
// before or after a commit, a word with the bank, or an event. From then on
// nothing that the service does has any effect.
type process struct {
	traintravel.Store
	gateway traintravel.PaymentGateway
	post    *post
	mail    *mailroom
	panics  bool // dies with a panic, once

	mu    sync.Mutex
	dieAt int // the number of the step, from 1; 0 is never
	steps int
}

func (p *process) dead() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dies()
}

func (p *process) dies() bool { return p.dieAt > 0 && p.steps >= p.dieAt }

// step returns an error if the process is dead, or dies now.
func (p *process) step() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dies() {
		return errDead
	}
	if p.steps++; p.dies() {
		if p.panics {
			panic(errDead)
		}
		return errDead
	}
	return nil
}

func (p *process) Update(ctx context.Context, fn func(traintravel.Tx) error) error {
	if err := p.step(); err != nil {
		return err
	}
	if err := p.Store.Update(ctx, fn); err != nil {
		return err
	}
	return p.step()
}

func (p *process) View(ctx context.Context, fn func(traintravel.Reader) error) error {
	if p.dead() {
		return errDead
	}
	return p.Store.View(ctx, fn)
}

func (p *process) Get(ctx context.Context, keys ...traintravel.Key) ([][]byte, error) {
	if p.dead() {
		return nil, errDead
	}
	return p.Store.Get(ctx, keys...)
}

func (p *process) List(ctx context.Context, r traintravel.Range) ([]traintravel.Record, error) {
	if p.dead() {
		return nil, errDead
	}
	return p.Store.List(ctx, r)
}

func (p *process) ask(act func() (traintravel.Outcome, error)) (traintravel.Outcome, error) {
	if err := p.step(); err != nil {
		return traintravel.Outcome{}, err
	}
	out, err := act()
	if dead := p.step(); dead != nil {
		return traintravel.Outcome{}, dead
	}
	return out, err
}

func (p *process) Charge(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
	return p.ask(func() (traintravel.Outcome, error) { return p.gateway.Charge(ctx, c) })
}

func (p *process) Lookup(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	return p.ask(func() (traintravel.Outcome, error) { return p.gateway.Lookup(ctx, id) })
}

func (p *process) Refund(ctx context.Context, r traintravel.Refund) (traintravel.Outcome, error) {
	return p.ask(func() (traintravel.Outcome, error) { return p.gateway.Refund(ctx, r) })
}

func (p *process) Notify(ctx context.Context, e traintravel.Event) error {
	if err := p.step(); err != nil {
		return err
	}
	if err := p.post.Notify(ctx, e); err != nil {
		return err
	}
	return p.step()
}

func (p *process) CheckURL(url string) error { return p.mail.CheckURL(url) }

func (p *process) Send(ctx context.Context, w traintravel.WebhookPost) (traintravel.WebhookAnswer, error) {
	if err := p.step(); err != nil {
		return traintravel.WebhookAnswer{}, err
	}
	answer, err := p.mail.Send(ctx, w)
	if dead := p.step(); dead != nil {
		return traintravel.WebhookAnswer{}, dead
	}
	return answer, err
}

// fencing is a process whose gateway can cancel.
type fencing struct{ *process }

func (f fencing) Cancel(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	return f.ask(func() (traintravel.Outcome, error) {
		return f.gateway.(traintravel.Canceller).Cancel(ctx, id)
	})
}

// A life is what clients do to a process, whether it lives or not.
type life struct {
	*office
	fences bool
	trip   uuid.UUID // with one place
	sold   []uuid.UUID
	paid   []uuid.UUID // bookings of which a client was told that they are paid
	lost   traintravel.Charge
	mail   *mailroom        // nil if there are no webhooks
	newID  func() uuid.UUID // Options.NewID
	holds  traintravel.HoldLimits
}

// start begins a process that dies at a step.
func (l *life) start(dieAt int, panics bool) *process {
	p := &process{Store: l.store, gateway: l.bank, post: l.post, mail: l.mail, dieAt: dieAt, panics: panics}
	opts := traintravel.Options{Now: l.clock.now, NewID: l.newID, Notifier: p, Gateway: p, KeepUnpaid: -1, Holds: l.holds, Declines: traintravel.DeclineLimits{Card: -1, User: -1}}
	if l.mail != nil {
		opts.Webhooks = &traintravel.WebhookOptions{Sender: p, SealKey: make([]byte, 32), PerHost: 1000, Clients: []string{"partner"}}
	}
	if l.fences {
		opts.Gateway = fencing{p}
	}
	var err error
	if l.Service, err = traintravel.New(p, opts); err != nil {
		l.t.Fatal(err)
	}
	return p
}

// survive does something that a dying process may panic in.
func survive(act func()) {
	defer func() {
		if r := recover(); r != nil && r != any(errDead) {
			panic(r)
		}
	}()
	act()
}

func (l *life) buys(by traintravel.Caller) {
	survive(func() {
		b, err := l.CreateBooking(l.t.Context(), by, traintravel.NewBooking{TripID: l.trip, PassengerName: by.ID})
		if err == nil {
			l.sold = append(l.sold, b.ID)
			l.pays(b)
		}
	})
}

func (l *life) pays(b traintravel.Booking) {
	survive(func() {
		if p, err := l.pay(b); err == nil && p.Status == traintravel.Succeeded {
			l.paid = append(l.paid, b.ID)
		}
	})
}

func (l *life) cancels(by traintravel.Caller) {
	survive(func() {
		for _, id := range l.sold {
			l.CancelBooking(l.t.Context(), by, id)
		}
	})
}

func (l *life) works(after time.Duration) {
	survive(func() {
		l.clock.add(after)
		l.RunDue(l.t.Context())
	})
}

// loses makes the bank lose the next charge on its way; arrives brings it.
func (l *life) loses() {
	l.bank.during("charge", func() error { return errLine }, nil)
	inner := l.bank.before
	l.bank.before = func(op string, id uuid.UUID) error {
		err := inner(op, id)
		if err != nil {
			l.lost = traintravel.Charge{ID: id}
		}
		return err
	}
}

func (l *life) arrives() {
	for _, b := range l.audit().Bookings {
		if l.lost.ID != uuid.Nil && (b.LatestPayment == l.lost.ID) {
			l.bank.Gateway.Charge(l.t.Context(), traintravel.Charge{ID: l.lost.ID, Booking: b.ID, Amount: b.Price, Source: visa(works)})
		}
	}
}

// lives are what may be interrupted.
var lives = map[string]func(*life){
	"pay and cancel": func(l *life) {
		l.buys(anna)
		l.works(0)
		l.cancels(anna)
		l.works(0)
	},
	"an answer is lost": func(l *life) {
		l.bank.during("charge", nil, func() error { return errLine })
		l.buys(anna)
		l.works(31 * time.Second)
		l.cancels(anna)
		l.works(0)
	},
	"a charge is lost": func(l *life) {
		l.loses()
		l.buys(anna)
		l.works(91 * time.Second)
		l.works(0)
		l.buys(berta)
	},
	"a charge comes late": func(l *life) {
		l.loses()
		l.buys(anna)
		l.works(91 * time.Second)
		l.arrives()
		l.works(time.Minute)
		l.works(time.Minute)
	},
	"a charge comes too late": func(l *life) {
		l.loses()
		l.buys(anna)
		l.works(91 * time.Second)
		l.clock.add(time.Hour)
		l.buys(berta)
		l.arrives()
		l.works(2 * time.Hour)
	},
}

// TestCrash kills the process at every step of each life, and its successor at
// every step of the recovery. In the end money and places agree, nobody is
// charged twice, no event is lost, and what a client was told is true.
func TestCrash(t *testing.T) {
	for name, live := range lives {
		for _, fences := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/fences=%t", name, fences), func(t *testing.T) {
				t.Parallel()
				for n, more := 1, true; more; n++ {
					more = crash(t, memstore.New(), live, fences, n, 0, n%2 == 0)
					for m, more := 1, more; more; m++ {
						more = crash(t, memstore.New(), live, fences, n, m, m%2 == 0)
					}
				}
			})
		}
	}
}

// TestCrashOnEveryStore kills one process at a time.
func TestCrashOnEveryStore(t *testing.T) {
	for n := 1; n < 24; n += 2 {
		onEveryStoreCase(t, fmt.Sprintf("at step %d", n), func(t *testing.T, store traintravel.Store) {
			crash(t, store, lives["pay and cancel"], true, n, 0, false)
		})
	}
}

// crash kills one process at its step n, and the next at its step m unless
// that is zero. It returns false if the last of them has survived.
func crash(t *testing.T, store traintravel.Store, live func(*life), fences bool, n, m int, panics bool) bool {
	o := &office{t: t, store: store, bank: &bank{Gateway: sandbox.New()}, post: &post{}}
	o = o.another()
	o.clock.set(opens)
	o.load(network())
	l := &life{office: o, fences: fences, trip: o.trip('D', 'E', "R 2")}

	last := l.start(n, panics)
	live(l)
	l.bank.before, l.bank.after = nil, nil
	l.audit()
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
	return last.dead()
}

// reckon compares, when all has been done that there was to do, what is in the
// store with the bank, the events, and what clients were told.
func (l *life) reckon(fail func(string, ...any)) {
	books, err := audittest.Audit(l.t.Context(), l.store)
	if err != nil {
		fail("%v", err)
	}
	if books.Events != 0 || books.Open["eur"] != 0 || books.Owed["eur"] != 0 || books.Kept["eur"] != l.bank.Balance("eur").Amount {
		fail("%d events, open %v, owed %v, kept %v, balance %v", books.Events, books.Open, books.Owed, books.Kept, l.bank.Balance("eur"))
	}
	net := map[uuid.UUID]int64{}
	for _, m := range l.bank.Movements() {
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
		events := l.post.of(id)
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
