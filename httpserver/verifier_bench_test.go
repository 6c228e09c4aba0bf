package httpserver_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/lestrrat-go/jwx/v2/jwk"
	"github.com/lestrrat-go/jwx/v2/jws"
	"github.com/lestrrat-go/jwx/v2/jwt"
	"github.com/traintravel/traintravel/httpserver"
)

// A token that was seen before, among a thousand of them.
func BenchmarkVerifierKnown(b *testing.B) {
	k := signingKeys()["ec"]
	v := newVerifier(b)
	tokens := make([]string, 1000)
	for i := range tokens {
		tokens[i] = goodDraft(k).set("sub", `"user`+strconv.Itoa(i)+`"`).sign(k)
		if _, err := v.Authenticate(b.Context(), tokens[i]); err != nil {
			b.Fatal(err)
		}
	}
	ctx := context.Background()
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			if _, err := v.Authenticate(ctx, tokens[i%len(tokens)]); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// The first sight of a token, beside jwx alone: with and without the checks of
// claims that jwx makes.
func BenchmarkVerifierFirstSight(b *testing.B) {
	for _, kid := range []string{"ec", "ed", "rs"} {
		k := signingKeys()[kid]
		token := goodDraft(k).sign(k)
		b.Run(kid+"/ours", func(b *testing.B) {
			v := newVerifier(b, func(o *httpserver.VerifierOptions) { o.CacheSize = -1 })
			b.ReportAllocs()
			for b.Loop() {
				if _, err := v.Authenticate(b.Context(), token); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(kid+"/jws.Verify", func(b *testing.B) {
			key := public(k)
			text := []byte(token)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := jws.Verify(text, jws.WithKey(k.alg, key)); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(kid+"/jwt.Parse", func(b *testing.B) {
			set, err := jwk.Parse(jwkSet(k.jwk(nil)))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			text := []byte(token)
			for b.Loop() {
				if _, err := jwt.Parse(text, jwt.WithKeySet(set), jwt.WithIssuer(issuerURL), jwt.WithAudience(audience)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
