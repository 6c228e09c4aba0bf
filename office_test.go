package traintravel_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/audit/audittest"
	"github.com/traintravel/traintravel/gtfs"
	"github.com/traintravel/traintravel/internal/demo"
	"github.com/traintravel/traintravel/internal/pgtest"
	compiled "github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/boltstore"
	"github.com/traintravel/traintravel/store/memstore"
	"github.com/traintravel/traintravel/store/pgstore"
	"github.com/traintravel/traintravel/store/storetest"
)

// onEveryStore runs a test on each store, in parallel.
func onEveryStore(t *testing.T, test func(t *testing.T, store traintravel.Store)) {
	onSharedStores(t, 1, func(t *testing.T, stores []traintravel.Store) { test(t, stores[0]) })
}

// onSharedStores runs a test on each store, which is opened several times if it
// can be, as several servers do.
func onSharedStores(t *testing.T, n int, test func(t *testing.T, stores []traintravel.Store)) {
	t.Parallel()
	always := func(s traintravel.Store) func() traintravel.Store { return func() traintravel.Store { return s } }
	for name, prepare := range map[string]func(*testing.T) (open func() traintravel.Store){
		"mem":   func(*testing.T) func() traintravel.Store { return always(memstore.New()) },
		"twice": func(*testing.T) func() traintravel.Store { return always(storetest.Twice(memstore.New())) },
		"bolt": func(t *testing.T) func() traintravel.Store {
			return always(openBolt(t, filepath.Join(t.TempDir(), "trains.db")))
		},
		"postgres": func(t *testing.T) func() traintravel.Store {
			url := pgtest.Shared(t).NewSchema(t)
			return func() traintravel.Store { return openPostgres(t, url) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := prepare(t)
			stores := make([]traintravel.Store, n)
			for i := range stores {
				stores[i] = open()
			}
			test(t, stores)
		})
	}
}

