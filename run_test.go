package traintravel_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/memstore"
	"github.com/traintravel/traintravel/store/storetest"
)

// inBubble runs a test in a bubble of fake time, with an office on a memstore
// whose clock is the bubble's. It begins on 2000-01-01, and so does the
// timetable.
func inBubble(t *testing.T, test func(t *testing.T, o *office)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := &office{t: t, store: memstore.New(), bank: &bank{Gateway: sandbox.New()}, post: &post{}}
		o = o.another(func(opts *traintravel.Options) { opts.Now = nil })
		o.load(inBubbles())
		test(t, o)
		o.audit()
	})
}

// inBubbles is the network in the bubble's first year.
func inBubbles() *traintravel.Timetable {
	tt := network()
	for i := range tt.Trains {
		tt.Trains[i].Days = traintravel.Daily(traintravel.NewDate(2000, 1, 1), traintravel.NewDate(2000, 12, 31))
	}
	return tt
}

// runs runs the service until stop is called, which waits for its end.
func (o *office) runs() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- o.Run(ctx) }()
	return func() {
		o.t.Helper()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			o.t.Errorf("Run returned %v", err)
		}
	}
}

// tomorrow is a trip on the bubble's second day.
func (o *office) tomorrow(from, to rune, number string) uuid.UUID {
	o.t.Helper()
	id, err := o.direct(o.t.Context(), number, traintravel.NewDate(2000, 1, 2), station(from), station(to))
	if err != nil {
		o.t.Fatal(err)
	}
	return id
}

// TestRun does by itself what becomes due, when it becomes due.
func TestRun(t *testing.T) {
	inBubble(t, func(t *testing.T, o *office) {
		defer o.runs()()
		held, paid := o.book(anna, o.tomorrow('A', 'D', "R 1")), o.book(anna, o.tomorrow('A', 'D', "R 1"))
		synctest.Wait()
		o.told(held.ID, traintravel.BookingCreated) // at once
		o.mustPay(paid, traintravel.Succeeded)
		synctest.Wait()
		o.told(paid.ID, traintravel.BookingConfirmed, traintravel.BookingCreated)
		o.expect("cancelling", o.CancelBooking(t.Context(), anna, paid.ID), nil)
		synctest.Wait()
		o.holds(0)
		time.Sleep(time.Until(held.Expires) - 1)
		synctest.Wait()
		o.stands(held.ID, traintravel.Held)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		o.stands(held.ID, traintravel.Expired)
		o.told(held.ID, traintravel.BookingExpired, traintravel.BookingCreated)

		// A bank account that settles ten seconds later is found out.
		later := o.book(anna, o.tomorrow('A', 'D', "R 1"))
		p, err := o.PayBooking(t.Context(), anna, later.ID, traintravel.NewPayment{Amount: later.Price, Source: iban("AT321904300235473204")})
		if err != nil || p.Status != traintravel.Pending {
			t.Fatalf("%+v, %v", p, err)
		}
		time.Sleep(32 * time.Second)
		synctest.Wait()
		o.stands(later.ID, traintravel.Confirmed)
	})
}

// TestRunSeesWhatOthersDo: another service on the store books, and this one
// delivers and ends its hold.
func TestRunSeesWhatOthersDo(t *testing.T) {
	inBubble(t, func(t *testing.T, o *office) {
		other := o.another(func(opts *traintravel.Options) { opts.Now, opts.HoldFor = nil, time.Minute })
		defer o.runs()()
		synctest.Wait()
		b := other.book(anna, other.tomorrow('A', 'D', "R 1"))
		time.Sleep(time.Second)
		synctest.Wait()
		o.told(b.ID, traintravel.BookingCreated)
		time.Sleep(time.Minute)
		synctest.Wait()
		o.told(b.ID, traintravel.BookingExpired, traintravel.BookingCreated)
	})
}

