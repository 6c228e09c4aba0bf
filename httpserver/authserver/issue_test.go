package authserver

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v2/jwk"
	"github.com/lestrrat-go/jwx/v2/jwt"
)

// A token can be made in process, and is like one that a client gets.
func TestIssueToken(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	token, err := a.IssueToken(" Anna ", "", []string{"read", "write"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	a.checkToken(t, token, "anna", DemoClient, "read write")
	again, err := a.IssueToken("anna", "program", []string{"read"}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	_, one := claimsOf(t, token)
	_, two := claimsOf(t, again)
	if one["jti"] == two["jti"] || two["exp"].(float64)-two["iat"].(float64) != 60 || two["client_id"] != "program" || two["aud"] != a.url {
		t.Errorf("%v %v", one, two)
	}
	for name, try := range map[string]func() (string, error){
		"no user":        func() (string, error) { return a.IssueToken("", "", nil, 0) },
		"a client":       func() (string, error) { return a.IssueToken("client:program", "", nil, 0) },
		"a bad client":   func() (string, error) { return a.IssueToken("anna", "a b", nil, 0) },
		"a bad scope":    func() (string, error) { return a.IssueToken("anna", "", []string{"admin"}, 0) },
		"two in one":     func() (string, error) { return a.IssueToken("anna", "", []string{"read write"}, 0) },
		"for too long":   func() (string, error) { return a.IssueToken("anna", "", nil, tokenLife+1) },
		"for no time":    func() (string, error) { return a.IssueToken("anna", "", nil, time.Millisecond) },
		"for a negative": func() (string, error) { return a.IssueToken("anna", "", nil, -time.Hour) },
	} {
		if token, err := try(); err == nil {
			t.Errorf("%s: %s", name, token)
		}
	}
}

// The first key signs, by the algorithm of its kind; the others verify.
func TestKeys(t *testing.T) {
	t.Parallel()
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	keys := []crypto.Signer{testKey(t), ed, rsaKey}
	for i, alg := range []string{"ES256", "EdDSA", "RS256"} {
		a := newAuthority(t, func(o *Options) {
			o.Keys = append([]crypto.Signer{keys[i]}, keys[(i+1)%3], keys[(i+2)%3])
			o.Audience = "urn:trains"
		})
		token, err := a.IssueToken("anna", "", nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if head, claims := claimsOf(t, token); head["alg"] != alg || claims["aud"] != "urn:trains" || claims["scope"] != nil {
			t.Errorf("%v %v", head, claims)
		}
		set, err := jwk.Parse(a.JWKS())
		if err != nil || set.Len() != 3 || strings.Contains(string(a.JWKS()), `"d"`) {
			t.Fatalf("%v %s", err, a.JWKS())
		}
		if _, err := jwt.Parse([]byte(token), jwt.WithKeySet(set)); err != nil {
			t.Error(err)
		}
	}
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	rsa1024, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []crypto.Signer{p384, rsa1024} {
		if _, err := New(Options{Issuer: "https://trains.example", Keys: []crypto.Signer{testKey(t), key}}); err == nil {
			t.Errorf("%T is accepted", key)
		}
	}
}

// Keys change while tokens are made: each token is good by the keys that there were or
// that there are, and keys that are no good change nothing.
func TestSetKeys(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	old := a.opts.Keys[0]
	before, err := a.IssueToken("anna", "", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	next := testKey(t)
	var wg sync.WaitGroup
	tokens := make([]string, 8)
	for i := range tokens {
		wg.Go(func() {
			if i == 3 {
				if err := a.SetKeys([]crypto.Signer{next, old}); err != nil {
					t.Error(err)
				}
			}
			var err error
			if tokens[i], err = a.IssueToken("anna", "", nil, 0); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	after, err := a.IssueToken("anna", "", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	set, err := jwk.Fetch(t.Context(), a.url+"/oauth/jwks")
	if err != nil || set.Len() != 2 {
		t.Fatalf("%v %v", set, err)
	}
	for _, token := range append(tokens, before, after) {
		if _, err := jwt.Parse([]byte(token), jwt.WithKeySet(set)); err != nil {
			t.Error(err)
		}
	}
	of := func(token string) any { head, _ := claimsOf(t, token); return head["kid"] }
	if of(before) == of(after) {
		t.Error("the old key signs still")
	}
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	published := string(a.JWKS())
	for _, bad := range [][]crypto.Signer{nil, {next, p384}} {
		if err := a.SetKeys(bad); err == nil || string(a.JWKS()) != published {
			t.Errorf("%v: %s", err, a.JWKS())
		}
	}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	b := newBrowser(t)
	m := b.get(a.url + "/.well-known/oauth-authorization-server").object(t)
	for name, want := range map[string]string{
		"issuer": a.url, "authorization_endpoint": a.url + "/oauth/authorize", "token_endpoint": a.url + "/oauth/token",
		"jwks_uri": a.url + "/oauth/jwks", "revocation_endpoint": a.url + "/oauth/revoke",
	} {
		if m[name] != want {
			t.Errorf("%s is %v", name, m[name])
		}
	}
	if m["authorization_response_iss_parameter_supported"] != true || len(m["code_challenge_methods_supported"].([]any)) != 1 {
		t.Error(m)
	}
	p := b.get(a.url + "/oauth/jwks")
	key := p.object(t)["keys"].([]any)[0].(map[string]any)
	if key["kty"] != "EC" || key["alg"] != "ES256" || key["use"] != "sig" || len(key["kid"].(string)) != 43 || key["d"] != nil || !bytes.Equal(a.JWKS(), []byte(p.body)) {
		t.Error(key)
	}
}

// Errors quote only the beginning of a refused value.
func TestLongNames(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	long := strings.Repeat("x", 20_000)
	for _, ask := range []func() (string, error){
		func() (string, error) { return a.IssueToken(long, "", nil, 0) },
		func() (string, error) { return a.IssueToken("anna", long, nil, 0) },
		func() (string, error) { return a.IssueToken("anna", "", []string{long}, 0) },
	} {
		if _, err := ask(); err == nil || len(err.Error()) > 300 {
			t.Errorf("%.400v", err)
		}
	}
}
