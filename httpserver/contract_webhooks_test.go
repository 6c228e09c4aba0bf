package httpserver_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/httpserver"
)

// withWebhooks has events posted to a receiver, whatever the URLs, and what the
// operator wants to the URL of that.
func withWebhooks(r http.RoundTripper, operator ...string) func(*world) {
	return func(w *world) {
		s, err := httpserver.NewWebhookSender(httpserver.WebhookSenderOptions{BaseURL: base, Tickets: true, Transport: r})
		if err != nil {
			w.t.Fatal(err)
		}
		o := &traintravel.WebhookOptions{Sender: s, SealKey: make([]byte, 32), Clients: []string{"partner"}}
		for _, url := range operator {
			o.Operator = append(o.Operator, traintravel.OperatorWebhook{URL: url, Secrets: []traintravel.Secret{secret, otherSecret}})
		}
		w.service_.Webhooks = o
	}
}

// events makes things happen, and holds what is posted then to the description.
func (c *contract) events(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := newReceiver(202) // which is not 200
		w := newWorld(t, withWebhooks(hook, "https://h.example/"))
		made := w.post("/bookings", newBooking(w.trip().ID)).want(201)
		w.deliver()
		hook.status.Store(200)
		w.later(time.Minute)
		w.deliver()
		got := hook.all()
		if len(got) != 2 || got[0].header.Get("webhook-id") != got[1].header.Get("webhook-id") {
			t.Fatalf("%d calls, or an event with two IDs", len(got))
		}
		for _, r := range got {
			if r.body != made.body {
				t.Errorf("posted is\n%s\nand the booking was\n%s", r.body, made.body)
			}
			c.posted(t, r)
		}
	})
}

// posted holds what was posted to its description.
func (c *contract) posted(t *testing.T, r received) {
	t.Helper()
	event := r.header.Get("webhook-event")
	asked, err := http.NewRequest("POST", base+"/"+event, strings.NewReader(r.body))
	if err != nil {
		t.Fatal(err)
	}
	asked.Header = r.header
	if ok, faults := c.hooks.ValidateHttpRequest(asked); !ok {
		for _, f := range faults {
			t.Errorf("what is posted: %s: %s %v\n%v\n%s", f.Message, f.Reason, f.SchemaValidationErrors, r.header, r.body)
		}
	}
	c.met["webhook "+event] = true
}
