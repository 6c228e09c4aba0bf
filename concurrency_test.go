package traintravel_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// atOnce calls n times at once and counts the errors by their text.
func atOnce(n int, call func(i int) error) map[string]int {
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

// TestLastPlace: a hundred ask at two services for the last place. One gets it.
func TestLastPlace(t *testing.T) {
	onSharedStores(t, 2, func(t *testing.T, stores []traintravel.Store) {
		o := newOffice(t, stores[0])
		offices := []*office{o, o.at(stores[1])}
		trip := o.joined(2) // R 1 has two places, R 2 one
		got := atOnce(100, func(i int) error {
			by := traintravel.Caller{Subject: traintravel.Subject{ID: fmt.Sprint(i)}}
			_, err := offices[i%2].CreateBooking(t.Context(), by, traintravel.NewBooking{TripID: trip, PassengerName: "x"})
			return err
		})
		if got["<nil>"] != 1 || got[traintravel.ErrSoldOut.Error()] != 99 {
			t.Errorf("%v", got)
		}
		if n := len(o.audit().Bookings); n != 1 {
			t.Errorf("%d bookings", n)
		}
	})
}

// TestLastPlaceOfALapsedHold: it is ended once, and sold once.
func TestLastPlaceOfALapsedHold(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
		b := o.book(anna, o.joined(2))
		o.clock.set(b.Expires)
		got := atOnce(60, func(i int) error {
			switch {
			case i%10 == 0:
				_, err := o.pay(b)
				return err
			case i%10 == 1:
				return o.RunDue(t.Context())
			}
			by := traintravel.Caller{Subject: traintravel.Subject{ID: fmt.Sprint(i)}}
			_, err := o.CreateBooking(t.Context(), by, traintravel.NewBooking{TripID: o.trip('D', 'E', "R 2"), PassengerName: "x"})
			return err
		})
		if got["<nil>"] != 1+6 || got[traintravel.ErrSoldOut.Error()] != 47 || got[traintravel.ErrHoldExpired.Error()] != 6 {
			t.Errorf("%v", got)
		}
		o.stands(b.ID, traintravel.Expired)
		o.do()
		o.told(b.ID, traintravel.BookingExpired, traintravel.BookingCreated)
	})
}

// TestOneKeyAtOnce: a hundred requests under one key make one booking, and
// one payment.
func TestOneKeyAtOnce(t *testing.T) {
	onSharedStores(t, 2, func(t *testing.T, stores []traintravel.Store) {
		o := newOffice(t, stores[0])
		offices := []*office{o, o.at(stores[1])}
		n := traintravel.NewBooking{TripID: o.trip('A', 'D', "R 1"), PassengerName: "Anna", IdempotencyKey: "k"}
		got := atOnce(100, func(i int) error {
			b, err := offices[i%2].CreateBooking(t.Context(), anna, n)
			if err != nil {
				return err
			}
			return fmt.Errorf("%v %v", b.ID, b.Replayed)
		})
		if len(got) != 2 || len(o.audit().Bookings) != 1 {
			t.Fatalf("%v", got)
		}
		b := o.state(o.onlyBooking())
		if got[fmt.Sprint(b.ID, true)] != 99 || got[fmt.Sprint(b.ID, false)] != 1 {
			t.Errorf("%v", got)
		}
		got = atOnce(50, func(i int) error {
			p, err := offices[i%2].PayBooking(t.Context(), anna, b.ID, traintravel.NewPayment{Amount: b.Price, Source: visa(works), IdempotencyKey: "k"})
			if err != nil {
				return err
			}
			return fmt.Errorf("%v", p.Status)
		})
		if got[string(traintravel.Succeeded)]+got[string(traintravel.Pending)] != 50 || got[string(traintravel.Succeeded)] == 0 {
			t.Errorf("%v", got)
		}
		o.holds(b.Price.Amount)
	})
}

