package authserver

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/oauth2"
)

// A consented code, and what goes with it.
type consented struct {
	a        *authority
	b        *browser
	code     string
	verifier string
}

func (a *authority) consented(t *testing.T) consented {
	t.Helper()
	c := consented{a: a, b: newBrowser(t), verifier: oauth2.GenerateVerifier()}
	c.code = c.b.code(a.config(DemoClient, "", loopbackRedirect).AuthCodeURL("s", oauth2.S256ChallengeOption(c.verifier)), "anna")
	return c
}

// form is the token request that is right for the code.
func (c consented) form() url.Values {
	return url.Values{
		"grant_type": {"authorization_code"}, "client_id": {DemoClient}, "code": {c.code},
		"redirect_uri": {loopbackRedirect}, "code_verifier": {c.verifier},
	}
}

func (c consented) token(form url.Values, change ...func(*http.Request)) page {
	c.b.t.Helper()
	return c.b.post(c.a.url+"/oauth/token", form, change...)
}

// refreshToken exchanges the code.
func (c consented) refreshToken() string {
	c.b.t.Helper()
	p := c.token(c.form())
	if p.status != http.StatusOK {
		c.b.t.Fatal(p.body)
	}
	return p.object(c.b.t)["refresh_token"].(string)
}

func (c consented) refresh(token string) page {
	c.b.t.Helper()
	return c.token(url.Values{"grant_type": {"refresh_token"}, "client_id": {DemoClient}, "refresh_token": {token}})
}

// fails holds an answer against RFC 6749, 5.2.
func (p page) fails(t *testing.T, name string, status int, code string) {
	t.Helper()
	if p.status != status || p.object(t)["error"] != code || p.header.Get("Content-Type") != "application/json" ||
		p.header.Get("Cache-Control") != "no-store" || p.object(t)["access_token"] != nil {
		t.Errorf("%s: %d %v %s, want %d %s", name, p.status, p.header, p.body, status, code)
	}
	if (status == http.StatusUnauthorized) != strings.HasPrefix(p.header.Get("WWW-Authenticate"), "Basic ") {
		t.Errorf("%s: WWW-Authenticate is %q", name, p.header.Get("WWW-Authenticate"))
	}
}

// A code is good once, for a minute at most, and only with what it is bound to.
func TestCodes(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	basic := func(id, secret string) func(*http.Request) {
		return func(r *http.Request) { r.SetBasicAuth(url.QueryEscape(id), url.QueryEscape(secret)) }
	}
	for name, change := range map[string]func(url.Values) []func(*http.Request){
		"another redirect URI": func(f url.Values) []func(*http.Request) { f.Set("redirect_uri", otherRedirect); return nil },
		"another port": func(f url.Values) []func(*http.Request) {
			f.Set("redirect_uri", "http://127.0.0.1:1/callback")
			return nil
		},
		"another verifier": func(f url.Values) []func(*http.Request) {
			f.Set("code_verifier", oauth2.GenerateVerifier())
			return nil
		},
		"the challenge": func(f url.Values) []func(*http.Request) {
			f.Set("code_verifier", oauth2.S256ChallengeFromVerifier(f.Get("code_verifier")))
			return nil
		},
		"another public client": func(f url.Values) []func(*http.Request) { f.Set("client_id", "other"); return nil },
		"another client": func(f url.Values) []func(*http.Request) {
			f.Del("client_id")
			return []func(*http.Request){basic("web", programSecret)}
		},
		"a minute later": func(url.Values) []func(*http.Request) { a.pass(time.Minute); return nil },
	} {
		c := a.consented(t)
		form := c.form()
		c.token(form, change(form)...).fails(t, name, 400, "invalid_grant")
		c.token(c.form()).fails(t, name+", then rightly", 400, "invalid_grant") // one try
	}
	for name, change := range map[string]func(url.Values){
		"no code":           func(f url.Values) { f.Del("code") },
		"no redirect URI":   func(f url.Values) { f.Del("redirect_uri") },
		"no verifier":       func(f url.Values) { f.Del("code_verifier") },
		"an empty verifier": func(f url.Values) { f.Set("code_verifier", "") },
		"a short verifier":  func(f url.Values) { f.Set("code_verifier", strings.Repeat("a", 42)) },
		"a long verifier":   func(f url.Values) { f.Set("code_verifier", strings.Repeat("a", 129)) },
		"a bad verifier":    func(f url.Values) { f.Set("code_verifier", strings.Repeat("+", 43)) },
		"two codes":         func(f url.Values) { f.Add("code", "x") },
		"no grant type":     func(f url.Values) { f.Del("grant_type") },
		"two grant types":   func(f url.Values) { f.Add("grant_type", "x") },
		"two other things":  func(f url.Values) { f["x"] = []string{"1", "2"} },
	} {
		c := a.consented(t)
		form := c.form()
		change(form)
		c.token(form).fails(t, name, 400, "invalid_request")
	}
	c := a.consented(t)
	c.token(changed(c.form(), "code", secret())).fails(t, "an invented code", 400, "invalid_grant")
	c.token(changed(c.form(), "grant_type", "password")).fails(t, "another grant type", 400, "unsupported_grant_type")
	c.token(changed(c.form(), "resource", "https://other.example")).fails(t, "another resource", 400, "invalid_target")
	p := c.token(changed(c.form(), "resource", a.url))
	if p.status != 200 || p.header.Get("Cache-Control") != "no-store" || p.header.Get("Pragma") != "no-cache" {
		t.Errorf("%d %v %s", p.status, p.header, p.body)
	}
}

