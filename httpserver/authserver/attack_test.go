package authserver

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/oauth2"
)

// planted is a browser into which somebody has put the cookies of another.
func planted(b *browser, at *url.URL) *browser {
	other := newBrowser(b.t)
	other.Jar.SetCookies(at, b.Jar.Cookies(at))
	return other
}

// pages is where cookies are good.
func (a *authority) pages(t *testing.T) *url.URL {
	t.Helper()
	at, err := url.Parse(a.url + "/oauth/authorize")
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// Signing in starts a session under a new ID, so that somebody who knew the previous ID, or
// planted it, gains nothing.
func TestSessionFixation(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	address, at := a.url+"/oauth/authorize?"+goodRequest().Encode(), a.pages(t)
	mallory := newBrowser(t)
	mallory.signIn(mallory.get(address), "mallory")
	out, form := mallory.get(address).form(t, "/oauth/sign-out")

	anna := planted(mallory, at)
	anna.signIn(anna.follow(anna.post(out, form)), "anna")
	if p := anna.get(address); !strings.Contains(p.body, "<strong>anna</strong>") {
		t.Error(p.body)
	}
	if p := mallory.get(address); strings.Contains(p.body, "<strong>anna") || !strings.Contains(p.body, "/oauth/sign-in") {
		t.Errorf("mallory is signed in: %s", p.body)
	}

	// A name that was made up is none.
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range anna.Jar.Cookies(at) {
		if strings.HasSuffix(c.Name, "_session") {
			c.Value = strings.Repeat("A", len(c.Value))
		}
		jar.SetCookies(at, []*http.Cookie{c})
	}
	guess := newBrowser(t)
	guess.Jar = jar
	if p := guess.get(address); !strings.Contains(p.body, "/oauth/sign-in") {
		t.Errorf("somebody is signed in: %s", p.body)
	}
	// Signing in again ends the session of before.
	before := planted(anna, at)
	to, signIn := mallory.get(address).form(t, "/oauth/sign-in")
	if p := anna.post(to, signIn); p.status != http.StatusForbidden {
		t.Errorf("a form of another browser signs in: %d", p.status)
	}
	out, form = anna.get(address).form(t, "/oauth/sign-out")
	anna.post(out, form).location(t)
	if p := before.get(address); !strings.Contains(p.body, "/oauth/sign-in") {
		t.Errorf("a session outlives its end: %s", p.body)
	}
}

// No page elsewhere signs a browser in as somebody else, even if it could put a cookie
// there.
func TestLoginCSRF(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	address := a.url + "/oauth/authorize?" + goodRequest().Encode()
	mallory := newBrowser(t)
	to, form := mallory.get(address).form(t, "/oauth/sign-in")
	form.Set("user", "mallory")
	for name, header := range map[string][2]string{
		"another site": {"Sec-Fetch-Site", "cross-site"}, "a sibling": {"Sec-Fetch-Site", "same-site"},
		"another origin": {"Origin", "https://evil.example"}, "a hidden origin": {"Origin", "null"},
		"a longer origin": {"Origin", a.url + ".evil.example"},
	} {
		anna := planted(mallory, a.pages(t))
		p := anna.post(to, form, func(r *http.Request) { r.Header.Set(header[0], header[1]) })
		if p.status != http.StatusForbidden || len(p.header["Set-Cookie"]) > 0 || strings.Contains(p.body, "<a ") {
			t.Errorf("from %s: %d %v %s", name, p.status, p.header, p.body)
		}
	}
	anna := newBrowser(t)
	anna.get(address)
	if p := anna.post(to, form); p.status != http.StatusForbidden || strings.Contains(strings.Join(p.header["Set-Cookie"], ""), "_session") {
		t.Errorf("with cookies of her own: %d %v", p.status, p.header)
	}
	if p := anna.get(address); strings.Contains(p.body, "mallory") {
		t.Error(p.body)
	}
}

// The Host header of a request does not change the response.
func TestHostHeader(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	for name, change := range map[string]func(*http.Request){
		"Host":             func(r *http.Request) { r.Host = "evil.example" },
		"X-Forwarded-Host": func(r *http.Request) { r.Header.Set("X-Forwarded-Host", "evil.example") },
		"Forwarded":        func(r *http.Request) { r.Header.Set("Forwarded", "host=evil.example;proto=https") },
		"X-Original-URL":   func(r *http.Request) { r.Header.Set("X-Original-URL", "/oauth/consent") },
		"a whole address":  func(r *http.Request) { r.URL.Opaque = "http://evil.example" + r.URL.Path },
	} {
		for _, path := range []string{"/oauth/authorize?" + goodRequest().Encode(), "/oauth/authorize", "/.well-known/oauth-authorization-server", "/oauth/jwks", "/oauth/nothing"} {
			req, err := http.NewRequest(http.MethodGet, a.url+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			change(req)
			p := newBrowser(t).send(req)
			if strings.Contains(p.body, "evil") || strings.Contains(strings.Join(p.header["Set-Cookie"], "")+p.header.Get("Location"), "evil") {
				t.Errorf("%s at %s: %v %s", name, path, p.header, p.body)
			}
		}
	}
	// A form from evil.example, whose name leads here, is not one of ours.
	b := newBrowser(t)
	evil := func(r *http.Request) { r.Host = "evil.example" }
	req, err := http.NewRequest(http.MethodGet, a.url+"/oauth/authorize?"+goodRequest().Encode(), nil)
	if err != nil {
		t.Fatal(err)
	}
	evil(req)
	to, form := b.send(req).form(t, "/oauth/sign-in")
	form.Set("user", "anna")
	for _, origin := range []string{"http://evil.example.org", "http://evil.example", "http://localhost", "http://localhost:3000"} {
		p := b.post(to, form, evil, func(r *http.Request) {
			r.Header.Set("Origin", origin)
			r.Header.Set("Sec-Fetch-Site", "same-origin") // as the browser believes
		})
		if p.status != http.StatusForbidden || len(p.header["Set-Cookie"]) > 0 {
			t.Errorf("from %s: %d %v", origin, p.status, p.header)
		}
	}
}

// No path leads elsewhere, and no page answers to another method or spelling.
func TestPathsAndMethods(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	b := newBrowser(t)
	query := "?" + goodRequest().Encode()
	for _, path := range []string{
		"/oauth/../oauth/authorize", "/oauth//evil.example/..", "/oauth/%2e%2e//evil.example", "/oauth/..;/authorize",
		"/OAuth/authorize", "/oauth/authorize/", "/oauth/authorize%2f", "/oauth/authorize%00", "/oauth/Consent", "/oauth/\\evil.example",
	} {
		p := b.send(&http.Request{Method: http.MethodGet, Host: strings.TrimPrefix(a.url, "http://"), Header: http.Header{},
			URL: &url.URL{Scheme: "http", Host: strings.TrimPrefix(a.url, "http://"), Opaque: path + query}})
		to := p.header.Get("Location")
		if p.status == http.StatusOK || strings.HasPrefix(to, "//") || strings.Contains(to, "://") || strings.HasPrefix(to, "/\\") {
			t.Errorf("%s: %d to %s", path, p.status, to)
		}
	}
	consent, form := b.signIn(b.get(a.url+"/oauth/authorize"+query), "anna").form(t, "/oauth/consent")
	form.Set("decision", "allow")
	for address, methods := range map[string][]string{
		a.url + "/oauth/authorize" + query: {"POST", "PUT", "DELETE", "PATCH", "get"},
		consent:                            {"GET", "HEAD", "PUT", "PATCH", "DELETE", "post", "TRACE"},
		a.url + "/oauth/token":             {"GET", "HEAD", "PUT", "DELETE", "post"},
		a.url + "/oauth/revoke":            {"GET", "PUT", "DELETE"},
		a.url + "/oauth/jwks":              {"POST", "PUT"},
	} {
		for _, method := range methods {
			p := b.post(address, form, func(r *http.Request) { r.Method = method; r.Header.Set("X-HTTP-Method-Override", "POST") })
			if p.status != http.StatusMethodNotAllowed || p.header.Get("Allow") == "" || p.header.Get("Location") != "" {
				t.Errorf("%s %s: %d %v", method, address, p.status, p.header)
			}
		}
	}
	override := func(r *http.Request) { r.Header.Set("X-HTTP-Method-Override", "GET") }
	if p := b.post(a.url+"/oauth/authorize"+query, form, override); p.status != http.StatusMethodNotAllowed {
		t.Errorf("%d %s", p.status, p.body)
	}
}

// No token has more scopes than the user consented to.
func TestScopesDoNotGrow(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	b, verifier := newBrowser(t), oauth2.GenerateVerifier()
	q := changed(goodRequest(), "code_challenge", oauth2.S256ChallengeFromVerifier(verifier)) // scope is read
	to, form := b.signIn(b.get(a.url+"/oauth/authorize?"+q.Encode()), "anna").form(t, "/oauth/consent")
	form.Set("decision", "allow")
	more := url.Values{"request": {changed(q, "scope", "read write").Encode()}, "mark": form["mark"], "decision": {"allow"}}
	if p := b.post(to, more); p.status != http.StatusForbidden || p.header.Get("Location") != "" {
		t.Errorf("a form that asks for more: %d %v", p.status, p.header)
	}
	form.Set("scope", "read write") // no field of this form
	c := consented{a: a, b: b, verifier: verifier, code: b.post(to, form).location(t).Query().Get("code")}
	exchange := changed(c.form(), "scope", "read write") // nor of this one: what was consented to counts
	p := c.token(exchange)
	if p.status != http.StatusOK || p.object(t)["scope"] != "read" {
		t.Fatalf("%d %s", p.status, p.body)
	}
	if _, claims := claimsOf(t, p.object(t)["access_token"].(string)); claims["scope"] != "read" {
		t.Error(claims)
	}
	token := p.object(t)["refresh_token"].(string)
	for _, scope := range []string{"write", "read write", "READ", "read,write", "*"} {
		c.token(url.Values{"grant_type": {"refresh_token"}, "client_id": {DemoClient}, "refresh_token": {token}, "scope": {scope}}).fails(t, scope, 400, "invalid_scope")
	}
	if p := c.refresh(token); p.status != http.StatusOK || p.object(t)["scope"] != "read" {
		t.Errorf("%d %s", p.status, p.body)
	}
}

// A user who has the name of a client is not that client.
func TestUserNamedLikeClient(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	c := consented{a: a, b: newBrowser(t), verifier: oauth2.GenerateVerifier()}
	c.code = c.b.code(a.config(DemoClient, "", loopbackRedirect).AuthCodeURL("s", oauth2.S256ChallengeOption(c.verifier)), "program")
	_, user := claimsOf(t, c.token(c.form()).object(t)["access_token"].(string))
	own := c.b.post(a.url+"/oauth/token", url.Values{"grant_type": {grantProgram}, "client_id": {"program"}, "client_secret": {programSecret}})
	_, client := claimsOf(t, own.object(t)["access_token"].(string))
	if user["sub"] != "program" || client["sub"] != "client:program" || user["client_id"] == client["client_id"] {
		t.Errorf("%v and %v", user, client)
	}
}

// If a thief uses a refresh token before its owner, or after, the second use reveals the theft,
// and all tokens are revoked.
func TestRefreshTokenTheft(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	c := a.consented(t)
	stolen := c.refreshToken()
	thief := c.refresh(stolen)
	if thief.status != http.StatusOK {
		t.Fatal(thief.body)
	}
	c.refresh(stolen).fails(t, "the owner", 400, "invalid_grant")
	c.refresh(thief.object(t)["refresh_token"].(string)).fails(t, "the thief", 400, "invalid_grant")

	c = a.consented(t)
	stolen = c.refreshToken()
	owner := c.refresh(stolen)
	c.refresh(stolen).fails(t, "the thief", 400, "invalid_grant")
	c.refresh(owner.object(t)["refresh_token"].(string)).fails(t, "the owner", 400, "invalid_grant")
}
