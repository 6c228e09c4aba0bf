package authserver

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/oauth2"
)

// An authority is a Server behind a test server, with a clock that can be set.
type authority struct {
	*Server
	url  string
	late atomic.Int64 // nanoseconds that its clock is ahead
	log  strings.Builder
}

const (
	programSecret = "a secret of enough bytes & +signs%"
	webRedirect   = "https://web.example/callback?app=1"
	otherRedirect = "http://127.0.0.1/other/callback"
)

func testKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func testClients() []Client {
	return []Client{
		{ID: "program", Name: "A <b>program</b>", Secret: programSecret, Grants: []string{grantProgram}},
		{ID: "web", Name: "The web site", Secret: programSecret, RedirectURIs: []string{webRedirect}},
		{ID: "other", RedirectURIs: []string{otherRedirect, "com.example.app:/callback"}, Scopes: []string{"read"}},
	}
}

func newAuthority(t *testing.T, change ...func(*Options)) *authority {
	t.Helper()
	a := &authority{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { a.ServeHTTP(w, r) }))
	t.Cleanup(srv.Close)
	a.url = srv.URL
	o := Options{
		Issuer: srv.URL, Keys: []crypto.Signer{testKey(t)}, Clients: testClients(),
		Now:    func() time.Time { return time.Now().Add(time.Duration(a.late.Load())) },
		Logger: slog.New(slog.NewTextHandler(&a.log, nil)),
	}
	for _, c := range change {
		c(&o)
	}
	var err error
	if a.Server, err = New(o); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *authority) pass(d time.Duration) { a.late.Add(int64(d)) }

// config is x/oauth2's view of a client of the authority.
func (a *authority) config(id, secret, redirect string) *oauth2.Config {
	return &oauth2.Config{
		ClientID: id, ClientSecret: secret, RedirectURL: redirect, Scopes: []string{"read", "write"},
		Endpoint: oauth2.Endpoint{AuthURL: a.url + "/oauth/authorize", TokenURL: a.url + "/oauth/token"},
	}
}

// A browser keeps cookies and shows where it is sent, without going there.
type browser struct {
	t testing.TB
	http.Client
}

func newBrowser(t testing.TB) *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t, http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// A page is what a browser got.
type page struct {
	status int
	header http.Header
	body   string
	at     *url.URL
}

func (b *browser) send(req *http.Request) page {
	b.t.Helper()
	resp, err := b.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return page{resp.StatusCode, resp.Header, string(body), req.URL}
}

func (b *browser) get(address string) page {
	b.t.Helper()
	req, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.send(req)
}

func (b *browser) post(address string, form url.Values, change ...func(*http.Request)) page {
	b.t.Helper()
	req, err := http.NewRequest(http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, c := range change {
		c(req)
	}
	return b.send(req)
}

// follow goes where a page sends the browser.
func (b *browser) follow(p page) page {
	b.t.Helper()
	return b.get(p.location(b.t).String())
}

func (p page) location(t testing.TB) *url.URL {
	t.Helper()
	if p.status != http.StatusSeeOther {
		t.Fatalf("%d, not a redirect: %s", p.status, p.body)
	}
	to, err := p.at.Parse(p.header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	return to
}

var (
	formTag  = regexp.MustCompile(`(?s)<form method="post" action="([^"]*)"[^>]*>(.*?)</form>`)
	inputTag = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)
)

// form finds the form of a page that posts to a path, and its hidden fields.
func (p page) form(t testing.TB, path string) (string, url.Values) {
	t.Helper()
	for _, m := range formTag.FindAllStringSubmatch(p.body, -1) {
		if !strings.HasSuffix(m[1], path) {
			continue
		}
		v := url.Values{}
		for _, in := range inputTag.FindAllStringSubmatch(m[2], -1) {
			v.Set(html.UnescapeString(in[1]), html.UnescapeString(in[2]))
		}
		to, err := p.at.Parse(html.UnescapeString(m[1]))
		if err != nil {
			t.Fatal(err)
		}
		return to.String(), v
	}
	t.Fatalf("%d, and no form %s: %s", p.status, path, p.body)
	return "", nil
}

// signIn fills in the sign-in page, and returns the page after it.
func (b *browser) signIn(p page, user string) page {
	b.t.Helper()
	to, form := p.form(b.t, "/oauth/sign-in")
	form.Set("user", user)
	return b.follow(b.post(to, form))
}

// decide fills in the consent page, and returns where it leads.
func (b *browser) decide(p page, decision string) *url.URL {
	b.t.Helper()
	to, form := p.form(b.t, "/oauth/consent")
	form.Set("decision", decision)
	return b.post(to, form).location(b.t)
}

// code goes through both pages and returns the code.
func (b *browser) code(authorize, user string) string {
	b.t.Helper()
	p := b.get(authorize)
	if strings.Contains(p.body, "/oauth/sign-in") {
		p = b.signIn(p, user)
	}
	to := b.decide(p, "allow")
	code := to.Query().Get("code")
	if code == "" {
		b.t.Fatalf("sent to %s without a code", to)
	}
	return code
}

// claimsOf reads a token without verifying it.
func claimsOf(t testing.TB, token string) (head, claims map[string]any) {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("no token: %q", token)
	}
	for i, to := range []*map[string]any{&head, &claims} {
		text, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, to); err != nil {
			t.Fatal(err)
		}
	}
	return head, claims
}

// object reads a JSON body.
func (p page) object(t testing.TB) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(p.body), &v); err != nil {
		t.Fatalf("%v in %q", err, p.body)
	}
	return v
}
