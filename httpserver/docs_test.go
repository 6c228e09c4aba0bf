package httpserver_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/httpserver/authserver"
)

// The page and all that it names is there, whichever way it is asked for.
func TestDocsFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	named := regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	for _, page := range []string{"/docs", "/docs/", "/docs/signed-in.html"} {
		a := w.serve("GET", page).want(200)
		a.public("text/html; charset=utf-8")
		links := named.FindAllStringSubmatch(a.body, -1)
		if len(links) == 0 {
			t.Errorf("%s names no file", page)
		}
		for _, l := range links {
			at, err := url.Parse(page)
			if err == nil {
				at, err = at.Parse(l[1])
			}
			if err != nil || at.Host != "" {
				t.Errorf("%s names %q: %v", page, l[1], err)
				continue
			}
			w.serve("GET", at.Path).want(200)
		}
	}
	for target, contentType := range map[string]string{
		"/docs/swagger-ui-bundle.js": "text/javascript; charset=utf-8",
		"/docs/swagger-ui.css":       "text/css; charset=utf-8",
	} {
		plain := w.serve("GET", target)
		plain.public(contentType)
		zipped := w.serve("GET", target, header("Accept-Encoding", "br, gzip"))
		zipped.public(contentType)
		if plain.header.Get("Content-Encoding") != "" || zipped.header.Get("Content-Encoding") != "gzip" || len(zipped.body) >= len(plain.body)/2 {
			t.Errorf("%s: %d bytes plain (%v), %d compressed (%v)", target, len(plain.body), plain.header, len(zipped.body), zipped.header)
		}
		if vary := strings.Join(zipped.header["Vary"], ", "); !strings.Contains(vary, "Accept-Encoding") {
			t.Errorf("%s: Vary is %q", target, vary)
		}
		if a := w.serve("GET", target, header("Accept-Encoding", "gzip;q=0")); a.header.Get("Content-Encoding") != "" {
			t.Errorf("%s: what cannot be read was sent", target)
		}
		if again := w.serve("GET", target); again.body != plain.body {
			t.Errorf("%s: it changed from one answer to the next", target)
		}
	}
	shared := newWorld(t, func(w *world) { w.options.CORSOrigins = []string{"*"} })
	if vary := shared.serve("GET", "/docs/swagger-ui.css").header["Vary"]; len(vary) != 1 || vary[0] != "Origin, Accept-Encoding, Accept, Authorization" {
		t.Errorf("Vary is %q", vary)
	}
	w.do("GET", "/docs/docs.go").problem(404, "not-found")
	w.do("GET", "/docs/../docs.html").problem(404, "not-found")
	if script := w.serve("GET", "/docs/docs.js").body; !strings.Contains(script, `"`+authserver.DemoClient+`"`) {
		t.Error("the page signs in as another client than the built-in authorization server knows")
	}
}

// Public documents are rendered once: further responses take neither memory nor work, and
// conditional requests get 304.
func TestPublicTextsAreMadeOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.options.RateLimit = -1 })
	for _, target := range []string{
		"/docs", "/docs/", "/docs/docs.css", "/docs/docs.js", "/docs/signed-in.html", "/docs/signed-in.js", "/docs/favicon-32x32.png", "/docs/swagger-ui.css",
		"/docs/swagger-ui-bundle.js", "/openapi.yaml", "/openapi.json", "/problems/sold-out", "/.well-known/ticket-keys",
	} {
		tags := map[string]string{} // by what was sent
		for _, coding := range []string{"identity", "gzip"} {
			accept := header("Accept-Encoding", coding)
			first := w.serve("GET", target, accept).want(200)
			tag := first.header.Get("Etag")
			if before, ok := tags[first.body]; ok && before != tag || !strings.HasPrefix(tag, `"`) {
				t.Errorf("%s in %s: the tag is %s", target, coding, tag)
			}
			tags[first.body] = tag
			for _, method := range []string{"GET", "HEAD"} {
				again := w.serve(method, target, accept, header("If-None-Match", tag)).want(304)
				for _, name := range []string{"Etag", "Vary", "Cache-Control", "Content-Security-Policy"} {
					if again.header.Get(name) != first.header.Get(name) {
						t.Errorf("%s %s in %s: %s is %q with 304, and %q with 200", method, target, coding, name, again.header.Get(name), first.header.Get(name))
					}
				}
				if again.body != "" || again.header.Get("Content-Encoding") != "" {
					t.Errorf("%s %s in %s: 304 has a body", method, target, coding)
				}
			}
			w.serve("GET", target, accept, header("If-None-Match", `"x"`)).want(200)
			w.serve("GET", target, accept, header("If-Match", `"x"`)).want(412)
			sink := &bodySink{}
			w.sendTo(sink, target, accept)
			one := sink.body
			w.sendTo(sink, target, accept)
			if len(one) == 0 || &one[0] != &sink.body[0] {
				t.Errorf("%s in %s: two answers are two copies", target, coding)
			}
		}
		tagOf := map[string]bool{}
		for _, tag := range tags {
			tagOf[tag] = true
		}
		if len(tagOf) != len(tags) {
			t.Errorf("%s: two forms have one tag: %v", target, tags)
		}
	}
}

