package httpserver_test

import (
	"fmt"
	"net/http/httptest"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

func withLimit(n int) func(*world) { return func(w *world) { w.options.RateLimit = n } }

func TestRateLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, withLimit(10))
		left := func(a answer, remaining, reset int) {
			t.Helper()
			if got, want := a.header.Get("RateLimit"), fmt.Sprintf("limit=10, remaining=%d, reset=%d", remaining, reset); got != want {
				t.Errorf("RateLimit is %q, want %q", got, want)
			}
		}
		for i := range 10 {
			left(w.get("/bookings").want(200), 9-i, 6*(i+1))
		}
		a := w.get("/bookings")
		a.problem(429, "rate-limited")
		left(a, 0, 60)
		if got := a.header.Get("Retry-After"); got != "6" {
			t.Errorf("Retry-After is %q", got)
		}
		// Others are not touched: another user, another client, an address.
		left(w.do("GET", "/bookings", as("bert-r")).want(200), 9, 6)
		left(w.do("GET", "/nothing"), 9, 6)
		left(w.do("GET", "/bookings", as("forged")).want(401), 8, 12)
		left(w.do("GET", "/bookings", from("198.51.100.7:1")).want(401), 9, 6)
		if got := w.do("GET", "/healthz").header.Get("RateLimit"); got != "limit=600, remaining=600, reset=0" { // what is public has its own
			t.Errorf("RateLimit of a health check is %q", got)
		}
		// It comes back steadily, and a refused request has cost nothing.
		time.Sleep(5 * time.Second)
		w.get("/bookings").want(429)
		time.Sleep(time.Second)
		left(w.get("/bookings").want(200), 0, 60)
		w.get("/bookings").want(429)
		time.Sleep(time.Hour)
		left(w.get("/bookings").want(200), 9, 6)
	})
}

// Guessing tokens exhausts the quota of an address; health checks have none.
func TestRateLimitByAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimit(3))
	for i, addr := range []string{"[2001:db8::1]:1", "[2001:db8::2]:2", "[2001:db8::ffff:1]:3"} { // one network of a customer
		if a := w.do("GET", "/bookings", as("forged"), from(addr)); a.status != 401 {
			t.Errorf("guess %d: %d", i, a.status)
		}
	}
	w.do("GET", "/bookings", as("forged"), from("[2001:db8::4]:4")).problem(429, "rate-limited")
	w.do("GET", "/nothing", from("[2001:db8::4]:4")).problem(429, "rate-limited")
	w.do("GET", "/bookings", as("anna-r"), from("[2001:db8::4]:4")).want(200)
	w.do("GET", "/bookings", as("forged"), from("[2001:db8:0:1::]:4")).want(401)
	w.do("GET", "/bookings", as("forged"), from("@")).want(401)
	for range 10 {
		w.do("GET", "/healthz", from("[2001:db8::4]:4")).want(200)
	}
}

// Preflight requests of browsers do not count against the quota; the requests after them do.
func TestPreflightsAreFree(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const shop = "https://shop.example"
		w := newWorld(t, withLimit(2), func(w *world) { w.options.CORSOrigins = []string{shop} })
		for _, target := range []string{"/bookings", "/bookings/" + nobody, "/nothing", "/healthz"} {
			for _, origin := range []string{shop, "https://evil.example"} {
				for range 3 {
					a := w.do("OPTIONS", target, header("Origin", origin), header("Access-Control-Request-Method", "GET"))
					if got := a.header.Get("RateLimit"); got != "limit=2, remaining=2, reset=0" {
						t.Fatalf("%s from %s: %d, %q", target, origin, a.status, got)
					}
				}
			}
		}
		w.do("GET", "/nothing").want(404)
		w.do("OPTIONS", "/bookings").want(204)
		w.do("GET", "/bookings").want(401)
		w.do("GET", "/nothing").want(429)
		w.do("OPTIONS", "/bookings").want(204)
	})
}

// Requests to another handler have separate quotas of the same size.
func TestLimitElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimit(2), func(w *world) {
		w.options.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	})
	take := func(client string, parts ...part) string {
		r := httptest.NewRequest("POST", "/oauth/token", nil)
		for _, p := range parts {
			p(r)
		}
		header, wait := w.server.Limit(r, client)
		return fmt.Sprintf("%s, wait=%d", header, wait)
	}
	const first, second, none = "limit=2, remaining=1, reset=30, wait=0", "limit=2, remaining=0, reset=60, wait=0", "limit=2, remaining=0, reset=60, wait=30"
	w.do("GET", "/bookings", as("forged"), from("[2001:db8::1]:1")).want(401) // is another quota
	for i, c := range []struct{ addr, forwarded, client, want string }{
		{"[2001:db8::1]:1", "", "", first},
		{"[2001:db8::2]:1", "", "", second},
		{"[2001:db8::3]:1", "", "", none},
		{"[2001:db8::3]:1", "", "shop", first}, // whoever asks for it
		{"198.51.100.9:1", "", "shop", second},
		{"198.51.100.9:1", "", "shop", none},
		{"198.51.100.9:1", "", "other", first},
		{"198.51.100.9:1", "198.51.100.7", "", first},
		{"10.0.0.1:1", "198.51.100.9", "", second},
		{"10.0.0.1:1", "198.51.100.8", "", first},
	} {
		if got := take(c.client, from(c.addr), header("X-Forwarded-For", c.forwarded)); got != c.want {
			t.Errorf("%d: %s, want %s", i, got, c.want)
		}
	}
	w = newWorld(t, withLimit(-1))
	if got := take(""); got != ", wait=0" {
		t.Errorf("without a limit: %s", got)
	}
}

func TestNoRateLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimit(1))
	w.get("/bookings").want(200)
	w.get("/bookings").want(429)
	w = newWorld(t, withLimit(0))
	if got, want := w.get("/bookings").header.Get("RateLimit"), "limit=600, remaining=599, reset=1"; got != want {
		t.Errorf("by default RateLimit is %q, want %q", got, want)
	}
}

// Behind a trusted proxy, and only there, the client's address is what the
// proxy says.
func TestForwardedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withLimit(2), func(w *world) {
		w.options.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	})
	remaining := func(addr string, forwarded ...string) string {
		return w.do("GET", "/nothing", from(addr), header("X-Forwarded-For", forwarded...)).header.Get("RateLimit")
	}
	const first, second = "limit=2, remaining=1, reset=30", "limit=2, remaining=0, reset=60"
	for _, c := range []struct {
		addr      string
		forwarded string
		want      string
	}{
		{"10.0.0.1:1", "198.51.100.1", first},
		{"[::ffff:10.0.0.2]:1", "6.6.6.6, 198.51.100.1:9999 , 10.1.1.1", second}, // the same client, whatever it claims
		{"198.51.100.9:1", "198.51.100.2", first},                                // no proxy of ours
		{"198.51.100.9:2", "198.51.100.3", second},
		{"10.0.0.1:1", "[2001:db8:1::1]:443", first},
		{"[fd00::1]:1", "2001:db8:1::2", second},
		{"10.0.0.9:1", "unknown", first},
		{"10.0.0.9:1", "", second},
	} {
		if got := remaining(c.addr, c.forwarded); got != c.want {
			t.Errorf("from %s for %q: %s, want %s", c.addr, c.forwarded, got, c.want)
		}
	}
}
