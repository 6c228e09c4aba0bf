package traintravel_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// TestHoldEndsAtItsInstant: nobody sweeps, and yet the place is held until a
// nanosecond before the hold ends, and free from then on.
func TestHoldEndsAtItsInstant(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		ctx, o := t.Context(), newOffice(t, store)
		trip := o.trip('D', 'E', "R 2")
		b := o.book(anna, trip)
		o.clock.set(b.Expires.Add(-1))
		o.tryBook(berta, trip, traintravel.ErrSoldOut)
		if _, err := o.Booking(ctx, anna, b.ID); err != nil {
			t.Fatal(err)
		}
		if seen, err := o.Trip(ctx, trip); err != nil || seen.Seats != 0 {
			t.Errorf("%d seats are left, %v", seen.Seats, err)
		}

		o.clock.set(b.Expires)
		_, err := o.Booking(ctx, anna, b.ID)
		o.expect("reading", err, traintravel.ErrNotFound)
		if list, err := o.Bookings(ctx, anna, traintravel.Page{}); err != nil || len(list.Items) != 0 {
			t.Errorf("listed %+v, %v", list, err)
		}
		_, err = o.pay(b)
		o.expect("paying", err, traintravel.ErrHoldExpired)
		o.expect("cancelling", o.CancelBooking(ctx, anna, b.ID), traintravel.ErrNotFound)
		if seen, err := o.Trip(ctx, trip); err != nil || seen.Seats != 1 {
			t.Errorf("%d seats are left, %v", seen.Seats, err)
		}
		o.stands(b.ID, traintravel.Held)
		next := o.book(berta, trip)
		if next.Legs[0].Seat != b.Legs[0].Seat {
			t.Errorf("the place is %+v", next.Legs[0])
		}
		o.stands(b.ID, traintravel.Expired) // in the same update
		_, err = o.pay(b)
		o.expect("paying", err, traintravel.ErrHoldExpired)
		if len(o.bank.Movements()) > 0 {
			t.Error("something was charged")
		}
		o.do()
		o.told(b.ID, traintravel.BookingExpired, traintravel.BookingCreated)
		o.told(next.ID, traintravel.BookingCreated)
	})
}

// TestHoldIsSwept: Run ends a hold that nobody takes.
func TestHoldIsSwept(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store, func(opts *traintravel.Options) { opts.HoldFor = 10 * time.Minute })
		b := o.book(anna, o.trip('A', 'B', "R 1"))
		if want := opens.Add(10 * time.Minute); !b.Expires.Equal(want) {
			t.Fatalf("expires at %v", b.Expires)
		}
		o.clock.set(b.Expires.Add(-1))
		o.do()
		o.stands(b.ID, traintravel.Held)
		o.clock.set(b.Expires)
		o.do()
		o.stands(b.ID, traintravel.Expired)
		o.told(b.ID, traintravel.BookingExpired, traintravel.BookingCreated)
	})
}

// TestHoldEndsAtDeparture, at the latest.
func TestHoldEndsAtDeparture(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
		departs := opens.Add(2 * time.Hour)
		o.clock.set(departs.Add(-20 * time.Minute))
		b := o.book(anna, o.trip('A', 'B', "R 1"))
		if !b.Expires.Equal(departs) {
			t.Errorf("expires at %v, the train departs at %v", b.Expires, departs)
		}
		o.clock.set(departs)
		_, err := o.pay(b)
		o.expect("paying at departure", err, traintravel.ErrHoldExpired)
	})
}

// TestPaymentUnderWayKeepsThePlace beyond the end of the hold, until its
// outcome is known.
func TestPaymentUnderWayKeepsThePlace(t *testing.T) {
	for _, card := range []traintravel.Secret{works, declined} {
		onEveryStoreCase(t, string(card), func(t *testing.T, store traintravel.Store) {
			o := newOffice(t, store)
			trip := o.trip('D', 'E', "R 2")
			b := o.book(anna, trip)
			o.clock.set(b.Expires.Add(-time.Second))
			o.bank.before = func(op string, _ uuid.UUID) error {
				if op != "charge" {
					return nil
				}
				// The hold ends while the bank thinks.
				o.clock.set(b.Expires.Add(time.Minute))
				o.tryBook(berta, trip, traintravel.ErrSoldOut)
				_, err := o.pay(b)
				o.expect("paying twice at once", err, traintravel.ErrPaymentInProgress)
				o.expect("cancelling meanwhile", o.CancelBooking(t.Context(), anna, b.ID), traintravel.ErrPaymentInProgress)
				if _, err := o.Booking(t.Context(), anna, b.ID); err != nil {
					t.Errorf("reading meanwhile: %v", err)
				}
				o.do()
				o.stands(b.ID, traintravel.Held)
				return nil
			}
			if card == works {
				o.mustPay(b, traintravel.Succeeded, card)
				o.stands(b.ID, traintravel.Confirmed)
				o.tryBook(berta, trip, traintravel.ErrSoldOut)
				o.holds(b.Price.Amount)
				return
			}
			o.mustPay(b, traintravel.Failed, card)
			o.stands(b.ID, traintravel.Expired)
			o.book(berta, trip)
			_, err := o.pay(b)
			o.expect("trying again", err, traintravel.ErrHoldExpired)
			o.do()
			o.told(b.ID, traintravel.BookingExpired, traintravel.BookingCreated, traintravel.PaymentFailed)
		})
	}
}

