package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func newAPI(t *testing.T, answer http.HandlerFunc) *api {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	s, err := newSite(options{API: server.URL + "/", ClientID: clientID, URL: "http://127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	return &api{s.options.API, s.client}
}

// What is posted has the key of its form.
func TestAPIPosts(t *testing.T) {
	t.Parallel()
	var asked []string
	a := newAPI(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, fmt.Sprint(r.Method, " ", r.URL.Path, " ", r.Header.Get("Idempotency-Key"), " ", r.Header.Get("Content-Type"), " ", string(body)))
		fmt.Fprint(w, `{"status":"failed","failure":{"message":"No."}}`)
	})
	made, err := a.pay(t.Context(), "../x", newPayment{amount: amount{json.Number("113.58"), "eur"}}, "k")
	if err != nil || made.Status != "failed" || made.Failure.Message != "No." {
		t.Errorf("%+v %v", made, err)
	}
	const want = `POST /bookings/../x/payment k application/json {"amount":113.58,"currency":"eur","source":{"object":"","name":"","number":"","cvc":"","exp_month":0,"exp_year":0,"address_country":""}}`
	if d := cmp.Diff([]string{want}, asked); d != "" {
		t.Error(d)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, _, err := a.book(stopped, newBooking{}, "k"); err == nil {
		t.Error("a call whose context has ended: no error")
	}
}

func TestAPIReads(t *testing.T) {
	t.Parallel()
	answers := map[string]func(http.ResponseWriter){
		"/bookings/held": func(w http.ResponseWriter) {
			w.Header().Set("Sunset", "Sat, 28 Nov 2026 02:11:52 GMT")
			w.Header().Set("ETag", `"x"`)
			fmt.Fprint(w, `{"id":"held","passenger_name":"Anna","links":{"payment":"/p"}}`)
		},
		"/bookings/moved": func(w http.ResponseWriter) {
			w.Header().Set("Location", "/bookings/held")
			w.WriteHeader(http.StatusFound)
		},
		"/bookings/large": func(w http.ResponseWriter) {
			_, _ = w.Write(append([]byte(`{"id":"`), bytes.Repeat([]byte{'x'}, maxAnswer)...))
		},
		"/bookings/gone": func(w http.ResponseWriter) { refuse(w, http.StatusNotFound, "not-found", "Not here.") },
		"/bookings/text": func(w http.ResponseWriter) { http.Error(w, "no", http.StatusTeapot) },
	}
	a := newAPI(t, func(w http.ResponseWriter, r *http.Request) { answers[r.URL.Path](w) })
	b, err := a.booking(t.Context(), "held")
	if err != nil || b.State() != held || b.ETag != `"x"` || b.Until.Unix() != 1795831912 || b.PassengerName != "Anna" {
		t.Errorf("%+v %v", b, err)
	}
	for id, part := range map[string]string{
		"moved": "302 Found", "large": "not what was expected", "gone": "404 The title: Not here.", "text": "418 I'm a teapot",
	} {
		if _, err := a.booking(t.Context(), id); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: error %v, want %q in it", id, err, part)
		}
	}
}

// The authorization server is the one that the API names, in either place, or the API
// itself; and it is who it says it is.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	const endpoints = `"authorization_endpoint":"https://auth.example/a","token_endpoint":"https://auth.example/t"`
	const resource, rfc8414, openID = "/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"
	tests := []struct {
		name   string
		files  map[string]string // BASE is the address of the server
		issuer string
		err    string
	}{
		{"the API", map[string]string{rfc8414: `{"issuer":"BASE",` + endpoints + `}`}, "BASE", ""},
		{"named", map[string]string{resource: `{"resource":"BASE","authorization_servers":["BASE/auth"]}`, rfc8414 + "/auth": `{"issuer":"BASE/auth",` + endpoints + `}`}, "BASE/auth", ""},
		{"OpenID", map[string]string{resource: `{"resource":"BASE","authorization_servers":["BASE/auth"]}`, "/auth" + openID: `{"issuer":"BASE/auth",` + endpoints + `}`}, "BASE/auth", ""},
		{"names none", map[string]string{resource: `{"resource":"BASE"}`, rfc8414: `{"issuer":"BASE",` + endpoints + `}`}, "BASE", ""},
		{"nothing", nil, "", "404 Not Found"},
		{"another resource", map[string]string{resource: `{"resource":"https://evil.example","authorization_servers":["BASE"]}`, rfc8414: `{"issuer":"BASE",` + endpoints + `}`}, "", "evil.example"},
		{"another issuer", map[string]string{rfc8414: `{"issuer":"https://evil.example",` + endpoints + `}`}, "", "evil.example"},
		{"a script", map[string]string{rfc8414: `{"issuer":"BASE","authorization_endpoint":"javascript:alert(1)","token_endpoint":"https://auth.example/t"}`}, "", "javascript"},
		{"no JSON", map[string]string{resource: `x`}, "", "not what was expected"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var base string
			a := newAPI(t, func(w http.ResponseWriter, r *http.Request) {
				text, ok := tt.files[r.URL.Path]
				if !ok {
					http.NotFound(w, r)
					return
				}
				fmt.Fprint(w, strings.ReplaceAll(text, "BASE", base))
			})
			base = a.base
			p := &provider{api: base, client: a.client}
			m, err := p.metadata(t.Context())
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) || p.known() != nil {
					t.Errorf("error %v, want %q in it", err, tt.err)
				}
				return
			}
			if err != nil || m.Issuer != strings.ReplaceAll(tt.issuer, "BASE", base) || m.origin() != "https://auth.example" || p.known() != m {
				t.Errorf("%+v %v", m, err)
			}
		})
	}
}
