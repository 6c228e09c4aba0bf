package authserver

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"testing"
	"time"

	"golang.org/x/oauth2"
)

// A shelf keeps so much, so long.
func TestShelf(t *testing.T) {
	t.Parallel()
	s := newShelf[int](time.Minute, 3)
	now := time.Now()
	for i, key := range []string{"a", "b", "c", "b", "d"} {
		s.put(key, origin{}, i, now)
	}
	for key, want := range map[string]int{"a": -1, "b": 3, "c": 2, "d": 4} {
		if v, ok := s.get(key, now); ok != (want >= 0) || ok && v != want {
			t.Errorf("%s: %d %v", key, v, ok)
		}
	}
	if _, ok := s.get("c", now.Add(time.Minute)); ok {
		t.Error("c is there after its time")
	}
	s.put("e", origin{}, 5, now.Add(2*time.Minute))
	if len(s.items) != 1 || s.order.Len() != 1 {
		t.Errorf("%d %d", len(s.items), s.order.Len())
	}
	s.drop("e")
	s.drop("e")
	if len(s.items) != 0 || len(s.owners.owners) != 0 {
		t.Error("e is there")
	}
}

// A flood pushes out what the flood itself put there, whatever it varies.
func TestShelfIsFair(t *testing.T) {
	t.Parallel()
	anna := origin{"192.0.2.1", "her browser", "anna"}
	for name, flood := range map[string]func(i int) origin{
		"another user":              func(int) origin { return origin{"192.0.2.1", "", "mallory"} },
		"one browser, many names":   func(i int) origin { return origin{"192.0.2.1", "another", fmt.Sprint(i)} },
		"one name, many browsers":   func(i int) origin { return origin{"192.0.2.1", fmt.Sprint(i), "mallory"} },
		"another address":           func(i int) origin { return origin{"192.0.2.2", fmt.Sprint(i), fmt.Sprint("u", i)} },
		"her name, another address": func(i int) origin { return origin{"192.0.2.2", fmt.Sprint(i), "anna"} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, now := newShelf[int](time.Hour, 50), time.Now()
			s.put("hers", anna, 0, now)
			s.put("her other", anna, 0, now)
			for i := range 500 {
				s.put(fmt.Sprint("flood ", i), flood(i), i, now)
			}
			_, one := s.get("hers", now)
			_, other := s.get("her other", now)
			_, newest := s.get("flood 499", now)
			if !one || !other || !newest || len(s.items) != 50 {
				t.Errorf("hers %t and %t, the newest %t, %d in all", one, other, newest, len(s.items))
			}
		})
	}
}

// The counts of a shelf for each address agree with a recount.
func TestShelfCounts(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	s, now := newShelf[int](time.Minute, 40), time.Now()
	for i := range 5000 {
		now = now.Add(time.Second)
		from := origin{fmt.Sprint(r.IntN(4)), fmt.Sprint(r.IntN(5)), fmt.Sprint(r.IntN(6))}
		switch key := fmt.Sprint(r.IntN(200)); r.IntN(4) {
		case 0:
			s.drop(key)
		default:
			s.put(key, from, i, now)
		}
		sum := 0
		for _, o := range s.owners.owners {
			sum += o.keys.Len()
			browsers, users, most := 0, 0, 0
			for name, part := range o.inside.owners {
				if name[0] == 'b' {
					browsers += part.keys.Len()
				} else {
					users += part.keys.Len()
				}
				most = max(most, part.keys.Len())
			}
			if browsers != o.keys.Len() || users != browsers || o.inside.first().keys.Len() != most || s.owners.first().keys.Len() < o.keys.Len() {
				t.Fatalf("after %d: %d of browsers, %d of users, %d in all", i, browsers, users, o.keys.Len())
			}
		}
		if sum != len(s.items) || s.order.Len() != sum || sum > 40 {
			t.Fatalf("after %d: %d of owners, %d kept, %d in order", i, sum, len(s.items), s.order.Len())
		}
	}
}

// crowded has room for so many of each kind.
func (a *authority) crowded(most int) {
	a.sessions.users.most, a.grants.codes.most, a.grants.families.most, a.grants.revoked.most = most, most, most, most
}

// A caller who signs in and consents again and again evicts no session, code, refresh token or
// revocation of others.
func TestSignInFlood(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	a.crowded(8)
	conf := a.config(DemoClient, "", loopbackRedirect)
	verifier := oauth2.GenerateVerifier()
	address := conf.AuthCodeURL("s", oauth2.S256ChallengeOption(verifier))
	exchange := func(code string) *oauth2.Token {
		t.Helper()
		token, err := conf.Exchange(t.Context(), code, oauth2.VerifierOption(verifier))
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	revoke := func(token string) {
		t.Helper()
		if p := newBrowser(t).post(a.url+"/oauth/revoke", url.Values{"client_id": {DemoClient}, "token": {token}}); p.status != http.StatusOK {
			t.Fatal(p.status, p.body)
		}
	}
	anna := newBrowser(t)
	stolen := exchange(anna.code(address, "anna"))
	revoke(stolen.AccessToken)
	token := exchange(anna.code(address, "anna"))
	code := anna.code(address, "anna") // not exchanged yet

	mallory := newBrowser(t)
	to, form := mallory.get(address).form(t, "/oauth/sign-in")
	first := mallory.Jar.Cookies(a.pages(t))
	for i := range 20 {
		again := newBrowser(t) // without the session that the form began
		again.Jar.SetCookies(a.pages(t), first)
		form.Set("user", fmt.Sprint("mallory", i))
		signedIn := again.follow(again.post(to, form))
		got := exchange(again.decide(signedIn, "allow").Query().Get("code"))
		if i%2 == 0 {
			revoke(got.RefreshToken)
		}
	}

	if p := anna.get(address); p.status != http.StatusOK {
		t.Error(p.status)
	} else if _, form := p.form(t, "/oauth/consent"); form.Get("mark") == "" {
		t.Error("anna is not signed in any more")
	}
	exchange(code)
	token.Expiry = time.Now().Add(-time.Second)
	if _, err := conf.TokenSource(t.Context(), token).Token(); err != nil {
		t.Errorf("anna's refresh token is gone: %v", err)
	}
	if _, claims := claimsOf(t, stolen.AccessToken); !a.Revoked(claims["sid"].(string)) {
		t.Error("anna's revoked token is good again")
	}
}