// A bodySink is the writer of an answer. It keeps the memory that the body was sent from.
type bodySink struct {
	header http.Header
	body   []byte
}

func (s *bodySink) Header() http.Header { return s.header }
func (s *bodySink) WriteHeader(int)     {}
func (s *bodySink) Write(b []byte) (int, error) {
	s.body = b
	return len(b), nil
}

func (w *world) sendTo(sink *bodySink, target string, parts ...part) {
	r := httptest.NewRequest("GET", target, nil)
	for _, p := range parts {
		p(r)
	}
	sink.header = http.Header{}
	w.server.ServeHTTP(sink, r)
}

// Where the page has people sent back to is what a browser makes of the address.
func TestDocsRedirectURI(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"http://127.0.0.1:8080":             "http://127.0.0.1:8080/docs/signed-in.html",
		"http://localhost:8080/":            "http://localhost:8080/docs/signed-in.html",
		"http://[::1]:8080":                 "http://[::1]:8080/docs/signed-in.html",
		"http://[0:0:0:0:0:0:0:1]:8080/x":   "http://[::1]:8080/x/docs/signed-in.html",
		"https://trains.example/api":        "https://trains.example/api/docs/signed-in.html",
		"HTTPS://Trains.Example:443/Api/v1": "https://trains.example/Api/v1/docs/signed-in.html",
		"http://trains.example:080":         "http://trains.example/docs/signed-in.html",
		"http://trains.example:443":         "http://trains.example:443/docs/signed-in.html",
		"https://trains.example:80/a%20b":   "https://trains.example:80/a%20b/docs/signed-in.html",
		"https://trains.example/a/./b/../c": "https://trains.example/a/c/docs/signed-in.html",
		"https://trains.example:":           "https://trains.example/docs/signed-in.html",
		"":                                  "",
		"/api":                              "",
		"ftp://trains.example":              "",
		"https://trains.example/?x=1":       "",
		"https://anna@trains.example":       "",
	} {
		if got, err := httpserver.DocsRedirectURI(base); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %s, %v, want %s", base, got, err, want)
		}
	}
}

// serve sends a request whose answer is no data.
func (w *world) serve(method, target string, parts ...part) answer {
	w.t.Helper()
	r := httptest.NewRequest(method, target, nil)
	for _, p := range parts {
		p(r)
	}
	rec := httptest.NewRecorder()
	w.server.ServeHTTP(rec, r)
	return answer{t: w.t, status: rec.Code, header: rec.Result().Header, body: rec.Body.String()}
}

// public fails unless everybody may keep the answer, of this media type, for an
// hour, and a page may do nothing that it need not.
func (a answer) public(contentType string) {
	a.t.Helper()
	h := a.want(200).header
	if h.Get("Content-Type") != contentType || h.Get("Cache-Control") != "public, max-age=3600" ||
		h.Get("X-Content-Type-Options") != "nosniff" || h.Get("RateLimit") == "" {
		a.t.Errorf("the headers are %v", h)
	}
	if p := h.Get("Content-Security-Policy"); !strings.HasPrefix(p, "default-src 'none'; ") || strings.Contains(p, "unsafe") || !strings.Contains(p, "frame-ancestors 'none'") {
		a.t.Errorf("the policy is %q", p)
	}
}
