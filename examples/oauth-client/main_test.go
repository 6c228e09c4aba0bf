package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/httpserver/authserver"
	"github.com/traintravel/traintravel/internal/demo"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/memstore"
)

const want = `Berlin Hauptbahnhof to Paris Gare du Nord on 2024-02-01
  07:00  113.58 eur  Ligne Atlantique
  11:00  113.58 eur  Mitteleuropa Express
  13:00  94.19 eur  Ligne Atlantique
  15:00  122.98 eur  Mitteleuropa Express
  20:18  95.39 eur  Nachtfalter
booked for Anna Example
paid 113.58 eur
cancelled; the money is refunded
`

// The whole way: a user signs in, and the program books in their name. The
// access tokens live for so short that each request needs a refresh.
func TestRun(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	printed, err := s.run(t, "anna", "allow")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, printed); d != "" {
		t.Errorf("output (-want +got):\n%s", d)
	}
	if n := s.refreshes.Load(); n < 5 {
		t.Errorf("%d refreshes", n)
	}
}

func TestDenied(t *testing.T) {
	t.Parallel()
	if printed, err := newServer(t).run(t, "anna", "deny"); err == nil || !strings.Contains(err.Error(), "access_denied") || printed != "" {
		t.Errorf("printed %q, error %v", printed, err)
	}
}

// Answers that somebody else could have made are not taken.
func TestCallback(t *testing.T) {
	t.Parallel()
	const good = "state=s&code=c&iss=https://auth.example"
	tests := []struct {
		name, query string
		says        bool // the server promises an iss
		status      int
		code, err   string
	}{
		{"good", good, true, 200, "c", ""},
		{"no issuer, as it said", "state=s&code=c", false, 200, "c", ""},
		{"no state", "code=c&iss=https://auth.example", true, 400, "", ""},
		{"other state", "state=x&code=c&iss=https://auth.example", true, 400, "", ""},
		{"no issuer", "state=s&code=c", true, 200, "", `issuer ""`},
		{"other issuer", "state=s&code=c&iss=https://evil.example", false, 200, "", "evil.example"},
		{"error", "state=s&error=access_denied&iss=https://auth.example", true, 200, "", "access_denied"},
		{"no code", "state=s&iss=https://auth.example", true, 200, "", "neither a code"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := &callback{meta: metadata{Issuer: "https://auth.example", SaysIssuer: tt.says}, state: "s", done: make(chan result, 1)}
			for range 2 { // the second changes nothing and hangs nowhere
				rec := httptest.NewRecorder()
				c.ServeHTTP(rec, httptest.NewRequest("GET", callbackPath+"?"+tt.query, nil))
				if rec.Code != tt.status {
					t.Errorf("status %d, want %d", rec.Code, tt.status)
				}
			}
			select {
			case r := <-c.done:
				if r.code != tt.code || (r.err == nil) != (tt.err == "") || r.err != nil && !strings.Contains(r.err.Error(), tt.err) || tt.status != 200 {
					t.Errorf("%+v", r)
				}
			default:
				if tt.status == 200 {
					t.Error("no result")
				}
			}
		})
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	nothing := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(nothing.Close)
	liar := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"issuer":"https://other.example"}`)
	}))
	t.Cleanup(liar.Close)
	for server, part := range map[string]string{nothing.URL: "404 Not Found", liar.URL: "other.example", "http://127.0.0.1:1": "signing in"} {
		if err := run(t.Context(), []string{"--server", server}, io.Discard); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: error %v, want %q in it", server, err, part)
		}
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := run(stopped, []string{"--server", newServer(t).URL}, io.Discard); err == nil {
		t.Error("run, told to stop: no error")
	}
}

// A server is the API and its authorization server, as traintravel serve has them.
type server struct {
	*httptest.Server
	refreshes atomic.Int32
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{}
	mux := http.NewServeMux()
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)

	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	// x/oauth2 refreshes what has ten seconds to live.
	auth, err := authserver.New(authserver.Options{Issuer: s.URL, Keys: []crypto.Signer{key}, TokenLife: 9 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	keys, err := httpserver.ParseKeySet(auth.JWKS())
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := httpserver.NewVerifier(httpserver.VerifierOptions{Issuer: s.URL, Audience: s.URL, Keys: httpserver.StaticKeys(keys)})
	if err != nil {
		t.Fatal(err)
	}
	morning := time.Date(2024, 2, 1, 0, 0, 0, 0, time.UTC)
	service, err := traintravel.New(memstore.New(), traintravel.Options{Gateway: sandbox.New(), Now: func() time.Time { return morning }})
	if err != nil {
		t.Fatal(err)
	}
	timetable, _, err := gtfs.Read(t.Context(), demo.Feed(), gtfs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := service.LoadTimetable(t.Context(), timetable); err != nil {
		t.Fatal(err)
	}
	api, err := httpserver.New(service, httpserver.Options{BaseURL: s.URL, Auth: verifier})
	if err != nil {
		t.Fatal(err)
	}
	mux.Handle("/", api)
	mux.Handle("/.well-known/oauth-authorization-server", auth)
	mux.HandleFunc("/oauth/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "grant_type=refresh_token") {
			s.refreshes.Add(1)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		auth.ServeHTTP(w, r)
	})
	return s
}

// run runs the program while a user goes through the pages, and returns what it
// printed after they came back.
func (s *server) run(t *testing.T, user, decision string) (string, error) {
	t.Helper()
	read, write := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(t.Context(), []string{"--server", s.URL, "--date", "2024-02-01"}, write)
		write.Close()
		ended <- err
	}()
	out := bufio.NewReader(read)
	_, _ = out.ReadString('\n')
	page, _ := out.ReadString('\n')
	printed := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(out)
		printed <- string(text)
	}()
	browse(t, strings.TrimSpace(page), user, decision)
	return <-printed, <-ended
}

// browse does what a user does in a browser.
func browse(t *testing.T, page, user, decision string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	show := func(resp *http.Response, err error) (string, *url.URL) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatal(resp.Status, string(text), err)
		}
		return string(text), resp.Request.URL
	}
	text, at := show(browser.Get(page))
	to, form := firstForm(t, text, at)
	form.Set("user", user)
	text, at = show(browser.PostForm(to, form))
	to, form = firstForm(t, text, at)
	form.Set("decision", decision)
	if text, _ = show(browser.PostForm(to, form)); strings.Contains(text, "You are signed in") != (decision == "allow") {
		t.Errorf("the last page says %q", text)
	}
}

var (
	formTag  = regexp.MustCompile(`(?s)<form method="post" action="([^"]*)">(.*?)</form>`)
	inputTag = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)
)

// firstForm finds the first form of a page and its hidden fields.
func firstForm(t *testing.T, text string, at *url.URL) (string, url.Values) {
	t.Helper()
	m := formTag.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no form in %s", text)
	}
	to, err := at.Parse(html.UnescapeString(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	form := url.Values{}
	for _, in := range inputTag.FindAllStringSubmatch(m[2], -1) {
		form.Set(html.UnescapeString(in[1]), html.UnescapeString(in[2]))
	}
	return to.String(), form
}