// onEveryStoreCase is onEveryStore for one of several cases.
func onEveryStoreCase(t *testing.T, name string, test func(t *testing.T, store traintravel.Store)) {
	t.Run(name, func(t *testing.T) { onEveryStore(t, test) })
}

// TestUnknownOutcomeKeepsThePlace for PendingFor, and not beyond departure.
func TestUnknownOutcomeKeepsThePlace(t *testing.T) {
	departs := opens.Add(6 * time.Hour)
	for name, test := range map[string]struct{ pendingFor, until time.Duration }{
		"for PendingFor":    {2 * time.Hour, 2 * time.Hour},
		"to the departure":  {24 * time.Hour, 6 * time.Hour},
		"the hold at least": {10 * time.Minute, time.Hour},
	} {
		onEveryStoreCase(t, name, func(t *testing.T, store traintravel.Store) {
			o := newOffice(t, store, func(opts *traintravel.Options) { opts.PendingFor = test.pendingFor })
			trip := o.trip('D', 'E', "R 2")
			b := o.book(anna, trip)
			settled := false
			o.bank.after = func(_ string, _ uuid.UUID, out *traintravel.Outcome) error {
				if !settled {
					*out = traintravel.Outcome{Status: traintravel.Pending}
				}
				return nil
			}
			o.mustPay(b, traintravel.Pending)
			o.clock.set(opens.Add(test.until - 1))
			o.do()
			o.stands(b.ID, traintravel.Held)
			if o.clock.now().Before(departs) {
				o.tryBook(berta, trip, traintravel.ErrSoldOut)
			}
			o.clock.add(1)
			o.do()
			o.stands(b.ID, traintravel.Expired)
			if p, err := o.Payment(t.Context(), anna, b.ID); err != nil || p.Status != traintravel.Pending {
				t.Fatalf("the payment is %v, %v", p.Status, err)
			}
			settled = true // it had succeeded, as we learn now
			o.clock.add(time.Hour)
			o.do()
			if o.clock.now().Before(departs) {
				o.stands(b.ID, traintravel.Confirmed) // its place is still free
				o.holds(b.Price.Amount)
			} else {
				o.stands(b.ID, traintravel.Expired)
				o.holds(0)
			}
		})
	}
}

// TestHoldIsTakenWhileItsOwnerPays: between any two steps of a late payment
// somebody else books the place. Either is refused.
func TestHoldIsTakenWhileItsOwnerPays(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
		trip := o.trip('D', 'E', "R 2")
		b := o.book(anna, trip)
		fast := o.another()
		fast.clock.set(b.Expires)
		slow := o.another()
		slow.clock.set(b.Expires.Add(-time.Second))

		// The slow clock's owner has asked the time when the fast one sells.
		var once bool
		late := &interposed{Store: store, before: func() {
			if !once {
				once = true
				fast.book(berta, trip)
			}
		}}
		o2 := slow.on(late)
		_, err := o2.pay(b)
		o.expect("paying", err, traintravel.ErrHoldExpired)
		o.stands(b.ID, traintravel.Expired)
		o.holds(0)
		o.tryBook(anna, trip, traintravel.ErrSoldOut)
	})
}

// on opens an office on another store.
func (o *office) on(store traintravel.Store, options ...func(*traintravel.Options)) *office {
	p := *o
	p.store = store
	q := p.another(options...)
	p.Service = q.Service
	p.clock = q.clock
	return &p
}

// interposed runs something before each update, and after each list.
type interposed struct {
	traintravel.Store
	before func()
	listed func(traintravel.Range)
}

func (s *interposed) Update(ctx context.Context, fn func(traintravel.Tx) error) error {
	if s.before != nil {
		s.before()
	}
	return s.Store.Update(ctx, fn)
}

func (s *interposed) List(ctx context.Context, r traintravel.Range) ([]traintravel.Record, error) {
	records, err := s.Store.List(ctx, r)
	if s.listed != nil {
		s.listed(r)
	}
	return records, err
}
