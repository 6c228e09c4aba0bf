package httpserver_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
)

// A request beyond those that may be worked on is refused at once, health checks
// and pages are not, and the next one finds room again, whatever became of those
// before it.
func TestMaxRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(w *world) { w.options.MaxRequests = 2 })
		var ends []func()
		begin := func(parts ...part) {
			r, sent := io.Pipe()
			done := make(chan answer)
			go func() {
				done <- w.do("POST", "/bookings", append(parts, body("{}"), func(req *http.Request) { req.Body, req.ContentLength = r, 2 })...)
			}()
			synctest.Wait() // for the body
			ends = append(ends, func() {
				t.Helper()
				_, _ = io.WriteString(sent, "{}")
				sent.Close()
				(<-done).want(400)
			})
		}
		begin(as("anna-w"))
		begin(as("anna-w"))
		for _, parts := range [][]part{{as("anna-r")}, {as("anna-")}, {as("panic")}, nil} {
			a := w.do("GET", "/bookings", parts...)
			if a.problem(503, "overloaded"); a.header.Get("Retry-After") != "1" {
				t.Errorf("Retry-After is %q", a.header["Retry-After"])
			}
		}
		w.do("POST", "/tickets/verify", octets("x")).problem(503, "overloaded")
		for _, target := range []string{"/healthz", "/readyz", "/problems/overloaded", "/openapi.json", "/nothing"} {
			if a := w.serve("GET", target); a.status == 503 {
				t.Errorf("%s: %s", target, a.body)
			}
		}
		if n := strings.Count(w.log.String(), "level=WARN"); n != 1 {
			t.Errorf("the log has %d warnings in a second: %s", n, w.log.String())
		}
		if w.server.Admit(httptest.NewRequest("POST", "/oauth/token", nil)) != nil {
			t.Error("a request beside is worked on, and there is no room")
		}
		for _, end := range ends {
			end()
		}
		one, other := w.server.Admit(httptest.NewRequest("GET", "/oauth/authorize", nil)), w.server.Admit(httptest.NewRequest("GET", "/", nil))
		w.do("GET", "/bookings").problem(503, "overloaded")
		one()
		w.get("/bookings").want(200)
		other()
		for range 3 { // whatever ends a request
			w.get("/bookings").want(200)
			w.do("GET", "/bookings").want(401)
			w.do("GET", "/bookings", as("panic")).want(500)
		}
		begin(as("anna-w"))
		w.get("/bookings").want(200)
		begin(as("anna-w"))
		w.get("/bookings").problem(503, "overloaded")
		for _, end := range ends[2:] {
			end()
		}
	})
}
