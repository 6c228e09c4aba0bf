// Package officetest is what tests of the whole need: a service with its bank, its clock and all
// who are told, a small network of trains, and every store.
package officetest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
	"github.com/traintravel/traintravel/internal/audittest"
	"github.com/traintravel/traintravel/internal/demo"
	"github.com/traintravel/traintravel/internal/need"
	"github.com/traintravel/traintravel/internal/pgtest"
	compiled "github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/boltstore"
	"github.com/traintravel/traintravel/store/memstore"
	"github.com/traintravel/traintravel/store/pgstore"
	"github.com/traintravel/traintravel/store/storetest"
	"pgregory.net/rapid"
)

// AtOnce calls n times at once and counts the errors by their text.
func AtOnce(n int, call func(i int) error) map[string]int {
	var wg sync.WaitGroup
	var mu sync.Mutex
	count := map[string]int{}
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			err := call(i)
			mu.Lock()
			defer mu.Unlock()
			count[fmt.Sprint(err)]++
		})
	}
	close(start)
	wg.Wait()
	return count
}

// MayHold sets what a user may hold: in all, and on a train.
func MayHold(user, train int) func(*traintravel.Options) {
	return func(o *traintravel.Options) { o.Holds = traintravel.HoldLimits{User: user, Train: train} }
}

// Walk follows Next through a list, and runs between before each page but the
// first.
func Walk[T any](t *testing.T, limit int, list func(traintravel.Page) (traintravel.List[T], error), between func(page int)) []T {
	t.Helper()
	var all []T
	for page, p := 1, (traintravel.Page{Limit: limit}); ; page++ {
		l, err := list(p)
		if err != nil {
			t.Fatal(err)
		}
		if len(l.Items) > limit || l.Next != "" && len(l.Items) < limit {
			t.Fatalf("page %d of %d has %d items", page, limit, len(l.Items))
		}
		all = append(all, l.Items...)
		if p.After = l.Next; p.After == "" {
			return all
		}
		between(page)
	}
}

// OnEveryStore runs a test on each store, in parallel. With -short it is only those in memory.
func OnEveryStore(t *testing.T, test func(t *testing.T, store traintravel.Store)) {
	OnSharedStores(t, 1, func(t *testing.T, stores []traintravel.Store) { test(t, stores[0]) })
}

