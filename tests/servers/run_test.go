package servers_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/memstore"
	"github.com/traintravel/traintravel/store/storetest"
)

// inBubble runs a test in a bubble of fake time, with an office on a memstore
// whose clock is the bubble's. It begins on 2000-01-01, and so does the
// timetable.
func inBubble(t *testing.T, test func(t *testing.T, o *officetest.Office)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := &officetest.Office{T: t, Store: memstore.New(), Bank: &officetest.Bank{Gateway: sandbox.New()}, Post: &officetest.Post{}}
		o = o.Another(func(opts *traintravel.Options) { opts.Now = nil })
		o.Load(officetest.InBubbles())
		test(t, o)
		o.Audit()
	})
}

// TestRun does by itself what becomes due, when it becomes due.
func TestRun(t *testing.T) {
	inBubble(t, func(t *testing.T, o *officetest.Office) {
		defer o.Start()()
		held, paid := o.Book(officetest.Anna, o.Tomorrow('A', 'D', "R 1")), o.Book(officetest.Anna, o.Tomorrow('A', 'D', "R 1"))
		synctest.Wait()
		o.Told(held.ID, traintravel.BookingCreated) // at once
		o.MustPay(paid, traintravel.Succeeded)
		synctest.Wait()
		o.Told(paid.ID, traintravel.BookingConfirmed, traintravel.BookingCreated)
		o.Expect("cancelling", o.CancelBooking(t.Context(), officetest.Anna, paid.ID), nil)
		synctest.Wait()
		o.BankHolds(0)
		time.Sleep(time.Until(held.Expires) - 1)
		synctest.Wait()
		o.Stands(held.ID, traintravel.Held)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		o.Stands(held.ID, traintravel.Expired)
		o.Told(held.ID, traintravel.BookingExpired, traintravel.BookingCreated)

		// A bank account that settles ten seconds later is found out.
		later := o.Book(officetest.Anna, o.Tomorrow('A', 'D', "R 1"))
		p, err := o.PayBooking(t.Context(), officetest.Anna, later.ID, traintravel.NewPayment{Amount: later.Price, Source: officetest.Iban("AT321904300235473204")})
		if err != nil || p.Status != traintravel.Pending {
			t.Fatalf("%+v, %v", p, err)
		}
		time.Sleep(32 * time.Second)
		synctest.Wait()
		o.Stands(later.ID, traintravel.Confirmed)
	})
}

// TestRunSeesChangesByOtherServices: another service on the store books, and this one
// delivers and ends its hold.
func TestRunSeesChangesByOtherServices(t *testing.T) {
	inBubble(t, func(t *testing.T, o *officetest.Office) {
		other := o.Another(func(opts *traintravel.Options) { opts.Now, opts.HoldFor = nil, time.Minute })
		defer o.Start()()
		synctest.Wait()
		b := other.Book(officetest.Anna, other.Tomorrow('A', 'D', "R 1"))
		time.Sleep(time.Second)
		synctest.Wait()
		o.Told(b.ID, traintravel.BookingCreated)
		time.Sleep(time.Minute)
		synctest.Wait()
		o.Told(b.ID, traintravel.BookingExpired, traintravel.BookingCreated)
	})
}

