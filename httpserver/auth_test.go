package httpserver_test

import (
	"net/http"
	"strings"
	"testing"
)

// Requests without a valid token get an explanation of how to send one, and nothing else.
func TestUnauthorized(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const none, bad = challengeNone, challengeBad
	for _, c := range []struct {
		target    string
		headers   []string
		challenge string
	}{
		{"/bookings", nil, none},
		{"/bookings", []string{""}, none},
		{"/bookings", []string{"Basic YW5uYTpydw=="}, none},
		{"/bookings", []string{"anna-rw"}, none},
		{"/bookings", []string{"Bearer"}, bad},
		{"/bookings", []string{"Bearer "}, bad},
		{"/bookings", []string{"Bearer forged"}, bad},
		{"/bookings", []string{"Bearer anna-rw x"}, bad},
		{"/bookings", []string{"Bearer anna-rw, Bearer anna-rw"}, bad},
		{"/bookings", []string{"Bearer anna-rw", "Bearer anna-rw"}, bad},
		{"/bookings", []string{"Bearer a-" + strings.Repeat("r", 8<<10)}, bad},
		{"/bookings?access_token=anna-rw", nil, bad},
		{"/bookings?x=y&access_token=anna-rw", []string{"Bearer anna-rw"}, bad},
	} {
		var parts []part
		if c.headers != nil {
			parts = append(parts, header("Authorization", c.headers...))
		}
		a := w.do("GET", c.target, parts...)
		p := a.problem(401, "unauthorized")
		if got := a.header.Get("Www-Authenticate"); got != c.challenge {
			t.Errorf("%s %q: WWW-Authenticate is %q, want %q", c.target, c.headers, got, c.challenge)
		}
		if strings.Contains(p.Detail, "forged") {
			t.Errorf("the problem tells why: %s", p.Detail)
		}
	}
	for _, ok := range []string{"Bearer anna-rw", "bearer anna-rw", "BEARER  anna-rw "} {
		w.do("GET", "/bookings?my_access_token=1", header("Authorization", ok)).want(200)
	}
	if log := w.log.String(); strings.Contains(log, "anna-rw") {
		t.Errorf("the log holds a token: %s", log)
	}
}

// GET needs read; POST and DELETE need write; neither implies the other.
func TestScopes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.book()
	for _, c := range []struct{ method, target, scope string }{
		{"GET", "/stations", "read"}, {"GET", "/stations/" + berlin, "read"}, {"GET", search, "read"}, {"GET", "/trips/" + b.TripID, "read"},
		{"GET", "/bookings", "read"}, {"POST", "/bookings", "write"}, {"GET", "/bookings/" + b.ID, "read"},
		{"POST", "/bookings/" + b.ID + "/payment", "write"}, {"GET", "/bookings/" + b.ID + "/payments", "read"}, {"DELETE", "/bookings/" + b.ID, "write"},
	} {
		good, bad := "anna-r", "anna-w"
		if c.scope == "write" {
			good, bad = bad, good
		}
		a := w.do(c.method, c.target, as(bad), body(newBooking(b.TripID)))
		a.problem(403, "forbidden")
		if got, want := a.header.Get("Www-Authenticate"), `Bearer realm="traintravel", scope="`+c.scope+
			`", resource_metadata="`+base+`/.well-known/oauth-protected-resource", error="insufficient_scope"`; got != want {
			t.Errorf("%s %s: WWW-Authenticate is %s, want %s", c.method, c.target, got, want)
		}
		if a := w.do(c.method, c.target, as(good), body(newBooking(b.TripID))); a.status == 403 {
			t.Errorf("%s %s needs more than %s", c.method, c.target, c.scope)
		}
	}
	w.do("GET", "/bookings", as("anna-")).problem(403, "forbidden")
}

// An authenticator that cannot tell never lets anybody in.
func TestAuthenticatorFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do("GET", "/bookings", as("down")).problem(503, "unavailable")
	if p := w.do("GET", "/bookings", as("fault")).problem(500, "internal-error"); strings.Contains(p.Detail, "Read") {
		t.Errorf("a failure is told: %s", p.Detail)
	}
	p := w.do("GET", "/bookings", as("panic")).problem(500, "internal-error")
	id := strings.TrimPrefix(p.Instance, "urn:uuid:")
	if log := w.log.String(); !strings.Contains(log, id) || !strings.Contains(log, "a fault of the authenticator's") || !strings.Contains(log, "auth_test") && !strings.Contains(log, "support_test") {
		t.Errorf("the log does not tell of the panic %s: %s", id, log)
	}
	for _, target := range []string{"/healthz", "/readyz"} {
		w.do("GET", target, as("panic")).want(200)
		w.do("GET", target, header("Accept", "text/plain")).want(200)
	}
	var _ http.Handler = w.server
}
