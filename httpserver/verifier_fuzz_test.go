package httpserver_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/traintravel/traintravel/httpserver"
)

// No bit of a token can change without it being refused, whatever signed it.
func TestEveryBitCounts(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	for kid, step := range map[string]int{"ec": 1, "ed": 7, "rs": 5, "ps": 5} {
		k := signingKeys()[kid]
		token := goodDraft(k).sign(k)
		for i := 0; i < len(token); i += step {
			for bit := range 8 {
				changed := []byte(token)
				changed[i] ^= 1 << bit
				if _, err := v.Authenticate(t.Context(), string(changed)); !errors.Is(err, httpserver.ErrInvalidToken) {
					t.Fatalf("%s: bit %d of byte %d: %v", kid, bit, i, err)
				}
			}
		}
	}
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
