package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v2/jwa"
	"github.com/lestrrat-go/jwx/v2/jwk"
	"github.com/lestrrat-go/jwx/v2/jws"
	"github.com/lestrrat-go/jwx/v2/jwt"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gateway"
	"github.com/traintravel/traintravel/sandbox"
)

// A victim is a server at its default limits, in a process of its own, with what it needs
// of others.
type victim struct {
	place
	t       *testing.T
	server  *process
	data    string
	partner *partner
	token   func(user string) string
}

// A partner is what the victim needs of others: an issuer of tokens and a payment
// gateway, each of which can be made to hang.
type partner struct {
	issuer, gateway *httptest.Server
	key             jwk.Key
	silent          chan struct{} // the issuer answers nothing once it is closed
	ended           chan struct{} // nothing hangs once it is closed
	once            sync.Once
}

// hangingCard is one whose charges the gateway never answers.
const hangingCard = "5555555555554444"

func newPartner(t *testing.T) *partner {
	t.Helper()
	p := &partner{silent: make(chan struct{}), ended: make(chan struct{})}
	raw, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if p.key, err = jwk.FromRaw(raw); err != nil {
		t.Fatal(err)
	}
	_ = p.key.Set(jwk.KeyIDKey, "k1")
	_ = p.key.Set(jwk.AlgorithmKey, jwa.ES256)
	public, err := p.key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": p.issuer.URL, "jwks_uri": p.issuer.URL + "/keys"})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-p.silent:
			<-p.ended
		default:
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": []jwk.Key{public}})
	})
	p.issuer = httptest.NewServer(mux)
	bank := &hangingBank{sandbox.New(), p.ended}
	handler, err := gateway.NewHandler(bank, sharedSecret, gateway.HandlerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p.gateway = httptest.NewServer(handler)
	t.Cleanup(func() {
		p.answer()
		p.gateway.Close()
		p.issuer.Close()
	})
	return p
}

// answer has nothing hang any more.
func (p *partner) answer() { p.once.Do(func() { close(p.ended) }) }

// A hangingBank answers all charges but those of one card.
type hangingBank struct {
	*sandbox.Gateway
	ended chan struct{}
}

func (b *hangingBank) Charge(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
	if card := c.Source.Card; card != nil && string(card.Number) == hangingCard {
		select {
		case <-b.ended:
		case <-ctx.Done():
		}
		return traintravel.Outcome{}, errors.New("hung")
	}
	return b.Gateway.Charge(ctx, c)
}

// sign makes a token of a user, under a key ID.
func (p *partner) sign(t *testing.T, audience, user, keyID string) string {
	t.Helper()
	token, err := jwt.NewBuilder().Issuer(p.issuer.URL).Audience([]string{audience}).Subject(user).IssuedAt(time.Now()).
		Expiration(time.Now().Add(time.Hour)).JwtID(user+keyID).Claim("client_id", "app").Claim("scope", "read write").Build()
	if err != nil {
		t.Fatal(err)
	}
	headers := jws.NewHeaders()
	_ = headers.Set(jws.TypeKey, "at+jwt")
	_ = headers.Set(jws.KeyIDKey, keyID)
	key, err := p.key.Clone()
	if err != nil {
		t.Fatal(err)
	}
	_ = key.Set(jwk.KeyIDKey, keyID)
	signed, err := jwt.Sign(token, jwt.WithKey(jwa.ES256, key, jws.WithProtectedHeaders(headers)))
	if err != nil {
		t.Fatal(err)
	}
	return string(signed)
}

// newVictim starts a server at its default limits.
func newVictim(t *testing.T, builtin bool) *victim {
	t.Helper()
	dir := t.TempDir()
	v := &victim{t: t, data: filepath.Join(dir, "t.db"), partner: newPartner(t)}
	args := []string{"serve", "--data", v.data, "--admin-addr", "127.0.0.1:0", "--base-url", shownBase, "--gateway", v.partner.gateway.URL, "--demo"}
	if !builtin {
		args = append(args, "--issuer", v.partner.issuer.URL)
	}
	v.server = spawnOn(t, nil, []string{gatewaySecret + "=" + sharedSecret}, dir, args...).listen()
	v.place = place(v.server.base)
	v.token = func(user string) string {
		if builtin {
			return issue(t, user, v.data)
		}
		return v.partner.sign(t, shownBase, user, "k1")
	}
	return v
}
