package authserver

import (
	"net/http"
	"strings"
	"testing"
)

// Unknown paths and methods get a problem document: the server's own, or that of
// Options.Refuse.
func TestRefuse(t *testing.T) {
	t.Parallel()
	limit := counted{}
	own := newAuthority(t)
	told := newAuthority(t, limit.limit(1000), func(o *Options) {
		o.Issuer += "/rail"
		o.Refuse = func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/problem+xml")
			w.WriteHeader(http.StatusTeapot)
			_, _ = w.Write([]byte(r.Method + " " + r.URL.Path))
		}
	})
	b := newBrowser(t)
	send := func(method, address string) page {
		t.Helper()
		req, err := http.NewRequest(method, address, strings.NewReader("x=1"))
		if err != nil {
			t.Fatal(err)
		}
		return b.send(req)
	}
	const metadata = "/.well-known/oauth-authorization-server"
	for _, c := range []struct{ method, path, allow string }{
		{"GET", "/oauth/", ""}, {"GET", "/oauth/nothing", ""}, {"POST", "/oauth/nothing", ""}, {"OPTIONS", "/oauth/nothing", ""}, {"GET", "/oauth/token/", ""},
		{"GET", "/oauth//nothing", ""}, {"GET", "/oauth/authorize/x", ""}, {"GET", metadata + "/other", ""}, {"GET", metadata + "x", ""},
		{"POST", "/oauth/authorize", "GET, HEAD, OPTIONS"}, {"GET", "/oauth/consent", "OPTIONS, POST"}, {"BREW", "/oauth/sign-in", "OPTIONS, POST"},
		{"DELETE", "/oauth/sign-out", "OPTIONS, POST"}, {"PUT", "/oauth/style.css", "GET, HEAD, OPTIONS"}, {"POST", "/oauth/jwks", "GET, HEAD, OPTIONS"},
		{"POST", metadata, "GET, HEAD, OPTIONS"}, {"PUT", metadata, "GET, HEAD, OPTIONS"},
	} {
		p := send(c.method, own.url+c.path)
		status := http.StatusNotFound
		if c.allow != "" {
			status = http.StatusMethodNotAllowed
		}
		if p.status != status || p.header.Get("Content-Type") != "application/problem+json" || p.header.Get("Allow") != c.allow ||
			p.header.Get("Cache-Control") != "no-store" || p.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s %s: %d %v %s", c.method, c.path, p.status, p.header, p.body)
			continue
		}
		if v := p.object(t); v["title"] != http.StatusText(status) || v["status"] != float64(status) {
			t.Errorf("%s %s: %s", c.method, c.path, p.body)
		}
		p = send(c.method, told.url+c.path)
		if p.status != http.StatusTeapot || p.header.Get("Content-Type") != "application/problem+xml" || p.header.Get("Allow") != c.allow ||
			p.body != c.method+" "+c.path || p.header.Get("RateLimit") == "" {
			t.Errorf("%s %s, told how: %d %v %s", c.method, c.path, p.status, p.header, p.body)
		}
	}
	for path, allow := range map[string]string{
		"/oauth/authorize": "GET, HEAD, OPTIONS", "/oauth/consent": "OPTIONS, POST", "/oauth/style.css": "GET, HEAD, OPTIONS", "/oauth/token": "OPTIONS, POST",
	} {
		if p := send("OPTIONS", own.url+path); p.status != http.StatusNoContent || p.header.Get("Allow") != allow || p.body != "" {
			t.Errorf("OPTIONS %s: %d %v %s", path, p.status, p.header, p.body)
		}
	}
	// What answers in another form does so still.
	if p := send("GET", own.url+"/oauth/token"); p.status != 405 || p.object(t)["error"] != "invalid_request" || p.header.Get("Allow") != "OPTIONS, POST" {
		t.Errorf("GET /oauth/token: %d %v %s", p.status, p.header, p.body)
	}
	if p := send("GET", told.url+metadata+"/rail"); p.status != 200 {
		t.Errorf("the metadata: %d %s", p.status, p.body)
	}
}

// Preflight requests of browsers do not count against a quota.
func TestPreflightsAreFree(t *testing.T) {
	t.Parallel()
	c := counted{}
	a := newAuthority(t, c.limit(1), marking)
	b := newBrowser(t)
	for _, path := range []string{"/oauth/token", "/oauth/revoke", "/oauth/jwks", "/.well-known/oauth-authorization-server"} {
		req, err := http.NewRequest(http.MethodOptions, a.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Origin", "https://shop.example")
		req.Header.Set("Access-Control-Request-Method", "POST")
		for range 2 {
			if p := b.send(req); p.status != http.StatusNoContent || p.header.Get("Access-Control-Allow-Origin") != "shared" {
				t.Errorf("%s: %d %v", path, p.status, p.header)
			}
		}
	}
	if c[""] != 0 {
		t.Errorf("%d requests counted", c[""])
	}
}
