package httpserver_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/traintravel/traintravel/httpserver"
)

// unfitKeys are keys that must verify nothing, and a token signed with each.
func (f *foreignIssuer) unfitKeys() (set []map[string]any, attacks []attack) {
	k := signingKeys()
	ec, rs, ed := k["ec"], k["rs"], k["ed"]
	bad := strings.Repeat("A", 43)
	d, err := ec.private.(*ecdsa.PrivateKey).Bytes()
	if err != nil {
		panic(err)
	}
	for _, c := range []struct {
		name   string
		by     signingKey
		change map[string]any
	}{
		// The same bytes as a symmetric key: what HS256 confusion is about.
		{"oct", ec, map[string]any{"kty": "oct", "k": base64.RawURLEncoding.EncodeToString(rsaModulus(rs))}},
		{"oct alone", ec, map[string]any{"kty": "oct", "k": "AAAA", "crv": nil, "x": nil, "y": nil, "alg": nil, "use": nil}},
		{"use enc", ec, map[string]any{"use": "enc"}},
		{"use of ours alone", ec, map[string]any{"use": "verify"}},
		{"key_ops sign", ec, map[string]any{"use": nil, "key_ops": []string{"sign"}}},
		{"key_ops encrypt", ec, map[string]any{"key_ops": []string{"encrypt"}}},
		{"alg HS256", ec, map[string]any{"alg": "HS256"}},
		{"alg none", ec, map[string]any{"alg": "none"}},
		{"alg ES384", ec, map[string]any{"alg": "ES384"}},
		{"alg ECDH-ES", ec, map[string]any{"alg": "ECDH-ES"}},
		{"alg of another kind", ec, map[string]any{"alg": "RS256"}},
		{"alg RSA-OAEP", rs, map[string]any{"alg": "RSA-OAEP"}},
		{"alg RS512", rs, map[string]any{"alg": "RS512"}},
		{"point off the curve", ec, map[string]any{"y": bad}},
		{"point zero", ec, map[string]any{"x": bad, "y": bad}},
		{"point without y", ec, map[string]any{"y": nil}},
		{"curve other", ec, map[string]any{"crv": "P-384"}},
		{"curve missing", ec, map[string]any{"crv": nil}},
		{"curve that signs otherwise", ec, map[string]any{"crv": "secp256k1"}},
		{"kty of another kind", ec, map[string]any{"kty": "RSA"}},
		{"kty unknown", ec, map[string]any{"kty": "AKP"}},
		{"kty missing", ec, map[string]any{"kty": nil}},
		{"private", ec, map[string]any{"d": base64.RawURLEncoding.EncodeToString(d)}},
		{"RSA of 1024 bits", k["weak"], nil},
		{"RSA with exponent 1", rs, map[string]any{"e": "AQ"}},
		{"RSA with an even exponent", rs, map[string]any{"e": "Ag"}},
		{"RSA without a modulus", rs, map[string]any{"n": ""}},
		{"X25519", ed, map[string]any{"crv": "X25519"}},
		{"Ed25519 short", ed, map[string]any{"x": "AAAA"}},
		{"Ed25519 for ES256", ed, map[string]any{"alg": "ES256"}},
	} {
		kid := "unfit " + c.name
		key := c.by.jwk(c.change)
		key["kid"] = kid
		set = append(set, key)
		attacks = append(attacks, attack{c.name, f.draft(c.by).head("kid", `"`+kid+`"`).sign(c.by), "no key of the issuer"})
	}
	return set, attacks
}

func rsaModulus(k signingKey) []byte { return public(k).(*rsa.PublicKey).N.Bytes() }

