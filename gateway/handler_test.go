package gateway_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/sandbox"
)

// signature is what the description says, said again.
func signature(id, timestamp, line, body string) string {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		panic(err)
	}
	h := hmac.New(sha256.New, key)
	fmt.Fprintf(h, "%s.%s.%s\n%s", id, timestamp, line, body)
	return "v1," + base64.StdEncoding.EncodeToString(h.Sum(nil))
}

// A request as somebody sends it who has read the description.
type request struct {
	method, path, mediaType, body string
	change                        func(r *http.Request)
}

func (q request) signed() *http.Request {
	r := httptest.NewRequest(q.method, "http://x"+q.path, strings.NewReader(q.body))
	path, _, _ := strings.Cut(q.path, "?")
	timestamp := strconv.FormatInt(time.Now().Unix(), 10)
	r.Header.Set("webhook-id", "r1")
	r.Header.Set("webhook-timestamp", timestamp)
	r.Header.Set("webhook-signature", signature("r1", timestamp, q.method+" "+path, q.body))
	if q.mediaType != "" {
		r.Header.Set("Content-Type", q.mediaType)
	}
	if q.change != nil {
		q.change(r)
	}
	return r
}

// isSigned says whether an answer has the signature that the description wants.
func isSigned(rec *httptest.ResponseRecorder) bool {
	h := rec.Header()
	return h.Get("webhook-id") == "r1" &&
		h.Get("webhook-signature") == signature("r1", h.Get("webhook-timestamp"), strconv.Itoa(rec.Code), rec.Body.String())
}

const (
	id      = "018d63af-d4fd-73c6-be08-f6e3347fea0b"
	booking = "018d63af-d4ef-7ba4-b288-dfd9f691f22a"
	aCard   = `{"object":"card","name":"Zoë","number":"4242424242424242","cvc":"987","exp_month":12,"exp_year":2040,"address_country":"GB"}`
	aBank   = `{"object":"bank_account","name":"A","number":"00012345","account_type":"company","bank_name":"B","country":"GB"}`
)

func aCharge(source string) string {
	return `{"booking":"` + booking + `","amount":4999,"currency":"gbp","source":` + source + `}`
}

func aRefund(amount string) string {
	return `{"charge":"` + id + `","amount":` + amount + `,"currency":"gbp"}`
}

