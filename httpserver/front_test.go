package httpserver_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/httpserver"
)

// Programs that open the server's own address are sent to the description, whatever they accept.
func TestFrontForPrograms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, accept := range []string{"", "*/*", "application/json", "application/xml", "image/png", "text/*", "text/html;q=0"} {
		for _, method := range []string{"GET", "HEAD"} {
			a := w.serve(method, "/", header("Accept", accept)).want(303)
			if to := a.header.Get("Location"); to != "docs" || a.body != "" {
				t.Errorf("%s, %q: sent to %q with %q", method, accept, to, a.body)
			}
		}
	}
}

// People see what runs here, with requests to copy, and with a token only if Try gives one.
func TestFrontForPeople(t *testing.T) {
	t.Parallel()
	broken := &failingStore{Store: newWorld(t).store, fail: func() error { return errors.New("the store is broken") }}
	try := func(*http.Request) httpserver.Try {
		return httpserver.Try{Token: "tok", User: "anna", Command: "print-it", Links: []httpserver.Link{{Title: "A <site>", URL: "http://127.0.0.1:1/", Note: "of ours"}}}
	}
	for name, c := range map[string]struct {
		change    func(*world)
		says, not []string
	}{
		"plain": {func(w *world) {}, []string{"TOKEN=TOKEN\n", base + "/trips?origin=" + berlin + "&amp;destination=" + paris + "&amp;date=", base + "/bookings"}, []string{"timetable", "Sign in"}},
		"token": {func(w *world) { w.options.Try = try }, []string{"TOKEN=tok\n", "of the user anna", "<code>print-it</code>", `<a href="http://127.0.0.1:1/">A &lt;site&gt;</a>: of ours`}, nil},
		"command": {func(w *world) {
			w.options.Try = func(*http.Request) httpserver.Try { return httpserver.Try{Command: "print-it"} }
		}, []string{"TOKEN=$(print-it)\n"}, nil},
		"sign-in":   {func(w *world) { w.options.SignIn = true }, []string{`<a href="docs#sign-in">Sign in</a>`}, nil},
		"issuer":    {func(w *world) { w.options.Issuer = "https://id.example" }, []string{`<a href="https://id.example">`}, []string{"Sign in"}},
		"tokens":    {func(w *world) { w.options.Tokens = "One of `id.example`." }, []string{"One of id.example."}, nil},
		"forgotten": {func(w *world) { w.timetable = &traintravel.Timetable{} }, []string{"No timetable is loaded", "/stations"}, []string{"/trips?"}},
		"broken":    {func(w *world) { w.timetable, w.store = &traintravel.Timetable{}, broken }, []string{"/stations"}, []string{"/trips?", "timetable"}},
	} {
		w := newWorld(t, c.change)
		a := w.serve("GET", "/", header("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")).want(200)
		for _, text := range c.says {
			if !strings.Contains(a.body, text) {
				t.Errorf("%s: the page does not say %q:\n%s", name, text, a.body)
			}
		}
		for _, text := range c.not {
			if strings.Contains(a.body, text) {
				t.Errorf("%s: the page says %q", name, text)
			}
		}
		h := a.header
		if h.Get("Content-Type") != "text/html; charset=utf-8" || h.Get("Cache-Control") != "no-store" || h.Get("Vary") != "Accept, Authorization" {
			t.Errorf("%s: %v", name, h)
		}
		if p := h.Get("Content-Security-Policy"); !strings.HasPrefix(p, "default-src 'none'; style-src 'sha256-") || strings.Contains(p, "script-src") || strings.Contains(p, "unsafe") {
			t.Errorf("%s: the policy is %q", name, p)
		}
	}
	if a := newWorld(t).serve("HEAD", "/", header("Accept", "text/html")).want(200); a.body != "" || a.header.Get("Content-Length") == "" {
		t.Errorf("HEAD: %v %s", a.header, a.body)
	}
}