// Keys that say less than all of ours are good too.
func TestFitKeys(t *testing.T) {
	t.Parallel()
	k := signingKeys()
	for name, c := range map[string]struct {
		keys []map[string]any
		by   signingKey
		kid  string
	}{
		"no use, no alg":     {[]map[string]any{k["ec"].jwk(map[string]any{"use": nil, "alg": nil})}, k["ec"], `"ec"`},
		"key_ops verify":     {[]map[string]any{k["ec"].jwk(map[string]any{"use": nil, "key_ops": []string{"verify"}})}, k["ec"], `"ec"`},
		"no kid anywhere":    {[]map[string]any{k["ec"].jwk(map[string]any{"kid": nil})}, k["ec"], ``},
		"no kid, one fits":   {[]map[string]any{k["ec"].jwk(nil), k["rs"].jwk(nil)}, k["ec"], ``},
		"one kid, two kinds": {[]map[string]any{k["ec"].jwk(map[string]any{"kid": "x"}), k["rs"].jwk(map[string]any{"kid": "x"})}, k["ec"], `"x"`},
		"RSA, no alg, PS256": {[]map[string]any{k["rs"].jwk(map[string]any{"alg": nil, "kid": "ps"})}, k["ps"], `"ps"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVerifier(t, withKeys(httpserver.StaticKeys(keySet(t, jwkSet(c.keys...)))))
			if _, err := v.Authenticate(t.Context(), goodDraft(c.by).head("kid", c.kid).sign(c.by)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestParseKeySet(t *testing.T) {
	t.Parallel()
	many := make([]map[string]any, 101)
	for i := range many {
		many[i] = map[string]any{"kty": "x"}
	}
	for _, text := range []string{"", "null", "[]", "{}", `{"keys":null}`, `{"keys":{}}`, `{"Keys":[]}`, `{"keys":[],"keys":[]}`,
		`{"keys":[{"kty":"EC","kty":"EC"}]}`, `{"keys":[]} x`, string(jwkSet(many...))} {
		if _, err := httpserver.ParseKeySet([]byte(text)); err == nil {
			t.Errorf("%.60q is accepted", text)
		}
	}
}

// A source of keys that a test sets.
type changingKeys struct {
	mu        sync.Mutex
	set       *httpserver.KeySet
	err       error
	refreshed int
	next      *httpserver.KeySet // after a refresh
}

func (c *changingKeys) Keys(_ context.Context, refresh bool) (*httpserver.KeySet, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if refresh {
		c.refreshed++
		if c.next != nil {
			c.set = c.next
		}
	}
	return c.set, c.err
}

func (c *changingKeys) change(set *httpserver.KeySet, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set, c.err = set, err
}

// The cache drops a token when it expires, or when its key is withdrawn.
func TestRememberedTokens(t *testing.T) {
	t.Parallel()
	k := signingKeys()
	for _, size := range []int{-1, 1, 0} {
		var clock testClock
		keys := &changingKeys{set: allKeys(t)}
		v := newVerifier(t, withKeys(keys), func(o *httpserver.VerifierOptions) { o.Now, o.CacheSize = clock.now, size })
		token := goodDraft(k["ec"]).sign(k["ec"])
		ok := func(when string) {
			t.Helper()
			if _, err := v.Authenticate(t.Context(), token); err != nil {
				t.Errorf("%s: %v", when, err)
			}
		}
		fails := func(want error, when string) {
			t.Helper()
			if id, err := v.Authenticate(t.Context(), token); !errors.Is(err, want) || id != (httpserver.Identity{}) {
				t.Errorf("%s: %+v %v", when, id, err)
			}
		}
		ok("at first")
		ok("again")
		keys.change(keySet(t, jwkSet(k["ec"].jwk(map[string]any{"use": nil}), k["ed"].jwk(nil))), nil)
		ok("with a new set that has the key")
		ok("and again")
		keys.change(nil, httpserver.ErrUnavailable)
		fails(httpserver.ErrUnavailable, "without keys")
		keys.change(nil, nil)
		fails(httpserver.ErrUnavailable, "without keys or a reason")
		keys.change(nil, errors.New("of another kind"))
		fails(httpserver.ErrUnavailable, "without keys, said otherwise")
		keys.change(keySet(t, jwkSet(k["ec2"].jwk(map[string]any{"kid": "ec"}))), nil)
		fails(httpserver.ErrInvalidToken, "with another key under the name")
		keys.change(keySet(t, jwkSet()), nil)
		fails(httpserver.ErrInvalidToken, "with no key")
		keys.change(allKeys(t), nil)
		ok("with the key back")
		clock.pass(10*time.Minute - 5*time.Second)
		ok("to the end")
		clock.pass(5 * time.Second)
		fails(httpserver.ErrInvalidToken, "when it has expired")
		fails(httpserver.ErrInvalidToken, "still")
	}
}

// A token is good up to its exp, and not at it.
func TestExpiryToTheNanosecond(t *testing.T) {
	t.Parallel()
	k := signingKeys()["ec"]
	exp := time.Unix(time.Now().Unix()+600, 0)
	token := goodDraft(k).set("exp", strconv.FormatInt(exp.Unix(), 10)).sign(k)
	for _, warm := range []bool{false, true} {
		now := exp.Add(-time.Nanosecond)
		v := newVerifier(t, func(o *httpserver.VerifierOptions) { o.Now = func() time.Time { return now } })
		if warm {
			if _, err := v.Authenticate(t.Context(), token); err != nil {
				t.Fatal(err)
			}
		}
		now = exp
		if _, err := v.Authenticate(t.Context(), token); !errors.Is(err, httpserver.ErrInvalidToken) {
			t.Errorf("warm %v: %v", warm, err)
		}
	}
}

// A key that is not there makes the source look once, and helps if it is then.
func TestUnknownKeyRefreshesTheKeys(t *testing.T) {
	t.Parallel()
	k := signingKeys()
	only := keySet(t, jwkSet(k["ec"].jwk(nil)))
	keys := &changingKeys{set: only}
	v := newVerifier(t, withKeys(keys))
	token := goodDraft(k["ec2"]).sign(k["ec2"])
	if _, err := v.Authenticate(t.Context(), token); !errors.Is(err, httpserver.ErrInvalidToken) || keys.refreshed != 1 {
		t.Errorf("%v after %d", err, keys.refreshed)
	}
	keys.next = allKeys(t)
	if _, err := v.Authenticate(t.Context(), token); err != nil || keys.refreshed != 2 {
		t.Errorf("%v after %d", err, keys.refreshed)
	}
	// Nobody is asked for tokens that are of no use anyway.
	for _, d := range []draft{goodDraft(k["ec"]).set("exp", "1"), goodDraft(k["ec"]).set("iss", `"x"`), goodDraft(k["ec"]).set("aud", `"x"`)} {
		_, err := v.Authenticate(t.Context(), d.head("kid", `"new"`).sign(k["ec"]))
		if !errors.Is(err, httpserver.ErrInvalidToken) || keys.refreshed != 2 {
			t.Errorf("%v after %d", err, keys.refreshed)
		}
	}
}

// The cache forgets, and never more is kept than was asked for.
func TestVerifierUnderLoad(t *testing.T) {
	t.Parallel()
	k := signingKeys()["ec"]
	keys := &changingKeys{set: allKeys(t)}
	v := newVerifier(t, withKeys(keys), func(o *httpserver.VerifierOptions) { o.CacheSize = 64 })
	tokens := make([]string, 200)
	for i := range tokens {
		tokens[i] = goodDraft(k).set("sub", `"user`+strconv.Itoa(i)+`"`).sign(k)
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 150 {
				n := (i*7 + g) % len(tokens)
				if i%40 == 0 {
					keys.change(allKeys(t), nil)
				}
				id, err := v.Authenticate(t.Context(), tokens[n])
				if err != nil || id.Caller.ID != "user"+strconv.Itoa(n) {
					t.Errorf("user%d: %+v %v", n, id, err)
					return
				}
				if _, err := v.Authenticate(t.Context(), tokens[n]+"A"); err == nil {
					t.Error("an altered token was accepted")
				}
			}
		})
	}
	wg.Wait()
}
