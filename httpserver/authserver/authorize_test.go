package authserver

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/oauth2"
)

// goodRequest is the query of an authorization request that nothing is wrong
// with.
func goodRequest() url.Values {
	return url.Values{
		"client_id": {DemoClient}, "redirect_uri": {loopbackRedirect}, "response_type": {"code"}, "scope": {"read"}, "state": {"s"},
		"code_challenge": {oauth2.S256ChallengeFromVerifier(oauth2.GenerateVerifier())}, "code_challenge_method": {"S256"},
	}
}

// changed sets parameters; one without values is taken away.
func changed(v url.Values, name string, values ...string) url.Values {
	v[name] = values
	if len(values) == 0 {
		v.Del(name)
	}
	return v
}

// Where nobody may be sent, nobody is sent: signed in or not.
func TestNoOpenRedirect(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	b := newBrowser(t)
	b.signIn(b.get(a.url+"/oauth/authorize?"+goodRequest().Encode()), "anna")
	for name, query := range map[string]string{
		"no client":                changed(goodRequest(), "client_id").Encode(),
		"an unknown client":        changed(goodRequest(), "client_id", "nobody").Encode(),
		"two clients":              changed(goodRequest(), "client_id", DemoClient, DemoClient).Encode(),
		"no redirect URI":          changed(goodRequest(), "redirect_uri").Encode(),
		"two redirect URIs":        changed(goodRequest(), "redirect_uri", loopbackRedirect, loopbackRedirect).Encode(),
		"two, one of them empty":   changed(goodRequest(), "redirect_uri", "", loopbackRedirect).Encode(),
		"a client without any":     changed(goodRequest(), "client_id", "program").Encode(),
		"malformed":                goodRequest().Encode() + "&x=%zz",
		"semicolons":               goodRequest().Encode() + ";x=1",
		"too long":                 goodRequest().Encode() + "&x=" + strings.Repeat("x", maxQuery),
		"nothing":                  "",
		"another site's":           changed(goodRequest(), "redirect_uri", "https://evil.example/").Encode(),
		"bad and another's, error": changed(changed(goodRequest(), "redirect_uri", "https://evil.example/"), "response_type", "x").Encode(),
	} {
		for _, b := range []*browser{b, newBrowser(t)} {
			p := b.get(a.url + "/oauth/authorize?" + query)
			if p.status != http.StatusBadRequest || p.header.Get("Location") != "" || strings.Contains(p.body, "<a ") || strings.Contains(p.body, "<form") {
				t.Errorf("%s: %d %s %s", name, p.status, p.header.Get("Location"), p.body)
			}
		}
	}
}

