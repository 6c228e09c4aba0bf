package traintravel_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// TestEventsAreRetried: at once, after 5 s, 5 min and so on to once a day.
func TestEventsAreRetried(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
		tries := 0
		o.post.before = func(e traintravel.Event) error {
			if e.Type != traintravel.BookingCreated {
				return nil
			}
			if tries++; tries%2 == 0 {
				panic("the notifier has a bug")
			}
			return errors.New("nobody at home")
		}
		b := o.book(anna, o.trip('F', 'G', "S 3"))
		for i, wait := range []time.Duration{
			0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour,
			24 * time.Hour, 24 * time.Hour, 24 * time.Hour,
		} {
			o.clock.add(wait - 1)
			o.do()
			if tries != i {
				t.Fatalf("%d tries, and one less than %v since the last", tries, wait)
			}
			o.clock.add(1)
			o.do()
			if tries != i+1 {
				t.Fatalf("%d tries, and the last was %v ago", tries, wait)
			}
		}
		o.post.before = nil
		o.clock.add(24 * time.Hour)
		o.do()
		o.told(b.ID, traintravel.BookingExpired, traintravel.BookingCreated)
	})
}

// TestRunRetriesEvents by itself.
func TestRunRetriesEvents(t *testing.T) {
	inBubble(t, func(t *testing.T, o *office) {
		var tries []time.Duration
		start := time.Now()
		o.post.before = func(traintravel.Event) error {
			if tries = append(tries, time.Since(start)); len(tries) < 3 {
				return errors.New("nobody at home")
			}
			return nil
		}
		o.book(anna, o.tomorrow('F', 'G', "S 3"))
		defer o.runs()()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if want := []time.Duration{0, 5 * time.Second, 5*time.Minute + 5*time.Second}; !slices.Equal(tries, want) {
			t.Errorf("tried after %v, want %v", tries, want)
		}
	})
}

// TestHangingNotifier holds up its own events and no others for long.
func TestHangingNotifier(t *testing.T) {
	inBubble(t, func(t *testing.T, o *office) {
		var hanging atomic.Int64
		hang := func(ctx context.Context, e traintravel.Event) error {
			if e.Booking.PassengerName == "berta" {
				hanging.Add(1)
				<-ctx.Done()
				return ctx.Err()
			}
			return o.post.Notify(ctx, e)
		}
		stuck := o.another(func(opts *traintravel.Options) { opts.Now, opts.Notifier = nil, traintravel.NotifierFunc(hang) })
		var bookings []uuid.UUID
		for range 150 {
			stuck.book(berta, o.tomorrow('F', 'G', "S 3"))
		}
		for range 20 {
			bookings = append(bookings, stuck.book(anna, o.tomorrow('F', 'G', "S 3")).ID)
		}
		defer stuck.runs()()
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		for _, id := range bookings {
			o.told(id, traintravel.BookingCreated)
		}
		if hanging.Load() < 150 {
			t.Errorf("%d of 150 were tried", hanging.Load())
		}
	})
}

// TestManyEvents are all delivered, each once, in a while.
func TestManyEvents(t *testing.T) {
	inBubble(t, func(t *testing.T, o *office) {
		defer o.runs()()
		var wg sync.WaitGroup
		trip := o.tomorrow('F', 'G', "S 3")
		for range 40 {
			wg.Go(func() {
				for range 20 {
					o.book(anna, trip)
				}
			})
		}
		wg.Wait()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		ids := map[uuid.UUID]bool{}
		for _, e := range o.post.events {
			ids[e.ID] = true
		}
		if len(ids) != 800 || len(o.post.events) != 800 {
			t.Errorf("%d events, of them %d different ones", len(o.post.events), len(ids))
		}
	})
}

// TestListedAndDelivered: what another worker delivers after this one has read
// the agenda is not delivered again.
func TestListedAndDelivered(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
		b := o.book(anna, o.trip('A', 'D', "R 1"))
		late := o.on(&interposed{Store: store, listed: func(traintravel.Range) { o.do() }})
		late.do()
		o.told(b.ID, traintravel.BookingCreated)
		if n := len(o.post.events); n != 1 {
			t.Errorf("delivered %d times", n)
		}
	})
}
