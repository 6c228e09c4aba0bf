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
			if vary := a.header["Vary"]; len(vary) != 1 || vary[0] != "Origin, Accept, Authorization" {
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
			"Access-Control-Allow-Origin": shop, "Access-Control-Allow-Methods": "GET, HEAD, OPTIONS, POST",
			"Access-Control-Allow-Headers": "authorization,content-type,idempotency-key", "Access-Control-Max-Age": "7200",
		} {
			if got := a.header.Get(name); got != want {
				t.Errorf("preflight of %s: %s is %q", method, name, got)
			}
		}
	}
	if a := preflight("/bookings", "https://evil.example", "POST"); a.header.Get("Access-Control-Allow-Methods") != "" {
		t.Errorf("%v", a.header)
	}

	none := newWorld(t)
	if a := none.do("GET", "/stations", as("anna-r"), origin(shop)); a.header.Get("Access-Control-Allow-Origin") != "" || slices.Contains(a.header["Vary"], "Origin") {
		t.Errorf("by default: %v", a.header)
	}
	all := newWorld(t, func(w *world) { w.options.CORSOrigins = []string{"*"} })
	if a := all.do("GET", "/stations", as("anna-r"), origin(shop)); a.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("with *: %v", a.header)
	}
}

// Options with an origin that no browser sends are refused, because it would never match, and so
// are patterns that would match too many origins.
func TestCrossOriginOptions(t *testing.T) {
	t.Parallel()
	for _, good := range []string{
		"*", "https://shop.example", "http://shop.example", "http://localhost:3000", "https://shop.example:80", "http://shop.example:443", "http://127.0.0.1:8080",
		"http://[::1]:8080", "https://[2001:db8::1]", "https://xn--bcher-kva.example", "https://my_shop.example", "https://0xshop", "https://shop.example.",
		"https://*.shop.example", "https://*.shop.example:8443",
	} {
		if _, err := httpserver.CrossOrigin([]string{good}); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{
		"", " ", "**", "null", "shop.example", "//shop.example", "https:", "https://", "https:shop.example", "https://shop.example/", "https://shop.example/x",
		"https://shop.example?", "https://shop.example#", "https://a@shop.example", " https://shop.example", "https://shop.example https://b.example",
		"https://shop.example,https://b.example", "ftp://shop.example", "file://shop.example", "ws://shop.example", "chrome-extension://abc",
		"HTTPS://shop.example", "https://Shop.example", "https://b\u00fccher.example", "https://shop%2eexample", "https://a b",
		"https://shop.example:443", "http://shop.example:80", "https://shop.example:", "https://shop.example:08443", "https://shop.example:x", "https://shop.example:99999",
		"https://shop..example", "https://.shop.example", "https://.", "http://127.1", "http://0x7f.0x1", "http://127.0.0.01", "http://127.0.0.1.",
		"http://[::0001]", "http://[0:0:0:0:0:0:0:1]", "http://[::1%25eth0]", "http://[127.0.0.1]", "http://::1", "http://[::1",
		"https://*", "https://*:8443", "https://*.example", "https://*shop.example", "https://www*.shop.example", "https://www.*.example", "https://*.*.shop.example",
		"*://shop.example", "https://*.shop.example:443", "https://*.", "https://*..shop.example", "*.shop.example",
	} {
		if _, err := httpserver.CrossOrigin([]string{bad}); err == nil {
			t.Errorf("%q is taken", bad)
		}
		_, err := httpserver.New(newWorld(t).service, httpserver.Options{BaseURL: base, Auth: tokens{}, CORSOrigins: []string{"https://shop.example", bad}})
		if err == nil || !strings.Contains(err.Error(), "CORSOrigins") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// A page that asks before it calls, as browsers want it, is offered the methods that there
// are and no other. Where nothing is, it may call, and then reads that nothing is there.
func TestPagesReadRefusals(t *testing.T) {
	t.Parallel()
	const shop, evil = "https://shop.example", "https://evil.example"
	for _, allowed := range []string{shop, "*"} {
		w := newWorld(t, func(w *world) { w.options.CORSOrigins = []string{allowed} })
		for _, c := range []struct {
			method, target string
			status         int
			slug           string
		}{
			{"GET", "/nope", 404, "not-found"}, {"POST", "/bookings/", 404, "not-found"}, {"DELETE", "/bookings/a/b", 404, "not-found"}, {"BREW", "/nope", 404, "not-found"},
			{"PUT", "/bookings", 405, "method-not-allowed"}, {"PATCH", "/bookings/" + nobody, 405, "method-not-allowed"}, {"BREW", "/trips", 405, "method-not-allowed"},
			{"DELETE", "/healthz", 405, "method-not-allowed"}, {"POST", "/", 405, "method-not-allowed"},
		} {
			before := []part{header("Access-Control-Request-Method", c.method), header("Access-Control-Request-Headers", "authorization")}
			a := w.do("OPTIONS", c.target, append(before, header("Origin", shop))...).want(204)
			offered := a.header.Get("Allow")
			if c.status == 404 && c.method != "BREW" {
				offered = c.method
			}
			if h := a.header; h.Get("Access-Control-Allow-Origin") != allowed || h.Get("Access-Control-Allow-Methods") != offered || strings.Contains(offered, "BREW") ||
				c.status == 405 && strings.Contains(offered, c.method) ||
				h.Get("Access-Control-Allow-Headers") != "authorization" || (h.Get("Allow") == "") != (c.status == 404) {
				t.Errorf("before %s %s: %v", c.method, c.target, h)
			}
			a = w.do(c.method, c.target, header("Origin", shop))
			if a.problem(c.status, c.slug); a.header.Get("Access-Control-Allow-Origin") != allowed || a.header.Get("Access-Control-Expose-Headers") == "" {
				t.Errorf("%s %s: %v", c.method, c.target, a.header)
			}
			if allowed == "*" {
				continue
			}
			for _, a := range []answer{w.do("OPTIONS", c.target, append(before, header("Origin", evil))...), w.do(c.method, c.target, header("Origin", evil))} {
				for name := range a.header {
					if strings.HasPrefix(name, "Access-Control-") {
						t.Errorf("%s %s of another: %d, %v", c.method, c.target, a.status, a.header)
					}
				}
			}
		}
		// Who asks nothing of the kind is told as ever.
		w.do("OPTIONS", "/nope", header("Origin", shop)).problem(404, "not-found")
	}
	newWorld(t).do("OPTIONS", "/nope", header("Origin", shop), header("Access-Control-Request-Method", "GET")).problem(404, "not-found")
}

// An invalid Origin header is granted nothing, whatever is allowed: a response names one origin
// or none. Browsers never send such headers, but proxies may.
func TestInvalidOrigins(t *testing.T) {
	t.Parallel()
	const shop, evil = "https://shop.example", "https://evil.example"
	for _, allowed := range [][]string{{shop, evil}, {shop, "https://*.shop.example"}, {"*"}} {
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

// Handlers next to the server can be called by the same origins, or by none.
func TestCrossOriginOfOthers(t *testing.T) {
	t.Parallel()
	const shop = "https://shop.example"
	beside := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodOptions {
			w.Header().Set("Allow", "OPTIONS, POST")
		}
		w.WriteHeader(http.StatusTeapot)
	})
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
		for _, method := range []string{"GET", "POST", "PUT"} { // those that it has are offered, whatever is asked for
			r := httptest.NewRequest("OPTIONS", "/", nil)
			header("Origin", shop)(r)
			header("Access-Control-Request-Method", method)(r)
			rec, offered := httptest.NewRecorder(), ""
			if c.want != "" {
				offered = "OPTIONS, POST"
			}
			if shared(beside).ServeHTTP(rec, r); rec.Header().Get("Access-Control-Allow-Methods") != offered || rec.Code != http.StatusTeapot {
				t.Errorf("%v allowed, before %s: %d, %v", c.allowed, method, rec.Code, rec.Header())
			}
		}
	}
	if _, err := httpserver.CrossOrigin([]string{"shop.example"}); err == nil {
		t.Error("what is not an origin is allowed")
	}
}
