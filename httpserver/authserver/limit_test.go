package authserver

import (
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"
)

// counted is a limit of so many requests of each address and client. It keeps
// which it was asked about.
type counted map[string]int

func (c counted) limit(most int) func(*Options) {
	return func(o *Options) {
		o.Limit = func(_ *http.Request, client string) (string, int64) {
			if c[client]++; c[client] > most {
				return "none left for:" + client, 7
			}
			return "some left for:" + client, 0
		}
	}
}

// Guessing secrets exhausts the quota, and every response shows the quota.
func TestLimit(t *testing.T) {
	t.Parallel()
	c := counted{}
	a := newAuthority(t, c.limit(9))
	b := newBrowser(t)
	guess := url.Values{"grant_type": {"client_credentials"}, "client_id": {"program"}, "client_secret": {"a wrong secret"}}
	for _, p := range []page{
		b.get(a.url + "/oauth/authorize?" + goodRequest().Encode()),
		b.get(a.url + "/oauth/authorize"),
		b.get(a.url + "/oauth/jwks"),
		b.get(a.url + "/oauth/token"),
		b.get(a.url + "/oauth/nothing"),
		b.get(a.url + "/.well-known/oauth-authorization-server"),
		b.post(a.url+"/oauth/revoke", url.Values{}),
		b.post(a.url+"/oauth/consent", url.Values{}),
		b.post(a.url+"/oauth/token", guess),
	} {
		if p.header.Get("RateLimit") != "some left for:" || p.header.Get("Retry-After") != "" || p.status == http.StatusTooManyRequests {
			t.Errorf("%s: %d %v", p.at.Path, p.status, p.header)
		}
	}
	for _, p := range []page{
		b.post(a.url+"/oauth/token", guess),
		b.post(a.url+"/oauth/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {"program"}, "client_secret": {programSecret}}), // who knows it now learns nothing
		b.get(a.url + "/oauth/jwks"),
	} {
		if p.status != http.StatusTooManyRequests || p.header.Get("Retry-After") != "7" || p.header.Get("RateLimit") != "none left for:" ||
			p.object(t)["error"] != "temporarily_unavailable" {
			t.Errorf("%s: %d %v %s", p.at.Path, p.status, p.header, p.body)
		}
	}
	p := b.get(a.url + "/oauth/authorize?" + goodRequest().Encode())
	if p.status != http.StatusTooManyRequests || p.header.Get("Retry-After") != "7" || p.header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("%d %v %s", p.status, p.header, p.body)
	}
	if c["program"] > 0 {
		t.Error("who guesses uses up what the client has")
	}
}

// A client that has proved who it is has a quota of its own besides, wherever it
// asks from. One that is public cannot prove it.
func TestLimitOfClient(t *testing.T) {
	t.Parallel()
	c := counted{}
	var o Options
	c.limit(1)(&o)
	perClient := o.Limit
	a := newAuthority(t, func(o *Options) {
		o.Limit = func(r *http.Request, client string) (string, int64) {
			if client == "" {
				return "any", 0
			}
			return perClient(r, client)
		}
	})
	b := newBrowser(t)
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {"program"}, "client_secret": {programSecret}}
	for i, want := range []int{200, 429} {
		p := b.post(a.url+"/oauth/token", form)
		if p.status != want || p.header.Get("RateLimit") == "any" || (p.header.Get("Retry-After") == "7") != (want == 429) {
			t.Errorf("%d: %d %v %s", i, p.status, p.header, p.body)
		}
	}
	for range 3 {
		if p := b.post(a.url+"/oauth/revoke", url.Values{"client_id": {DemoClient}, "token": {"x"}}); p.status == 429 || p.header.Get("RateLimit") != "any" {
			t.Errorf("a public client: %d %v", p.status, p.header)
		}
	}
}

// Of too many requests at a time some are refused, each in the way of who asks, and
// what is worked on ends, whatever becomes of it.
func TestAdmit(t *testing.T) {
	t.Parallel()
	var room atomic.Bool
	ended := make(chan bool, 1)
	a := newAuthority(t, func(o *Options) {
		o.Admit = func(*http.Request) func() {
			if !room.Load() {
				return nil
			}
			return func() { ended <- true }
		}
	})
	b := newBrowser(t)
	for _, path := range []string{"/oauth/jwks", "/oauth/token", "/.well-known/oauth-authorization-server"} {
		if p := b.get(a.url + path); p.status != http.StatusServiceUnavailable || p.header.Get("Retry-After") != "1" || p.object(t)["error"] != "temporarily_unavailable" {
			t.Errorf("%s: %d %v %s", path, p.status, p.header, p.body)
		}
	}
	for _, path := range []string{"/oauth/authorize?" + goodRequest().Encode(), "/oauth/nothing", "/oauth/style.css"} {
		if p := b.get(a.url + path); p.status != http.StatusServiceUnavailable || p.header.Get("Retry-After") != "1" || p.header.Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("%s: %d %v %s", path, p.status, p.header, p.body)
		}
	}
	room.Store(true)
	for _, path := range []string{"/oauth/jwks", "/oauth/token", "/oauth/nothing", "/oauth/authorize?" + goodRequest().Encode()} {
		if p := b.get(a.url + path); p.status == http.StatusServiceUnavailable {
			t.Errorf("%s: %d", path, p.status)
		}
		<-ended
	}
}