// TestTwoServicesOfAProcess share a store that the process has to itself: each
// thing is in one's hands, and nothing is written to say so.
func TestTwoServicesOfAProcess(t *testing.T) {
	inBubble(t, func(t *testing.T, o *officetest.Office) {
		w := newOnlooker(t)
		store := storetest.Twice(o.Store)
		servers := []*machine{machineOn(o, store, w, "a"), machineOn(o, store, w, "b")}
		for _, m := range servers {
			m.start()
		}
		for i := range 200 {
			servers[i%2].Book(officetest.Anna, o.Unreserved())
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		records, err := o.Store.List(t.Context(), traintravel.Range{Table: traintravel.TableMeta, From: "server/", To: "server0"})
		if len(records) > 0 || err != nil {
			t.Errorf("%d servers are on a roster, %v", len(records), err)
		}
		for _, m := range servers {
			m.stop()
		}
		if once(o); len(o.Post.Events) != 200 || w.did["a"] == 0 || w.did["b"] == 0 {
			t.Errorf("%d events were delivered; they did %v", len(o.Post.Events), w.did)
		}
	})
}

// TestRunStops at once, with a notifier and a gateway under way, and starts
// again where it was. Nothing is left behind: the bubble would not end.
func TestRunStops(t *testing.T) {
	inBubble(t, func(t *testing.T, o *officetest.Office) {
		entered := make(chan string, 10)
		blocking := &blocking{Bank: o.Bank, entered: entered}
		p := o.Another(func(opts *traintravel.Options) { opts.Now, opts.Notifier, opts.Gateway = nil, blocking, blocking })
		b := p.Book(officetest.Anna, p.Tomorrow('A', 'D', "R 1"))
		paid := p.Book(officetest.Anna, p.Tomorrow('A', 'D', "R 1"))
		o.MustPay(paid, traintravel.Succeeded)
		o.Expect("cancelling", p.CancelBooking(t.Context(), officetest.Anna, paid.ID), nil)
		stop := p.Start()
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
		if len(o.Post.Events) != 0 {
			t.Error("something was delivered")
		}
		o.BankHolds(paid.Price.Amount)

		defer o.Start()() // another process, on the same store
		synctest.Wait()
		o.Told(b.ID, traintravel.BookingCreated)
		o.Told(paid.ID, traintravel.BookingCancelled, traintravel.BookingConfirmed, traintravel.BookingCreated)
		o.BankHolds(0)
	})
}

// blocking blocks until its context ends.
type blocking struct {
	*officetest.Bank
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
	inBubble(t, func(t *testing.T, o *officetest.Office) {
		flaky := &flaky{Store: o.Store}
		p := *o
		p.Store = flaky
		q := p.Another(func(opts *traintravel.Options) { opts.Now = nil })
		b := q.Book(officetest.Anna, q.Tomorrow('A', 'D', "R 1"))
		flaky.fails.Store(true)
		defer q.Start()()
		time.Sleep(2 * time.Hour)
		o.Stands(b.ID, traintravel.Held)
		flaky.fails.Store(false)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		o.Stands(b.ID, traintravel.Expired)
		o.Told(b.ID, traintravel.BookingExpired, traintravel.BookingCreated)
	})
}

type flaky struct {
	traintravel.Store
	fails atomic.Bool
}

func (f *flaky) Update(ctx context.Context, fn func(traintravel.Tx) error) error {
	if f.fails.Load() {
		return officetest.ErrLine
	}
	return f.Store.Update(ctx, fn)
}

func (f *flaky) List(ctx context.Context, r traintravel.Range) ([]traintravel.Record, error) {
	if f.fails.Load() && r.Table == traintravel.TableAgenda && time.Now().Minute()%2 == 0 {
		return nil, officetest.ErrLine
	}
	return f.Store.List(ctx, r)
}

// TestKeysAreForgotten after a day.
func TestKeysAreForgotten(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		n := traintravel.NewBooking{TripID: o.TripID('F', 'G', "S 3"), PassengerName: "Anna", IdempotencyKey: "k"}
		if _, err := o.CreateBooking(t.Context(), officetest.Anna, n); err != nil {
			t.Fatal(err)
		}
		keys := func() int {
			records, err := o.Store.List(t.Context(), traintravel.Range{Table: traintravel.TableIdempotency})
			if err != nil {
				t.Fatal(err)
			}
			return len(records)
		}
		o.Clock.Add(24*time.Hour - 1)
		if o.Do(); keys() != 1 {
			t.Error("the key is gone too early")
		}
		o.Clock.Add(1)
		if o.Do(); keys() != 0 {
			t.Error("the key is still there")
		}
	})
}

// TestRunWithoutNotifier queues nothing and delivers nothing.
func TestRunWithoutNotifier(t *testing.T) {
	inBubble(t, func(t *testing.T, o *officetest.Office) {
		quiet := o.Another(func(opts *traintravel.Options) { opts.Now, opts.Notifier = nil, nil })
		b := quiet.Book(officetest.Anna, quiet.Tomorrow('A', 'D', "R 1"))
		defer quiet.Start()()
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		o.Stands(b.ID, traintravel.Expired)
		if books := o.Audit(); books.Events != 0 {
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
