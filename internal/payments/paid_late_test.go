package payments_test

import (
	"testing"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
)

// If a charge succeeds only after departure, the payer gets ErrPaidTooLate, and again when the
// request is repeated with the same key.
func TestPaidTooLate(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		o.Clock.Set(b.Expires.Add(-time.Second))
		o.Bank.During("charge", nil, func() error {
			o.Clock.Set(b.Legs[0].Origin.Time)
			return nil
		})
		n := traintravel.NewPayment{Amount: b.Price, Source: officetest.Visa(officetest.Works), IdempotencyKey: "k"}
		for range 2 {
			p, err := o.PayBooking(t.Context(), officetest.Anna, b.ID, n)
			o.Expect("paying", err, traintravel.ErrPaidTooLate)
			if p.Status != traintravel.Succeeded {
				t.Errorf("%+v", p)
			}
		}
		o.Stands(b.ID, traintravel.Expired)
		o.Do()
		o.BankHolds(0)
	})
}

// The event of a failed payment has the state at that time, however late it is delivered.
func TestEventOfFailedPaymentKeepsItsState(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		failed := o.MustPay(b, traintravel.Failed, officetest.Declined)
		o.MustPay(b, traintravel.Succeeded, officetest.Works)
		o.Do()
		found := false
		for _, e := range o.Post.Events {
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
