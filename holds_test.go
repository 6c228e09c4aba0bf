package traintravel_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
)

// TestHoldEndsAtItsInstant: nobody sweeps, and yet the place is held until a
// nanosecond before the hold ends, and free from then on.
func TestHoldEndsAtItsInstant(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		ctx, o := t.Context(), officetest.New(t, store)
		trip := o.TripID('D', 'E', "R 2")
		b := o.Book(officetest.Anna, trip)
		o.Clock.Set(b.Expires.Add(-1))
		o.TryBook(officetest.Berta, trip, traintravel.ErrSoldOut)
		if _, err := o.Booking(ctx, officetest.Anna, b.ID); err != nil {
			t.Fatal(err)
		}
		if seen, err := o.Trip(ctx, trip); err != nil || seen.Seats != 0 {
			t.Errorf("%d seats are left, %v", seen.Seats, err)
		}

		o.Clock.Set(b.Expires)
		_, err := o.Booking(ctx, officetest.Anna, b.ID)
		o.Expect("reading", err, traintravel.ErrNotFound)
		if list, err := o.Bookings(ctx, officetest.Anna, traintravel.Page{}); err != nil || len(list.Items) != 0 {
			t.Errorf("listed %+v, %v", list, err)
		}
		_, err = o.Pay(b)
		o.Expect("paying", err, traintravel.ErrHoldExpired)
		o.Expect("cancelling", o.CancelBooking(ctx, officetest.Anna, b.ID), traintravel.ErrNotFound)
		if seen, err := o.Trip(ctx, trip); err != nil || seen.Seats != 1 {
			t.Errorf("%d seats are left, %v", seen.Seats, err)
		}
		o.Stands(b.ID, traintravel.Held)
		next := o.Book(officetest.Berta, trip)
		if next.Legs[0].Seat != b.Legs[0].Seat {
			t.Errorf("the place is %+v", next.Legs[0])
		}
		o.Stands(b.ID, traintravel.Expired) // in the same update
		_, err = o.Pay(b)
		o.Expect("paying", err, traintravel.ErrHoldExpired)
		if len(o.Bank.Movements()) > 0 {
			t.Error("something was charged")
		}
		o.Do()
		o.Told(b.ID, traintravel.BookingExpired, traintravel.BookingCreated)
		o.Told(next.ID, traintravel.BookingCreated)
	})
}

// TestHoldIsSwept: Run ends a hold that nobody takes.
func TestHoldIsSwept(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store, func(opts *traintravel.Options) { opts.HoldFor = 10 * time.Minute })
		b := o.Book(officetest.Anna, o.TripID('A', 'B', "R 1"))
		if want := officetest.Opens.Add(10 * time.Minute); !b.Expires.Equal(want) {
			t.Fatalf("expires at %v", b.Expires)
		}
		o.Clock.Set(b.Expires.Add(-1))
		o.Do()
		o.Stands(b.ID, traintravel.Held)
		o.Clock.Set(b.Expires)
		o.Do()
		o.Stands(b.ID, traintravel.Expired)
		o.Told(b.ID, traintravel.BookingExpired, traintravel.BookingCreated)
	})
}

// TestHoldEndsAtDeparture, at the latest.
func TestHoldEndsAtDeparture(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		departs := officetest.Opens.Add(2 * time.Hour)
		o.Clock.Set(departs.Add(-20 * time.Minute))
		b := o.Book(officetest.Anna, o.TripID('A', 'B', "R 1"))
		if !b.Expires.Equal(departs) {
			t.Errorf("expires at %v, the train departs at %v", b.Expires, departs)
		}
		o.Clock.Set(departs)
		_, err := o.Pay(b)
		o.Expect("paying at departure", err, traintravel.ErrHoldExpired)
	})
}