// OnSharedStores runs a test on each store, which is opened several times if it
// can be, as several servers do. With -short it is only those in memory.
func OnSharedStores(t *testing.T, n int, test func(t *testing.T, stores []traintravel.Store)) {
	t.Parallel()
	always := func(s traintravel.Store) func() traintravel.Store { return func() traintravel.Store { return s } }
	for name, prepare := range map[string]func(*testing.T) (open func() traintravel.Store){
		"mem":   func(*testing.T) func() traintravel.Store { return always(memstore.New()) },
		"twice": func(*testing.T) func() traintravel.Store { return always(storetest.Twice(memstore.New())) },
		"bolt": func(t *testing.T) func() traintravel.Store {
			need.Short(t, "stores on disk")
			return always(OpenBolt(t, filepath.Join(t.TempDir(), "trains.db")))
		},
		"postgres": func(t *testing.T) func() traintravel.Store {
			url := pgtest.Shared(t).NewSchema(t)
			return func() traintravel.Store { return OpenPostgres(t, url) }
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

func OpenBolt(t testing.TB, path string) *boltstore.Store {
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

// OpenPostgres opens a database for the length of the test, and waits for it as long
// as is said, or as stores do.
func OpenPostgres(t testing.TB, url string, retryFor ...time.Duration) *pgstore.Store {
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

// Opens is when the tests begin: on the day of travel, two hours before the
// first train.
var Opens = time.Date(2026, 3, 2, 5, 0, 0, 0, time.UTC)

// A Clock shows what it is set to.
type Clock struct{ nanos atomic.Int64 }

func (c *Clock) Now() time.Time      { return time.Unix(0, c.nanos.Load()) }
func (c *Clock) Set(t time.Time)     { c.nanos.Store(t.UnixNano()) }
func (c *Clock) Add(d time.Duration) { c.nanos.Add(int64(d)) }

var (
	Anna  = traintravel.Caller{Subject: traintravel.Subject{Issuer: "https://id.example", ID: "anna"}, Client: "app"}
	Berta = traintravel.Caller{Subject: traintravel.Subject{Issuer: "https://id.example", ID: "berta"}, Client: "app"}
)

// A Tester is a *testing.T or a *rapid.T.
type Tester interface {
	rapid.TB
	Context() context.Context
	Cleanup(func())
}

// DemoNetwork is the timetable that is there to try things out with.
func DemoNetwork(t Tester) *traintravel.Timetable {
	t.Helper()
	tt, _, err := gtfs.Read(t.Context(), demo.Feed(), gtfs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tt
}

// An Office is a service with all that is around it.
type Office struct {
	*traintravel.Service
	T     Tester
	Store traintravel.Store
	Clock *Clock
	Bank  *Bank
	Post  *Post
	opts  traintravel.Options // of the service

	source *compiled.Source // of the trips that direct finds
}

// New opens an office at opens, with the network for its timetable. What
// is in the store is audited when the test ends.
func New(t Tester, store traintravel.Store, options ...func(*traintravel.Options)) *Office {
	t.Helper()
	o := &Office{T: t, Store: store, Bank: &Bank{Gateway: sandbox.New()}, Post: &Post{}}
	o = o.Another(options...)
	o.Clock.Set(Opens)
	if _, err := o.LoadTimetable(t.Context(), Network()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Audit() })
	return o
}

// At opens an office at the same bank on a store that is the same, opened again.
func (o *Office) At(store traintravel.Store, options ...func(*traintravel.Options)) *Office {
	p := *o
	p.Store = store
	return p.Another(options...)
}

// Another opens a second office on the same store, with a clock of its own.
func (o *Office) Another(options ...func(*traintravel.Options)) *Office {
	o.T.Helper()
	p := &Office{T: o.T, Store: o.Store, Clock: &Clock{}, Bank: o.Bank, Post: o.Post}
	if o.Clock != nil {
		p.Clock.Set(o.Clock.Now())
	}
	opts := traintravel.Options{Now: p.Clock.Now, Gateway: o.Bank, Notifier: o.Post, Holds: ManyHolds}
	for _, f := range options {
		f(&opts)
	}
	p.opts = opts
	p.Forget()
	return p
}

// Forget makes a new service of the office's, which has read nothing yet: a service sees
// what others on its store do only after two seconds.
func (o *Office) Forget() {
	o.T.Helper()
	s, err := traintravel.New(o.Store, o.opts)
	if err != nil {
		o.T.Fatal(err)
	}
	o.Service, o.source = s, newSource(o.Store)
}

// Audit checks that everything in the store agrees.
func (o *Office) Audit() audittest.Books {
	o.T.Helper()
	books, err := audittest.Audit(context.Background(), o.Store)
	if err != nil {
		o.T.Errorf("the store is not sound:\n%v", err)
	}
	return books
}

// Do does what is due.
func (o *Office) Do() {
	o.T.Helper()
	if err := o.RunDue(o.T.Context()); err != nil {
		o.T.Fatalf("what was due: %v", err)
	}
}

// TripID is the ID of a direct trip on the day of opens.
func (o *Office) TripID(from, to rune, number string) uuid.UUID {
	o.T.Helper()
	id, err := o.Direct(o.T.Context(), number, traintravel.DateOf(Opens), Station(from), Station(to))
	if err != nil {
		o.T.Fatalf("%s from %c to %c: %v", number, from, to, err)
	}
	return id
}

// Book books a trip and expects to succeed.
func (o *Office) Book(by traintravel.Caller, trip uuid.UUID) traintravel.Booking {
	o.T.Helper()
	b, err := o.CreateBooking(o.T.Context(), by, traintravel.NewBooking{TripID: trip, PassengerName: by.ID})
	if err != nil {
		o.T.Fatalf("booking: %v", err)
	}
	return b
}

// TryBook expects a booking to end with an error, or without if that is nil.
func (o *Office) TryBook(by traintravel.Caller, trip uuid.UUID, want error) {
	o.T.Helper()
	_, err := o.CreateBooking(o.T.Context(), by, traintravel.NewBooking{TripID: trip, PassengerName: by.ID})
	o.Expect("booking", err, want)
}

func (o *Office) Expect(what string, err, want error) {
	o.T.Helper()
	if !errors.Is(err, want) {
		o.T.Fatalf("%s: %v, want %v", what, err, want)
	}
}

// Pay pays a booking's price with a card that works, or another.
func (o *Office) Pay(b traintravel.Booking, card ...traintravel.Secret) (traintravel.Payment, error) {
	n := traintravel.NewPayment{Amount: b.Price, Source: Visa(Works)}
	if len(card) > 0 {
		n.Source = Visa(card[0])
	}
	return o.PayBooking(o.T.Context(), traintravel.Caller{Subject: b.Owner}, b.ID, n)
}

// MustPay pays and expects an outcome.
func (o *Office) MustPay(b traintravel.Booking, want traintravel.PaymentStatus, card ...traintravel.Secret) traintravel.Payment {
	o.T.Helper()
	p, err := o.Pay(b, card...)
	if err != nil || p.Status != want {
		o.T.Fatalf("paying: %v %+v, %v, want %v", p.Status, p.Failure, err, want)
	}
	return p
}

// Stored reads a booking from the store, whatever its status.
func (o *Office) Stored(id uuid.UUID) traintravel.Booking {
	o.T.Helper()
	return o.Audit().Bookings[id]
}

// Stands expects a booking to have a status in the store.
func (o *Office) Stands(id uuid.UUID, want traintravel.BookingStatus) {
	o.T.Helper()
	if got := o.Stored(id).Status; got != want {
		o.T.Fatalf("the booking is %v, want %v", got, want)
	}
}

// BankHolds expects the bank to hold an amount of euro cents.
func (o *Office) BankHolds(want int64) {
	o.T.Helper()
	if got := o.Bank.Balance("eur"); got.Amount != want {
		o.T.Fatalf("the bank holds %v, want %d cents; it moved %+v", got, want, o.Bank.Movements())
	}
}

const (
	Works    traintravel.Secret = "4242424242424242"
	Declined traintravel.Secret = "4000000000000002"
)

func Visa(number traintravel.Secret) traintravel.Source {
	return traintravel.Source{Card: &traintravel.Card{Name: "Anna", Number: number, CVC: "737", ExpMonth: 12, ExpYear: 2030, Country: "DE"}}
}

// ManyHolds let a user of the tests book as much as they need, and count it.
var ManyHolds = traintravel.HoldLimits{User: 1000, Train: 1000}

// Unlimited lets cards be declined as often as one likes, and much be held.
func Unlimited(o *traintravel.Options) {
	o.Holds = ManyHolds
	o.Declines = traintravel.DeclineLimits{Booking: -1, Card: -1, User: -1}
}

// KeepUnpaid has bookings stay that were never paid.
func KeepUnpaid(o *traintravel.Options) { o.KeepUnpaid = -1 }

// A Post collects events.
type Post struct {
	mu     sync.Mutex
	Events []traintravel.Event
	Before func(traintravel.Event) error
}

func (p *Post) Notify(_ context.Context, e traintravel.Event) error {
	if p.Before != nil {
		if err := p.Before(e); err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Events = append(p.Events, e)
	return nil
}

// Of lists the types of the events that came for a booking, sorted, each once
// if it came more than once.
func (p *Post) Of(booking uuid.UUID) []traintravel.EventType {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := map[uuid.UUID]bool{}
	var types []traintravel.EventType
	for _, e := range p.Events {
		if e.Booking.ID == booking && !seen[e.ID] {
			seen[e.ID] = true
			types = append(types, e.Type)
		}
	}
	slices.Sort(types)
	return types
}

// Told expects the events that came for a booking, in alphabetical order.
func (o *Office) Told(booking uuid.UUID, want ...traintravel.EventType) {
	o.T.Helper()
	if got := o.Post.Of(booking); !slices.Equal(got, want) {
		o.T.Fatalf("events %v, want %v", got, want)
	}
}

// Load replaces the timetable.
func (o *Office) Load(tt *traintravel.Timetable) traintravel.LoadReport {
	o.T.Helper()
	report, err := o.LoadTimetable(o.T.Context(), tt)
	if err != nil {
		o.T.Fatal(err)
	}
	return report
}

// Now is the office's clock, as its service reads it.
func (o *Office) Now() time.Time {
	if o.opts.Now == nil {
		return time.Now().UTC()
	}
	return o.opts.Now().UTC()
}