// TestTwoServicesOfAProcess share a store that the process has to itself: each
// thing is in one's hands, and nothing is written to say so.
func TestTwoServicesOfAProcess(t *testing.T) {
	inBubble(t, func(t *testing.T, o *office) {
		w := newOnlooker(t)
		store := storetest.Twice(o.store)
		servers := []*machine{machineOn(o, store, w, "a"), machineOn(o, store, w, "b")}
		for _, m := range servers {
			m.start()
		}
		for i := range 200 {
			servers[i%2].book(anna, o.unreserved())
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		records, err := o.store.List(t.Context(), traintravel.Range{Table: traintravel.TableMeta, From: "server/", To: "server0"})
		if len(records) > 0 || err != nil {
			t.Errorf("%d servers are on a roster, %v", len(records), err)
		}
		for _, m := range servers {
			m.stop()
		}
		if o.once(); len(o.post.events) != 200 || w.did["a"] == 0 || w.did["b"] == 0 {
			t.Errorf("%d events were delivered; they did %v", len(o.post.events), w.did)
		}
	})
}

// TestRunStops at once, with a notifier and a gateway under way, and starts
// again where it was. Nothing is left behind: the bubble would not end.
func TestRunStops(t *testing.T) {
	inBubble(t, func(t *testing.T, o *office) {
		entered := make(chan string, 10)
		blocking := &blocking{bank: o.bank, entered: entered}
		p := o.another(func(opts *traintravel.Options) { opts.Now, opts.Notifier, opts.Gateway = nil, blocking, blocking })
		b := p.book(anna, p.tomorrow('A', 'D', "R 1"))
		paid := p.book(anna, p.tomorrow('A', 'D', "R 1"))
		o.mustPay(paid, traintravel.Succeeded)
		o.expect("cancelling", p.CancelBooking(t.Context(), anna, paid.ID), nil)
		stop := p.runs()
		synctest.Wait()
		start := time.Now()
		stop()
		if took := time.Since(start); took > time.Millisecond || blocking.ended.Load() != 4 {
			t.Errorf("it took %v, and %d events were let go", took, blocking.ended.Load())
		}
		close(entered)
		var got []string
		for what := range entered {
			got = append(got, what)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != "notify notify notify notify refund" {
			t.Errorf("was doing %q", got)
		}
		if len(o.post.events) != 0 {
			t.Error("something was delivered")
		}
		o.holds(paid.Price.Amount)

		defer o.runs()() // another process, on the same store
		synctest.Wait()
		o.told(b.ID, traintravel.BookingCreated)
		o.told(paid.ID, traintravel.BookingCancelled, traintravel.BookingConfirmed, traintravel.BookingCreated)
		o.holds(0)
	})
}

// blocking blocks until its context ends.
type blocking struct {
	*bank
	entered chan<- string
	ended   atomic.Int64
}

func (b *blocking) Refund(ctx context.Context, _ traintravel.Refund) (traintravel.Outcome, error) {
	b.entered <- "refund"
	<-ctx.Done()
	return traintravel.Outcome{}, ctx.Err()
}

func (b *blocking) Notify(ctx context.Context, _ traintravel.Event) error {
	b.entered <- "notify"
	<-ctx.Done()
	time.Sleep(time.Millisecond) // is slow to let go
	b.ended.Add(1)
	return ctx.Err()
}

// TestRunSurvivesAStoreThatFails for a while.
func TestRunSurvivesAStoreThatFails(t *testing.T) {
	inBubble(t, func(t *testing.T, o *office) {
		flaky := &flaky{Store: o.store}
		p := *o
		p.store = flaky
		q := p.another(func(opts *traintravel.Options) { opts.Now = nil })
		b := q.book(anna, q.tomorrow('A', 'D', "R 1"))
		flaky.fails.Store(true)
		defer q.runs()()
		time.Sleep(2 * time.Hour)
		o.stands(b.ID, traintravel.Held)
		flaky.fails.Store(false)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		o.stands(b.ID, traintravel.Expired)
		o.told(b.ID, traintravel.BookingExpired, traintravel.BookingCreated)
	})
}

type flaky struct {
	traintravel.Store
	fails atomic.Bool
}

func (f *flaky) Update(ctx context.Context, fn func(traintravel.Tx) error) error {
	if f.fails.Load() {
		return errLine
	}
	return f.Store.Update(ctx, fn)
}

func (f *flaky) List(ctx context.Context, r traintravel.Range) ([]traintravel.Record, error) {
	if f.fails.Load() && r.Table == traintravel.TableAgenda && time.Now().Minute()%2 == 0 {
		return nil, errLine
	}
	return f.Store.List(ctx, r)
}

// TestKeysAreForgotten after a day.
func TestKeysAreForgotten(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
		n := traintravel.NewBooking{TripID: o.trip('F', 'G', "S 3"), PassengerName: "Anna", IdempotencyKey: "k"}
		if _, err := o.CreateBooking(t.Context(), anna, n); err != nil {
			t.Fatal(err)
		}
		keys := func() int {
			records, err := o.store.List(t.Context(), traintravel.Range{Table: traintravel.TableIdempotency})
			if err != nil {
				t.Fatal(err)
			}
			return len(records)
		}
		o.clock.add(24*time.Hour - 1)
		if o.do(); keys() != 1 {
			t.Error("the key is gone too early")
		}
		o.clock.add(1)
		if o.do(); keys() != 0 {
			t.Error("the key is still there")
		}
	})
}

// TestRunWithoutNotifier queues nothing and delivers nothing.
func TestRunWithoutNotifier(t *testing.T) {
	inBubble(t, func(t *testing.T, o *office) {
		quiet := o.another(func(opts *traintravel.Options) { opts.Now, opts.Notifier = nil, nil })
		b := quiet.book(anna, quiet.tomorrow('A', 'D', "R 1"))
		defer quiet.runs()()
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		o.stands(b.ID, traintravel.Expired)
		if books := o.audit(); books.Events != 0 {
			t.Errorf("%d events are queued", books.Events)
		}
	})
}

// RunDue returns that its context has ended.
func TestRunDueStops(t *testing.T) {
	t.Parallel()
	s, err := traintravel.New(memstore.New(), traintravel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := s.RunDue(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
