package trainserver_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/httpserver/authserver"
	"github.com/traintravel/traintravel/store/memstore"
	"github.com/traintravel/traintravel/trainserver"
)

// Mount registers what clients ask for at a path, at the root, and at a path that begins like one
// of the API: the API, its start page, and the metadata from which clients find the sign-in.
func TestMount(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"", "/trains", "/shop/a%20b", "/stations"} {
		mux := http.NewServeMux()
		host := httptest.NewServer(mux)
		t.Cleanup(host.Close)
		base := host.URL + path
		s := newServer(t, memstore.New(), trainserver.Options{BaseURL: base})
		s.Mount(mux)
		for target, want := range map[string]string{
			base + "/healthz":    "",
			base + "/oauth/jwks": `"keys"`,
			base + "/":           "",
			host.URL + "/.well-known/oauth-protected-resource" + path:   `"authorization_servers":["` + base + `"]`,
			host.URL + "/.well-known/oauth-authorization-server" + path: `"issuer":"` + base + `"`,
		} {
			if status, text := fetch(t, "GET", target, nil); status != 200 || !strings.Contains(text, want) {
				t.Errorf("%s: %d, want %s in %.300s", target, status, want, text)
			}
		}
	}
}

// The zero SignIn has the client of examples/webapp, at loopback addresses alone; a SignIn with
// accounts of its own does not have it.
func TestSiteClient(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		base string
		in   *trainserver.SignIn
		want int
	}{
		{"http://127.0.0.1:8086/trains", nil, 200},
		{"http://localhost:8086", &trainserver.SignIn{}, 200},
		{"https://trains.example", &trainserver.SignIn{}, 401},
		{"http://127.0.0.1:8086", &trainserver.SignIn{Users: []authserver.User{{Name: "berta"}}}, 401},
		{"http://127.0.0.1:8086", &trainserver.SignIn{OnlyUsers: true, Users: []authserver.User{{Name: "berta"}}}, 401},
		{"http://127.0.0.1:8086", &trainserver.SignIn{Clients: []authserver.Client{}}, 401},
	} {
		s := newServer(t, memstore.New(), trainserver.Options{BaseURL: c.base, SignIn: c.in})
		form := url.Values{"grant_type": {"client_credentials"}, "scope": {"read"}, "resource": {c.base}}
		r := httptest.NewRequest("POST", "/oauth/token", strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.SetBasicAuth("webapp", "overland-example-only")
		rec := httptest.NewRecorder()
		if s.ServeHTTP(rec, r); rec.Code != c.want {
			t.Errorf("%s, %+v: %d %s, want %d", c.base, c.in, rec.Code, rec.Body, c.want)
		}
	}
}

// The page at / links to the site for everybody who opens it, and without a SiteURL to none.
func TestSiteURL(t *testing.T) {
	t.Parallel()
	const site = "https://shop.example/trains"
	for _, o := range []trainserver.Options{
		{BaseURL: "http://127.0.0.1:8086"},
		{BaseURL: "https://trains.example", SignIn: &trainserver.SignIn{}},
		{BaseURL: "https://trains.example", Issuer: &trainserver.Issuer{URL: "https://id.example"}},
		{BaseURL: "https://trains.example", HTTP: httpserver.Options{Auth: anybody{}, Try: func(*http.Request) httpserver.Try { return httpserver.Try{User: "x", Token: "its-own"} }}},
	} {
		for _, o.SiteURL = range []string{"", site} {
			r := httptest.NewRequest("GET", o.BaseURL+"/", nil)
			r.Header.Set("Accept", "text/html")
			rec := httptest.NewRecorder()
			newServer(t, memstore.New(), o).ServeHTTP(rec, r)
			if text := rec.Body.String(); rec.Code != 200 || strings.Contains(text, `<a href="`+site+`">Booking site</a>`) != (o.SiteURL == site) || o.HTTP.Try != nil && !strings.Contains(text, "its-own") {
				t.Errorf("%s, with the site %q: %d\n%s", o.BaseURL, o.SiteURL, rec.Code, text)
			}
		}
	}
}

func fetch(t *testing.T, method, target string, body io.Reader) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, target, body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var compact any
	if json.Unmarshal(text, &compact) == nil {
		if flat, err := json.Marshal(compact); err == nil {
			text = flat
		}
	}
	return resp.StatusCode, string(text)
}