// A code that comes twice ends what its first use began (RFC 9700, 4.5).
func TestCodeReuse(t *testing.T) {
	t.Parallel()
	for _, later := range []time.Duration{0, 2 * time.Minute} {
		a := newAuthority(t)
		c := a.consented(t)
		other := a.consented(t)
		token, others := c.refreshToken(), other.refreshToken()
		next := c.refresh(token)
		if next.status != 200 {
			t.Fatal(next.body)
		}
		a.pass(later)
		c.token(c.form()).fails(t, "the second time", 400, "invalid_grant")
		c.refresh(next.object(t)["refresh_token"].(string)).fails(t, "what followed", 400, "invalid_grant")
		if p := other.refresh(others); p.status != 200 {
			t.Errorf("another consent ended too: %s", p.body)
		}
		if !strings.Contains(a.log.String(), "authorization code reused") || strings.Contains(a.log.String(), c.code) {
			t.Error(a.log.String())
		}
	}
}

// A client gets only the grants and scopes that it is registered for.
func TestGrants(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, func(o *Options) {
		o.Clients = append(o.Clients, Client{ID: "once", RedirectURIs: []string{loopbackRedirect}, Grants: []string{grantCode}})
	})
	b, verifier := newBrowser(t), oauth2.GenerateVerifier()
	code := b.code(a.config("once", "", loopbackRedirect).AuthCodeURL("s", oauth2.S256ChallengeOption(verifier)), "anna")
	form := consented{a: a, b: b, code: code, verifier: verifier}.form()
	p := b.post(a.url+"/oauth/token", changed(form, "client_id", "once"))
	if p.status != http.StatusOK || p.object(t)["refresh_token"] != nil {
		t.Errorf("%d %s", p.status, p.body)
	}
	for _, grant := range []string{grantRefresh, grantProgram} {
		p := b.post(a.url+"/oauth/token", url.Values{"grant_type": {grant}, "client_id": {"once"}, "refresh_token": {a.consented(t).refreshToken()}})
		p.fails(t, grant, 400, "unauthorized_client")
	}
}

