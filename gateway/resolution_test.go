package gateway_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// Both sides pass on how a refund ended, and refuse impossible combinations.
func TestResolutions(t *testing.T) {
	t.Parallel()
	failure := traintravel.Failure{Code: "card_closed", Message: "The card was closed."}
	for _, c := range []struct {
		outcome        traintravel.Outcome
		refund, charge bool
	}{
		{traintravel.Outcome{Status: traintravel.Succeeded}, true, true},
		{traintravel.Outcome{Status: traintravel.Failed, Failure: failure}, true, true},
		{traintravel.Outcome{Status: traintravel.Succeeded, Resolution: traintravel.RefundedElsewhere}, true, false},
		{traintravel.Outcome{Status: traintravel.Failed, Failure: failure, Resolution: traintravel.RefundImpossible}, true, false},
		{traintravel.Outcome{Status: traintravel.Failed, Failure: failure, Resolution: traintravel.RefundedElsewhere}, false, false},
		{traintravel.Outcome{Status: traintravel.Succeeded, Resolution: traintravel.RefundImpossible}, false, false},
		{traintravel.Outcome{Status: traintravel.Pending, Resolution: traintravel.RefundedElsewhere}, false, false},
		{traintravel.Outcome{Status: traintravel.Succeeded, Resolution: "lost"}, false, false},
	} {
		client := newClient(t, serve(t, &script{outcome: c.outcome}).url)
		paid := charge(card(good))
		out, err := client.Refund(t.Context(), refund(paid))
		if (err == nil) != c.refund || c.refund && out != c.outcome {
			t.Errorf("a refund that is %+v: %+v, %v", c.outcome, out, err)
		}
		if out, err = client.Lookup(t.Context(), uuid.New()); (err == nil) != c.refund || c.refund && out != c.outcome {
			t.Errorf("a look-up of what is %+v: %+v, %v", c.outcome, out, err)
		}
		if out, err := client.Charge(t.Context(), paid); (err == nil) != c.charge {
			t.Errorf("a charge that is %+v: %+v, %v", c.outcome, out, err)
		}
	}
}

// A gateway that does not use the handler may respond with anything.
func TestForeignResolutions(t *testing.T) {
	t.Parallel()
	var rest string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		id, now := r.Header.Get("webhook-id"), strconv.FormatInt(time.Now().Unix(), 10)
		body := `{"id":"` + r.URL.Path[len("/refunds/"):] + `",` + rest + `}`
		w.Header().Set("webhook-id", id)
		w.Header().Set("webhook-timestamp", now)
		w.Header().Set("webhook-signature", signature(id, now, "200", body))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	}))
	defer server.Close()
	client := newClient(t, server.URL)
	for _, c := range []struct {
		rest string
		want traintravel.Outcome // zero for an error
	}{
		{`"status":"succeeded"`, traintravel.Outcome{Status: traintravel.Succeeded}}, // as before there were resolutions
		{`"status":"succeeded","resolution":"made_elsewhere","more":1`, traintravel.Outcome{Status: traintravel.Succeeded, Resolution: traintravel.RefundedElsewhere}},
		{`"status":"succeeded","resolution":"impossible"`, traintravel.Outcome{}},
		{`"status":"succeeded","resolution":"of a later version"`, traintravel.Outcome{}},
		{`"status":"pending","resolution":"made_elsewhere"`, traintravel.Outcome{}},
		{`"status":"failed","resolution":"impossible"`, traintravel.Outcome{}}, // without a code
	} {
		rest = c.rest
		out, err := client.Refund(t.Context(), refund(charge(card(good))))
		if out != c.want || (err == nil) != (c.want != traintravel.Outcome{}) {
			t.Errorf("%s: %+v, %v", c.rest, out, err)
		}
	}
}
