package httpserver_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/traintravel/traintravel/httpserver"
)

func TestCrossOrigin(t *testing.T) {
	t.Parallel()
	const shop = "https://shop.example"
	w := newWorld(t, func(w *world) { w.options.CORSOrigins = []string{shop, "https://*.shop.example:8443"} })
	origin := func(o string) part { return header("Origin", o) }
	exposed := "RateLimit, Retry-After, Location, ETag, Link, Sunset, WWW-Authenticate, Idempotency-Replayed"
	for _, target := range []string{"/stations", "/nothing", "/bookings?page=0", "/healthz"} {
		for o, want := range map[string]string{
			shop: shop, "https://www.shop.example:8443": "https://www.shop.example:8443",
			"http://shop.example": "", "https://evil.example": "", "https://shop.example.evil.example": "", "https://www.shop.example": "", "null": "",
		} {
			a := w.do("GET", target, as("anna-r"), origin(o))
			if got := a.header.Get("Access-Control-Allow-Origin"); got != want {
				t.Errorf("%s from %s: allowed is %q", target, o, got)
			}
			if want != "" && !strings.EqualFold(a.header.Get("Access-Control-Expose-Headers"), exposed) {
				t.Errorf("exposed are %q", a.header.Get("Access-Control-Expose-Headers"))
			}
			if a.header.Get("Access-Control-Allow-Credentials") != "" {
				t.Error("cookies are allowed")
			}
			vary := strings.Join(a.header["Vary"], ", ")
			if !strings.Contains(vary, "Origin") || !strings.Contains(vary, "Accept, Authorization") {
				t.Errorf("Vary is %q", vary)
			}
		}
	}
	w.do("GET", "/bookings", origin(shop)).want(401)
	if a := w.do("GET", "/bookings", origin(shop)); a.header.Get("Access-Control-Allow-Origin") != shop {
		t.Error("a page does not learn that it needs a token")
	}
	preflight := func(target, o, method string) answer {
		return w.do("OPTIONS", target, origin(o), header("Access-Control-Request-Method", method),
			header("Access-Control-Request-Headers", "authorization,content-type,idempotency-key"))
	}
	for _, method := range []string{"GET", "POST", "DELETE"} {
		a := preflight("/bookings", shop, method).want(204)
		for name, want := range map[string]string{
			"Access-Control-Allow-Origin": shop, "Access-Control-Allow-Methods": method,
			"Access-Control-Allow-Headers": "authorization,content-type,idempotency-key", "Access-Control-Max-Age": "7200",
		} {
			if got := a.header.Get(name); got != want {
				t.Errorf("preflight of %s: %s is %q", method, name, got)
			}
		}
	}
	for _, a := range []answer{preflight("/bookings", "https://evil.example", "POST"), preflight("/bookings", shop, "TRACE")} {
		if a.header.Get("Access-Control-Allow-Methods") != "" {
			t.Errorf("%v", a.header)
		}
	}

	none := newWorld(t)
	if a := none.do("GET", "/stations", as("anna-r"), origin(shop)); a.header.Get("Access-Control-Allow-Origin") != "" || slices.Contains(a.header["Vary"], "Origin") {
		t.Errorf("by default: %v", a.header)
	}
	all := newWorld(t, func(w *world) { w.options.CORSOrigins = []string{"*"} })
	if a := all.do("GET", "/stations", as("anna-r"), origin(shop)); a.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("with *: %v", a.header)
	}
	for _, bad := range []string{"", "shop.example", "https://shop.example/", "https://shop.example/x", "https://", "null", "https://a@shop.example"} {
		_, err := httpserver.New(none.service, httpserver.Options{BaseURL: base, Auth: tokens{}, CORSOrigins: []string{bad}})
		if err == nil || !strings.Contains(err.Error(), "CORSOrigins") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// Who is not one origin is granted nothing, whatever is allowed: an answer names
// one origin or none. Browsers send no such thing, but what stands before the
// server may.
func TestOddOrigins(t *testing.T) {
	t.Parallel()
	const shop, evil = "https://shop.example", "https://evil.example"
	for _, allowed := range [][]string{{shop, evil}, {shop, "https://*.shop.example"}, {"https://*"}, {"*"}} {
		w := newWorld(t, func(w *world) { w.options.CORSOrigins = allowed })
		for _, origins := range [][]string{
			{shop, evil}, {evil, shop}, {shop, shop}, {shop, "null"}, {"null", shop}, {shop, ""}, {"", shop}, {shop, shop, shop},
			{""}, {" "}, {shop + ", " + evil}, {shop + "," + evil}, {evil + ", https://www.shop.example"}, {evil + " https://www.shop.example"},
			{evil + "/.shop.example"}, {evil + "/https://www.shop.example"}, {evil + "?.shop.example"}, {evil + "#.shop.example"}, {evil + ":1.shop.example"},
			{shop + "/"}, {shop + " "}, {"https://anna@www.shop.example"}, {"https://"}, {"www.shop.example"}, {"https:www.shop.example"}, {"https://evil.example\\.shop.example"},
		} {
			for _, parts := range [][]part{
				{as("anna-r")}, {}, // a success, and a problem
				{header("Access-Control-Request-Method", "GET"), header("Access-Control-Request-Headers", "authorization")},
			} {
				for _, method := range []string{"GET", "HEAD", "OPTIONS"} {
					a := w.do(method, "/stations", append([]part{header("Origin", origins...)}, parts...)...)
					for name := range a.header {
						if strings.HasPrefix(name, "Access-Control-") {
							t.Errorf("%v allowed, from %q: %s: %s is %q", allowed, origins, method, name, a.header[name])
						}
					}
					if vary := strings.Join(a.header["Vary"], ", "); !strings.Contains(vary, "Origin") || !strings.Contains(vary, "Accept, Authorization") {
						t.Errorf("%v allowed, from %q: %s: Vary is %q", allowed, origins, method, vary)
					}
				}
			}
		}
	}
}

// What stands beside the server may be called by the same origins, or by none.
func TestCrossOriginOfOthers(t *testing.T) {
	t.Parallel()
	const shop = "https://shop.example"
	beside := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	for _, c := range []struct {
		allowed []string
		want    string
	}{{nil, ""}, {[]string{"https://other.example"}, ""}, {[]string{shop}, shop}, {[]string{"*"}, "*"}} {
		shared, err := httpserver.CrossOrigin(c.allowed)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("GET", "/", nil)
		header("Origin", shop)(r)
		rec := httptest.NewRecorder()
		shared(beside).ServeHTTP(rec, r)
		if got := rec.Header().Get("Access-Control-Allow-Origin"); got != c.want || rec.Code != http.StatusTeapot {
			t.Errorf("%v allowed: %d, %q", c.allowed, rec.Code, got)
		}
	}
	if _, err := httpserver.CrossOrigin([]string{"shop.example"}); err == nil {
		t.Error("what is no origin is allowed")
	}
}
