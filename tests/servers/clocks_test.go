package servers_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
)

// TestClocksThatDisagree: two services sell one place with clocks that are
// apart, and jump. It is sold once at a time, whoever is paid has it.
func TestClocksThatDisagree(t *testing.T) {
	for _, skew := range []time.Duration{2 * time.Second, 10 * time.Minute, 2 * time.Hour} {
		officetest.OnEveryStoreCase(t, skew.String(), func(t *testing.T, store traintravel.Store) {
			o := officetest.New(t, store)
			ahead := o.Another()
			trip := o.TripID('D', 'E', "R 2")

			b := o.Book(officetest.Anna, trip)
			o.Clock.Set(b.Expires.Add(-skew))
			ahead.Clock.Set(b.Expires)
			taken := ahead.Book(officetest.Berta, trip) // by its clock the hold is over
			_, err := o.Pay(b)
			o.Expect("paying by the other clock", err, traintravel.ErrHoldExpired)
			_, err = o.Booking(t.Context(), officetest.Anna, b.ID)
			o.Expect("reading by the other clock", err, traintravel.ErrNotFound)
			o.MustPay(taken, traintravel.Succeeded)
			o.BankHolds(taken.Price.Amount)
			o.Clock.Set(officetest.Opens) // back, by hours
			o.TryBook(officetest.Anna, trip, traintravel.ErrSoldOut)
			_, err = o.Pay(b)
			o.Expect("paying after the clock has jumped back", err, traintravel.ErrHoldExpired)
			o.Expect("cancelling", o.CancelBooking(t.Context(), officetest.Berta, taken.ID), nil)

			// The owner pays first: then the clock ahead finds the place kept.
			b = o.Book(officetest.Anna, trip)
			o.Clock.Set(b.Expires.Add(-skew))
			o.Bank.Before = func(op string, _ uuid.UUID) error {
				if op == "charge" {
					ahead.Clock.Set(b.Expires)
					ahead.TryBook(officetest.Berta, trip, traintravel.ErrSoldOut)
				}
				return nil
			}
			o.MustPay(b, traintravel.Succeeded)
			ahead.TryBook(officetest.Berta, trip, traintravel.ErrSoldOut)
			o.Stands(b.ID, traintravel.Confirmed)
		})
	}
}

// TestClockAheadGivesUpACharge: by a clock far ahead a charge that is under way
// is lost. Where the gateway can fence, it fails; else it succeeds late.
func TestClockAheadGivesUpACharge(t *testing.T) {
	for name, test := range map[string]struct {
		option  func(*traintravel.Options)
		payment traintravel.PaymentStatus
		booking traintravel.BookingStatus
	}{
		"fenced":   {func(*traintravel.Options) {}, traintravel.Failed, traintravel.Expired},
		"unfenced": {officetest.WithoutCancel, traintravel.Succeeded, traintravel.Confirmed},
	} {
		officetest.OnEveryStoreCase(t, name, func(t *testing.T, store traintravel.Store) {
			o := officetest.New(t, store, test.option)
			ahead := o.Another(test.option)
			b := o.Book(officetest.Anna, o.TripID('D', 'E', "R 2"))
			o.Bank.Before = func(op string, _ uuid.UUID) error {
				if op == "charge" {
					ahead.Clock.Set(b.Expires)
					ahead.Do()
					o.Stands(b.ID, traintravel.Expired)
				}
				return nil
			}
			o.MustPay(b, test.payment)
			o.Stands(b.ID, test.booking)
			if test.payment == traintravel.Succeeded {
				o.BankHolds(b.Price.Amount)
			} else {
				o.BankHolds(0)
			}
		})
	}
}

// TestClockJumpsBack: a hold that has run out and that nobody has ended is
// alive again by the clock's word; one that was ended stays so.
func TestClockJumpsBack(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		trip := o.TripID('A', 'D', "R 1")
		kept, ended := o.Book(officetest.Anna, trip), o.Book(officetest.Anna, trip)
		o.Clock.Set(kept.Expires)
		if _, err := o.Booking(t.Context(), officetest.Anna, kept.ID); !errors.Is(err, traintravel.ErrNotFound) {
			t.Fatal(err)
		}
		o.Book(officetest.Berta, trip) // takes the place of one of them
		if o.Stored(kept.ID).Status == traintravel.Expired {
			kept, ended = ended, kept
		}
		o.Clock.Set(officetest.Opens.Add(time.Minute))
		o.MustPay(kept, traintravel.Succeeded)
		_, err := o.Pay(ended)
		o.Expect("paying for what was ended", err, traintravel.ErrHoldExpired)
		o.TryBook(officetest.Berta, trip, traintravel.ErrSoldOut)
		o.Stands(kept.ID, traintravel.Confirmed)
		o.Stands(ended.ID, traintravel.Expired)
	})
}

// TestClockJumpsBackWhileASweepIsUnderWay: what had run out when the sweep
// began is left if it has not when it is its turn.
func TestClockJumpsBackWhileASweepIsUnderWay(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		o.Do()
		o.Clock.Set(b.Expires)
		sweeper := o.On(&officetest.Interposed{Store: store, Listed: func(traintravel.Range) { o.Clock.Set(b.Expires.Add(-1)) }},
			func(opts *traintravel.Options) { opts.Now = o.Clock.Now })
		sweeper.Do()
		o.Stands(b.ID, traintravel.Held)
		o.MustPay(b, traintravel.Succeeded)
	})
}
