package httpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/traintravel/traintravel"
)

// Of the amounts of TestEveryCent, some that are sent reach the gateway and come
// back, in JSON and in XML, as they are. The booking is paid in vain, so that it
// can be paid again.
func TestCentsReachTheGateway(t *testing.T) {
	t.Parallel()
	till := &till{}
	w := newWorld(t, func(w *world) {
		w.service_.Gateway, w.service_.AnyAmount = till, true
		w.service_.Declines = traintravel.DeclineLimits{Booking: -1, Card: -1, User: -1}
	})
	path := "/bookings/" + w.book().ID + "/payment"
	for cents := int64(1); cents <= 100_000; cents += 199 {
		whole, rest := strconv.FormatInt(cents/100, 10), fmt.Sprintf("%02d", cents%100)
		short := strings.TrimSuffix(whole+"."+strings.TrimRight(rest, "0"), ".")
		for _, c := range []struct{ sent, accept, told string }{
			{short, "application/json", `,"amount":` + short + `,"currency":"eur",`},
			{whole + "." + rest, "application/xml", "<amount>" + short + "</amount><currency>eur</currency>"},
		} {
			r := httptest.NewRequest("POST", path, nil)
			as("anna-w")(r)
			header("Accept", c.accept)(r)
			body(payment(json.Number(c.sent), goodCard))(r)
			rec := httptest.NewRecorder()
			w.server.ServeHTTP(rec, r)
			if till.last != cents || rec.Code != 200 || !strings.Contains(rec.Body.String(), c.told) {
				t.Fatalf("%s, sent as %s, is charged as %d cents, and told: %d %s", short, c.sent, till.last, rec.Code, rec.Body)
			}
		}
	}
}

// A till is a gateway that notes what it is to take, and declines.
type till struct {
	traintravel.PaymentGateway
	last int64 // in minor units
}

func (g *till) Charge(_ context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
	g.last = c.Amount.Amount
	return traintravel.Outcome{Status: traintravel.Failed, Failure: traintravel.Failure{Code: "card_declined", Message: "No."}}, nil
}