// Redirect URIs are compared byte for byte, but for the port of a loopback
// address (RFC 8252, 7.3).
func TestRedirectURIs(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	for _, c := range []struct {
		client, uri string
		good        bool
	}{
		{"web", webRedirect, true},
		{"web", webRedirect + "&more=1", false},
		{"web", "https://web.example/callback", false},
		{"web", "https://web.example/callback/?app=1", false},
		{"web", "https://WEB.example/callback?app=1", false},
		{"web", "https://web.example:443/callback?app=1", false},
		{"web", "http://web.example/callback?app=1", false},
		{"web", "https://web.example/./callback?app=1", false},
		{"web", "https://web.example/%63allback?app=1", false},
		{"web", "https://web.example.evil.example/callback?app=1", false},
		{"web", "https://web.example@evil.example/callback?app=1", false},
		{"web", loopbackRedirect, false},
		{"other", otherRedirect, true},
		{"other", "http://127.0.0.1:1/other/callback", true},
		{"other", "http://127.0.0.1:65535/other/callback", true},
		{"other", "http://127.0.0.1:1/other/callback?x", false},
		{"other", "http://127.0.0.1:1/other", false},
		{"other", "http://[::1]:1/other/callback", false},
		{"other", "https://127.0.0.1:1/other/callback", false},
		{"other", "http://localhost:1/other/callback", false},
		{"other", "com.example.app:/callback", true},
		{"other", "com.example.app:/callback2", false},
		{DemoClient, "http://127.0.0.1", true},
		{DemoClient, "http://127.0.0.1/", true},
		{DemoClient, "http://127.0.0.1:4242?x=y", true},
		{DemoClient, "http://[::1]:4242/any/path?x=y", true},
		{DemoClient, "http://127.0.0.1:/x", false},
		{DemoClient, "http://127.0.0.1:123456/", false},
		{DemoClient, "http://127.0.0.1:80@evil.example/", false},
		{DemoClient, "http://127.0.0.1@evil.example/", false},
		{DemoClient, "http://127.0.0.1.evil.example/", false},
		{DemoClient, "http://127.0.0.1\\@evil.example/", false},
		{DemoClient, "http://127.0.0.1:1/#fragment", false},
		{DemoClient, "http://127.0.0.1:1/#", false},
		{DemoClient, "http://127.0.0.1:1/\r\nX: y", false},
		{DemoClient, "http://127.0.0.1:1/ a", false},
		{DemoClient, "http://127.0.0.1:1/?tab=2&codes=3", true},
		{DemoClient, "http://127.0.0.1:1/?tab=2&code=x", false},
		{DemoClient, "http://127.0.0.1:1/?%63ode=x", false},
		{DemoClient, "http://127.0.0.1:1/?state=x", false},
		{DemoClient, "http://127.0.0.1:1/?iss", false},
		{DemoClient, "http://127.0.0.1:1/?error=x", false},
		{DemoClient, "http://127.0.0.1:1/?error_description=x", false},
		{DemoClient, "http://127.0.0.1:1/?a;code=x", false},
		{DemoClient, "http://127.0.0.1:1/é", false},
		{DemoClient, "http://127.0.0.2/", false},
		{DemoClient, "http://127.1/", false},
		{DemoClient, "http://2130706433/", false},
		{DemoClient, "http://[::ffff:127.0.0.1]/", false},
		{DemoClient, "http://localhost:1/", false},
		{DemoClient, "HTTP://127.0.0.1/", false},
		{DemoClient, "//127.0.0.1/", false},
		{DemoClient, "/callback", false},
		{DemoClient, "javascript:alert(1)", false},
		{DemoClient, "data:text/html,x", false},
		{DemoClient, "com.example.app:/callback", false},
		{DemoClient, "http://127.0.0.1/" + strings.Repeat("x", 2048), false},
	} {
		q := changed(changed(goodRequest(), "redirect_uri", c.uri), "client_id", c.client)
		p := newBrowser(t).get(a.url + "/oauth/authorize?" + q.Encode())
		if good := p.status == http.StatusOK; good != c.good {
			t.Errorf("%s for %q: %d", c.client, c.uri, p.status)
		}
	}
}

