package httpserver_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A server works below the path of its base URL whether the host strips that path or not: links
// are right, and the address without a slash leads to the one with it.
func TestMountedBelow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kept, stripped, noSlash := http.NewServeMux(), http.NewServeMux(), http.NewServeMux()
	kept.Handle("/api/", w.server)
	stripped.Handle("/api/", http.StripPrefix("/api", w.server))
	noSlash.Handle("/api", http.StripPrefix("/api", w.server))
	noSlash.Handle("/api/", http.StripPrefix("/api", w.server))
	for name, host := range map[string]http.Handler{"the path kept": kept, "stripped": stripped, "no slash": noSlash, "no mux": w.server} {
		get := func(target string) *httptest.ResponseRecorder {
			r := httptest.NewRequest("GET", target, nil)
			r.Header.Set("Authorization", "Bearer anna-rw")
			rec := httptest.NewRecorder()
			host.ServeHTTP(rec, r)
			return rec
		}
		for target, want := range map[string]string{
			"/api/stations?search=berlin":               `"self":"https://trains.example/api/stations?search=berlin"`,
			"/api/stations/" + berlin:                   `"name":"Berlin Hauptbahnhof"`,
			"/api/openapi.yaml":                         "- url: https://trains.example/api\n",
			"/api/openapi.json":                         `"url":"https://trains.example/api"`,
			"/api/docs":                                 `src="./docs/docs.js"`,
			"/api/docs/docs.js":                         "SwaggerUIBundle",
			"/api/.well-known/oauth-protected-resource": `"resource":"https://trains.example/api"`,
		} {
			if rec := get(target); rec.Code != 200 || !strings.Contains(rec.Body.String(), want) {
				t.Errorf("%s: %s: %d, want %s in %.300s", name, target, rec.Code, want, rec.Body)
			}
		}
		for _, target := range []string{"/api?a=b", "/api"} {
			query := strings.TrimPrefix(target, "/api")
			rec := get(target)
			if to := rec.Header().Get("Location"); rec.Code != 307 || to != "https://trains.example/api/"+query && to != "/api/"+query { // of the mux
				t.Errorf("%s: %s: %d to %q", name, target, rec.Code, to)
			}
		}
		for _, target := range []string{"/apis", "/api//stations", "/api/api"} {
			if rec := get(target); rec.Code == 200 {
				t.Errorf("%s: %s: 200", name, target)
			}
		}
	}
	for _, method := range []string{"POST", "DELETE"} {
		w.serve(method, "/api").want(404)
	}
}

// A path of the base URL with escapes is taken away whole, and one that begins as the API's own
// paths do is left to the host.
func TestBelow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ base, asked, path, raw string }{
		{"https://trains.example", "/api/stations", "/api/stations", ""},
		{"https://trains.example/", "/stations", "/stations", ""},
		{"https://trains.example/a/b/", "/a/b/stations", "/stations", ""},
		{"https://trains.example/a/b", "/a/b", "", ""},
		{"https://trains.example/a/b", "/a/bc", "/a/bc", ""},
		{"https://trains.example/a/b", "/stations", "/stations", ""},
		{"https://trains.example/a%20b", "/a%20b/stations", "/stations", ""},
		{"https://trains.example/a%2Fb", "/a%2Fb/stations/x%2Fy", "/stations/x/y", "/stations/x%2Fy"},
		{"https://trains.example/a%2Fb", "/a/b/stations", "/stations", ""},
		{"https://trains.example/a/b", "/a%2Fb/stations", "/a/b/stations", "/a%2Fb/stations"},
		{"https://trains.example/stations", "/stations/stations", "/stations/stations", ""},
		{"https://trains.example/docs/v1", "/docs/v1/stations", "/docs/v1/stations", ""},
	} {
		w := newWorld(t, func(w *world) { w.options.BaseURL = c.base })
		r := httptest.NewRequest("GET", c.asked, nil)
		before := r.URL.String()
		below := w.server.Below(r)
		if below.URL.Path != c.path || below.URL.RawPath != c.raw || r.URL.String() != before {
			t.Errorf("%s below %s: %q, %q", c.asked, c.base, below.URL.Path, below.URL.RawPath)
		}
	}
}
