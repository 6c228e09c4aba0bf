package servers_test

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
	"github.com/traintravel/traintravel/internal/officetest"
)

// TestEventsAreRetried: at once, after 5 s, 5 min and so on to once a day.
func TestEventsAreRetried(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		tries := 0
		o.Post.Before = func(e traintravel.Event) error {
			if e.Type != traintravel.BookingCreated {
				return nil
			}
			if tries++; tries%2 == 0 {
				panic("the notifier has a bug")
			}
			return errors.New("nobody at home")
		}
		b := o.Book(officetest.Anna, o.TripID('F', 'G', "S 3"))
		for i, wait := range []time.Duration{
			0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour,
			24 * time.Hour, 24 * time.Hour, 24 * time.Hour,
		} {
			o.Clock.Add(wait - 1)
			o.Do()
			if tries != i {
				t.Fatalf("%d tries, and one less than %v since the last", tries, wait)
			}
			o.Clock.Add(1)
			o.Do()
			if tries != i+1 {
				t.Fatalf("%d tries, and the last was %v ago", tries, wait)
			}
		}
		o.Post.Before = nil
		o.Clock.Add(24 * time.Hour)
		o.Do()
		o.Told(b.ID, traintravel.BookingExpired, traintravel.BookingCreated)
	})
}

// TestRunRetriesEvents by itself.
func TestRunRetriesEvents(t *testing.T) {
	inBubble(t, func(t *testing.T, o *officetest.Office) {
		var tries []time.Duration
		start := time.Now()
		o.Post.Before = func(traintravel.Event) error {
			if tries = append(tries, time.Since(start)); len(tries) < 3 {
				return errors.New("nobody at home")
			}
			return nil
		}
		o.Book(officetest.Anna, o.Tomorrow('F', 'G', "S 3"))
		defer o.Start()()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if want := []time.Duration{0, 5 * time.Second, 5*time.Minute + 5*time.Second}; !slices.Equal(tries, want) {
			t.Errorf("tried after %v, want %v", tries, want)
		}
	})
}

// TestHangingNotifier holds up its own events and no others for long.
func TestHangingNotifier(t *testing.T) {
	inBubble(t, func(t *testing.T, o *officetest.Office) {
		var hanging atomic.Int64
		hang := func(ctx context.Context, e traintravel.Event) error {
			if e.Booking.PassengerName == "berta" {
				hanging.Add(1)
				<-ctx.Done()
				return ctx.Err()
			}
			return o.Post.Notify(ctx, e)
		}
		stuck := o.Another(func(opts *traintravel.Options) { opts.Now, opts.Notifier = nil, traintravel.NotifierFunc(hang) })
		var bookings []uuid.UUID
		for range 150 {
			stuck.Book(officetest.Berta, o.Tomorrow('F', 'G', "S 3"))
		}
		for range 20 {
			bookings = append(bookings, stuck.Book(officetest.Anna, o.Tomorrow('F', 'G', "S 3")).ID)
		}
		defer stuck.Start()()
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		for _, id := range bookings {
			o.Told(id, traintravel.BookingCreated)
		}
		if hanging.Load() < 150 {
			t.Errorf("%d of 150 were tried", hanging.Load())
		}
	})
}

// TestManyEvents are all delivered, each once, in a while.
func TestManyEvents(t *testing.T) {
	inBubble(t, func(t *testing.T, o *officetest.Office) {
		defer o.Start()()
		var wg sync.WaitGroup
		trip := o.Tomorrow('F', 'G', "S 3")
		for range 40 {
			wg.Go(func() {
				for range 20 {
					o.Book(officetest.Anna, trip)
				}
			})
		}
		wg.Wait()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		ids := map[uuid.UUID]bool{}
		for _, e := range o.Post.Events {
			ids[e.ID] = true
		}
		if len(ids) != 800 || len(o.Post.Events) != 800 {
			t.Errorf("%d events, of them %d different ones", len(o.Post.Events), len(ids))
		}
	})
}

// TestListedAndDelivered: what another worker delivers after this one has read
// the agenda is not delivered again.
func TestListedAndDelivered(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		late := o.On(&officetest.Interposed{Store: store, Listed: func(traintravel.Range) { o.Do() }})
		late.Do()
		o.Told(b.ID, traintravel.BookingCreated)
		if n := len(o.Post.Events); n != 1 {
			t.Errorf("delivered %d times", n)
		}
	})
}