// Of many who have the same code one gets a token, and not for long.
func TestCodeRace(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	c := a.consented(t)
	var mu sync.Mutex
	var good []string
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			p := c.token(c.form())
			mu.Lock()
			defer mu.Unlock()
			if p.status == 200 {
				good = append(good, p.object(t)["refresh_token"].(string))
			}
		})
	}
	wg.Wait()
	if len(good) != 1 {
		t.Fatalf("%d got a token", len(good))
	}
	c.refresh(good[0]).fails(t, "the winner", 400, "invalid_grant")
}

// Refresh tokens are good once; the use of an old one ends all of its family
// (RFC 9700, 4.14).
func TestRefresh(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	c := a.consented(t)
	first := c.refreshToken()
	form := url.Values{"grant_type": {"refresh_token"}, "client_id": {DemoClient}, "refresh_token": {first}}

	c.token(changed(url.Values{"grant_type": form["grant_type"], "client_id": form["client_id"]}, "x")).fails(t, "none", 400, "invalid_request")
	c.token(url.Values{"grant_type": form["grant_type"], "client_id": form["client_id"], "refresh_token": {first}, "scope": {"admin"}}).fails(t, "more scopes", 400, "invalid_scope")
	altered := first[:30] + string(first[30]^1) + first[31:]
	c.refresh(altered).fails(t, "an altered one", 400, "invalid_grant")
	c.refresh(first+"A").fails(t, "a longer one", 400, "invalid_grant")
	c.refresh("x").fails(t, "an invented one", 400, "invalid_grant")

	p := c.token(url.Values{"grant_type": form["grant_type"], "client_id": form["client_id"], "refresh_token": {first}, "scope": {"read"}})
	if p.status != 200 || p.object(t)["scope"] != "read" {
		t.Fatalf("%d %s", p.status, p.body)
	}
	if _, claims := claimsOf(t, p.object(t)["access_token"].(string)); claims["scope"] != "read" || claims["sub"] != "anna" {
		t.Error(claims)
	}
	second := p.object(t)["refresh_token"].(string)
	p = c.refresh(second)
	if p.status != 200 || p.object(t)["scope"] != "read write" { // fewer scopes were for that once
		t.Fatalf("%d %s", p.status, p.body)
	}
	third := p.object(t)["refresh_token"].(string)
	c.refresh(first).fails(t, "an old one", 400, "invalid_grant")
	c.refresh(third).fails(t, "after an old one", 400, "invalid_grant")
	if !strings.Contains(a.log.String(), "refresh token reused") || strings.Contains(a.log.String(), first) {
		t.Error(a.log.String())
	}

	c = a.consented(t)
	token := c.refreshToken()
	c.token(url.Values{"grant_type": {"refresh_token"}, "client_id": {"other"}, "refresh_token": {token}}).fails(t, "another client's", 400, "invalid_grant")
	c.refresh(token).fails(t, "after it was in other hands", 400, "invalid_grant")

	c = a.consented(t)
	token = c.refreshToken()
	a.pass(refreshLife)
	c.refresh(token).fails(t, "a month later", 400, "invalid_grant")
}

