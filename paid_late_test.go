package traintravel_test

import (
	"testing"
	"time"

	"github.com/traintravel/traintravel"
)

// Who pays in time, and whose bank answers after departure, is told that the
// money comes back: now, and when asking again under the same key.
func TestPaidTooLate(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
		b := o.book(anna, o.trip('A', 'D', "R 1"))
		o.clock.set(b.Expires.Add(-time.Second))
		o.bank.during("charge", nil, func() error {
			o.clock.set(b.Legs[0].Origin.Time)
			return nil
		})
		n := traintravel.NewPayment{Amount: b.Price, Source: visa(works), IdempotencyKey: "k"}
		for range 2 {
			p, err := o.PayBooking(t.Context(), anna, b.ID, n)
			o.expect("paying", err, traintravel.ErrPaidTooLate)
			if p.Status != traintravel.Succeeded {
				t.Errorf("%+v", p)
			}
		}
		o.stands(b.ID, traintravel.Expired)
		o.do()
		o.holds(0)
	})
}

// The event of a payment that failed tells what was then, however late it is
// delivered.
func TestFailedPaymentIsToldAsItWas(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
		b := o.book(anna, o.trip('A', 'D', "R 1"))
		failed := o.mustPay(b, traintravel.Failed, declined)
		o.mustPay(b, traintravel.Succeeded, works)
		o.do()
		found := false
		for _, e := range o.post.events {
			if e.Type != traintravel.PaymentFailed {
				continue
			}
			found = true
			if e.Booking.Status != traintravel.Held || e.Payment.Status != traintravel.Failed || e.Payment.Failure != failed.Failure ||
				e.Booking.PaidBy == e.Payment.ID {
				t.Errorf("%+v of %+v", e.Payment, e.Booking)
			}
		}
		if !found {
			t.Error("it was not told")
		}
	})
}