// Every described response, and the requests that lead to it.
func TestHandler(t *testing.T) {
	t.Parallel()
	s := sandbox.New()
	h := newHandler(t, s)
	d := newDescription(t)
	const js = "application/json"
	put := func(body string) request { return request{"PUT", "/charges/" + id, js, body, nil} }
	with := func(change func(*http.Request)) request {
		q := put(aCharge(aCard))
		q.change = change
		return q
	}
	lacking := func(name string) request {
		return with(func(r *http.Request) { r.Header.Del(name) })
	}
	at := func(off time.Duration) request {
		return with(func(r *http.Request) {
			timestamp := strconv.FormatInt(time.Now().Add(off).Unix(), 10)
			r.Header.Set("webhook-timestamp", timestamp)
			r.Header.Set("webhook-signature", signature("r1", timestamp, "PUT /charges/"+id, aCharge(aCard)))
		})
	}
	for _, c := range []struct {
		name   string
		status int
		slug   string
		request
	}{
		{"a look-up of what never came", 404, "not-found", request{"GET", "/outcomes/" + id, "", "", nil}},
		{"a refund of what never came", 404, "not-found", request{"PUT", "/refunds/" + booking, js, aRefund("1"), nil}},

		{"no ID of a request", 401, "bad-signature", lacking("webhook-id")},
		{"no timestamp", 401, "bad-signature", lacking("webhook-timestamp")},
		{"no signature", 401, "bad-signature", lacking("webhook-signature")},
		{"too old", 401, "bad-signature", at(-6 * time.Minute)},
		{"of the future", 401, "bad-signature", at(6 * time.Minute)},
		{"another method", 401, "bad-signature", with(func(r *http.Request) { r.Method = "POST" })},
		{"another ID", 401, "bad-signature", with(func(r *http.Request) { r.URL.Path = "/charges/" + booking })},
		{"no such path, unsigned", 401, "bad-signature", request{"GET", "/", "", "", func(r *http.Request) { r.Header.Del("webhook-id") }}},
		{"very long", 413, "too-large", put(strings.Repeat(" ", 64<<10+1))},
		{"long", 400, "invalid-request", put(strings.Repeat(" ", 64<<10))},

		{"no such path", 404, "no-such-operation", request{"GET", "/", "", "", nil}},
		{"a slash at the end", 404, "no-such-operation", request{"GET", "/outcomes/" + id + "/", "", "", nil}},
		{"no such action", 404, "no-such-operation", request{"POST", "/charges/" + id + "/capture", "", "", nil}},
		{"below it", 404, "no-such-operation", request{"POST", "/charges/" + id + "/cancel/x", "", "", nil}},
		{"a wrong method", 405, "method-not-allowed", request{"GET", "/charges/" + id, "", "", nil}},
		{"a wrong method of a cancellation", 405, "method-not-allowed", request{"DELETE", "/charges/" + id + "/cancel", "", "", nil}},
		{"a query", 400, "invalid-request", request{"GET", "/outcomes/" + id + "?x=1", "", "", nil}},
		{"no ID", 400, "invalid-request", request{"GET", "/outcomes/", "", "", nil}},
		{"no UUID", 400, "invalid-request", request{"GET", "/outcomes/x", "", "", nil}},
		{"in capitals", 400, "invalid-request", request{"GET", "/outcomes/" + strings.ToUpper(id), "", "", nil}},
		{"no hyphens", 400, "invalid-request", request{"GET", "/outcomes/" + strings.ReplaceAll(id, "-", ""), "", "", nil}},
		{"the ID of nothing", 400, "invalid-request", request{"GET", "/outcomes/00000000-0000-0000-0000-000000000000", "", "", nil}},
		{"a body of a look-up", 400, "invalid-request", request{"GET", "/outcomes/" + id, js, "{}", nil}},
		{"a body of a cancellation", 400, "invalid-request", request{"POST", "/charges/" + id + "/cancel", js, "{}", nil}},
		{"no media type", 415, "unsupported-media-type", request{"PUT", "/charges/" + id, "", aCharge(aCard), nil}},
		{"another media type", 415, "unsupported-media-type", request{"PUT", "/charges/" + id, "text/plain", aCharge(aCard), nil}},

		{"no body", 400, "invalid-request", put("")},
		{"no object", 400, "invalid-request", put("[]")},
		{"nothing in it", 400, "invalid-request", put("{}")},
		{"something after it", 400, "invalid-request", put(aCharge(aCard) + "{}")},
		{"a member twice", 400, "invalid-request", put(strings.Replace(aCharge(aCard), "{", `{"amount":1,`, 1))},
		{"a member that is not known", 400, "invalid-request", put(strings.Replace(aCharge(aCard), "{", `{"capture":false,`, 1))},
		{"one of a source", 400, "invalid-request", put(aCharge(strings.Replace(aCard, "{", `{"token":"4242424242424242",`, 1)))},
		{"in capitals", 400, "invalid-request", put(strings.Replace(aCharge(aCard), "amount", "Amount", 1))},
		{"no UTF-8", 400, "invalid-request", put(strings.Replace(aCharge(aCard), "Zo", "\xff", 1))},
		{"an amount with a fraction", 400, "invalid-request", put(strings.Replace(aCharge(aCard), "4999", "49.99", 1))},
		{"an amount with an exponent", 400, "invalid-request", put(strings.Replace(aCharge(aCard), "4999", "4e3", 1))},
		{"an amount in quotes", 400, "invalid-request", put(strings.Replace(aCharge(aCard), "4999", `"4242424242424242"`, 1))},
		{"nothing to take", 400, "invalid-request", put(strings.Replace(aCharge(aCard), "4999", "0", 1))},
		{"something to give", 400, "invalid-request", put(strings.Replace(aCharge(aCard), "4999", "-1", 1))},
		{"very much", 400, "invalid-request", put(strings.Replace(aCharge(aCard), "4999", "10000000000000001", 1))},
		{"more than fits", 400, "invalid-request", put(strings.Replace(aCharge(aCard), "4999", "99999999999999999999", 1))},
		{"null", 400, "invalid-request", put(strings.Replace(aCharge(aCard), "4999", "null", 1))},
		{"a currency in capitals", 400, "invalid-request", put(strings.Replace(aCharge(aCard), "gbp", "GBP", 1))},
		{"no booking", 400, "invalid-request", put(strings.Replace(aCharge(aCard), booking, "", 1))},
		{"no source", 400, "invalid-request", put(strings.Replace(aCharge(aCard), `,"source":`+aCard, "", 1))},
		{"a source that is null", 400, "invalid-request", put(aCharge("null"))},
		{"a source that is a number", 400, "invalid-request", put(aCharge("4242424242424242"))},
		{"a source of no kind", 400, "invalid-request", put(aCharge(strings.Replace(aCard, "card", "4242424242424242", 1)))},
		{"a number that is none", 400, "invalid-request", put(aCharge(strings.Replace(aCard, "4242424242424242", "4242424242424241", 1)))},
		{"no code", 400, "invalid-request", put(aCharge(strings.Replace(aCard, `"cvc":"987",`, "", 1)))},
		{"a code that is a number", 400, "invalid-request", put(aCharge(strings.Replace(aCard, `"987"`, "987", 1)))},
		{"a refund of nothing", 400, "invalid-request", request{"PUT", "/refunds/" + booking, js, aRefund("0"), nil}},
		{"a refund of no charge", 400, "invalid-request", request{"PUT", "/refunds/" + booking, js, strings.Replace(aRefund("1"), id, "x", 1), nil}},

		{"a charge", 200, "", put(aCharge(aCard))},
		{"another amount", 500, "unknown-outcome", put(strings.Replace(aCharge(aCard), "4999", "5000", 1))},
		{"a charge of a bank account", 200, "", request{"PUT", "/charges/" + booking, "application/json; charset=utf-8", aCharge(aBank), nil}},
		{"a refund", 200, "", request{"PUT", "/refunds/5f0c7b5e-8a3f-4b0e-9d59-3e0f2b8d6c11", js, aRefund("4999"), nil}},
		{"a refund of too much", 500, "unknown-outcome", request{"PUT", "/refunds/5f0c7b5e-8a3f-4b0e-9d59-3e0f2b8d6c12", js, aRefund("5000"), nil}},
		{"a refund that was made elsewhere", 200, "", request{"PUT", "/refunds/5f0c7b5e-8a3f-4b0e-9d59-3e0f2b8d6c12", js, aRefund("4999"), nil}},
		{"a look-up", 200, "", request{"GET", "/outcomes/" + id, "", "", nil}},
		{"a cancellation", 200, "", request{"POST", "/charges/" + id + "/cancel", "", "", nil}},
	} {
		rec := httptest.NewRecorder()
		d.held(t, h).ServeHTTP(rec, c.signed())
		var p struct{ Type, Detail string }
		if err := json.Unmarshal(rec.Body.Bytes(), &p); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if rec.Code != c.status || strings.TrimPrefix(p.Type, "urn:traintravel:gateway:") != c.slug {
			t.Errorf("%s: %d, want %d %s: %s", c.name, rec.Code, c.status, c.slug, rec.Body)
		}
		if signed := c.status != 401 && c.status != 413; isSigned(rec) != signed {
			t.Errorf("%s: signed is %t: %v", c.name, !signed, rec.Header())
		}
		quiet(t, rec.Body.String())
	}
	all, err := s.Movements(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if held, err := s.Balance(t.Context(), "gbp"); err != nil || len(all) != 4 || held != (traintravel.Money{Amount: 4999, Currency: "gbp"}) {
		t.Errorf("moved: %+v", all)
	}

	// What all operations answer alike, and what a gateway that fails makes of them.
	broken := d.held(t, newHandler(t, &script{err: errors.New("it is down")}))
	for _, q := range []request{
		put(aCharge(aCard)), {"PUT", "/refunds/" + booking, js, aRefund("1"), nil},
		{"GET", "/outcomes/" + id, "", "", nil}, {"POST", "/charges/" + id + "/cancel", "", "", nil},
	} {
		ask := func(status int, h http.Handler, change func(*request)) {
			t.Helper()
			q := q
			change(&q)
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, q.signed())
			if rec.Code != status {
				t.Errorf("%s %s: %d, want %d: %s", q.method, q.path, rec.Code, status, rec.Body)
			}
		}
		here := d.held(t, h)
		ask(400, here, func(q *request) { q.path = strings.Replace(q.path, "-", "", 1) })
		ask(401, here, func(q *request) { q.change = func(r *http.Request) { r.Header.Add("webhook-id", "r2") } })
		ask(405, here, func(q *request) { q.method = "DELETE" })
		ask(413, here, func(q *request) { q.body = strings.Repeat(" ", 64<<10+1) })
		if q.method == "PUT" {
			ask(415, here, func(q *request) { q.mediaType = "application/xml" })
		}
		if q.method == "POST" {
			ask(501, broken, func(*request) {})
		} else {
			ask(500, broken, func(*request) {})
		}
	}
	d.held(t, newHandler(t, cannotCancel{&script{}})).ServeHTTP(httptest.NewRecorder(), request{"POST", "/charges/" + id + "/cancel", "", "", nil}.signed())
	for _, answer := range d.answers(t) {
		if !d.met[answer] && !strings.HasSuffix(answer, " 409") { // which a gateway in Go has no error for
			t.Errorf("described and never answered: %s", answer)
		}
	}
}

// cannotCancel is a gateway whose cancellations fail.
type cannotCancel struct{ *script }

func (cannotCancel) Cancel(context.Context, uuid.UUID) (traintravel.Outcome, error) {
	return traintravel.Outcome{}, errors.New("it is down")
}

// The handler works below a path of a mux.
func TestHandlerBelowAPath(t *testing.T) {
	t.Parallel()
	s := sandbox.New()
	h := newHandler(t, s)
	mux := http.NewServeMux()
	mux.Handle("/pay/tt/", http.StripPrefix("/pay/tt", h))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	o, err := newClient(t, server.URL+"/pay/tt/").Charge(t.Context(), charge(card(good)))
	wantStatus(t, o, err, traintravel.Succeeded)
	if err := newClient(t, server.URL+"/pay").Check(t.Context()); err == nil {
		t.Error("what is not there is well")
	}
}