// Clients with a secret prove it, in one way, and never in the address.
func TestClientAuthentication(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	b := newBrowser(t)
	form := func(more ...string) url.Values {
		v := url.Values{"grant_type": {"client_credentials"}}
		for i := 0; i < len(more); i += 2 {
			v.Add(more[i], more[i+1])
		}
		return v
	}
	basic := func(user, password string) func(*http.Request) {
		return func(r *http.Request) { r.SetBasicAuth(url.QueryEscape(user), url.QueryEscape(password)) }
	}
	head := func(values ...string) func(*http.Request) {
		return func(r *http.Request) { r.Header["Authorization"] = values }
	}
	post := func(f url.Values, change ...func(*http.Request)) page {
		return b.post(a.url+"/oauth/token", f, change...)
	}
	for _, p := range []page{
		post(form(), basic("program", programSecret)),
		post(form("client_id", "program"), basic("program", programSecret)),
		post(form("client_id", "program", "client_secret", programSecret)),
	} {
		if p.status != 200 || p.object(t)["scope"] != "read write" {
			t.Errorf("%d %s", p.status, p.body)
		}
	}
	for name, p := range map[string]page{
		"nobody":                     post(form()),
		"no secret":                  post(form("client_id", "program")),
		"a wrong secret":             post(form("client_id", "program", "client_secret", "wrong")),
		"a wrong secret, Basic":      post(form(), basic("program", "wrong")),
		"no secret, Basic":           post(form(), basic("program", "")),
		"an unknown client":          post(form("client_id", "nobody", "client_secret", programSecret)),
		"a public client's secret":   post(form("client_id", DemoClient, "client_secret", programSecret)),
		"another client's name":      post(form("client_id", "PROGRAM", "client_secret", programSecret)),
		"another scheme":             post(form("client_id", "program", "client_secret", programSecret), head("Bearer x")),
		"two headers":                post(form(), head("Basic x", "Basic x")),
		"Basic malformed":            post(form(), head("Basic !")),
		"Basic with a bad escape":    post(form(), func(r *http.Request) { r.SetBasicAuth("program", "%zz") }),
		"Basic that was not escaped": post(form(), func(r *http.Request) { r.SetBasicAuth("program", programSecret) }),
	} {
		p.fails(t, name, 401, "invalid_client")
	}
	post(form("client_secret", programSecret), basic("program", programSecret)).fails(t, "two ways", 400, "invalid_request")
	post(form("client_id", "web"), basic("program", programSecret)).fails(t, "two names", 400, "invalid_request")
	post(form("client_id", DemoClient)).fails(t, "a public client", 400, "unauthorized_client")
	post(form(), basic("web", programSecret)).fails(t, "a client that may not", 400, "unauthorized_client")
	post(form("scope", "admin"), basic("program", programSecret)).fails(t, "an unknown scope", 400, "invalid_scope")

	whole := form("client_id", "program", "client_secret", programSecret)
	b.post(a.url+"/oauth/token?"+whole.Encode(), url.Values{}).fails(t, "in the address", 400, "invalid_request")
	b.post(a.url+"/oauth/token?x=y", whole).fails(t, "anything in the address", 400, "invalid_request")
	p := b.get(a.url + "/oauth/token?" + whole.Encode())
	p.fails(t, "by GET", 405, "invalid_request")
	if p.header.Get("Allow") != "OPTIONS, POST" {
		t.Error(p.header)
	}
	for _, kind := range []string{"", "application/json", "multipart/form-data; boundary=x", "text/plain"} {
		post(whole, func(r *http.Request) { r.Header.Set("Content-Type", kind) }).fails(t, "as "+kind, 400, "invalid_request")
	}
	post(changed(whole, "x", strings.Repeat("x", maxForm))).fails(t, "too long", 413, "invalid_request")
}

// Refresh tokens can be revoked by their client (RFC 7009).
func TestRevocation(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	c := a.consented(t)
	revoke := func(client, token string, more ...string) page {
		f := url.Values{"client_id": {client}, "token": {token}}
		if len(more) > 0 {
			f.Set("token_type_hint", more[0])
		}
		return c.b.post(a.url+"/oauth/revoke", f)
	}
	token := c.refreshToken()
	revoke("other", token).fails(t, "another client", 400, "invalid_grant")
	revoke("nobody", token).fails(t, "nobody", 401, "invalid_client")
	revoke("program", token).fails(t, "without a secret", 401, "invalid_client")
	revoke(DemoClient, "").fails(t, "nothing", 400, "invalid_request")
	c.b.get(a.url+"/oauth/revoke?token="+token).fails(t, "by GET", 405, "invalid_request")
	p := c.refresh(token)
	if p.status != 200 {
		t.Fatal("refused tries revoked it: " + p.body)
	}
	next := p.object(t)["refresh_token"].(string)
	for _, hint := range []string{"refresh_token", "access_token", "x"} {
		if p := revoke(DemoClient, next, hint); p.status != 200 || p.body != "" || p.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%d %s", p.status, p.body)
		}
	}
	c.refresh(next).fails(t, "a revoked one", 400, "invalid_grant")
	if p := revoke(DemoClient, "never heard of"); p.status != 200 {
		t.Errorf("%d %s", p.status, p.body)
	}
}