func openBolt(t testing.TB, path string) *boltstore.Store {
	t.Helper()
	store, err := boltstore.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// openPostgres opens a database for the length of the test, and waits for it as long
// as is said, or as stores do.
func openPostgres(t testing.TB, url string, retryFor ...time.Duration) *pgstore.Store {
	t.Helper()
	var opts pgstore.Options
	for _, d := range retryFor {
		opts.RetryFor = d
	}
	store, err := pgstore.Open(t.Context(), url+"&pool_max_conns=4", &opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// opens is when the tests begin: on the day of travel, two hours before the
// first train.
var opens = time.Date(2026, 3, 2, 5, 0, 0, 0, time.UTC)

// A clock shows what it is set to.
type clock struct{ nanos atomic.Int64 }

func (c *clock) now() time.Time      { return time.Unix(0, c.nanos.Load()) }
func (c *clock) set(t time.Time)     { c.nanos.Store(t.UnixNano()) }
func (c *clock) add(d time.Duration) { c.nanos.Add(int64(d)) }

var (
	anna  = traintravel.Caller{Subject: traintravel.Subject{Issuer: "https://id.example", ID: "anna"}, Client: "app"}
	berta = traintravel.Caller{Subject: traintravel.Subject{Issuer: "https://id.example", ID: "berta"}, Client: "app"}
)

// A tester is a *testing.T or a *rapid.T.
type tester interface {
	rapid.TB
	Context() context.Context
	Cleanup(func())
}

// demoNetwork is the timetable that is there to try things out with.
func demoNetwork(t tester) *traintravel.Timetable {
	t.Helper()
	tt, _, err := gtfs.Read(t.Context(), demo.Feed(), gtfs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tt
}

// An office is a service with all that is around it.
type office struct {
	*traintravel.Service
	t     tester
	store traintravel.Store
	clock *clock
	bank  *bank
	post  *post
	opts  traintravel.Options // of the service

	source *compiled.Source // of the trips that direct finds
}

// newOffice opens an office at opens, with the network for its timetable. What
// is in the store is audited when the test ends.
func newOffice(t tester, store traintravel.Store, options ...func(*traintravel.Options)) *office {
	t.Helper()
	o := &office{t: t, store: store, bank: &bank{Gateway: sandbox.New()}, post: &post{}}
	o = o.another(options...)
	o.clock.set(opens)
	if _, err := o.LoadTimetable(t.Context(), network()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.audit() })
	return o
}

// at opens an office at the same bank on a store that is the same, opened again.
func (o *office) at(store traintravel.Store, options ...func(*traintravel.Options)) *office {
	p := *o
	p.store = store
	return p.another(options...)
}

// another opens a second office on the same store, with a clock of its own.
func (o *office) another(options ...func(*traintravel.Options)) *office {
	o.t.Helper()
	p := &office{t: o.t, store: o.store, clock: &clock{}, bank: o.bank, post: o.post}
	if o.clock != nil {
		p.clock.set(o.clock.now())
	}
	opts := traintravel.Options{Now: p.clock.now, Gateway: o.bank, Notifier: o.post, Holds: manyHolds}
	for _, f := range options {
		f(&opts)
	}
	p.opts = opts
	p.forget()
	return p
}

// forget makes a new service of the office's, which has read nothing yet: a service sees
// what others on its store do only after two seconds.
func (o *office) forget() {
	o.t.Helper()
	s, err := traintravel.New(o.store, o.opts)
	if err != nil {
		o.t.Fatal(err)
	}
	o.Service, o.source = s, newSource(o.store)
}

// audit checks that everything in the store agrees.
func (o *office) audit() audittest.Books {
	o.t.Helper()
	books, err := audittest.Audit(context.Background(), o.store)
	if err != nil {
		o.t.Errorf("the store is not sound:\n%v", err)
	}
	return books
}

// do does what is due.
func (o *office) do() {
	o.t.Helper()
	if err := o.RunDue(o.t.Context()); err != nil {
		o.t.Fatalf("what was due: %v", err)
	}
}

// trip is the ID of a direct trip on the day of opens.
func (o *office) trip(from, to rune, number string) uuid.UUID {
	o.t.Helper()
	id, err := o.direct(o.t.Context(), number, traintravel.DateOf(opens), station(from), station(to))
	if err != nil {
		o.t.Fatalf("%s from %c to %c: %v", number, from, to, err)
	}
	return id
}

// book books a trip and expects to succeed.
func (o *office) book(by traintravel.Caller, trip uuid.UUID) traintravel.Booking {
	o.t.Helper()
	b, err := o.CreateBooking(o.t.Context(), by, traintravel.NewBooking{TripID: trip, PassengerName: by.ID})
	if err != nil {
		o.t.Fatalf("booking: %v", err)
	}
	return b
}

// tryBook expects a booking to end with an error, or without if that is nil.
func (o *office) tryBook(by traintravel.Caller, trip uuid.UUID, want error) {
	o.t.Helper()
	_, err := o.CreateBooking(o.t.Context(), by, traintravel.NewBooking{TripID: trip, PassengerName: by.ID})
	o.expect("booking", err, want)
}

func (o *office) expect(what string, err, want error) {
	o.t.Helper()
	if !errors.Is(err, want) {
		o.t.Fatalf("%s: %v, want %v", what, err, want)
	}
}

// pay pays a booking's price with a card that works, or another.
func (o *office) pay(b traintravel.Booking, card ...traintravel.Secret) (traintravel.Payment, error) {
	n := traintravel.NewPayment{Amount: b.Price, Source: visa(works)}
	if len(card) > 0 {
		n.Source = visa(card[0])
	}
	return o.PayBooking(o.t.Context(), traintravel.Caller{Subject: b.Owner}, b.ID, n)
}

// mustPay pays and expects an outcome.
func (o *office) mustPay(b traintravel.Booking, want traintravel.PaymentStatus, card ...traintravel.Secret) traintravel.Payment {
	o.t.Helper()
	p, err := o.pay(b, card...)
	if err != nil || p.Status != want {
		o.t.Fatalf("paying: %v %+v, %v, want %v", p.Status, p.Failure, err, want)
	}
	return p
}

// state reads a booking from the store, whatever its status.
func (o *office) state(id uuid.UUID) traintravel.Booking {
	o.t.Helper()
	return o.audit().Bookings[id]
}

// stands expects a booking to have a status in the store.
func (o *office) stands(id uuid.UUID, want traintravel.BookingStatus) {
	o.t.Helper()
	if got := o.state(id).Status; got != want {
		o.t.Fatalf("the booking is %v, want %v", got, want)
	}
}

// holds expects the bank to hold an amount of euro cents.
func (o *office) holds(want int64) {
	o.t.Helper()
	if got := o.bank.Balance("eur"); got.Amount != want {
		o.t.Fatalf("the bank holds %v, want %d cents; it moved %+v", got, want, o.bank.Movements())
	}
}

const (
	works    traintravel.Secret = "4242424242424242"
	declined traintravel.Secret = "4000000000000002"
)

func visa(number traintravel.Secret) traintravel.Source {
	return traintravel.Source{Card: &traintravel.Card{Name: "Anna", Number: number, CVC: "737", ExpMonth: 12, ExpYear: 2030, Country: "DE"}}
}

// A bank is the sandbox, with a say before and after everything that it is
// asked. Both are told charge, lookup, refund or cancel.
type bank struct {
	*sandbox.Gateway
	debits debits
	before func(op string, id uuid.UUID) error
	after  func(op string, id uuid.UUID, out *traintravel.Outcome) error
}

func (b *bank) ask(op string, id uuid.UUID, act func() (traintravel.Outcome, error)) (traintravel.Outcome, error) {
	if b.before != nil {
		if err := b.before(op, id); err != nil {
			return traintravel.Outcome{}, err
		}
	}
	out, err := act()
	if b.after != nil && err == nil {
		if err := b.after(op, id, &out); err != nil {
			return traintravel.Outcome{}, err
		}
	}
	return out, err
}

func (b *bank) Charge(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
	return b.ask("charge", c.ID, func() (traintravel.Outcome, error) { return b.debits.charge(ctx, b.Gateway, c) })
}

func (b *bank) Lookup(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	return b.ask("lookup", id, func() (traintravel.Outcome, error) { return b.debits.lookup(ctx, b.Gateway, id) })
}

func (b *bank) Refund(ctx context.Context, r traintravel.Refund) (traintravel.Outcome, error) {
	return b.ask("refund", r.ID, func() (traintravel.Outcome, error) { return b.Gateway.Refund(ctx, r) })
}

func (b *bank) Cancel(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	return b.ask("cancel", id, func() (traintravel.Outcome, error) { return b.debits.cancel(ctx, b.Gateway, id) })
}

// Movements and Balance are the sandbox's, which is in memory and does not fail.
func (b *bank) Movements() []sandbox.Movement {
	all, err := b.Gateway.Movements(context.Background())
	if err != nil {
		panic(err)
	}
	return all
}

func (b *bank) Balance(currency string) traintravel.Money {
	sum, err := b.Gateway.Balance(context.Background(), currency)
	if err != nil {
		panic(err)
	}
	return sum
}

// unfenced is a gateway that cannot cancel.
type unfenced struct{ traintravel.PaymentGateway }

func withoutCancel(o *traintravel.Options) { o.Gateway = unfenced{o.Gateway} }

// manyHolds let a user of the tests book as much as they need, and count it.
var manyHolds = traintravel.HoldLimits{User: 1000, Train: 1000}

// unlimited lets cards be declined as often as one likes, and much be held.
func unlimited(o *traintravel.Options) {
	o.Holds = manyHolds
	o.Declines = traintravel.DeclineLimits{Booking: -1, Card: -1, User: -1}
}

// keepUnpaid has bookings stay that were never paid.
func keepUnpaid(o *traintravel.Options) { o.KeepUnpaid = -1 }

// A post collects events.
type post struct {
	mu     sync.Mutex
	events []traintravel.Event
	before func(traintravel.Event) error
}

func (p *post) Notify(_ context.Context, e traintravel.Event) error {
	if p.before != nil {
		if err := p.before(e); err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = append(p.events, e)
	return nil
}

// of lists the types of the events that came for a booking, sorted, each once
// if it came more than once.
func (p *post) of(booking uuid.UUID) []traintravel.EventType {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := map[uuid.UUID]bool{}
	var types []traintravel.EventType
	for _, e := range p.events {
		if e.Booking.ID == booking && !seen[e.ID] {
			seen[e.ID] = true
			types = append(types, e.Type)
		}
	}
	slices.Sort(types)
	return types
}

// told expects the events that came for a booking, in alphabetical order.
func (o *office) told(booking uuid.UUID, want ...traintravel.EventType) {
	o.t.Helper()
	if got := o.post.of(booking); !slices.Equal(got, want) {
		o.t.Fatalf("events %v, want %v", got, want)
	}
}

// load replaces the timetable.
func (o *office) load(tt *traintravel.Timetable) traintravel.LoadReport {
	o.t.Helper()
	report, err := o.LoadTimetable(o.t.Context(), tt)
	if err != nil {
		o.t.Fatal(err)
	}
	return report
}

// now is the office's clock, as its service reads it.
func (o *office) now() time.Time {
	if o.opts.Now == nil {
		return time.Now().UTC()
	}
	return o.opts.Now().UTC()
}
