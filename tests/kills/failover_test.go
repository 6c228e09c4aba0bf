package kills_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/audittest"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/internal/pgtest"
	"github.com/traintravel/traintravel/sandbox"
)

// TestFailover is the proof that docs/failover.md tells of. Two services sell
// from one PostgreSQL server that has a synchronous standby. In the midst of it
// the server is killed and the standby promoted, while the sale goes on. In the
// end every booking and payment that was acknowledged is there, no place is sold
// twice, no card charged twice, and who was refused because the database was away
// has got nothing.
func TestFailover(t *testing.T) {
	t.Parallel()
	primary := pgtest.Start(t)
	database := primary.NewDatabase(t)
	standby := primary.Standby(t)
	url := pgtest.Via(database, primary.Addr(), standby.Addr())

	const offices, users, enough = 2, 8, 200
	s := newSale(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var wg sync.WaitGroup
	for office := range offices {
		a := &agency{}
		var err error
		store := openImpatient(t, url)
		if a.Service, err = traintravel.New(store, traintravel.Options{Now: sinceOpening(), Gateway: s.bank, Holds: officetest.ManyHolds, Declines: traintravel.DeclineLimits{Card: -1, User: -1}}); err != nil {
			t.Fatal(err)
		}
		if office == 0 {
			if _, err := a.LoadTimetable(ctx, failoverNetwork()); err != nil {
				t.Fatal(err)
			}
		}
		ids, err := killedTrips(ctx, store, 0)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() { _ = a.Run(ctx) })
		for user := range users {
			wg.Go(func() { s.use(ctx.Done(), a, ids, office*users+user) })
		}
	}

	s.await(enough)
	primary.Kill()
	s.awaitAway()
	standby.Promote()
	s.await(s.sold() + enough)
	stop()
	wg.Wait()
	store := openImpatient(t, pgtest.Via(database, standby.Addr()))
	s.audit(store)
	s.auditMoney(store)
}

// openImpatient opens a database that is waited for only as long as a test should.
func openImpatient(t *testing.T, url string) traintravel.Store {
	t.Helper()
	// Who is to find its tables in time does not make them, nor does a busy machine's first try decide.
	if err := officetest.OpenPostgres(t, url).Close(); err != nil {
		t.Fatal(err)
	}
	return officetest.OpenPostgres(t, url, 2*time.Second)
}

// sinceOpening is a clock that begins when the trains of tests can be booked.
func sinceOpening() func() time.Time {
	begun := time.Now()
	return func() time.Time { return officetest.Opens.Add(time.Since(begun)) }
}

// failoverNetwork has trains that sell out and trains that do not.
func failoverNetwork() *traintravel.Timetable {
	return officetest.Timetable(officetest.Train("R 1", 8, "ABCD", officetest.Seats(300, 300), officetest.Hooks(2)), officetest.Train("R 2", 12, "DEF", officetest.Seats(20)), officetest.Train("S 3", 15, "FG"))
}

// A sale is what the users of all offices were told.
type sale struct {
	*testing.T
	mu           sync.Mutex
	acknowledged map[uuid.UUID]request
	refused      map[request]bool // the database was away, and nothing written
	unknown      map[request]bool // nobody could tell
	paid         map[uuid.UUID]traintravel.Payment
	bank         *officetest.Bank // of all offices
	away         int              // how often the database was away
	soldOut      int
}

func newSale(t *testing.T) *sale {
	return &sale{T: t, paid: map[uuid.UUID]traintravel.Payment{}, bank: &officetest.Bank{Gateway: sandbox.New()}, acknowledged: map[uuid.UUID]request{}, refused: map[request]bool{}, unknown: map[request]bool{}}
}

