package main

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// begin begins to sign in, and returns the address that the user would come back to.
func (v *visitor) begin() *url.URL {
	v.t.Helper()
	follow := v.client.CheckRedirect
	v.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	defer func() { v.client.CheckRedirect = follow }()
	at, err := url.Parse(v.get("/bookings").header.Get("Location"))
	if err != nil {
		v.t.Fatal(err)
	}
	q := at.Query()
	if q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "" || q.Get("scope") != "read write" || q.Get("redirect_uri") != v.site+"/callback" || q.Get("resource") != at.Scheme+"://"+at.Host {
		v.t.Errorf("the authorization server is asked %s", at)
	}
	back, _ := url.Parse(v.site + "/callback?" + url.Values{"state": {q.Get("state")}}.Encode())
	return back
}

// Answers that somebody else could have made are not taken.
func TestCallback(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	tests := []struct {
		name   string
		answer url.Values
		other  bool // browser
		status int
		says   string
	}{
		{"no code", url.Values{"iss": {rw.URL}}, false, 403, "You are not signed in"},
		{"invented code", url.Values{"iss": {rw.URL}, "code": {"x"}}, false, 403, "You are not signed in"},
		{"denied", url.Values{"iss": {rw.URL}, "error": {"access_denied"}}, false, 403, "You are not signed in"},
		{"no issuer", url.Values{"code": {"x"}}, false, 403, "You are not signed in"},
		{"other issuer", url.Values{"iss": {"https://evil.example"}, "code": {"x"}}, false, 403, "You are not signed in"},
		{"no state", url.Values{"iss": {rw.URL}, "code": {"x"}, "state": {""}}, false, 400, "The sign-in has expired"},
		{"other state", url.Values{"iss": {rw.URL}, "code": {"x"}, "state": {"y"}}, false, 400, "The sign-in has expired"},
		{"other browser", url.Values{"iss": {rw.URL}, "code": {"x"}}, true, 400, "The sign-in has expired"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v := newVisitor(t, site)
			back := v.begin()
			q := back.Query()
			for name, values := range tt.answer {
				q[name] = values
			}
			if tt.other {
				v = newVisitor(t, site)
				v.begin()
			}
			v.get("/callback?"+q.Encode()).want(t, tt.status, tt.says)
			// Right or wrong, it is over.
			v.get("/callback?"+q.Encode()).want(t, 400, "The sign-in has expired")
		})
	}
	for _, form := range newVisitor(t, site).tokenRequests(rw) {
		if !strings.Contains(form, "code_verifier=") {
			t.Errorf("a code was exchanged without a verifier: %s", form)
		}
	}
}

// tokenRequests are those that were sent to the authorization server.
func (v *visitor) tokenRequests(rw *railway) (forms []string) {
	rw.mu.Lock()
	defer rw.mu.Unlock()
	for _, f := range rw.forms {
		if strings.HasPrefix(f, "/oauth/token ") {
			forms = append(forms, f)
		}
	}
	return forms
}

// Two sign-ins that were begun side by side both end well, each where it began.
func TestTwoTabs(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v := newVisitor(t, site)
	first := v.get("/bookings")
	second := v.get("/sign-in")
	v.fill(v.fill(first, "/oauth/sign-in", "user", "anna"), "/oauth/consent", "decision", "allow").want(t, 200, "My bookings")
	if at := v.fill(v.get(second.at.String()), "/oauth/consent", "decision", "allow"); at.at.Path != "/" {
		t.Errorf("the second leads to %s", at.at)
	}
}

// However many begin to sign in, nobody else's sign-in is pushed out; and one that was
// changed on its way, or is old, is none.
func TestManySignIns(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	s, err := newSite(options{API: rw.URL, ClientID: clientID, Secret: clientSecret, URL: "http://127.0.0.1:1", Now: rw.now})
	if err != nil {
		t.Fatal(err)
	}
	get := func(path string, cookies ...*http.Cookie) *http.Response {
		req := httptest.NewRequest(http.MethodGet, s.options.URL+path, nil)
		for _, c := range cookies {
			req.AddCookie(c)
		}
		rec := httptest.NewRecorder()
		s.ServeHTTP(rec, req)
		return rec.Result()
	}
	begin := func(path string) (state string, cookie *http.Cookie) {
		resp := get(path)
		at, err := resp.Location()
		if err != nil || len(resp.Cookies()) != 1 {
			t.Fatal(err, resp.Cookies())
		}
		return at.Query().Get("state"), resp.Cookies()[0]
	}
	// end is 403 for a sign-in that was begun, for the code is none, and 400 for another.
	end := func(state string, cookie *http.Cookie) int {
		return get("/callback?"+url.Values{"iss": {rw.URL}, "code": {"x"}, "state": {state}}.Encode(), cookie).StatusCode
	}
	state, cookie := begin("/bookings")
	for i, c := range state {
		other := "A"
		if c == 'A' {
			other = "B"
		}
		if status := end(state[:i]+other+state[i+1:], cookie); status != 400 {
			t.Errorf("with character %d changed: %d", i, status)
		}
	}
	late, lateCookie := begin("/bookings")
	long, longCookie := begin("/bookings?x=" + strings.Repeat("x", 5000))
	if len(long) > 2000 {
		t.Errorf("a state has %d bytes", len(long))
	}
	for range mostKept {
		begin("/sign-in")
	}
	if a, b := end(state, cookie), end(long, longCookie); a != 403 || b != 403 {
		t.Errorf("after many others: %d and %d", a, b)
	}
	rw.ahead.Store(int64(signInLife))
	if status := end(late, lateCookie); status != 400 {
		t.Errorf("too late: %d", status)
	}
}

