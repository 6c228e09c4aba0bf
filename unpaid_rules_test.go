package traintravel

import (
	"testing"
	"time"

	"github.com/google/uuid"
)

// A booking that ended unpaid has to rest before it is removed, and all its attempts to pay.
func TestUnpaidBookingIsFinished(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC)
	long, lately := now.Add(-leastUnpaid), now.Add(-leastUnpaid+1)
	failed := payment{Payment: Payment{Status: Failed, Settled: long}}
	for name, c := range map[string]struct {
		change func(*Booking, *payment)
		want   bool
	}{
		"at rest":                        {func(*Booking, *payment) {}, true},
		"cancelled":                      {func(b *Booking, _ *payment) { b.Status = Cancelled }, true},
		"ended by an older version":      {func(b *Booking, _ *payment) { b.Changed = time.Time{} }, true},
		"still held":                     {func(b *Booking, _ *payment) { b.Status = Held }, false},
		"confirmed":                      {func(b *Booking, _ *payment) { b.Status = Confirmed }, false},
		"ended lately":                   {func(b *Booking, _ *payment) { b.Changed = lately }, false},
		"with an open payment":           {func(b *Booking, _ *payment) { b.OpenPayment = uuid.Max }, false},
		"with a payment that is pending": {func(_ *Booking, p *payment) { p.Status, p.Settled = Pending, time.Time{} }, false},
		"with a payment that is watched": {func(_ *Booking, p *payment) { p.next = now }, false},
		"with a payment settled lately":  {func(_ *Booking, p *payment) { p.Settled = lately }, false},
	} {
		b, p := Booking{Status: Expired, Changed: long}, failed
		c.change(&b, &p)
		if got := finished(&b, []payment{failed, p}, now); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