// use is one user, who books again and again, pays for half of it by card, and cancels
// now and then what is paid and what is not, until closed. Every other request has an idempotency key and is repeated until it is
// answered; the others are given up when they fail.
func (s *sale) use(closed <-chan struct{}, a *agency, ids map[string]uuid.UUID, user int) {
	ctx := context.Background() // who asks waits for the answer
	for q := (request{User: user}); ; q.N++ {
		select {
		case <-closed:
			return
		default:
		}
		b := traintravel.NewBooking{TripID: ids[q.trip()], PassengerName: q.key()}
		if q.N%2 == 0 {
			b.IdempotencyKey = q.key()
		}
		booked, err := a.CreateBooking(ctx, q.by(), b)
		for s.note(q, booked, err) && b.IdempotencyKey != "" {
			booked, err = a.CreateBooking(ctx, q.by(), b)
		}
		if err != nil {
			continue
		}
		if q.N%4 < 2 {
			s.pay(ctx, a, q, booked, b.IdempotencyKey)
		}
		if q.N%3 > 0 {
			continue
		}
		err = a.CancelBooking(ctx, q.by(), booked.ID)
		if err != nil && !retriable(err) && !errors.Is(err, traintravel.ErrUnknownOutcome) && !errors.Is(err, traintravel.ErrPaymentInProgress) {
			s.Errorf("cancelling: %v", err)
		}
	}
}

// pay pays for a booking. With a key it is repeated until it is answered.
func (s *sale) pay(ctx context.Context, a *agency, q request, b traintravel.Booking, key string) {
	for again := true; again; again = again && key != "" {
		p, err := a.PayBooking(ctx, q.by(), b.ID, traintravel.NewPayment{Amount: b.Price, Source: officetest.Visa(officetest.Works), IdempotencyKey: key})
		again = retriable(err) || errors.Is(err, traintravel.ErrUnknownOutcome)
		switch {
		case err == nil && p.Status == traintravel.Succeeded:
			s.mu.Lock()
			s.paid[p.ID] = p
			s.mu.Unlock()
		case err == nil && p.Status == traintravel.Pending, again: // Run finds out
		case !errors.Is(err, traintravel.ErrPaymentInProgress) && !errors.Is(err, traintravel.ErrAlreadyPaid):
			s.Errorf("%s pays: %+v, %v", q.key(), p, err)
		}
	}
}

// retriable says whether a caller is asked to try again: the server answers
// with 503 and Retry-After.
func retriable(err error) bool {
	return errors.Is(err, traintravel.ErrUnavailable) && !errors.Is(err, traintravel.ErrUnknownOutcome)
}

// note writes down what a request led to, and says whether to ask again.
func (s *sale) note(q request, b traintravel.Booking, err error) (again bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		if was, ok := s.acknowledged[b.ID]; ok && was != q {
			s.Errorf("%s and %s got one booking, %v", was.key(), q.key(), b.ID)
		}
		s.acknowledged[b.ID] = q
	case errors.Is(err, traintravel.ErrSoldOut):
		s.soldOut++
	case errors.Is(err, traintravel.ErrUnknownOutcome):
		s.unknown[q] = true
		return true
	case retriable(err):
		s.away++
		s.refused[q] = true
		return true
	default:
		s.Errorf("%s: %v", q.key(), err)
	}
	return false
}

func (s *sale) sold() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.acknowledged)
}

func (s *sale) await(n int) {
	s.Helper()
	s.until(fmt.Sprint(n, " bookings"), func() bool { return s.sold() >= n })
}

// awaitAway waits until callers have been told that the database is away.
func (s *sale) awaitAway() {
	s.Helper()
	s.until("a refusal", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.away > 0
	})
}

func (s *sale) until(what string, done func() bool) {
	s.Helper()
	for begun := time.Now(); !done(); time.Sleep(5 * time.Millisecond) {
		if s.Failed() || time.Since(begun) > 2*time.Minute {
			s.Fatalf("there is no end to waiting for %s", what)
		}
	}
}

// audit compares what is in the store with what was said.
func (s *sale) audit(store traintravel.Store) {
	books, err := audittest.Audit(context.Background(), store)
	if err != nil {
		s.Errorf("the store is not sound:\n%v", err)
	}
	for id, q := range s.acknowledged {
		if b, ok := books.Bookings[id]; !ok || b.PassengerName != q.key() || b.Owner != q.by().Subject {
			s.Errorf("the booking %v of %s was acknowledged, and is lost: %+v", id, q.key(), b)
		}
	}
	has := map[string]uuid.UUID{}
	for id, b := range books.Bookings {
		if other, ok := has[b.PassengerName]; ok {
			s.Errorf("%s has the bookings %v and %v", b.PassengerName, id, other)
		}
		has[b.PassengerName] = id
	}
	answered := map[request]bool{}
	for _, q := range s.acknowledged {
		answered[q] = true
		delete(has, q.key())
	}
	settled := 0
	for q := range s.unknown {
		if answered[q] {
			settled++
		}
		delete(has, q.key())
	}
	for name, id := range has { // of those who were refused, too: they were told that nothing was written
		s.Errorf("nobody was told of the booking %v of %s", id, name)
	}
	s.Logf("%d bookings acknowledged and found; sold out %d times; %d requests refused with the database away, %d times; %d with an unknown outcome, of which %d were settled by asking again",
		len(s.acknowledged), s.soldOut, len(s.refused), s.away, len(s.unknown), settled)
}

