package ledger

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
)

// A booking that ended unpaid has to rest before it is removed, and all its attempts to pay.
func TestUnpaidBookingIsFinished(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC)
	long, lately := now.Add(-LeastUnpaid), now.Add(-LeastUnpaid+1)
	failed := records.Payment{Payment: rail.Payment{Status: rail.Failed, Settled: long}}
	for name, c := range map[string]struct {
		change func(*rail.Booking, *records.Payment)
		want   bool
	}{
		"at rest":                        {func(*rail.Booking, *records.Payment) {}, true},
		"cancelled":                      {func(b *rail.Booking, _ *records.Payment) { b.Status = rail.Cancelled }, true},
		"ended by an older version":      {func(b *rail.Booking, _ *records.Payment) { b.Changed = time.Time{} }, true},
		"still held":                     {func(b *rail.Booking, _ *records.Payment) { b.Status = rail.Held }, false},
		"confirmed":                      {func(b *rail.Booking, _ *records.Payment) { b.Status = rail.Confirmed }, false},
		"ended lately":                   {func(b *rail.Booking, _ *records.Payment) { b.Changed = lately }, false},
		"with an open payment":           {func(b *rail.Booking, _ *records.Payment) { b.OpenPayment = uuid.Max }, false},
		"with a payment that is pending": {func(_ *rail.Booking, p *records.Payment) { p.Status, p.Settled = rail.Pending, time.Time{} }, false},
		"with a payment that is watched": {func(_ *rail.Booking, p *records.Payment) { p.Next = now }, false},
		"with a payment settled lately":  {func(_ *rail.Booking, p *records.Payment) { p.Settled = lately }, false},
	} {
		b, p := rail.Booking{Status: rail.Expired, Changed: long}, failed
		c.change(&b, &p)
		if got := finished(&b, []records.Payment{failed, p}, now); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
