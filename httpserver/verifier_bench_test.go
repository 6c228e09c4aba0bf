package httpserver_test

import (
	"context"
	"strconv"
	"testing"
	"time"

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

// The first sight of a token, beside jwx alone, which verifies the signature
// (jws.Verify) or the claims too (jwt.Parse). They take turns; the ratios are of
// the quickest turns: above 1, ours is quicker.
func BenchmarkVerifierFirstSight(b *testing.B) {
	for _, kid := range []string{"ec", "ed", "rs"} {
		k := signingKeys()[kid]
		token := goodDraft(k).sign(k)
		text, key := []byte(token), public(k)
		v := newVerifier(b, func(o *httpserver.VerifierOptions) { o.CacheSize = -1 })
		set, err := jwk.Parse(jwkSet(k.jwk(nil)))
		if err != nil {
			b.Fatal(err)
		}
		ways := []func() error{
			func() error { _, err := v.Authenticate(b.Context(), token); return err },
			func() error { _, err := jws.Verify(text, jws.WithKey(k.alg, key)); return err },
			func() error {
				_, err := jwt.Parse(text, jwt.WithKeySet(set), jwt.WithIssuer(issuerURL), jwt.WithAudience(audience))
				return err
			},
		}
		b.Run(kid, func(b *testing.B) {
			best := []time.Duration{time.Hour, time.Hour, time.Hour}
			for b.Loop() {
				for i, verify := range ways {
					start := time.Now()
					for range 5 {
						if err := verify(); err != nil {
							b.Fatal(err)
						}
					}
					best[i] = min(best[i], time.Since(start))
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(best[0].Nanoseconds())/5, "ns/token")
			b.ReportMetric(float64(best[1])/float64(best[0]), "of-jws.Verify")
			b.ReportMetric(float64(best[2])/float64(best[0]), "of-jwt.Parse")
		})
	}
}