// Other faults are the client's to hear of, with its state and the issuer (RFC
// 9207), once the user is signed in; before, people are told.
func TestFaultyRequests(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	b := newBrowser(t)
	b.signIn(b.get(a.url+"/oauth/authorize?"+goodRequest().Encode()), "anna")
	challenge := goodRequest().Get("code_challenge")
	for name, c := range map[string]struct {
		query url.Values
		code  string
	}{
		"no response type":      {changed(goodRequest(), "response_type"), "invalid_request"},
		"the implicit grant":    {changed(goodRequest(), "response_type", "token"), "unsupported_response_type"},
		"hybrid":                {changed(goodRequest(), "response_type", "code id_token"), "unsupported_response_type"},
		"fragment":              {changed(goodRequest(), "response_mode", "fragment"), "invalid_request"},
		"no PKCE":               {changed(changed(goodRequest(), "code_challenge"), "code_challenge_method"), "invalid_request"},
		"a method alone":        {changed(goodRequest(), "code_challenge"), "invalid_request"},
		"no method":             {changed(goodRequest(), "code_challenge_method"), "invalid_request"},
		"plain":                 {changed(goodRequest(), "code_challenge_method", "plain"), "invalid_request"},
		"s256":                  {changed(goodRequest(), "code_challenge_method", "s256"), "invalid_request"},
		"a short challenge":     {changed(goodRequest(), "code_challenge", challenge[:42]), "invalid_request"},
		"a long challenge":      {changed(goodRequest(), "code_challenge", challenge+"A"), "invalid_request"},
		"a padded challenge":    {changed(goodRequest(), "code_challenge", challenge[:42]+"="), "invalid_request"},
		"an unknown scope":      {changed(goodRequest(), "scope", "read admin"), "invalid_scope"},
		"a scope in capitals":   {changed(goodRequest(), "scope", "READ"), "invalid_scope"},
		"two scopes":            {changed(goodRequest(), "scope", "read", "write"), "invalid_request"},
		"blanks for scopes":     {changed(goodRequest(), "scope", "read  write"), "invalid_scope"},
		"another resource":      {changed(goodRequest(), "resource", "https://other.example"), "invalid_target"},
		"a request object":      {changed(goodRequest(), "request", "e30.e30."), "request_not_supported"},
		"a pushed request":      {changed(goodRequest(), "request_uri", "urn:x"), "request_uri_not_supported"},
		"two challenges":        {changed(goodRequest(), "code_challenge", challenge, challenge), "invalid_request"},
		"a scope not for it":    {changed(changed(changed(goodRequest(), "client_id", "other"), "redirect_uri", otherRedirect), "scope", "write"), "invalid_scope"},
		"parameter after a hop": {changed(goodRequest(), "response_type", "code", "code"), "invalid_request"},
	} {
		to := b.get(a.url + "/oauth/authorize?" + c.query.Encode()).location(t)
		q := to.Query()
		if q.Get("error") != c.code || q.Get("state") != "s" || q.Get("iss") != a.url || !strings.HasPrefix(to.String(), c.query.Get("redirect_uri")+"?") {
			t.Errorf("%s: sent to %s", name, to)
		}
		p := newBrowser(t).get(a.url + "/oauth/authorize?" + c.query.Encode())
		if p.status != http.StatusBadRequest || p.header.Get("Location") != "" || !strings.Contains(p.body, c.code) || !strings.Contains(p.body, `href="http://127.0.0.1`) {
			t.Errorf("%s: %d %s", name, p.status, p.body)
		}
	}
	for name, state := range map[string]string{"long": strings.Repeat("s", 2049), "not ASCII": "é", "a line break": "a\r\nb"} {
		to := b.get(a.url + "/oauth/authorize?" + changed(goodRequest(), "state", state).Encode()).location(t)
		if q := to.Query(); q.Get("error") != "invalid_request" || q.Has("state") {
			t.Errorf("state %s: sent to %s", name, to)
		}
	}
	// What is not known is ignored (RFC 6749, 3.1), and a state need not be.
	q := changed(changed(goodRequest(), "prompt", "login", "none"), "state")
	if to := b.decide(b.get(a.url+"/oauth/authorize?"+q.Encode()), "allow"); to.Query().Has("state") || !to.Query().Has("code") {
		t.Errorf("sent to %s", to)
	}
}

// Forms are good only in the browser, the session and for the request that they
// were made for.
func TestForms(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	b := newBrowser(t)
	first := b.get(a.url + "/oauth/authorize?" + goodRequest().Encode())
	signIn, signInForm := first.form(t, "/oauth/sign-in")
	signInForm.Set("user", "anna")
	consentPage := b.follow(b.post(signIn, signInForm))
	consent, form := consentPage.form(t, "/oauth/consent")
	form.Set("decision", "allow")

	mallory := newBrowser(t)
	_, mallorysForm := mallory.signIn(mallory.get(a.url+"/oauth/authorize?"+goodRequest().Encode()), "mallory").form(t, "/oauth/consent")
	mallorysForm.Set("decision", "allow")
	with := func(name, value string) url.Values {
		v := url.Values{}
		for n := range form {
			v.Set(n, form.Get(n))
		}
		return changed(v, name, value)
	}
	refused := func(name string, p page) {
		t.Helper()
		if p.status < 400 || p.status >= 500 || p.header.Get("Location") != "" {
			t.Errorf("%s: %d to %s", name, p.status, p.header.Get("Location"))
		}
	}
	refused("without cookies", newBrowser(t).post(consent, form))
	refused("another's form", b.post(consent, mallorysForm))
	refused("in another's browser", mallory.post(consent, form))
	refused("no mark", b.post(consent, with("mark", "")))
	refused("a false mark", b.post(consent, with("mark", strings.Repeat("A", 43))))
	refused("another request", b.post(consent, with("request", goodRequest().Encode())))
	refused("the mark of another step", b.post(consent, with("mark", signInForm.Get("mark"))))
	refused("the form of before the sign-in", b.post(signIn, signInForm))
	refused("parameters in the address", b.post(consent+"?decision=allow", form))
	refused("twice a field", b.post(consent, url.Values{"mark": form["mark"], "request": form["request"], "decision": {"deny", "allow"}}))
	refused("from another site", b.post(consent, form, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }))
	refused("from another port", b.post(consent, form, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }))
	refused("with another origin", b.post(consent, form, func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }))
	refused("as JSON", b.post(consent, form, func(r *http.Request) { r.Header.Set("Content-Type", "application/json") }))
	refused("by GET", b.get(consent+"?"+form.Encode()))
	refused("too long", b.post(consent, with("more", strings.Repeat("x", maxForm))))

	for _, decision := range []string{"deny", "", "Allow"} {
		if to := b.post(consent, with("decision", decision)).location(t); to.Query().Get("error") != "access_denied" {
			t.Errorf("%q: sent to %s", decision, to)
		}
	}
	if to := b.post(consent, form, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-origin"); r.Header.Set("Origin", a.url) }).location(t); !to.Query().Has("code") {
		t.Errorf("sent to %s", to)
	}
	out, outForm := consentPage.form(t, "/oauth/sign-out")
	b.post(out, outForm).location(t)
	refused("after signing out", b.post(consent, form))

	// A session ends by itself.
	a.pass(sessionLife)
	if p := mallory.get(a.url + "/oauth/authorize?" + goodRequest().Encode()); !strings.Contains(p.body, "/oauth/sign-in") {
		t.Error(p.body)
	}
}

