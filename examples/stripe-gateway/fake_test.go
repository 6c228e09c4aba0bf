package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
)

// A fake remembers what stripe-mock does not: the few objects of Stripe's that the
// gateway uses, and what has become of them. Each request goes to stripe-mock too,
// which holds it against Stripe's own description.
type fake struct {
	t    testing.TB
	mock string // the URL of a stripe-mock
	url  string

	mu      sync.Mutex
	made    int
	cards   map[string]string // numbers by their PaymentMethods
	intents map[string]*intent
	refunds []*object
	first   map[string]*answered // by idempotency keys
	asked   int
	lose    func(n int) bool // whether the answer to the n-th request is lost
}

// An object is one of Stripe's, as JSON.
type object = map[string]any

type intent struct {
	object
	refunded int64
	taken    bool
	number   string // of its card
	later    string // the number of a card that is processing
}

// answered is what a request under an idempotency key was, and its answer.
type answered struct {
	request string
	status  int
	body    []byte
}

func newFake(t testing.TB, mock string) *fake {
	f := &fake{
		t: t, mock: mock, cards: map[string]string{}, intents: map[string]*intent{}, first: map[string]*answered{},
		lose: func(int) bool { return false },
	}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	f.describe(r, body)
	form, err := url.ParseQuery(string(body) + r.URL.RawQuery)
	if err != nil {
		f.t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
	}
	f.mu.Lock()
	f.asked++
	lost := f.lose(f.asked)
	status, answer := f.once(r, string(body), form)
	f.mu.Unlock()
	if lost {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(answer)
}

// describe asks stripe-mock, which must find nothing wrong with the request.
func (f *fake) describe(r *http.Request, body []byte) {
	q, err := http.NewRequest(r.Method, f.mock+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		f.t.Error(err)
		return
	}
	q.Header = r.Header.Clone()
	resp, err := http.DefaultClient.Do(q)
	if err != nil {
		f.t.Error(err)
		return
	}
	defer resp.Body.Close()
	if text, _ := io.ReadAll(resp.Body); resp.StatusCode/100 != 2 {
		f.t.Errorf("%s %s: stripe-mock answered %d: %s", r.Method, r.URL.Path, resp.StatusCode, text)
	}
}

// once does what is asked, or answers as it did under the same idempotency key.
func (f *fake) once(r *http.Request, body string, form url.Values) (int, []byte) {
	key := r.Header.Get("Idempotency-Key")
	if r.Method != http.MethodPost || key == "" {
		status, o := f.do(r, form)
		return status, encode(o)
	}
	request := r.URL.Path + "?" + body
	if a := f.first[key]; a != nil {
		if a.request != request {
			return 400, encode(fault("idempotency_error", "", ""))
		}
		return a.status, a.body
	}
	status, o := f.do(r, form)
	a := &answered{request, status, encode(o)}
	f.first[key] = a
	return a.status, a.body
}

func encode(o object) []byte {
	b, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return b
}

func fault(kind, code, message string) object {
	return object{"error": object{"type": kind, "code": code, "message": message}}
}

const wrongState = "payment_intent_unexpected_state"

func (f *fake) do(r *http.Request, form url.Values) (int, object) {
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/v1/"), "/")
	amount, _ := strconv.ParseInt(form.Get("amount"), 10, 64)
	var pi *intent
	if parts[0] == "payment_intents" && len(parts) > 1 {
		if pi = f.intents[parts[1]]; pi == nil {
			return 404, fault("invalid_request_error", "resource_missing", "")
		}
	}
	switch r.Method + " " + parts[0] + " " + strings.Join(parts[min(len(parts), 2):], "/") {
	case "POST payment_methods ":
		id := f.id("pm")
		f.cards[id] = form.Get("card[number]")
		return 200, object{"id": id, "object": "payment_method"}
	case "POST payment_intents ":
		if pi != nil {
			break
		}
		pi = &intent{object: object{
			"id": f.id("pi"), "object": "payment_intent", "status": "requires_payment_method", "amount": amount, "currency": form.Get("currency"),
			"metadata": object{metadataID: form.Get("metadata[" + metadataID + "]")},
		}}
		f.intents[pi.object["id"].(string)] = pi
		return 200, pi.object
	case "GET payment_intents ":
		return 200, pi.object
	case "POST payment_intents confirm":
		return f.confirm(pi, f.cards[form.Get("payment_method")])
	case "POST payment_intents cancel":
		if pi.object["status"] != "requires_payment_method" {
			return 400, fault("invalid_request_error", wrongState, "")
		}
		pi.object["status"] = "canceled"
		return 200, pi.object
	case "POST refunds ":
		pi := f.intents[form.Get("payment_intent")]
		switch {
		case pi == nil || !pi.taken:
			return 400, fault("invalid_request_error", "", "")
		case pi.number == disputed:
			return 400, fault("invalid_request_error", "charge_disputed", "The charge has been charged back.")
		case pi.object["amount"] == pi.refunded:
			return 400, fault("invalid_request_error", "charge_already_refunded", "The charge has already been refunded.")
		case amount > pi.object["amount"].(int64)-pi.refunded:
			return 400, object{"error": object{"type": "invalid_request_error", "param": "amount", "message": "It is greater than what is left."}}
		}
		if pi.number != closedCard {
			pi.refunded += amount
		}
		o := object{
			"id": f.id("re"), "object": "refund", "status": "succeeded", "amount": amount, "payment_intent": pi.object["id"],
			"metadata": object{metadataID: form.Get("metadata[" + metadataID + "]")},
		}
		if pi.number == closedCard {
			o["status"], o["failure_reason"] = "failed", "expired_or_canceled_card"
		}
		f.refunds = append(f.refunds, &o)
		return 200, o
	case "GET refunds ":
		data := []object{}
		for _, o := range slices.Backward(f.refunds) {
			if (*o)["payment_intent"] == form.Get("payment_intent") {
				data = append(data, *o)
			}
		}
		return 200, object{"object": "list", "url": "/v1/refunds", "has_more": false, "data": data}
	}
	f.t.Errorf("the gateway asks for %s %s, which the fake does not know", r.Method, r.URL.Path)
	return 404, fault("invalid_request_error", "", "")
}

// confirm takes the money, or declines.
func (f *fake) confirm(pi *intent, number string) (int, object) {
	if pi.object["status"] != "requires_payment_method" {
		return 400, fault("invalid_request_error", wrongState, "")
	}
	why := map[string]object{
		"4000000000000002": {"code": "card_declined", "decline_code": "generic_decline", "message": "Your card was declined."},
		"4000000000009995": {"code": "card_declined", "decline_code": "insufficient_funds", "message": "Your card has insufficient funds."},
		"4000000000000069": {"code": "expired_card", "message": "Your card has expired."},
		"4000000000000127": {"code": "incorrect_cvc", "message": "Your card's security code is incorrect."},
		"4000000000000119": {"code": "processing_error", "message": "An error occurred while processing your card. Try again in a little bit."},
		"4000002500003155": {"code": "authentication_required", "decline_code": "authentication_required", "message": "Your card was declined. This transaction requires authentication."},
	}[number]
	if why != nil {
		why["type"] = "card_error"
		pi.object["last_payment_error"] = why
		return 402, object{"error": why}
	}
	if number == later || number == laterNot {
		pi.object["status"], pi.later = "processing", number
		return 200, pi.object
	}
	pi.object["status"], pi.taken, pi.number = "succeeded", true, number
	return 200, pi.object
}

// The numbers of cards whose charge is disputed, and whose refund fails.
const disputed, closedCard = "4000000000000259", "4000000000005126"

// giveBack is a refund that is made in the dashboard.
func (f *fake) giveBack(id uuid.UUID, amount int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, pi := range f.intents {
		if pi.object["metadata"].(object)[metadataID] == id.String() {
			pi.refunded += amount
		}
	}
}

// The numbers of cards whose PaymentIntents are processing at first.
const later, laterNot = "4000000000000077", "4000000000000341"

// settle ends the processing under one of our IDs.
func (f *fake) settle(_ context.Context, id uuid.UUID) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, pi := range f.intents {
		if pi.object["metadata"].(object)[metadataID] != id.String() || pi.object["status"] != "processing" {
			continue
		}
		if pi.later == later {
			pi.object["status"], pi.taken = "succeeded", true
		} else {
			pi.object["status"] = "requires_payment_method"
			pi.object["last_payment_error"] = object{"type": "card_error", "code": "card_declined", "message": "Your card was declined."}
		}
		return nil
	}
	return fmt.Errorf("nothing is processing under %s", id)
}

func (f *fake) id(kind string) string {
	f.made++
	return fmt.Sprintf("%s_%d", kind, f.made)
}

// kept is how much was taken under one of our IDs, less what went back, and in how
// many charges.
func (f *fake) kept(id string) (amount int64, currency string, charges int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, pi := range f.intents {
		if pi.object["metadata"].(object)[metadataID] == id && pi.taken {
			amount += pi.object["amount"].(int64) - pi.refunded
			currency = pi.object["currency"].(string)
			charges++
		}
	}
	return amount, currency, charges
}