// An access token can be revoked too, by its client alone: with it ends all that followed
// from the same consent, and nothing else. So does it if the refresh token is revoked, or
// comes twice.
func TestAccessTokenRevocation(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	mark := func(token string) string {
		t.Helper()
		known, ok := a.ours(token)
		if !ok {
			t.Fatalf("%s is not ours", token)
		}
		return known.mark()
	}
	ended := func(want bool, tokens ...string) {
		t.Helper()
		for _, token := range tokens {
			if a.Revoked(mark(token)) != want {
				t.Errorf("it is revoked: %t, want %t", !want, want)
			}
		}
	}
	type pair struct{ access, refresh string }
	tokens := func(p page) pair {
		t.Helper()
		o := p.object(t)
		return pair{o["access_token"].(string), o["refresh_token"].(string)}
	}
	revoke := func(c consented, client, token string) page {
		return c.b.post(a.url+"/oauth/revoke", url.Values{"client_id": {client}, "token": {token}, "token_type_hint": {"access_token"}})
	}
	c, other := a.consented(t), a.consented(t)
	first, stays := tokens(c.token(c.form())), tokens(other.token(other.form()))
	second := tokens(c.refresh(first.refresh))
	revoke(c, "other", second.access).fails(t, "another client", 400, "invalid_grant")
	ended(false, first.access, second.access, stays.access)
	for range 2 { // what is revoked may be so again
		if p := revoke(c, DemoClient, first.access); p.status != 200 || p.body != "" {
			t.Fatalf("%d %s", p.status, p.body)
		}
		ended(true, first.access, second.access)
	}
	c.refresh(second.refresh).fails(t, "its refresh token", 400, "invalid_grant")
	ended(false, stays.access)
	again := tokens(other.refresh(stays.refresh))
	other.refresh(stays.refresh).fails(t, "one that came twice", 400, "invalid_grant")
	ended(true, stays.access, again.access)

	c = a.consented(t)
	last := tokens(c.token(c.form()))
	if p := revoke(c, DemoClient, last.refresh); p.status != 200 {
		t.Fatalf("%d %s", p.status, p.body)
	}
	ended(true, last.access)

	alone, err := a.IssueToken("anna", "", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, forged := range []string{alone[:len(alone)-4] + "AAAA", "a.b.c", "eyJhbGciOiJub25lIn0.e30."} {
		if p := revoke(c, DemoClient, forged); p.status != 200 {
			t.Errorf("%q: %d %s", forged, p.status, p.body)
		}
	}
	ended(false, alone)
	if p := revoke(c, DemoClient, alone); p.status != 200 {
		t.Fatalf("%d %s", p.status, p.body)
	}
	ended(true, alone)
}

// A resource indicator is the audience with a slash at its end too, as libraries write a
// URL without a path; at both endpoints.
func TestResourceIndicator(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	for resource, ok := range map[string]bool{a.url: true, a.url + "/": true, a.url + "//": false, a.url + "/x": false, a.url + "/?": false, strings.ToUpper(a.url): false, "/": false} {
		req, why := a.parseRequest(changed(goodRequest(), "resource", resource).Encode())
		if req == nil || (req.problem == nil) != ok {
			t.Errorf("%s is asked for: %v %v", resource, why, req)
		}
		c := a.consented(t)
		if p := c.token(changed(c.form(), "resource", resource)); (p.status == 200) != ok {
			t.Errorf("%s: %d %s", resource, p.status, p.body)
		}
	}
}
