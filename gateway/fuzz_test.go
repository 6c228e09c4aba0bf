package gateway_test

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gateway"
	"github.com/traintravel/traintravel/sandbox"
)

// Whatever is sent with the right secret, the handler responds as described, and charges only
// valid charges.
func FuzzRequest(f *testing.F) {
	for _, seed := range []request{
		{"PUT", "/charges/" + id, "application/json", aCharge(aCard), nil},
		{"PUT", "/charges/" + id, "application/json", aCharge(aBank), nil},
		{"PUT", "/refunds/" + booking, "application/json", aRefund("1"), nil},
		{"GET", "/outcomes/" + id, "", "", nil},
		{"POST", "/charges/" + id + "/cancel", "", "", nil},
		{"PUT", "/charges/%2f", "application/json;x", `{"source":{"object":"card","exp_month":1e1}}`, nil},
	} {
		f.Add(seed.method, seed.path, seed.mediaType, seed.body)
	}
	s := sandbox.New()
	h, err := gateway.NewHandler(s, secret, gateway.HandlerOptions{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, method, path, mediaType, body string) {
		u, err := url.Parse("http://x" + path)
		if _, e := http.NewRequest(method, "http://x", nil); e != nil || err != nil || !strings.HasPrefix(path, "/") {
			return // net/http lets none through
		}
		q := request{"GET", "/", mediaType, body, nil}.signed()
		q.Method, q.URL = method, u
		timestamp := q.Header.Get("webhook-timestamp")
		q.Header.Set("webhook-signature", signature("r1", timestamp, method+" "+u.EscapedPath(), body))
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, q)
		if !isSigned(rec) && rec.Code != 413 || (rec.Code == 200) != (rec.Header().Get("Content-Type") == "application/json") {
			t.Errorf("%d %v %s", rec.Code, rec.Header(), rec.Body)
		}
	})
}

// Whatever comes in answer that is not signed: it is an error, and never says
// that the ID did not come. What is signed is an error or an outcome.
func FuzzAnswer(f *testing.F) {
	f.Add(200, "application/json", `{"id":"`+id+`","status":"failed","failure":{"code":"x","message":""}}`, "1700000000", "v1,AAAA")
	f.Add(200, "application/json", `{"id":"`+id+`","status":"succeeded"}`, "1", "")
	f.Add(404, "application/problem+json", `{"type":"urn:traintravel:gateway:not-found"}`, "x", "v1,")
	f.Fuzz(func(t *testing.T, status int, mediaType, body, timestamp, sig string) {
		for _, sign := range []bool{false, true} {
			c, err := gateway.New("https://pay.example", secret, gateway.ClientOptions{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				h, about := http.Header{}, r.Header.Get("webhook-id")
				if sign {
					timestamp = strconv.FormatInt(time.Now().Unix(), 10)
					sig = signature(about, timestamp, strconv.Itoa(status), body)
				}
				h.Set("Content-Type", mediaType)
				h.Set("webhook-id", about)
				h.Set("webhook-timestamp", timestamp)
				h.Set("webhook-signature", sig)
				return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
			})})
			if err != nil {
				t.Fatal(err)
			}
			o, err := c.Lookup(t.Context(), uuid.MustParse(id))
			unknown := errors.Is(err, traintravel.ErrNotFound)
			switch {
			case !sign && (err == nil || unknown):
				t.Errorf("not signed: %+v, %v", o, err)
			case unknown && (status != 404 || !strings.Contains(body, "not-found")):
				t.Errorf("%d %s is %v", status, body, err)
			case err == nil && (status != 200 || o.Status != traintravel.Pending && o.Status != traintravel.Succeeded && o.Status != traintravel.Failed):
				t.Errorf("%d %s is %+v", status, body, o)
			}
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