// TestPaymentUnderWayKeepsThePlace beyond the end of the hold, until its
// outcome is known.
func TestPaymentUnderWayKeepsThePlace(t *testing.T) {
	for _, card := range []traintravel.Secret{officetest.Works, officetest.Declined} {
		officetest.OnEveryStoreCase(t, string(card), func(t *testing.T, store traintravel.Store) {
			o := officetest.New(t, store)
			trip := o.TripID('D', 'E', "R 2")
			b := o.Book(officetest.Anna, trip)
			o.Clock.Set(b.Expires.Add(-time.Second))
			o.Bank.Before = func(op string, _ uuid.UUID) error {
				if op != "charge" {
					return nil
				}
				// The hold ends while the bank thinks.
				o.Clock.Set(b.Expires.Add(time.Minute))
				o.TryBook(officetest.Berta, trip, traintravel.ErrSoldOut)
				_, err := o.Pay(b)
				o.Expect("paying twice at once", err, traintravel.ErrPaymentInProgress)
				o.Expect("cancelling meanwhile", o.CancelBooking(t.Context(), officetest.Anna, b.ID), traintravel.ErrPaymentInProgress)
				if _, err := o.Booking(t.Context(), officetest.Anna, b.ID); err != nil {
					t.Errorf("reading meanwhile: %v", err)
				}
				o.Do()
				o.Stands(b.ID, traintravel.Held)
				return nil
			}
			if card == officetest.Works {
				o.MustPay(b, traintravel.Succeeded, card)
				o.Stands(b.ID, traintravel.Confirmed)
				o.TryBook(officetest.Berta, trip, traintravel.ErrSoldOut)
				o.BankHolds(b.Price.Amount)
				return
			}
			o.MustPay(b, traintravel.Failed, card)
			o.Stands(b.ID, traintravel.Expired)
			o.Book(officetest.Berta, trip)
			_, err := o.Pay(b)
			o.Expect("trying again", err, traintravel.ErrHoldExpired)
			o.Do()
			o.Told(b.ID, traintravel.BookingExpired, traintravel.BookingCreated, traintravel.PaymentFailed)
		})
	}
}

// TestUnknownOutcomeKeepsThePlace for PendingFor, and not beyond departure.
func TestUnknownOutcomeKeepsThePlace(t *testing.T) {
	departs := officetest.Opens.Add(6 * time.Hour)
	for name, test := range map[string]struct{ pendingFor, until time.Duration }{
		"for PendingFor":    {2 * time.Hour, 2 * time.Hour},
		"to the departure":  {24 * time.Hour, 6 * time.Hour},
		"the hold at least": {10 * time.Minute, time.Hour},
	} {
		officetest.OnEveryStoreCase(t, name, func(t *testing.T, store traintravel.Store) {
			o := officetest.New(t, store, func(opts *traintravel.Options) { opts.PendingFor = test.pendingFor })
			trip := o.TripID('D', 'E', "R 2")
			b := o.Book(officetest.Anna, trip)
			settled := false
			o.Bank.After = func(_ string, _ uuid.UUID, out *traintravel.Outcome) error {
				if !settled {
					*out = traintravel.Outcome{Status: traintravel.Pending}
				}
				return nil
			}
			o.MustPay(b, traintravel.Pending)
			o.Clock.Set(officetest.Opens.Add(test.until - 1))
			o.Do()
			o.Stands(b.ID, traintravel.Held)
			if o.Clock.Now().Before(departs) {
				o.TryBook(officetest.Berta, trip, traintravel.ErrSoldOut)
			}
			o.Clock.Add(1)
			o.Do()
			o.Stands(b.ID, traintravel.Expired)
			if p, err := o.Payment(t.Context(), officetest.Anna, b.ID); err != nil || p.Status != traintravel.Pending {
				t.Fatalf("the payment is %v, %v", p.Status, err)
			}
			settled = true // it had succeeded, as we learn now
			o.Clock.Add(time.Hour)
			o.Do()
			if o.Clock.Now().Before(departs) {
				o.Stands(b.ID, traintravel.Confirmed) // its place is still free
				o.BankHolds(b.Price.Amount)
			} else {
				o.Stands(b.ID, traintravel.Expired)
				o.BankHolds(0)
			}
		})
	}
}

// TestHoldIsTakenWhileItsOwnerPays: between any two steps of a late payment
// somebody else books the place. Either is refused.
func TestHoldIsTakenWhileItsOwnerPays(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		trip := o.TripID('D', 'E', "R 2")
		b := o.Book(officetest.Anna, trip)
		fast := o.Another()
		fast.Clock.Set(b.Expires)
		slow := o.Another()
		slow.Clock.Set(b.Expires.Add(-time.Second))

		// The slow clock's owner has asked the time when the fast one sells.
		var once bool
		late := &officetest.Interposed{Store: store, Before: func() {
			if !once {
				once = true
				fast.Book(officetest.Berta, trip)
			}
		}}
		o2 := slow.On(late)
		_, err := o2.Pay(b)
		o.Expect("paying", err, traintravel.ErrHoldExpired)
		o.Stands(b.ID, traintravel.Expired)
		o.BankHolds(0)
		o.TryBook(officetest.Anna, trip, traintravel.ErrSoldOut)
	})
}
