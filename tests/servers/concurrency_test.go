package servers_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
)

// TestLastPlace: a hundred ask at two services for the last place. One gets it.
func TestLastPlace(t *testing.T) {
	officetest.OnSharedStores(t, 2, func(t *testing.T, stores []traintravel.Store) {
		o := officetest.New(t, stores[0])
		offices := []*officetest.Office{o, o.At(stores[1])}
		trip := o.Joined(2) // R 1 has two places, R 2 one
		got := officetest.AtOnce(100, func(i int) error {
			by := traintravel.Caller{Subject: traintravel.Subject{ID: fmt.Sprint(i)}}
			_, err := offices[i%2].CreateBooking(t.Context(), by, traintravel.NewBooking{TripID: trip, PassengerName: "x"})
			return err
		})
		if got["<nil>"] != 1 || got[traintravel.ErrSoldOut.Error()] != 99 {
			t.Errorf("%v", got)
		}
		if n := len(o.Audit().Bookings); n != 1 {
			t.Errorf("%d bookings", n)
		}
	})
}

// TestLastPlaceOfALapsedHold: it is ended once, and sold once.
func TestLastPlaceOfALapsedHold(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		b := o.Book(officetest.Anna, o.Joined(2))
		o.Clock.Set(b.Expires)
		got := officetest.AtOnce(60, func(i int) error {
			switch {
			case i%10 == 0:
				_, err := o.Pay(b)
				return err
			case i%10 == 1:
				return o.RunDue(t.Context())
			}
			by := traintravel.Caller{Subject: traintravel.Subject{ID: fmt.Sprint(i)}}
			_, err := o.CreateBooking(t.Context(), by, traintravel.NewBooking{TripID: o.TripID('D', 'E', "R 2"), PassengerName: "x"})
			return err
		})
		if got["<nil>"] != 1+6 || got[traintravel.ErrSoldOut.Error()] != 47 || got[traintravel.ErrHoldExpired.Error()] != 6 {
			t.Errorf("%v", got)
		}
		o.Stands(b.ID, traintravel.Expired)
		o.Do()
		o.Told(b.ID, traintravel.BookingExpired, traintravel.BookingCreated)
	})
}

// TestOneKeyAtOnce: a hundred requests under one key make one booking, and
// one payment.
func TestOneKeyAtOnce(t *testing.T) {
	officetest.OnSharedStores(t, 2, func(t *testing.T, stores []traintravel.Store) {
		o := officetest.New(t, stores[0])
		offices := []*officetest.Office{o, o.At(stores[1])}
		n := traintravel.NewBooking{TripID: o.TripID('A', 'D', "R 1"), PassengerName: "Anna", IdempotencyKey: "k"}
		got := officetest.AtOnce(100, func(i int) error {
			b, err := offices[i%2].CreateBooking(t.Context(), officetest.Anna, n)
			if err != nil {
				return err
			}
			return fmt.Errorf("%v %v", b.ID, b.Replayed)
		})
		if len(got) != 2 || len(o.Audit().Bookings) != 1 {
			t.Fatalf("%v", got)
		}
		b := o.Stored(o.OnlyBooking())
		if got[fmt.Sprint(b.ID, true)] != 99 || got[fmt.Sprint(b.ID, false)] != 1 {
			t.Errorf("%v", got)
		}
		got = officetest.AtOnce(50, func(i int) error {
			p, err := offices[i%2].PayBooking(t.Context(), officetest.Anna, b.ID, traintravel.NewPayment{Amount: b.Price, Source: officetest.Visa(officetest.Works), IdempotencyKey: "k"})
			if err != nil {
				return err
			}
			return fmt.Errorf("%v", p.Status)
		})
		if got[string(traintravel.Succeeded)]+got[string(traintravel.Pending)] != 50 || got[string(traintravel.Succeeded)] == 0 {
			t.Errorf("%v", got)
		}
		o.BankHolds(b.Price.Amount)
	})
}

// TestPayAtOnce: of many payments of one booking at once one is made, and
// those that cancel and sweep meanwhile do not disturb it.
func TestPayAtOnce(t *testing.T) {
	officetest.OnSharedStores(t, 2, func(t *testing.T, stores []traintravel.Store) {
		o := officetest.New(t, stores[0])
		second := o.At(stores[1])
		second.Clock.Set(officetest.Opens.Add(31 * time.Second)) // looks after charges
		b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		var paid sync.Map
		got := officetest.AtOnce(60, func(i int) error {
			if i%10 == 9 {
				return second.RunDue(t.Context())
			}
			p, err := o.Pay(b)
			if err == nil {
				paid.Store(p.ID, p.Status)
			}
			return err
		})
		refused := got[traintravel.ErrAlreadyPaid.Error()] + got[traintravel.ErrPaymentInProgress.Error()]
		if got["<nil>"] != 1+6 || refused != 53 {
			t.Errorf("%v", got)
		}
		o.Clock.Add(time.Minute)
		o.Do()
		o.Stands(b.ID, traintravel.Confirmed)
		o.BankHolds(b.Price.Amount)

		got = officetest.AtOnce(20, func(i int) error { return o.CancelBooking(t.Context(), officetest.Anna, b.ID) })
		if got["<nil>"] != 1 || got[traintravel.ErrNotFound.Error()] != 19 {
			t.Errorf("%v", got)
		}
		got = officetest.AtOnce(10, func(i int) error { return o.RunDue(t.Context()) })
		if got["<nil>"] != 10 {
			t.Errorf("%v", got)
		}
		o.BankHolds(0)
	})
}

// TestBusyDay: many do everything at once, at three services whose clocks are
// apart, while timetables are loaded. In the end everything agrees.
func TestBusyDay(t *testing.T) {
	officetest.OnSharedStores(t, 3, func(t *testing.T, stores []traintravel.Store) {
		o := officetest.New(t, stores[0])
		offices := []*officetest.Office{o, o.At(stores[1]), o.At(stores[2])}
		offices[1].Clock.Add(5 * time.Second)
		offices[2].Clock.Add(-time.Minute)
		trips := []uuid.UUID{o.Joined(2), o.Joined(3), o.TripID('A', 'D', "R 1"), o.TripID('A', 'B', "R 1"), o.TripID('C', 'D', "R 1"), o.TripID('E', 'F', "R 2")}
		got := officetest.AtOnce(24, func(i int) error {
			by := traintravel.Caller{Subject: traintravel.Subject{ID: fmt.Sprint(i)}}
			for n := range 6 {
				p := offices[(i+n)%3]
				if i == 0 {
					p.Load(officetest.Network())
				}
				b, err := p.CreateBooking(t.Context(), by, traintravel.NewBooking{TripID: trips[(i*5+n)%len(trips)], PassengerName: "x"})
				if errors.Is(err, traintravel.ErrSoldOut) {
					continue
				}
				if err != nil {
					return err
				}
				if n%3 != 1 {
					if _, err := p.Pay(b, []traintravel.Secret{officetest.Works, officetest.Declined}[i%2]); err != nil {
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
		o.Clock.Add(30 * time.Hour)
		o.Do()
		if books := o.Audit(); books.Owed["eur"] != 0 || books.Kept["eur"] != o.Bank.Balance("eur").Amount || books.Events != 0 {
			t.Errorf("owed %v, kept %v, the bank has %v", books.Owed, books.Kept, o.Bank.Balance("eur"))
		}
		for id := range o.Audit().Bookings {
			if len(o.Post.Of(id)) < 2 {
				t.Errorf("only %v are told", o.Post.Of(id))
			}
		}
	})
}