// auditMoney compares the payments in a store with what was said and with what the bank
// has done, also when everything has been looked up and given back that has to be.
func (s *sale) auditMoney(store traintravel.Store) {
	ctx := context.Background()
	var clock officetest.Clock
	later, err := traintravel.New(store, traintravel.Options{Gateway: s.bank, Now: clock.Now})
	if err != nil {
		s.Fatal(err)
	}
	var books audittest.Books
	now := sinceOpening()()
	for range 10 { // what cannot be given back or looked up yet is tried again
		now = now.Add(time.Hour)
		clock.Set(now)
		if err := later.RunDue(ctx); err != nil {
			s.Errorf("what is left to do: %v", err)
		}
		if books, err = audittest.Audit(ctx, store); err != nil {
			s.Errorf("the store is not sound when all is done:\n%v", err)
		}
	}
	for id, p := range s.paid {
		if is := books.Payments[id]; is.Status != traintravel.Succeeded || is.Booking != p.Booking || is.Amount != p.Amount {
			s.Errorf("the payment %v was acknowledged, and is %+v", p, is)
		}
	}
	charged, given := map[uuid.UUID]int{}, 0
	for _, m := range s.bank.Movements() {
		p, ok := books.Payments[m.ID]
		switch {
		case !ok || p.Status != m.Outcome.Status:
			s.Errorf("the bank has %+v, on record is %+v", m, p)
		case m.Outcome.Status != traintravel.Succeeded:
		case m.Charge != uuid.Nil:
			given++
		default:
			if charged[p.Booking]++; charged[p.Booking] > 1 {
				s.Errorf("the booking %v was charged twice", p.Booking)
			}
		}
	}
	if balance := s.bank.Balance("eur").Amount; balance != books.Kept["eur"] || books.Owed["eur"] != 0 || books.Open["eur"] != 0 {
		s.Errorf("the bank has %d, and the books say %v kept, %v owed and %v open", balance, books.Kept, books.Owed, books.Open)
	}
	if len(s.paid) == 0 || given == 0 {
		s.Error("nobody paid, or nothing was given back")
	}
	s.Logf("%d payments acknowledged and found; %d bookings charged, %d of them given back", len(s.paid), len(charged), given)
}

// The answer to a commit is lost and then the commit itself. Each time the store
// finds out: whoever is told of a booking has it, and nobody has two.
func TestLostCommit(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	database := server.NewDatabase(t)
	proxy := pgtest.NewProxy(t, server.Addr())
	store := officetest.OpenPostgres(t, pgtest.Via(database, proxy.Addr()))
	a := &agency{}
	var err error
	if a.Service, err = traintravel.New(store, traintravel.Options{Now: sinceOpening()}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.LoadTimetable(t.Context(), failoverNetwork()); err != nil {
		t.Fatal(err)
	}
	ids, err := killedTrips(t.Context(), store, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := newSale(t)
	for n := range 6 {
		q := request{N: n}
		lost := proxy.CutAt([]pgtest.Moment{pgtest.BeforeAnswer, pgtest.BeforeRequest}[n%2], "commit")
		b, err := a.CreateBooking(t.Context(), q.by(), traintravel.NewBooking{TripID: ids["R 1 AB on day 0"], PassengerName: q.key()})
		select {
		case <-lost:
		default:
			t.Fatal("no commit was lost")
		}
		s.note(q, b, err)
	}
	if len(s.acknowledged) != 6 {
		t.Errorf("%d of 6 bookings were made", len(s.acknowledged))
	}
	s.audit(store)
}