func sessionCookie(v *visitor) *http.Cookie {
	u, _ := url.Parse(v.site)
	for _, c := range v.client.Jar.Cookies(u) {
		if strings.HasSuffix(c.Name, "-session") {
			return c
		}
	}
	return nil
}

// Who signs in anew has a new session, and the one before is over.
func TestSessionIsRenewed(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v := newVisitor(t, site)
	v.signIn("anna", "/bookings").want(t, 200, "My bookings")
	old := sessionCookie(v)
	again := v.get("/sign-in") // the authorization server knows the user
	v.fill(again, "/oauth/consent", "decision", "allow").want(t, 200, "Sign out")
	now := sessionCookie(v)
	if old == nil || now == nil || old.Value == now.Value {
		t.Errorf("the cookies are %v and %v", old, now)
	}
	thief := newVisitor(t, site)
	u, _ := url.Parse(site)
	thief.client.Jar.SetCookies(u, []*http.Cookie{old})
	thief.get("/bookings").want(t, 200, "Your name") // he is asked to sign in
}

func TestCookies(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	for address, want := range map[string]string{
		"https://trains.example": "__Host-webapp-", "http://127.0.0.1:1": "webapp-",
	} {
		s, err := newSite(options{API: rw.URL, ClientID: clientID, URL: address})
		if err != nil {
			t.Fatal(err)
		}
		req := httptest.NewRequest(http.MethodGet, address+"/bookings", nil)
		rec := httptest.NewRecorder()
		s.ServeHTTP(rec, req)
		cookie := rec.Header().Get("Set-Cookie")
		secure := strings.HasPrefix(address, "https:")
		if !strings.HasPrefix(cookie, want) || !strings.Contains(cookie, "; HttpOnly; ") && !strings.Contains(cookie, "HttpOnly;") ||
			!strings.Contains(cookie, "SameSite=Lax") || !strings.Contains(cookie, "Path=/;") || strings.Contains(cookie, "Secure") != secure {
			t.Errorf("%s: the cookie is %s", address, cookie)
		}
	}
}

// Signing out ends the session here and the refresh token there.
func TestSignOut(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, log := rw.open(t)
	v := newVisitor(t, site)
	page := v.signIn("anna", "/bookings")
	cookie := sessionCookie(v)
	v.fill(page, "/sign-out").want(t, 200, "Sign in")
	if rw.count("POST /oauth/revoke") != 1 || strings.Contains(log.String(), "not revoked") {
		t.Errorf("the refresh token was not revoked: %s", log)
	}
	u, _ := url.Parse(site)
	v.client.Jar.SetCookies(u, []*http.Cookie{cookie})
	v.get("/bookings").want(t, 200, "Allow Overland?")

	// Without the authorization server one is signed out all the same.
	v = newVisitor(t, site)
	page = v.signIn("bob", "/bookings")
	rw.answering(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/oauth/revoke" {
			return false
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	})
	v.fill(page, "/sign-out").want(t, 200, "Sign in")
	if !strings.Contains(log.String(), "not revoked") {
		t.Error("the log does not say that a token was not revoked")
	}
}

// Access tokens that live for seconds are refreshed, once for requests that come
// together: refresh tokens are good for one use.
func TestRefresh(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, 9*time.Second) // package oauth2 refreshes what has ten to live
	site, _ := rw.open(t)
	v := newVisitor(t, site)
	v.signIn("anna", "/bookings")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { v.get("/bookings").want(t, 200, "My bookings") })
	}
	wg.Wait()
	refreshes := 0
	for _, form := range v.tokenRequests(rw) {
		if strings.Contains(form, "grant_type=refresh_token") {
			refreshes++
		}
	}
	if refreshes < 8 {
		t.Errorf("%d refreshes", refreshes)
	}
}

// Tokens that are refused lead to signing in again, and back to the page; but not in
// circles, and what was posted is not taken for done.
func TestTokensRefused(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v := newVisitor(t, site)
	refuse := func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.URL.Path, "/bookings") {
			return false
		}
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"type":"/problems/unauthorized","title":"An access token is required","status":401}`))
		return true
	}
	trip := v.chooseTrip(v.signIn("anna", tripsTomorrow(rw)))
	rw.answering(refuse)
	v.fill(trip, "/bookings", "passenger", "Anna").want(t, 403, "You are signed out", "Nothing was changed")
	v.get("/bookings").want(t, 200, "Allow Overland?")

	again := v.get("/bookings")
	v.fill(again, "/oauth/consent", "decision", "allow").want(t, 403, "You are signed out") // just signed in: no circles
	v.fill(v.get("/sign-in"), "/oauth/consent", "decision", "allow").want(t, 200, "Sign out")
	rw.ahead.Store(int64(time.Minute))
	v.get("/bookings").want(t, 200, "Allow Overland?")
}

// A session ends by itself, and the refresh token may end before it.
func TestSessionEnds(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, 9*time.Second)
	site, _ := rw.open(t)
	v := newVisitor(t, site)
	v.signIn("anna", "/bookings").want(t, 200, "My bookings")
	rw.ahead.Store(int64(sessionLife))
	v.get("/bookings").want(t, 200, "Allow Overland?")

	v.fill(v.get("/bookings"), "/oauth/consent", "decision", "allow").want(t, 200, "My bookings")
	rw.ahead.Add(int64(time.Minute))
	rw.answering(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/oauth/token" {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_grant"}`))
		return true
	})
	v.get("/bookings").want(t, 200, "Allow Overland?")
}
