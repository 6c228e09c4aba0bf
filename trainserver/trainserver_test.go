package trainserver_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/httpserver/authserver"
	"github.com/traintravel/traintravel/internal/demo"
	"github.com/traintravel/traintravel/store/memstore"
	"github.com/traintravel/traintravel/trainserver"
)

func newServer(t *testing.T, store traintravel.Store, o trainserver.Options) *trainserver.Server {
	t.Helper()
	s, err := trainserver.New(t.Context(), store, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func load(t *testing.T, s *trainserver.Server) {
	t.Helper()
	timetable, _, err := gtfs.Read(t.Context(), demo.Feed(), gtfs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Service.LoadTimetable(t.Context(), timetable); err != nil {
		t.Fatal(err)
	}
}

// Below a path of the host's mux, stripped or not, all links lead where they say: those of the
// API, the description, the documentation and the sign-in.
func TestPrefix(t *testing.T) {
	t.Parallel()
	var api http.Handler
	for name, mount := range map[string]func(*http.ServeMux){
		"kept":     func(m *http.ServeMux) { m.Handle("/shop/trains/", api) },
		"stripped": func(m *http.ServeMux) { m.Handle("/shop/trains/", http.StripPrefix("/shop/trains", api)) },
		"no slash": func(m *http.ServeMux) {
			m.Handle("/shop/trains", http.StripPrefix("/shop/trains", api))
			m.Handle("/shop/trains/", http.StripPrefix("/shop/trains", api))
		},
	} {
		mux := http.NewServeMux()
		host := httptest.NewServer(mux)
		t.Cleanup(host.Close)
		base := host.URL + "/shop/trains"
		s := newServer(t, memstore.New(), trainserver.Options{BaseURL: base})
		api = s
		mount(mux)
		mux.Handle("/.well-known/", s)
		load(t, s)
		token, err := s.Token("anna", "read", "write")
		if err != nil {
			t.Fatal(err)
		}
		get := func(target, accept string) (string, *http.Response) {
			t.Helper()
			req, err := http.NewRequestWithContext(t.Context(), "GET", target, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+token)
			if accept != "" {
				req.Header.Set("Accept", accept)
			}
			resp, err := host.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			text, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			return string(text), resp
		}
		signIn := base + "/oauth/authorize?" + url.Values{
			"response_type": {"code"}, "client_id": {authserver.DemoClient}, "scope": {"read"}, "state": {"x"}, "redirect_uri": {base + "/docs/signed-in.html"},
			"code_challenge": {"E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"}, "code_challenge_method": {"S256"},
		}.Encode()
		for target, want := range map[string]string{
			base + "/stations?search=berlin":                 `"self":"` + base + `/stations?search=berlin"`,
			base + "/openapi.yaml":                           base + "/oauth/authorize",
			base + "/openapi.json":                           base + "/oauth/token",
			base + "/docs":                                   `src="./docs/docs.js"`,
			base + "/oauth/jwks":                             `"keys"`,
			base + "/.well-known/oauth-authorization-server": `"issuer":"` + base + `"`,
			host.URL + "/.well-known/oauth-authorization-server/shop/trains": `"token_endpoint":"` + base + `/oauth/token"`,
			host.URL + "/.well-known/oauth-protected-resource/shop/trains":   `"resource":"` + base + `"`,
			base + "/.well-known/oauth-protected-resource":                   `"authorization_servers":["` + base + `"]`,
			signIn: "/shop/trains/oauth/",
		} {
			if text, resp := get(target, ""); resp.StatusCode != 200 || !strings.Contains(strings.ReplaceAll(text, `": "`, `":"`), want) {
				t.Errorf("%s: %s: %d, want %s in %.300s", name, target, resp.StatusCode, want, text)
			}
		}
		// A browser that opens the mount without its slash comes to the page of this server.
		for _, target := range []string{base, base + "/"} {
			text, resp := get(target, "text/html")
			if resp.StatusCode != 200 || resp.Request.URL.String() != base+"/" || !strings.Contains(text, base+"/stations") {
				t.Errorf("%s: %s leads to %s: %d, %.300s", name, target, resp.Request.URL, resp.StatusCode, text)
			}
		}
	}
}

// The page shows a token to people on this machine alone, and only where anybody may sign in.
func TestTokenIsForThisMachine(t *testing.T) {
	t.Parallel()
	users := []authserver.User{{Name: "berta"}}
	for _, c := range []struct {
		name, base  string
		signIn      *trainserver.SignIn
		from, host  string
		header      string
		token, says bool
	}{
		{"at home", "http://127.0.0.1:8080", &trainserver.SignIn{TokenCommand: "print-it"}, "127.0.0.1:5", "127.0.0.1:8080", "", true, true},
		{"by default", "http://localhost:8080", nil, "127.0.0.1:5", "localhost:8080", "", true, false},
		{"accounts", "http://127.0.0.1:8080", &trainserver.SignIn{Users: users, OnlyUsers: true, TokenCommand: "print-it"}, "127.0.0.1:5", "127.0.0.1:8080", "", false, true},
		{"public", "https://trains.example", &trainserver.SignIn{TokenCommand: "print-it"}, "127.0.0.1:5", "localhost", "", false, false},
		{"elsewhere", "http://127.0.0.1:8080", &trainserver.SignIn{TokenCommand: "print-it"}, "192.0.2.1:5", "127.0.0.1:8080", "", false, false},
		{"rebinding", "http://127.0.0.1:8080", &trainserver.SignIn{TokenCommand: "print-it"}, "127.0.0.1:5", "evil.example:8080", "", false, false},
		{"proxy", "http://127.0.0.1:8080", &trainserver.SignIn{TokenCommand: "print-it"}, "127.0.0.1:5", "localhost", "X-Forwarded-For", false, false},
		{"page", "http://127.0.0.1:8080", &trainserver.SignIn{TokenCommand: "print-it"}, "127.0.0.1:5", "localhost", "Origin", false, false},
	} {
		s := newServer(t, memstore.New(), trainserver.Options{BaseURL: c.base, SignIn: c.signIn, HTTP: httpserver.Options{CORSOrigins: []string{"*"}}})
		load(t, s)
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr, r.Host = c.from, c.host
		r.Header.Set("Accept", "text/html,*/*;q=0.8")
		if c.header != "" {
			r.Header.Set(c.header, "http://evil.example")
		}
		rec := httptest.NewRecorder()
		s.ServeHTTP(rec, r)
		_, shown, _ := strings.Cut(rec.Body.String(), "TOKEN=")
		shown, _, _ = strings.Cut(shown, "\n")
		if rec.Code != 200 || strings.HasPrefix(shown, "ey") != c.token || strings.Contains(rec.Body.String(), "print-it") != c.says {
			t.Errorf("%s: %d, TOKEN=%s", c.name, rec.Code, shown)
		}
		if rec.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", c.name, rec.Header())
		}
		if c.token {
			r := httptest.NewRequest("GET", "/stations", nil)
			r.Header.Set("Authorization", "Bearer "+shown)
			rec := httptest.NewRecorder()
			if s.ServeHTTP(rec, r); rec.Code != 200 {
				t.Errorf("%s: the token on the page is answered with %d", c.name, rec.Code)
			}
		}
	}
}

// Options that cannot be are refused, with what to do.
func TestOptions(t *testing.T) {
	t.Parallel()
	auth := httpserver.Options{Auth: anybody{}}
	for _, c := range []struct {
		opts  trainserver.Options
		field string
	}{
		{trainserver.Options{}, "Options.BaseURL"},
		{trainserver.Options{BaseURL: "https://trains.example"}, "Options.SignIn"},
		{trainserver.Options{BaseURL: "https://trains.example", SignIn: &trainserver.SignIn{}}, ""},
		{trainserver.Options{BaseURL: "https://trains.example", HTTP: auth}, ""},
		{trainserver.Options{BaseURL: "trains.example", HTTP: auth}, "Options.BaseURL"},
		{trainserver.Options{BaseURL: "https://trains.example", Issuer: &trainserver.Issuer{URL: "https://id.example"}}, ""},
		{trainserver.Options{BaseURL: "https://trains.example", Issuer: &trainserver.Issuer{URL: "http://id.example"}}, "Options.Issuer"},
		{trainserver.Options{BaseURL: "https://trains.example", Issuer: &trainserver.Issuer{URL: "https://id.example"}, HTTP: auth}, "Options.Issuer"},
		{trainserver.Options{BaseURL: "http://127.0.0.1:1", HTTP: httpserver.Options{CORSOrigins: []string{"x"}}}, "Options.CORSOrigins"},
		{trainserver.Options{BaseURL: "http://127.0.0.1:1/trains/"}, "Options.BaseURL"},
		{trainserver.Options{BaseURL: "http://127.0.0.1:1/", HTTP: auth}, "Options.BaseURL"},
		{trainserver.Options{BaseURL: `http://127.0.0.1:1/a"><script>x`}, "Options.BaseURL"},
		{trainserver.Options{BaseURL: "http://127.0.0.1:1/a`b`"}, "Options.BaseURL"},
		{trainserver.Options{BaseURL: `http://127.0.0.1:1/a\b`}, "Options.BaseURL"},
		{trainserver.Options{BaseURL: "http://127.0.0.1:1/a b"}, "Options.BaseURL"},
		{trainserver.Options{BaseURL: "http://127.0.0.1:1/{a}"}, "Options.BaseURL"},
		{trainserver.Options{BaseURL: "http://127.0.0.1:1/a;b"}, "Options.BaseURL"},
		{trainserver.Options{BaseURL: "http://127.0.0.1:1/a%20b/~c_d-e.f"}, ""},
		{trainserver.Options{BaseURL: "http://127.0.0.1:1", SignIn: &trainserver.SignIn{Links: []httpserver.Link{{URL: "javascript:alert(1)"}}}}, "Options.SignIn.Links"},
		{trainserver.Options{BaseURL: "http://127.0.0.1:1", SignIn: &trainserver.SignIn{Links: []httpserver.Link{{URL: "/here"}}}}, "Options.SignIn.Links"},
		{trainserver.Options{BaseURL: "http://127.0.0.1:1", SignIn: &trainserver.SignIn{Links: []httpserver.Link{{URL: "https://shop.example/x"}}}}, ""},
		{trainserver.Options{BaseURL: "http://127.0.0.1:1", SiteURL: "javascript:alert(1)"}, "Options.SiteURL"},
		{trainserver.Options{BaseURL: "http://127.0.0.1:1", SiteURL: "/shop"}, "Options.SiteURL"},
		{trainserver.Options{BaseURL: "http://127.0.0.1:1", Service: traintravel.Options{HoldFor: -1}}, "Options.HoldFor"},
	} {
		c.opts.KeysFile = filepath.Join(t.TempDir(), "keys.json")
		_, err := trainserver.New(t.Context(), memstore.New(), c.opts)
		if _, missing := os.Stat(c.opts.KeysFile); (err != nil) != (missing != nil) {
			t.Errorf("%+v: New returned %v, and left the keys file: %v", c.opts, err, missing == nil)
		}
		bad, _ := errors.AsType[*traintravel.InvalidError](err)
		if c.field == "" && err != nil || c.field != "" && (bad == nil || bad.Field != c.field) {
			t.Errorf("%+v: %v", c.opts, err)
		}
	}
}

// anybody takes no token.
type anybody struct{}

func (anybody) Authenticate(context.Context, string) (httpserver.Identity, error) {
	return httpserver.Identity{}, httpserver.ErrInvalidToken
}

// A server with other keys than those before it is refused, unless they are to be replaced; one
// with the same takes the tokens of before.
func TestKeys(t *testing.T) {
	t.Parallel()
	store, file := memstore.New(), filepath.Join(t.TempDir(), "keys.json")
	opts := trainserver.Options{BaseURL: "http://127.0.0.1:1", KeysFile: file}
	first := newServer(t, store, opts)
	load(t, first)
	token, err := first.Token("anna", "read")
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	ask := func(s *trainserver.Server) int {
		r := httptest.NewRequest("GET", "/stations", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		rec := httptest.NewRecorder()
		s.ServeHTTP(rec, r)
		return rec.Code
	}
	second := newServer(t, store, opts)
	if ask(second) != 200 || second.Previous != (trainserver.Previous{BaseURL: "http://127.0.0.1:1"}) {
		t.Errorf("%d, %+v", ask(second), second.Previous)
	}
	opts.KeysFile = ""
	if _, err := trainserver.New(t.Context(), store, opts); !errors.Is(err, trainserver.ErrOtherKeys) {
		t.Errorf("other keys: %v", err)
	}
	opts.KeysFile = filepath.Join(t.TempDir(), "others.json")
	if _, err := trainserver.New(t.Context(), store, opts); !errors.Is(err, trainserver.ErrOtherKeys) {
		t.Errorf("keys that were made: %v", err)
	}
	if _, err := os.Stat(opts.KeysFile); err == nil {
		t.Error("the refused server left its new keys file")
	}
	opts.KeysFile = ""
	opts.NewKeys = true
	if third := newServer(t, store, opts); ask(third) != 401 || !third.Previous.Replaced {
		t.Errorf("%d, %+v", ask(third), third.Previous)
	}
	if _, err := newServer(t, memstore.New(), trainserver.Options{BaseURL: "http://x.example", HTTP: httpserver.Options{Auth: anybody{}}}).Token("anna"); !errors.Is(err, trainserver.ErrNoSignIn) {
		t.Errorf("a token without a sign-in: %v", err)
	}
}

// A timetable that nobody has loaded is told to the log, to people and to programs.
func TestForgottenTimetable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := newServer(t, memstore.New(), trainserver.Options{BaseURL: "http://127.0.0.1:1", Logger: slog.New(slog.NewTextHandler(&log, nil))})
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept", "text/html")
		rec := httptest.NewRecorder()
		if s.ServeHTTP(rec, r); rec.Code != 200 || !strings.Contains(rec.Body.String(), "No timetable is loaded") {
			t.Errorf("%d %s", rec.Code, rec.Body)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = s.Run(ctx)
		}()
		synctest.Wait()
		stop()
		<-ended
		if !strings.Contains(log.String(), "no timetable is loaded") {
			t.Error(log.String())
		}
	})
}
