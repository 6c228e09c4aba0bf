package main

import (
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// A served is what the tests read of a served description.
type served struct {
	Components struct {
		SecuritySchemes map[string]struct {
			Description string
			Flows       struct {
				AuthorizationCode struct{ AuthorizationURL string }
			}
		}
		Parameters struct{ TripID struct{ Example string } }
	}
	Paths map[string]struct {
		Get struct {
			Parameters []struct {
				Name     string
				Examples struct{ Day struct{ Value string } }
			}
		}
	}
}

func (r *running) described() (d served) {
	r.t.Helper()
	text, err := json.Marshal(r.call("", "GET", "/openapi.json", "", 200))
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return d
}

// The description names the ways to get tokens, and the trips in its examples can be booked.
func TestDescribed(t *testing.T) {
	t.Parallel()
	data := func() string { return filepath.Join(t.TempDir(), "t.db") } // with keys of its own
	own, ahead := data(), data()
	builtin := start(t, "serve", "--data", own)
	for name, c := range map[string]struct {
		r      *running
		signIn bool
		tokens string
		keys   string // by the data that they are beside
	}{
		"serve": {builtin, true, "`traintravel token`", own},
		"serve --issuer": {start(t, "serve", "--data", data(), "--issuer", builtin.base, "--audience", builtin.base), false,
			builtin.base + " for the audience `" + builtin.base + "`", own},
		"serve --clock": {start(t, "serve", "--data", ahead, "--clock", "2031-03-01T08:00:00Z"), true, "`traintravel token`", ahead},
		"mock":          {start(t, "mock"), false, "Any text", ""},
	} {
		d := c.r.described()
		schemes := d.Components.SecuritySchemes
		if got := schemes["bearer"].Description; !strings.Contains(got, c.tokens) {
			t.Errorf("%s: tokens are %q", name, got)
		}
		if _, ok := schemes["OAuth2"]; ok != c.signIn {
			t.Errorf("%s: an authorization server is offered: %t", name, ok)
		} else if ok && c.r.ask("GET", strings.TrimPrefix(schemes["OAuth2"].Flows.AuthorizationCode.AuthorizationURL, c.r.base)).StatusCode != 400 {
			t.Errorf("%s: nobody is at %v", name, schemes["OAuth2"])
		}
		token := "anything"
		if c.keys != "" {
			_, printed, _ := once(t, nil, "token", "--user", "anna", "--data", c.keys)
			token = strings.TrimSpace(printed)
		}
		day := ""
		for _, p := range d.Paths["/trips"].Get.Parameters {
			if p.Name == "date" {
				day = p.Examples.Day.Value
			}
		}
		found := c.r.call(token, "GET", "/trips?origin="+berlin+"&destination="+paris+"&date="+day, "", 200)["data"].([]any)
		if len(found) == 0 {
			t.Errorf("%s: there is no trip on %q", name, day)
		}
		c.r.call(token, "POST", "/bookings", `{"trip_id": "`+d.Components.Parameters.TripID.Example+`", "passenger_name": "Anna"}`, 201)
	}
}

// The built-in authorization server answers unknown paths and methods like the API.
func TestSignInRefuses(t *testing.T) {
	t.Parallel()
	const shop = "https://shop.example"
	r := start(t, "serve", "--data", filepath.Join(t.TempDir(), "t.db"), "--rate-limit", "100", "--cors-origin", shop)
	for _, c := range []struct {
		method, path string
		status       int
		allow        string
		shared       bool
	}{
		{"GET", "/oauth/nothing", 404, "", false}, {"GET", "/oauth/", 404, "", false}, {"GET", "/.well-known/oauth-authorization-server/x", 404, "", false},
		{"POST", "/oauth/authorize", 405, "GET, HEAD, OPTIONS", false}, {"GET", "/oauth/consent", 405, "OPTIONS, POST", false},
		{"POST", "/oauth/jwks", 405, "GET, HEAD, OPTIONS", true}, {"PUT", "/.well-known/oauth-authorization-server", 405, "GET, HEAD, OPTIONS", true},
	} {
		for _, form := range []string{"json", "xml"} {
			req, err := http.NewRequest(c.method, r.base+c.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Accept", "application/"+form)
			req.Header.Set("Origin", shop)
			resp, err := http.DefaultTransport.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			slug := map[int]string{404: "not-found", 405: "method-not-allowed"}[c.status]
			h := resp.Header
			if err != nil || resp.StatusCode != c.status || h.Get("Content-Type") != "application/problem+"+form || h.Get("Allow") != c.allow ||
				!strings.Contains(string(text), r.base+"/problems/"+slug) || !strings.Contains(string(text), "urn:uuid:") {
				t.Errorf("%s %s: %v, %d %v %s", c.method, c.path, err, resp.StatusCode, h, text)
			}
			if len(h.Values("RateLimit")) != 1 || len(h.Values("Vary")) != 1 || (h.Get("Access-Control-Allow-Origin") == shop) != c.shared {
				t.Errorf("%s %s: %v", c.method, c.path, h)
			}
		}
	}
}

// Origins that no browser sends, and those of too many, are refused at the start.
func TestOddOriginsAreRefused(t *testing.T) {
	t.Parallel()
	for _, origin := range []string{
		"https://*", "https://*.shop.example", "https://shop.example:443", "http://shop.example:80", "ftp://x", "https://shop.example/", "shop.example",
		"https://Shop.example", "null", "**", "",
	} {
		// The other mistake is there lest it starts if this is taken for none.
		code, _, stderr := once(t, nil, "serve", "--cors-origin", "https://good.example", "--cors-origin="+origin, "--rate-limit", "-1")
		if origin != "" && (code != 2 || !strings.Contains(stderr, "invalid --cors-origin \""+origin+"\"")) || strings.Contains(stderr, "good.example") {
			t.Errorf("%q: %d, %s", origin, code, stderr)
		}
	}
	for _, origin := range []string{"*", "https://shop.example", "http://localhost:3000", "http://[::1]:3000"} {
		if _, _, stderr := once(t, nil, "serve", "--cors-origin", origin, "--rate-limit", "-1"); strings.Contains(stderr, "--cors-origin") {
			t.Errorf("%q: %s", origin, stderr)
		}
	}
}

// A base URL whose host is none is refused before anything is made.
func TestOddBasesAreRefused(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"http://a..b", "http://[1.2.3.4]", "http://300.1.1.1", "http://x:99999"} {
		code, _, stderr := once(t, nil, "serve", "--base-url", base, "--rate-limit", "-1")
		if code != 2 || !strings.Contains(stderr, "invalid --base-url \""+base+"\"") {
			t.Errorf("%s: %d, %s", base, code, stderr)
		}
	}
}
