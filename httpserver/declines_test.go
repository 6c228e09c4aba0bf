package httpserver_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/sandbox"
)

const declinedCard = "4000000000000002"

// Five declined attempts end a hold, and the problem says so.
func TestTooManyDeclines(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.book()
	for range 5 {
		w.get("/bookings/" + b.ID).want(200)
		if a := w.post("/bookings/"+b.ID+"/payment", payment("113.58", declinedCard)).want(200); !strings.Contains(a.body, `"status":"failed"`) || a.header.Get("Retry-After") != "" {
			t.Errorf("%v %s", a.header, a.body)
		}
	}
	w.post("/bookings/"+b.ID+"/payment", payment("113.58", goodCard)).problem(409, "too-many-declines")
	w.get("/bookings/"+b.ID).problem(404, "not-found")
	w.get("/bookings/" + b.ID + "/payment").want(200)
}

// Declined payments are limited for each hour, and Retry-After says when it is over.
func TestDeclinesAreLimited(t *testing.T) {
	t.Parallel()
	for _, limits := range []traintravel.DeclineLimits{{Card: 2}, {User: 2}} {
		w := newWorld(t, func(w *world) { w.service_.Declines = limits })
		for range 2 {
			w.post("/bookings/"+w.book().ID+"/payment", payment("113.58", declinedCard)).want(200)
			w.later(10 * time.Minute)
		}
		pay := "/bookings/" + w.book().ID + "/payment"
		p := w.post(pay, payment("113.58", declinedCard))
		p.problem(429, "declines-limited")
		if got := p.header.Get("Retry-After"); got != "2400" {
			t.Errorf("Retry-After is %s", got)
		}
		w.later(40 * time.Minute)
		w.post(pay, payment("113.58", goodCard)).want(200)
	}
}

// A hungGateway does not answer.
type hungGateway struct {
	traintravel.PaymentGateway
	asked chan struct{}
}

func (g *hungGateway) Charge(ctx context.Context, _ traintravel.Charge) (traintravel.Outcome, error) {
	close(g.asked)
	<-ctx.Done()
	return traintravel.Outcome{}, ctx.Err()
}

// A payment that is sent again before its outcome is known, be it that the first request
// still runs or that its process has died, is answered at once: it is pending.
func TestPaymentSentAgainIsPending(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gateway := &hungGateway{sandbox.New(), make(chan struct{})}
		w := newWorld(t, func(w *world) { w.service_.Gateway = gateway })
		b := w.book()
		pay := func() answer {
			return w.do("POST", "/bookings/"+b.ID+"/payment", as("anna-w"), key("k"), body(payment("113.58", goodCard))).want(200)
		}
		go pay()
		<-gateway.asked
		for _, a := range []answer{pay(), w.get("/bookings/" + b.ID + "/payment").want(200)} {
			if a.header.Get("Retry-After") != "5" || !strings.Contains(a.body, `"status":"pending"`) {
				t.Errorf("%v %s", a.header, a.body)
			}
		}
		if a := pay(); a.header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("%v", a.header)
		}
		time.Sleep(time.Minute) // until the first request is answered
	})
}
