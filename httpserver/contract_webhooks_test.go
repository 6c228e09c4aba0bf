package httpserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/httpserver"
)

// withWebhooks has events posted to a receiver, whatever the URLs, and what the
// operator wants to the URL of that. All webhooks are verified without the receiver.
func withWebhooks(r http.RoundTripper, operator ...string) func(*world) {
	return postedTo(&welcome{RoundTripper: r}, operator...)
}

// postedTo does likewise, and leaves it to the receiver to verify webhooks.
func postedTo(r http.RoundTripper, operator ...string) func(*world) {
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

// subscribing may read and write.
var subscribing = as("anna-rw")

func (c *contract) webhooks(t *testing.T) {
	hook := newReceiver(503)
	w := newWorld(t, withWebhooks(hook))
	k := c.asker(t, w)
	k.ask(200, "get-webhooks", "/webhooks", reading) // none
	k.ask(400, "get-webhooks", "/webhooks?page=0", reading)
	const wanted = `{"url":"https://shop.example/hooks?a=b","events":["newBooking","bookingConfirmed","bookingCancelled","bookingExpired","paymentFailed"]}`
	made := k.ask(201, "create-webhook", "/webhooks", subscribing, body(wanted), key("hook"))
	at := made.local(made.header.Get("Location"))
	if self := made.resource().Links["self"]; made.local(self) != at {
		t.Errorf("the webhook is at %s, and Location leads to %s", self, at)
	}
	other := k.ask(201, "create-webhook", "/webhooks", subscribing, body(`{"url":"https://shop.example","disabled":false}`), key("other"))
	k.ask(422, "create-webhook", "/webhooks", subscribing, body(`{"url":"https://shop.example/"}`), key("hook"))
	for bad, names := range map[string]string{
		"": "", "[]": "", "{}": "/url", `{"url":1}`: "/url", `{"url":"http://shop.example"}`: "/url", `{"url":""}`: "/url", `{"url":"https://127.0.0.1/"}`: "/url",
		`{"url":"https://[::ffff:10.0.0.1]"}`: "/url", `{"url":"https://2130706433"}`: "/url", `{"url":"https://shop.example","events":[]}`: "/events",
		`{"url":"https://shop.example","events":"newBooking"}`: "/events", `{"url":"https://shop.example","events":null}`: "/events",
		`{"url":"https://shop.example","events":["newBooking",1]}`: "/events/1", `{"url":"https://shop.example","events":["newBooking","ping"]}`: "/events/1",
	} {
		if p := k.ask(400, "create-webhook", "/webhooks", subscribing, body(bad)).problem(400, "invalid-request"); p.names() != names {
			t.Errorf("%s: wrong is %q, want %q", bad, p.names(), names)
		}
	}
	k.ask(200, "get-webhooks", "/webhooks?limit=1", reading)
	k.ask(200, "get-webhooks", "/webhooks?limit=1&page=2", reading)
	if one := k.ask(200, "get-webhook", at, reading); strings.Contains(one.body, "secret") {
		t.Errorf("the secret is shown again: %s", one.body)
	}
	k.ask(200, "create-webhook-secret", at+"/secret", subscribing, key("secret"))

	k.ask(200, "update-webhook", at, subscribing, body(`{"disabled":true}`))
	patch := func(text string) part {
		return func(r *http.Request) { body(text)(r); header("Content-Type", "application/merge-patch+json")(r) }
	}
	k.ask(200, "update-webhook", at, subscribing, patch(`{"disabled":false,"url":"https://shop.example/b","events":["newBooking"]}`))
	for _, bad := range []string{"", `{"disabled":null}`, `{"disabled":1}`, `{"url":"https://10.0.0.1"}`, `{"events":["x"]}`, `{"events":[]}`} {
		k.ask(400, "update-webhook", at, subscribing, patch(bad))
	}
	k.ask(415, "update-webhook", at, subscribing, body(`<webhook/>`), header("Content-Type", "application/xml"))

	// What is posted fails, and then does not.
	deliveries := at + "/deliveries"
	until := func(what string) { t.Helper(); w.runUntil(deliveries, what) }
	k.ask(200, "get-webhook-deliveries", deliveries, reading)
	w.runUntil(at, `"verified":true`)
	pinged := k.ask(202, "create-webhook-ping", at+"/ping", subscribing, key("ping"))
	k.ask(200, "get-webhook-deliveries", deliveries, reading)
	until(`"status":"dead","attempts":1,"last_status":503`)
	k.ask(200, "get-webhook-deliveries", deliveries, reading)
	ping := deliveries + "/" + pinged.resource().ID
	w.book()
	until(`"event":"newBooking","created_at":"2024-02-01T00:00:00Z","status":"pending","attempts":1,"last_status":503,"next_attempt_at":"2024-02-01T00:00:0`)
	k.ask(200, "get-webhook-deliveries", deliveries+"?limit=1", reading)
	k.ask(202, "retry-webhook-delivery", ping+"/retry", subscribing, key("retry"))
	hook.status.Store(200)
	until(`"event":"ping","created_at":"2024-02-01T00:00:00Z","status":"delivered","attempts":1,"last_status":200`)
	k.ask(409, "retry-webhook-delivery", ping+"/retry", subscribing)
	k.ask(202, "retry-webhook-delivery", ping+"/retry", subscribing, key("retry")) // was done
	k.ask(400, "get-webhook-deliveries", deliveries+"?page=0", reading)

	for _, o := range []struct{ id, end string }{
		{"get-webhook", ""}, {"update-webhook", ""}, {"delete-webhook", ""}, {"create-webhook-secret", "/secret"}, {"create-webhook-ping", "/ping"}, {"get-webhook-deliveries", "/deliveries"},
		{"retry-webhook-delivery", "/deliveries/" + nobody + "/retry"},
	} {
		var parts []part
		if o.id == "update-webhook" {
			parts = append(parts, body("{}"))
		}
		k.ask(400, o.id, "/webhooks/x"+o.end, append(parts, subscribing)...)
		k.ask(404, o.id, "/webhooks/"+nobody+o.end, append(parts, subscribing)...)
		k.ask(404, o.id, at+o.end, append(parts, as("berta-rw"))...)
	}
	for _, o := range []struct{ id, at string }{{"create-webhook-secret", at + "/secret"}, {"create-webhook-ping", at + "/ping"}, {"retry-webhook-delivery", ping + "/retry"}} {
		k.ask(400, o.id, o.at, subscribing, key(""))
	}
	k.ask(400, "retry-webhook-delivery", deliveries+"/x/retry", subscribing)
	k.ask(404, "retry-webhook-delivery", deliveries+"/"+nobody+"/retry", subscribing)
	k.ask(204, "delete-webhook", at, subscribing)
	k.ask(404, "get-webhook", at, reading)

	anna := traintravel.Caller{Subject: traintravel.Subject{Issuer: "test", ID: "anna"}, Client: "app"}
	for i := range 99 { // one is there already
		if _, _, err := w.service.Subscribe(t.Context(), anna, traintravel.NewSubscription{URL: fmt.Sprintf("https://shop%d.example", i/3)}); err != nil {
			t.Fatal(err)
		}
	}
	k.ask(409, "create-webhook", "/webhooks", subscribing, body(wanted)).problem(409, "too-many-webhooks")
	k.ask(201, "create-webhook", "/webhooks", as("anna-rw-other"), body(wanted), key("hook"))

	full := `{"url":"https://SHOP1.example:8443/"}`
	if p := k.ask(409, "create-webhook", "/webhooks", as("anna-rw-other"), body(full)).problem(409, "too-many-webhooks-to-host"); !strings.Contains(p.Detail, "3 webhooks to shop1.example") {
		t.Errorf("%+v", p)
	}
	k.ask(409, "update-webhook", made.local(other.header.Get("Location")), subscribing, body(full)).problem(409, "too-many-webhooks-to-host")
	c.unverified(t)
}

// unverified has a receiver refuse pings, and then take one.
func (c *contract) unverified(t *testing.T) {
	hook := newReceiver(503)
	w := newWorld(t, postedTo(hook))
	k := c.asker(t, w)
	made := k.ask(201, "create-webhook", "/webhooks", subscribing, body(`{"url":"https://shop.example"}`), key("unverified"))
	at := made.local(made.header.Get("Location"))
	w.book()
	w.runUntil(at+"/deliveries", `"event":"newBooking","created_at":"2024-02-01T00:00:00Z","status":"pending","attempts":0,"next_attempt_at":"2024-02-02T00:00:00Z"`)
	for _, a := range []answer{made, k.ask(200, "get-webhook", at, reading), k.ask(200, "get-webhooks", "/webhooks", reading)} {
		if !strings.Contains(a.body, `"verified":false,"verify_by":"2024-02-02T00:00:00Z","disabled":false`) {
			t.Error(a.body)
		}
	}
	var all struct{ Data []posting }
	k.ask(200, "get-webhook-deliveries", at+"/deliveries", reading).into(&all)
	for _, d := range all.Data {
		if d.Event == "newBooking" {
			k.ask(409, "retry-webhook-delivery", at+"/deliveries/"+d.ID+"/retry", subscribing).problem(409, "webhook-unverified")
		}
	}
	for _, got := range hook.all() {
		if got.header.Get("Webhook-Event") != "ping" {
			t.Errorf("it got %s", got.body)
		}
	}
	hook.status.Store(200)
	k.ask(202, "create-webhook-ping", at+"/ping", subscribing, key("verifies"))
	w.runUntil(at+"/deliveries", `"event":"newBooking","created_at":"2024-02-01T00:00:00Z","status":"delivered","attempts":1`)
	if a := k.ask(200, "get-webhook", at, reading); !strings.Contains(a.body, `"verified":true,"disabled":false`) {
		t.Error(a.body)
	}
}

// events makes things happen, and holds what is posted then to the description.
func (c *contract) events(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook := newReceiver(202) // which is not 200
		w := newWorld(t, withWebhooks(hook, "https://h.example/"))
		sub := w.do("POST", "/webhooks", subscribing, body(`{"url":"https://shop.example/","events":["bookingConfirmed","bookingCancelled","bookingExpired","paymentFailed"]}`)).want(201).resource()
		w.later(time.Second)
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
		first := made.resource()
		price := w.get("/trips/" + first.TripID).resource().Price
		w.post("/bookings/"+first.ID+"/payment", payment(price, "4000000000000002")).want(200)
		failed := w.get("/bookings/" + first.ID + "/payment").body
		w.pay(first)
		paid := w.get("/bookings/" + first.ID).body
		w.do("DELETE", "/bookings/"+first.ID, writing).want(204)
		w.book()
		w.later(2 * time.Hour)
		w.deliver() // ends the hold
		w.deliver()
		w.do("POST", "/webhooks/"+sub.ID+"/ping", subscribing).want(202)
		w.deliver()
		data := map[string]string{}
		for _, r := range hook.all()[2:] {
			c.posted(t, r)
			event := r.header.Get("webhook-event")
			if event == "newBooking" {
				continue
			}
			var d struct {
				Type string
				Data json.RawMessage
			}
			if err := json.Unmarshal([]byte(r.body), &d); err != nil || d.Type != event || data[event] != "" {
				t.Errorf("%s, %v: %s", event, err, r.body)
			}
			data[event] = string(d.Data)
		}
		if data["paymentFailed"] != failed || data["bookingConfirmed"] != paid || data["ping"] != "{}" || len(data) != 5 {
			t.Errorf("posted was\n%v\nand the payment\n%s\nand the booking\n%s", data, failed, paid)
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

// A welcome answers for a receiver the ping that verifies its webhook: the first to each
// URL. The receiver gets whatever comes after it.
type welcome struct {
	http.RoundTripper
	verified sync.Map // by URL
}

func (v *welcome) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Webhook-Event") == "ping" {
		if _, again := v.verified.LoadOrStore(r.URL.String(), true); !again {
			return &http.Response{StatusCode: 204, Body: http.NoBody}, nil
		}
	}
	return v.RoundTripper.RoundTrip(r)
}
