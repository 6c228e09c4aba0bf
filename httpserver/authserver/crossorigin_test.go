package authserver

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// marking is a rule of origins that marks what it is asked about.
func marking(o *Options) {
	o.CrossOrigin = func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Access-Control-Allow-Origin", "shared")
			h.ServeHTTP(w, r)
		})
	}
}

// Pages of other origins may call what programs call, and see every answer; what
// people see is for nobody else.
func TestCrossOrigin(t *testing.T) {
	t.Parallel()
	c := counted{}
	a := newAuthority(t, marking, func(o *Options) { o.Issuer += "/rail" }, c.limit(1000))
	b := newBrowser(t)
	send := func(method, path string) page {
		t.Helper()
		req, err := http.NewRequest(method, a.url+path, strings.NewReader("x=1"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Origin", "https://shop.example")
		req.Header.Set("Access-Control-Request-Method", "POST")
		return b.send(req)
	}
	query := "?" + goodRequest().Encode()
	const metadata = "/.well-known/oauth-authorization-server"
	check := func() {
		t.Helper()
		for path, shared := range map[string]bool{
			"/oauth/token": true, "/oauth/revoke": true, "/oauth/jwks": true, metadata: true, metadata + "/rail": true,
			"/oauth/authorize" + query: false, "/oauth/authorize": false, "/oauth/sign-in": false, "/oauth/sign-out": false, "/oauth/consent": false,
			"/oauth/style.css": false, "/oauth/": false, "/oauth/nothing": false, metadata + "/other": false, "/oauth/token/": false, "/oauth//token": false,
		} {
			for _, method := range []string{"GET", "POST", "OPTIONS", "PUT"} {
				if got := send(method, path).header.Get("Access-Control-Allow-Origin") == "shared"; got != shared {
					t.Errorf("%s %s is shared: %t", method, path, got)
				}
			}
		}
	}
	check()
	for path, allow := range map[string]string{
		"/oauth/token": "OPTIONS, POST", "/oauth/revoke": "OPTIONS, POST", "/oauth/jwks": "GET, HEAD, OPTIONS",
		metadata: "GET, HEAD, OPTIONS", metadata + "/rail": "GET, HEAD, OPTIONS",
	} {
		if p := send("OPTIONS", path); p.status != http.StatusNoContent || p.header.Get("Allow") != allow || p.body != "" {
			t.Errorf("%s: %d %v %s", path, p.status, p.header, p.body)
		}
	}
	c[""] = 2000 // none left: who is refused is told
	check()
}

// The redirect URIs of the demo client that are registered each for itself are
// good to the letter, on the issuer's host and elsewhere.
func TestDemoRedirectURIs(t *testing.T) {
	t.Parallel()
	const own, local = "http://trains.example/api/docs/signed-in.html", "http://localhost:8080/docs/signed-in.html"
	a := newAuthority(t, func(o *Options) { o.DemoRedirectURIs = []string{own, local} })
	for uri, good := range map[string]bool{
		own: true, local: true, "http://127.0.0.1:8080/docs/signed-in.html": true,
		own + "?": false, own + "?x=1": false, own + "/": false, own + "#": false, own + "#x": false, own + "/../x": false,
		"https://trains.example/api/docs/signed-in.html": false, "http://trains.example:80/api/docs/signed-in.html": false,
		"http://trains.example:8080/api/docs/signed-in.html": false, "http://TRAINS.example/api/docs/signed-in.html": false,
		"http://trains.example/api/docs/": false, "http://trains.example/docs/signed-in.html": false, "http://trains.example/api/docs/%73igned-in.html": false,
		"http://trains.example.evil.example/api/docs/signed-in.html": false, "http://evil.example/api/docs/signed-in.html": false,
		"http://trains.example@evil.example/api/docs/signed-in.html": false, "http://a@trains.example/api/docs/signed-in.html": false,
		"http://localhost:8081/docs/signed-in.html": false, "http://localhost/docs/signed-in.html": false, "http://localhost:8080/": false,
		"http://localhost:8080@evil.example/docs/signed-in.html": false, "http://localhost:8080.evil.example/docs/signed-in.html": false,
	} {
		for _, client := range []string{DemoClient, "web"} {
			q := changed(changed(goodRequest(), "redirect_uri", uri), "client_id", client)
			p := newBrowser(t).get(a.url + "/oauth/authorize?" + q.Encode())
			if want := good && client == DemoClient; (p.status == http.StatusOK) != want || p.header.Get("Location") != "" {
				t.Errorf("%s for %q: %d", client, uri, p.status)
			}
		}
	}
}

// The origin of our own pages is written as browsers write it.
func TestOriginOf(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://Trains.example:443/api": "https://trains.example", "http://127.0.0.1:80": "http://127.0.0.1", "http://[::1]:8080": "http://[::1]:8080",
		"https://trains.example:80": "https://trains.example:80", "http://127.0.0.1:8080": "http://127.0.0.1:8080",
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := originOf(u); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}
