//go:build unix

package httpserver_test

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/julienschmidt/httprouter"
	"github.com/lestrrat-go/jwx/v2/jwk"
	"github.com/lestrrat-go/jwx/v2/jws"
	"github.com/lestrrat-go/jwx/v2/jwt"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/httpserver"
)

// always believes that a request is of one caller, whatever the token.
type always httpserver.Identity

func (a always) Authenticate(context.Context, string) (httpserver.Identity, error) {
	return httpserver.Identity(a), nil
}

// perCPU makes a load's rate that per second of processor time, of the clients' too: a
// machine that others use does not change it much.
func perCPU(l load) load {
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			panic(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return func(b *testing.B, d time.Duration) float64 {
		begun, before := time.Now(), used()
		rate := l(b, d)
		return rate * time.Since(begun).Seconds() / (used() - before).Seconds()
	}
}

// GET /bookings/{bookingId} as the tokens go: with one that is known, beside the same
// server without any verification; and with tokens that were never seen, beside a bare
// handler that has jwx verify the token, or its signature alone, and writes as many bytes.
func BenchmarkTokens(b *testing.B) {
	by := httpserver.Identity{Caller: traintravel.Caller{Subject: traintravel.Subject{Issuer: issuerURL, ID: "anna"}, Client: "shop"}, Read: true}
	k := signingKeys()["ec"]
	tokens := make([]string, 2000) // more than are remembered
	for i := range tokens {
		tokens[i] = goodDraft(k).set("exp", "4000000000").set("jti", `"`+strconv.Itoa(i)+`"`).sign(k)
	}
	v := newVerifier(b, func(o *httpserver.VerifierOptions) { o.CacheSize = 256 })
	var target string
	serve := func(auth httpserver.Authenticator) []*wire {
		w, _ := benchWorld(b, func(w *world) { w.options.Auth = auth })
		booking, err := w.service.CreateBooking(b.Context(), by.Caller, traintravel.NewBooking{TripID: w.spread(1)[0], PassengerName: "Anna Example"})
		if err != nil {
			b.Fatal(err)
		}
		target = "/bookings/" + booking.ID.String()
		return wires(b, w.server)
	}
	requests := func() (all [][]byte) {
		for _, token := range tokens {
			all = append(all, []byte("GET "+target+" HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\nAuthorization: Bearer "+token+"\r\n\r\n"))
		}
		return all
	}

	b.Run("known", func(b *testing.B) {
		unverified := serve(always(by))
		send := requests()[0]
		verified := serve(v)
		sendVerified := requests()[0]
		compare(b, [2]string{"unverified", "known"}, [2]load{
			perCPU(over(unverified, 200, func() []byte { return send })), perCPU(over(verified, 200, func() []byte { return sendVerified })),
		})
	})
	set, err := jwk.Parse(jwkSet(k.jwk(nil)))
	if err != nil {
		b.Fatal(err)
	}
	key := public(k)
	for way, verify := range map[string]func(token []byte) error{
		"token": func(token []byte) error {
			_, err := jwt.Parse(token, jwt.WithKeySet(set), jwt.WithIssuer(issuerURL), jwt.WithAudience(audience))
			return err
		},
		"signature": func(token []byte) error {
			_, err := jws.Verify(token, jws.WithKey(k.alg, key))
			return err
		},
	} {
		b.Run("first/"+way, func(b *testing.B) {
			ours := serve(v)
			all := requests()
			status, length, err := ours[0].do(all[0])
			if err != nil || status != 200 {
				b.Fatal(status, err)
			}
			fixed := bytes.Repeat([]byte("x"), length)
			router := httprouter.New()
			router.GET("/bookings/:bookingId", func(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
				if err := verify([]byte(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))); err != nil {
					w.WriteHeader(http.StatusUnauthorized)
					return
				}
				_, _ = w.Write(fixed)
			})
			var n atomic.Int64
			next := func() []byte { return all[int(n.Add(1))%len(all)] }
			compare(b, [2]string{"jwx", "server"}, [2]load{perCPU(over(wires(b, router), 200, next)), perCPU(over(ours, 200, next))})
		})
	}
}
