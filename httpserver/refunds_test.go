package httpserver_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// However a refund ends, its status is one of the three, and a resolution gives details.
func TestHowRefundsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		w := newWorld(t, func(w *world) {
			w.service_.Now = func() time.Time { return morning.Add(time.Since(began)) }
			w.options.Now = w.service_.Now
		})
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = w.service.Run(ctx) })
		defer running.Wait()
		defer stop()

		trip := w.trip()
		for _, c := range []struct{ number, json, xml string }{
			{goodCard, `"status":"succeeded","refund_of":"`, `<status>succeeded</status><refund_of>`},
			{"4000000000000259", `"status":"succeeded","refund_of":"`, `</refund_of><resolution>made_elsewhere</resolution>`},
			{"4000000000000259", `","resolution":"made_elsewhere"}`, ``},
			{"4000000000005126", `"status":"failed","failure":{"code":"card_closed","message":"`, `</refund_of><resolution>impossible</resolution>`},
			{"4000000000005126", `","resolution":"impossible"}`, ``},
		} {
			at := "/bookings/" + w.post("/bookings", newBooking(trip.ID)).want(201).resource().ID
			w.post(at+"/payment", payment("113.58", c.number)).want(200)
			w.do("DELETE", at, as("anna-w")).want(204)
			time.Sleep(time.Second)
			synctest.Wait()
			if got := w.get(at + "/payments?limit=1").want(200).body; !strings.Contains(got, c.json) {
				t.Errorf("%s: %s has no %s", c.number, got, c.json)
			}
			if got := w.do("GET", at+"/payments?limit=1", as("anna-r"), header("Accept", "application/xml")).want(200).body; !strings.Contains(got, c.xml) {
				t.Errorf("%s: %s has no %s", c.number, got, c.xml)
			}
		}
	})
}
