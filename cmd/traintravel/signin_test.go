package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/traintravel/traintravel/httpserver/authserver"
)

// ask makes a request without a body, with headers in pairs.
func (r *running) ask(method, path string, headers ...string) *http.Response {
	r.t.Helper()
	req, err := http.NewRequest(method, r.base+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	for pair := range slices.Chunk(headers, 2) {
		req.Header.Add(pair[0], pair[1])
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		r.t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp
}

// The page of the description may be the target of sign-in redirects under the server's own name
// and that of this machine, and no other page may.
func TestDocsMaySignIn(t *testing.T) {
	t.Parallel()
	for _, baseURL := range []string{"", "https://Trains.example:443/rail", "http://trains.example:8080"} {
		args := []string{"serve", "--data", filepath.Join(t.TempDir(), "t.db")}
		if baseURL != "" {
			args = append(args, "--base-url", baseURL, "--public-signin")
		}
		r := start(t, args...)
		here, err := url.Parse(r.base)
		if err != nil {
			t.Fatal(err)
		}
		for docs, good := range map[string]bool{
			r.base: true, "http://localhost:" + here.Port(): true, "http://[::1]:" + here.Port(): true,
			"https://trains.example/rail": strings.HasSuffix(baseURL, "/rail"), "http://trains.example:8080": strings.HasSuffix(baseURL, "8080"),
			"http://localhost": false, "http://localhost:1": false, "https://localhost:" + here.Port(): false, "http://localhost:" + here.Port() + "/rail": false,
			"http://trains.example": false, "https://trains.example": false, "https://trains.example:8443/rail": false, "https://trains.example.evil.example/rail": false,
			"http://evil.example:8080": false,
		} {
			query := url.Values{
				"client_id": {authserver.DemoClient}, "redirect_uri": {docs + "/docs/signed-in.html"}, "response_type": {"code"},
				"code_challenge": {strings.Repeat("x", 43)}, "code_challenge_method": {"S256"},
			}
			resp := r.ask("GET", "/oauth/authorize?"+query.Encode())
			if (resp.StatusCode == 200) != good || !good && resp.StatusCode != 400 {
				t.Errorf("--base-url %q: back to %s: %d", baseURL, docs, resp.StatusCode)
			}
		}
	}
}

// A server on this machine has the name localhost too.
func TestOtherBases(t *testing.T) {
	t.Parallel()
	for addr, local := range map[string]string{
		"127.0.0.1:8080": "http://localhost:8080", "[::1]:8080": "http://localhost:8080",
		"0.0.0.0:80": "http://localhost:80", "[::]:8080": "http://localhost:8080", "192.0.2.1:8080": "",
	} {
		a, err := net.ResolveTCPAddr("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		if local != "" {
			want = []string{local}
		}
		if got := otherBases(a); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", addr, got, want)
		}
	}
}

// --cors-origin allows calls of the API and of the token endpoints, but not of the pages that
// people see.
func TestOriginsMaySignIn(t *testing.T) {
	t.Parallel()
	const shop = "https://shop.example"
	open := start(t, "serve", "--data", filepath.Join(t.TempDir(), "t.db"), "--cors-origin", shop)
	closed := start(t, "serve", "--data", filepath.Join(t.TempDir(), "t.db"))
	for path, c := range map[string]struct {
		method    string
		forOthers bool
	}{
		"/stations": {"GET", true}, "/bookings": {"POST", true}, "/oauth/token": {"POST", true}, "/oauth/revoke": {"POST", true}, "/oauth/jwks": {"GET", true},
		"/.well-known/oauth-authorization-server": {"GET", true},
		"/oauth/authorize":                        {"GET", false}, "/oauth/sign-in": {"POST", false}, "/oauth/sign-out": {"POST", false}, "/oauth/consent": {"POST", false},
		"/oauth/style.css": {"GET", false},
	} {
		preflight := []string{"Access-Control-Request-Method", c.method, "Access-Control-Request-Headers", "authorization,content-type"}
		for _, origin := range []string{shop, "https://evil.example"} {
			for _, asked := range []struct {
				method  string
				headers []string
			}{{c.method, nil}, {"OPTIONS", preflight}} {
				for _, r := range []*running{open, closed} {
					resp := r.ask(asked.method, path, append([]string{"Origin", origin}, asked.headers...)...)
					want := ""
					if r == open && c.forOthers && origin == shop {
						want = shop
					}
					if got := resp.Header.Get("Access-Control-Allow-Origin"); got != want {
						t.Errorf("%s %s from %s: allowed is %q, want %q", asked.method, path, origin, got, want)
					}
					if asked.headers == nil {
						continue
					}
					if c.forOthers && resp.StatusCode != http.StatusNoContent {
						t.Errorf("%s: a preflight answers %d", path, resp.StatusCode)
					}
					if got := resp.Header.Get("Access-Control-Allow-Methods"); slices.Contains(strings.Split(got, ", "), c.method) != (want != "") {
						t.Errorf("%s from %s: allowed methods are %q", path, origin, got)
					}
				}
			}
		}
		resp := open.ask(c.method, path, "Origin", shop, "Origin", "https://evil.example")
		if got := resp.Header.Values("Access-Control-Allow-Origin"); len(got) > 0 {
			t.Errorf("%s from two origins: allowed is %q", path, got)
		}
	}
}

// Requests to the sign-in count in the limit on requests of an address; health checks are
// answered all the same.
func TestSignInIsBounded(t *testing.T) {
	t.Parallel()
	r := start(t, "serve", "--data", filepath.Join(t.TempDir(), "t.db"), "--max-requests", "1")
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
	answers := bufio.NewReader(conn)
	if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") { // it is worked on
		t.Fatal(line, err)
	}
	for path, want := range map[string]int{"/oauth/jwks": 429, "/oauth/authorize": 429, "/stations": 429, "/healthz": 200} {
		if resp := r.ask("GET", path); resp.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, resp.StatusCode, want)
		}
	}
	fmt.Fprint(conn, "a=b")
	if _, err := answers.ReadString('\n'); err != nil { // the empty line after it
		t.Fatal(err)
	}
	if resp, err := http.ReadResponse(answers, nil); err != nil || resp.StatusCode != 401 && resp.StatusCode != 400 {
		t.Fatal(resp, err)
	}
	conn.Close()
	for r.ask("GET", "/oauth/jwks").StatusCode == 429 { // it ends when it is answered, or just after
	}
}
