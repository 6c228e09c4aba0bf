package authserver

import (
	"crypto"
	"net/url"
	"strings"
	"testing"
)

// Whatever an authorization request says, nobody is sent to where its client is
// not, as a browser reads the address.
func FuzzRequest(f *testing.F) {
	s, err := New(Options{Issuer: "https://trains.example", Keys: []crypto.Signer{testKey(f)}, Clients: testClients()})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(goodRequest().Encode(), loopbackRedirect, "state")
	f.Add("client_id=web", webRedirect, "")
	f.Add("client_id=other&response_type=token", "http://127.0.0.1:1@evil.example/other/callback", "\r\n")
	f.Add("", "http://[::1]:99999/?", "")
	f.Fuzz(func(t *testing.T, query, redirect, state string) {
		for _, q := range []string{query, changed(changed(goodRequest(), "redirect_uri", redirect), "state", state).Encode()} {
			r, why := s.parseRequest(q)
			if r == nil {
				if why == "" {
					t.Fatal("refused without a word")
				}
				continue
			}
			to, err := url.Parse(r.failure(s.opts.Issuer, fault("x", "y")))
			if err != nil || strings.ContainsAny(to.String(), "\r\n\t \\") {
				t.Fatalf("%q is sent to %q", q, to)
			}
			switch host := to.Hostname(); r.client.ID {
			case "web":
				if to.Scheme != "https" || to.Host != "web.example" || to.Path != "/callback" {
					t.Fatalf("%q is sent to %q", q, to)
				}
			default:
				if (to.Scheme != "http" || host != "127.0.0.1" && host != "::1" || to.User != nil) && to.Scheme != "com.example.app" {
					t.Fatalf("%q is sent to %q", q, to)
				}
			}
			if got := to.Query(); got.Get("iss") != s.opts.Issuer || got.Get("state") != r.state && r.redirect == loopbackRedirect {
				t.Fatalf("%q is sent to %q", q, to)
			}
			if r.problem == nil && (len(r.challenge) != 43 || len(r.scopes) == 0) {
				t.Fatalf("%q is a good request", q)
			}
		}
	})
}
