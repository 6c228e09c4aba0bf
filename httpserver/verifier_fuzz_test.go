package httpserver_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v2/jws"
	"github.com/lestrrat-go/jwx/v2/jwt"

	"github.com/traintravel/traintravel/httpserver"
)

// byJWX is a token of a user that jwx makes, with a claim more.
func byJWX(k signingKey, subject, more string) (string, error) {
	now := time.Now()
	token, err := jwt.NewBuilder().Issuer(issuerURL).Audience([]string{audience}).Subject(subject).IssuedAt(now).Expiration(now.Add(10*time.Minute)).
		Claim("client_id", "shop").Claim("scope", "read write").Claim("more", more).Build()
	if err != nil {
		return "", err
	}
	header := jws.NewHeaders()
	for name, value := range map[string]string{jws.TypeKey: "at+jwt", jws.KeyIDKey: k.kid} {
		if err := header.Set(name, value); err != nil {
			return "", err
		}
	}
	signed, err := jwt.Sign(token, jwt.WithKey(k.alg, k.private, jws.WithProtectedHeaders(header)))
	return string(signed), err
}

// flip changes one bit of a token.
func flip(token string, bit int) string {
	changed := []byte(token)
	changed[bit/8] ^= 1 << (bit % 8)
	return string(changed)
}

// No bit of a token that jwx makes can change without it being refused, whatever
// signed it.
func TestEveryBitCounts(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	for _, kid := range []string{"ec", "ed", "rs", "ps"} {
		t.Run(kid, func(t *testing.T) {
			t.Parallel()
			token, err := byJWX(signingKeys()[kid], "anna", "")
			if err != nil {
				t.Fatal(err)
			}
			good := func() {
				t.Helper()
				if _, err := v.Authenticate(t.Context(), token); err != nil {
					t.Fatal(err)
				}
			}
			good()
			for bit := range 8 * len(token) {
				if _, err := v.Authenticate(t.Context(), flip(token, bit)); !errors.Is(err, httpserver.ErrInvalidToken) {
					t.Fatalf("bit %d of %s: %v", bit, token, err)
				}
			}
			good()
		})
	}
}

// The same of one bit of tokens with all kinds of contents.
func FuzzOneBit(f *testing.F) {
	kids := []string{"ec", "ed", "ps", "rs"}
	v := newVerifier(f)
	f.Add(uint8(0), "anna", "", uint16(7))
	f.Add(uint8(1), "Zoë 日本", `{"exp":1}`, uint16(2000))
	f.Add(uint8(2), "a", strings.Repeat("\x00", 100), uint16(60000))
	f.Fuzz(func(t *testing.T, key uint8, subject, more string, bit uint16) {
		token, err := byJWX(signingKeys()[kids[int(key)%len(kids)]], subject, more)
		if err != nil {
			return
		}
		if _, err := v.Authenticate(t.Context(), token); err != nil {
			return // such as one with an empty subject
		}
		changed := flip(token, int(bit)%(8*len(token)))
		if id, err := v.Authenticate(t.Context(), changed); !errors.Is(err, httpserver.ErrInvalidToken) {
			t.Fatalf("%q is accepted as %+v, and was %q: %v", changed, id, token, err)
		}
	})
}

// Whatever comes is refused without a panic, unless it is a token that was signed
// here. The header, the payload and the whole are mutated each on its own; the
// first two are signed truly, and then must say what they have to say.
func FuzzVerifier(f *testing.F) {
	k, stranger := newECKey("ec"), newECKey("ec")
	v, err := httpserver.NewVerifier(httpserver.VerifierOptions{
		Issuer: issuerURL, Audience: audience, Keys: httpserver.StaticKeys(keySet(f, jwkSet(k.jwk(nil)))), CacheSize: 100,
		Now: func() time.Time { return time.Unix(1_000_000_000, 0) },
	})
	if err != nil {
		f.Fatal(err)
	}
	good := draft{
		`{"alg":"ES256","typ":"at+jwt","kid":"ec"}`,
		`{"iss":"` + issuerURL + `","aud":"` + audience + `","sub":"anna","client_id":"shop","scope":"read","exp":1000000600}`,
	}
	token := good.sign(k)
	if _, err := v.Authenticate(context.Background(), token); err != nil {
		f.Fatal(err)
	}
	f.Add(token, good.header, good.payload)
	f.Add(token+"=", `{"alg":"none"}`, `{"iss":null}`)
	f.Add(strings.ToLower(token), `{"alg":"ES256","alg":"HS256"}`, `{"exp":1e400,"aud":[[]]}`)
	f.Fuzz(func(t *testing.T, whole, header, payload string) {
		ctx := context.Background()
		if id, err := v.Authenticate(ctx, whole); err == nil && whole != token {
			t.Fatalf("%q is accepted as %+v", whole, id)
		} else if err != nil && !errors.Is(err, httpserver.ErrInvalidToken) {
			t.Fatal(err)
		}
		foreign := draft{header, good.payload}.sign(stranger)
		if _, err := v.Authenticate(ctx, foreign); err == nil {
			t.Fatalf("the header %q made a foreign signature good", header)
		}
		id, err := v.Authenticate(ctx, draft{good.header, payload}.sign(k))
		if err != nil {
			return
		}
		if id.Caller.Issuer != issuerURL || id.Caller.ID == "" || id.Caller.Client == "" || !id.Expires.After(time.Unix(1_000_000_000, 0)) ||
			!strings.Contains(payload, "aud") && !strings.Contains(payload, `\u`) {
			t.Fatalf("the payload %q is accepted as %+v", payload, id)
		}
	})
}
