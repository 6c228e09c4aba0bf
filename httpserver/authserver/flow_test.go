package authserver

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v2/jwk"
	"github.com/lestrrat-go/jwx/v2/jwt"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

const loopbackRedirect = "http://127.0.0.1:53682/callback"

// A public client signs a user in through golang.org/x/oauth2, and refreshes.
func TestFlow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ id, secret, redirect string }{
		{DemoClient, "", loopbackRedirect},
		{DemoClient, "", "http://[::1]:7/"},
		{"web", programSecret, webRedirect},
	} {
		t.Run(c.id+" "+c.redirect, func(t *testing.T) {
			t.Parallel()
			a := newAuthority(t)
			conf := a.config(c.id, c.secret, c.redirect)
			verifier := oauth2.GenerateVerifier()
			b := newBrowser(t)
			p := b.get(conf.AuthCodeURL("the state & more", oauth2.S256ChallengeOption(verifier)))
			if p.status != http.StatusOK || !strings.Contains(p.body, "there is no password") {
				t.Fatalf("%d %s", p.status, p.body)
			}
			p = b.signIn(p, " Anna ")
			for _, want := range []string{"<strong>anna</strong>", "book, pay and cancel", "see trains"} {
				if !strings.Contains(p.body, want) {
					t.Errorf("the consent page lacks %q: %s", want, p.body)
				}
			}
			to := b.decide(p, "allow")
			q := to.Query()
			want, _ := url.Parse(c.redirect)
			if to.Scheme != want.Scheme || to.Host != want.Host || to.Path != want.Path || q.Get("app") != want.Query().Get("app") ||
				q.Get("state") != "the state & more" || q.Get("iss") != a.url {
				t.Errorf("sent to %s", to)
			}

			token, err := conf.Exchange(t.Context(), q.Get("code"), oauth2.VerifierOption(verifier))
			if err != nil {
				t.Fatal(err)
			}
			a.checkToken(t, token.AccessToken, "anna", c.id, "read write")
			if token.RefreshToken == "" || token.TokenType != "Bearer" || time.Until(token.Expiry) > time.Hour || token.Extra("scope") != "read write" {
				t.Errorf("%+v", token)
			}

			token.Expiry = time.Now().Add(-time.Second)
			next, err := conf.TokenSource(t.Context(), token).Token()
			if err != nil {
				t.Fatal(err)
			}
			a.checkToken(t, next.AccessToken, "anna", c.id, "read write")
			if next.RefreshToken == token.RefreshToken || next.RefreshToken == "" {
				t.Error("the refresh token was not rotated")
			}
		})
	}
}

// checkToken verifies a token with jwx alone.
func (a *authority) checkToken(t *testing.T, token, subject, client, scope string) {
	t.Helper()
	set, err := jwk.Fetch(t.Context(), a.url+"/oauth/jwks")
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := jwt.Parse([]byte(token), jwt.WithKeySet(set), jwt.WithIssuer(a.url), jwt.WithAudience(a.url))
	if err != nil {
		t.Fatal(err)
	}
	head, claims := claimsOf(t, token)
	if head["typ"] != "at+jwt" || head["alg"] != "ES256" || head["kid"] == "" {
		t.Errorf("header %v", head)
	}
	if parsed.Subject() != subject || claims["client_id"] != client || claims["scope"] != scope || parsed.JwtID() == "" {
		t.Errorf("claims %v", claims)
	}
	if life := parsed.Expiration().Sub(parsed.IssuedAt()); life != time.Hour {
		t.Errorf("it lives %v", life)
	}
}

// A program has tokens of its own.
func TestClientCredentials(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	for _, style := range []oauth2.AuthStyle{oauth2.AuthStyleAutoDetect, oauth2.AuthStyleInHeader, oauth2.AuthStyleInParams} {
		conf := clientcredentials.Config{ClientID: "program", ClientSecret: programSecret, TokenURL: a.url + "/oauth/token", Scopes: []string{"read"}, AuthStyle: style}
		token, err := conf.Token(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		a.checkToken(t, token.AccessToken, "client:program", "program", "read")
		if token.RefreshToken != "" {
			t.Error("there is a refresh token")
		}
	}
	if token, err := a.IssueToken("client:program", "", []string{"read"}, 0); err == nil {
		t.Errorf("a user got the name of a client: %s", token)
	}
}

// A user who does not consent is sent back with that.
func TestDeny(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	b := newBrowser(t)
	address := a.config(DemoClient, "", loopbackRedirect).AuthCodeURL("s", oauth2.S256ChallengeOption(oauth2.GenerateVerifier()))
	to := b.decide(b.signIn(b.get(address), "anna"), "deny")
	if q := to.Query(); q.Get("error") != "access_denied" || q.Get("state") != "s" || q.Get("iss") != a.url || q.Has("code") {
		t.Errorf("sent to %s", to)
	}
	// Who is signed in stays so, and is asked each time.
	p := b.get(address)
	if !strings.Contains(p.body, "<strong>anna</strong>") {
		t.Error(p.body)
	}
	// Another name is one form away.
	out, form := p.form(t, "/oauth/sign-out")
	p = b.signIn(b.follow(b.post(out, form)), "bert")
	if !strings.Contains(p.body, "<strong>bert</strong>") {
		t.Error(p.body)
	}
}

// The issuer may have a path, which a proxy strips.
func TestPathOfIssuer(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, func(o *Options) { o.Issuer += "/api" })
	b := newBrowser(t)
	address := a.config(DemoClient, "", loopbackRedirect).AuthCodeURL("s", oauth2.S256ChallengeOption(oauth2.GenerateVerifier()))
	p := b.get(address)
	if to, _ := p.form(t, "/oauth/sign-in"); to != a.url+"/api/oauth/sign-in" {
		t.Errorf("the form posts to %s", to)
	}
	for _, c := range p.header.Values("Set-Cookie") {
		if !strings.Contains(c, "Path=/api/oauth/;") {
			t.Error(c)
		}
	}
	for path, want := range map[string]int{
		"/.well-known/oauth-authorization-server":     200,
		"/.well-known/oauth-authorization-server/api": 200,
		"/.well-known/oauth-authorization-server/ap":  404,
	} {
		p := b.get(a.url + path)
		if p.status != want {
			t.Errorf("%s answers %d", path, p.status)
		}
		if p.status == 200 && p.object(t)["token_endpoint"] != a.url+"/api/oauth/token" {
			t.Error(p.body)
		}
	}
}
