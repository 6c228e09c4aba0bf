package traintravel_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// TestClocksThatDisagree: two services sell one place with clocks that are
// apart, and jump. It is sold once at a time, whoever is paid has it.
func TestClocksThatDisagree(t *testing.T) {
	for _, skew := range []time.Duration{2 * time.Second, 10 * time.Minute, 2 * time.Hour} {
		onEveryStoreCase(t, skew.String(), func(t *testing.T, store traintravel.Store) {
			o := newOffice(t, store)
			ahead := o.another()
			trip := o.trip('D', 'E', "R 2")

			b := o.book(anna, trip)
			o.clock.set(b.Expires.Add(-skew))
			ahead.clock.set(b.Expires)
			taken := ahead.book(berta, trip) // by its clock the hold is over
			_, err := o.pay(b)
			o.expect("paying by the other clock", err, traintravel.ErrHoldExpired)
			_, err = o.Booking(t.Context(), anna, b.ID)
			o.expect("reading by the other clock", err, traintravel.ErrNotFound)
			o.mustPay(taken, traintravel.Succeeded)
			o.holds(taken.Price.Amount)
			o.clock.set(opens) // back, by hours
			o.tryBook(anna, trip, traintravel.ErrSoldOut)
			_, err = o.pay(b)
			o.expect("paying after the clock has jumped back", err, traintravel.ErrHoldExpired)
			o.expect("cancelling", o.CancelBooking(t.Context(), berta, taken.ID), nil)

			// The owner pays first: then the clock ahead finds the place kept.
			b = o.book(anna, trip)
			o.clock.set(b.Expires.Add(-skew))
			o.bank.before = func(op string, _ uuid.UUID) error {
				if op == "charge" {
					ahead.clock.set(b.Expires)
					ahead.tryBook(berta, trip, traintravel.ErrSoldOut)
				}
				return nil
			}
			o.mustPay(b, traintravel.Succeeded)
			ahead.tryBook(berta, trip, traintravel.ErrSoldOut)
			o.stands(b.ID, traintravel.Confirmed)
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
		"unfenced": {withoutCancel, traintravel.Succeeded, traintravel.Confirmed},
	} {
		onEveryStoreCase(t, name, func(t *testing.T, store traintravel.Store) {
			o := newOffice(t, store, test.option)
			ahead := o.another(test.option)
			b := o.book(anna, o.trip('D', 'E', "R 2"))
			o.bank.before = func(op string, _ uuid.UUID) error {
				if op == "charge" {
					ahead.clock.set(b.Expires)
					ahead.do()
					o.stands(b.ID, traintravel.Expired)
				}
				return nil
			}
			o.mustPay(b, test.payment)
			o.stands(b.ID, test.booking)
			if test.payment == traintravel.Succeeded {
				o.holds(b.Price.Amount)
			} else {
				o.holds(0)
			}
		})
	}
}

// TestClockJumpsBack: a hold that has run out and that nobody has ended is
// alive again by the clock's word; one that was ended stays so.
func TestClockJumpsBack(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
		trip := o.trip('A', 'D', "R 1")
		kept, ended := o.book(anna, trip), o.book(anna, trip)
		o.clock.set(kept.Expires)
		if _, err := o.Booking(t.Context(), anna, kept.ID); !errors.Is(err, traintravel.ErrNotFound) {
			t.Fatal(err)
		}
		o.book(berta, trip) // takes the place of one of them
		if o.state(kept.ID).Status == traintravel.Expired {
			kept, ended = ended, kept
		}
		o.clock.set(opens.Add(time.Minute))
		o.mustPay(kept, traintravel.Succeeded)
		_, err := o.pay(ended)
		o.expect("paying for what was ended", err, traintravel.ErrHoldExpired)
		o.tryBook(berta, trip, traintravel.ErrSoldOut)
		o.stands(kept.ID, traintravel.Confirmed)
		o.stands(ended.ID, traintravel.Expired)
	})
}

// TestClockJumpsBackWhileASweepIsUnderWay: what had run out when the sweep
// began is left if it has not when it is its turn.
func TestClockJumpsBackWhileASweepIsUnderWay(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
		b := o.book(anna, o.trip('A', 'D', "R 1"))
		o.do()
		o.clock.set(b.Expires)
		sweeper := o.on(&interposed{Store: store, listed: func(traintravel.Range) { o.clock.set(b.Expires.Add(-1)) }},
			func(opts *traintravel.Options) { opts.Now = o.clock.now })
		sweeper.do()
		o.stands(b.ID, traintravel.Held)
		o.mustPay(b, traintravel.Succeeded)
	})
}