// TestPayAtOnce: of many payments of one booking at once one is made, and
// those that cancel and sweep meanwhile do not disturb it.
func TestPayAtOnce(t *testing.T) {
	onSharedStores(t, 2, func(t *testing.T, stores []traintravel.Store) {
		o := newOffice(t, stores[0])
		second := o.at(stores[1])
		second.clock.set(opens.Add(31 * time.Second)) // looks after charges
		b := o.book(anna, o.trip('A', 'D', "R 1"))
		var paid sync.Map
		got := atOnce(60, func(i int) error {
			if i%10 == 9 {
				return second.RunDue(t.Context())
			}
			p, err := o.pay(b)
			if err == nil {
				paid.Store(p.ID, p.Status)
			}
			return err
		})
		refused := got[traintravel.ErrAlreadyPaid.Error()] + got[traintravel.ErrPaymentInProgress.Error()]
		if got["<nil>"] != 1+6 || refused != 53 {
			t.Errorf("%v", got)
		}
		o.clock.add(time.Minute)
		o.do()
		o.stands(b.ID, traintravel.Confirmed)
		o.holds(b.Price.Amount)

		got = atOnce(20, func(i int) error { return o.CancelBooking(t.Context(), anna, b.ID) })
		if got["<nil>"] != 1 || got[traintravel.ErrNotFound.Error()] != 19 {
			t.Errorf("%v", got)
		}
		got = atOnce(10, func(i int) error { return o.RunDue(t.Context()) })
		if got["<nil>"] != 10 {
			t.Errorf("%v", got)
		}
		o.holds(0)
	})
}

// TestBusyDay: many do everything at once, at three services whose clocks are
// apart, while timetables are loaded. In the end everything agrees.
func TestBusyDay(t *testing.T) {
	onSharedStores(t, 3, func(t *testing.T, stores []traintravel.Store) {
		o := newOffice(t, stores[0])
		offices := []*office{o, o.at(stores[1]), o.at(stores[2])}
		offices[1].clock.add(5 * time.Second)
		offices[2].clock.add(-time.Minute)
		trips := []uuid.UUID{o.joined(2), o.joined(3), o.trip('A', 'D', "R 1"), o.trip('A', 'B', "R 1"), o.trip('C', 'D', "R 1"), o.trip('E', 'F', "R 2")}
		got := atOnce(24, func(i int) error {
			by := traintravel.Caller{Subject: traintravel.Subject{ID: fmt.Sprint(i)}}
			for n := range 6 {
				p := offices[(i+n)%3]
				if i == 0 {
					p.load(network())
				}
				b, err := p.CreateBooking(t.Context(), by, traintravel.NewBooking{TripID: trips[(i*5+n)%len(trips)], PassengerName: "x"})
				if errors.Is(err, traintravel.ErrSoldOut) {
					continue
				}
				if err != nil {
					return err
				}
				if n%3 != 1 {
					if _, err := p.pay(b, []traintravel.Secret{works, declined}[i%2]); err != nil {
						return err
					}
				}
				if n%2 == 0 || i%2 == 0 {
					if err := offices[n%3].CancelBooking(t.Context(), by, b.ID); err != nil {
						return err
					}
				}
				if err := p.RunDue(t.Context()); err != nil {
					return err
				}
			}
			return nil
		})
		if got["<nil>"] != 24 {
			t.Errorf("%v", got)
		}
		o.clock.add(30 * time.Hour)
		o.do()
		if books := o.audit(); books.Owed["eur"] != 0 || books.Kept["eur"] != o.bank.Balance("eur").Amount || books.Events != 0 {
			t.Errorf("owed %v, kept %v, the bank has %v", books.Owed, books.Kept, o.bank.Balance("eur"))
		}
		for id := range o.audit().Bookings {
			if len(o.post.of(id)) < 2 {
				t.Errorf("only %v are told", o.post.of(id))
			}
		}
	})
}
