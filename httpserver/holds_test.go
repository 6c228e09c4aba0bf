package httpserver_test

import (
	"strings"
	"testing"
	"time"

	"github.com/traintravel/traintravel"
)

// The number of unpaid bookings of a user is limited. The refusal names the number, and when
// the user can book again.
func TestHoldsAreLimited(t *testing.T) {
	t.Parallel()
	for want, limits := range map[string]traintravel.HoldLimits{
		"You hold 2 unpaid bookings in total, and the maximum is 2.":      {User: 2},
		"You hold 2 unpaid bookings for one train, and the maximum is 2.": {Train: 2},
	} {
		w := newWorld(t, func(w *world) { w.service_.Holds = limits })
		b := w.book()
		w.later(20 * time.Minute)
		w.book()
		again := newBooking(b.TripID)
		p := w.post("/bookings", again)
		p.problem(409, "too-many-holds")
		ends := w.service_.Now().Add(40 * time.Minute).UTC().Format(time.RFC3339)
		if got := p.header.Get("Retry-After"); got != "2400" || !strings.Contains(p.body, want+" If you do nothing, you can book again at "+ends+".") {
			t.Errorf("Retry-After is %s: %s", got, p.body)
		}
		w.do("POST", "/bookings", as("berta-rw"), body(again)).want(201)
		w.post("/bookings/"+b.ID+"/payment", payment("113.58", goodCard)).want(200)
		w.post("/bookings", again).want(201)
	}
}