// Pages are for people: in no frame, without scripts, and nothing of theirs is
// kept or told to others.
func TestPages(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		a := newAuthority(t, func(o *Options) {
			if secure {
				o.Issuer = "https://trains.example"
			}
			o.Clients = append(o.Clients, Client{ID: "sly", Name: `<script>alert("x")</script>`, RedirectURIs: []string{"https://sly.example/"}})
		})
		q := changed(changed(goodRequest(), "client_id", "sly"), "redirect_uri", "https://sly.example/")
		q.Set("state", `"><script>`)
		b := newBrowser(t)
		first := b.get(a.url + "/oauth/authorize?" + q.Encode())
		pages := map[string]page{
			"sign-in": first,
			"fault":   b.get(a.url + "/oauth/authorize"),
			"no page": b.get(a.url + "/oauth/nothing"),
		}
		if !secure { // a browser sends no secure cookies to the test server
			pages["consent"] = b.signIn(first, "anna")
			to, form := first.form(t, "/oauth/sign-in")
			form.Set("user", `<script>"`)
			fresh := newBrowser(t)
			fresh.Jar.SetCookies(first.at, b.Jar.Cookies(first.at)[:1])
			pages["bad name"] = fresh.post(to, form)
		}
		for name, p := range pages {
			h := p.header
			csp := h.Get("Content-Security-Policy")
			if !strings.HasPrefix(csp, "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'") ||
				h.Get("X-Frame-Options") != "DENY" || h.Get("Cache-Control") != "no-store" || h.Get("Referrer-Policy") != "same-origin" ||
				h.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: %v", name, h)
			}
			if strings.Contains(p.body, "<script") {
				t.Errorf("%s: %s", name, p.body)
			}
			if strings.Contains(csp, "sly.example") != (name == "consent") {
				t.Errorf("%s: %s", name, csp)
			}
		}
		cookies := first.header.Values("Set-Cookie")
		if len(cookies) != 1 {
			t.Errorf("cookies %v", cookies)
		}
		for _, c := range cookies {
			for _, want := range []string{"; HttpOnly", "; SameSite=Lax", "; Path=/oauth/"} {
				if !strings.Contains(c, want) {
					t.Errorf("%s lacks %s", c, want)
				}
			}
			if strings.Contains(c, "; Secure") != secure || strings.HasPrefix(c, "__Secure-") != secure || strings.Contains(c, "Domain") {
				t.Error(c)
			}
		}
	}
}

// A browser follows a redirect after a form only if the page's policy allows it.
func TestFormAction(t *testing.T) {
	t.Parallel()
	for redirect, want := range map[string]string{
		"http://127.0.0.1:7/x": "http://127.0.0.1:7", "http://[::1]:7/x": "http:", "com.example.app:/x": "com.example.app:", "https://a.example/b?c": "https://a.example",
	} {
		if _, got := destination(redirect); got != want {
			t.Errorf("%s: %s", redirect, got)
		}
	}
}
