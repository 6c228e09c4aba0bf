package httpserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/traintravel/traintravel/httpserver"
)

// Each request is told of once, with its route and never its path, to who is told and
// in the access log, and under the name that its problem has.
func TestAnswered(t *testing.T) {
	t.Parallel()
	var told []httpserver.Answer
	var log bytes.Buffer
	w := newWorld(t, func(w *world) {
		w.options.AccessLog = slog.New(slog.NewJSONHandler(&log, nil))
		w.options.Answered = func(ctx context.Context, a httpserver.Answer) {
			if id, ok := httpserver.RequestID(ctx); !ok || id != a.Request || a.Took <= 0 {
				t.Errorf("request %v, %v: %+v", id, ok, a)
			}
			told = append(told, a)
		}
	})
	unknown := uuid.NewString()
	answers := []answer{
		w.get("/stations?search=berlin&limit=1"),
		w.do("HEAD", "/stations?search=berlin&limit=1", as("anna-r")),
		w.get("/bookings/" + unknown),
		w.get("/bookings/4242424242424242"),
		w.do("GET", "/bookings", as("nobody")),
		w.do("GET", "/secret/path"),
		w.do("BREW", "/bookings"),
		w.do("GET", "/healthz"),
	}
	want := []httpserver.Answer{
		{Method: "GET", Route: "/stations", Status: 200, Client: "app"},
		{Method: "HEAD", Route: "/stations", Status: 200, Client: "app"},
		{Method: "GET", Route: "/bookings/{bookingId}", Status: 404, Problem: "not-found", Client: "app"},
		{Method: "GET", Route: "/bookings/{bookingId}", Status: 400, Problem: "invalid-request", Client: "app"},
		{Method: "GET", Route: "/bookings", Status: 401, Problem: "unauthorized"},
		{Method: "GET", Status: 404, Problem: "not-found"},
		{Method: "OTHER", Status: 405, Problem: "method-not-allowed"},
		{Method: "GET", Route: "/healthz", Status: 200},
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(told) != len(want) || len(lines) != len(want) {
		t.Fatalf("told of %d, logged %d, of %d", len(told), len(lines), len(want))
	}
	for i, got := range told {
		if got.Problem != "" && !strings.Contains(answers[i].body, got.Request.URN()) {
			t.Errorf("the problem is not %v: %s", got.Request, answers[i].body)
		}
		want[i].Request, want[i].Took, want[i].Bytes = got.Request, got.Took, len(answers[i].body)
		if diff := cmp.Diff(want[i], got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		var line struct {
			Request                        uuid.UUID
			Method, Route, Problem, Client string
			Status, Bytes                  int
			Seconds                        float64
		}
		if err := json.Unmarshal([]byte(lines[i]), &line); err != nil {
			t.Fatal(err)
		}
		logged := httpserver.Answer{Request: line.Request, Method: line.Method, Route: line.Route, Status: line.Status, Bytes: line.Bytes,
			Took: got.Took, Problem: line.Problem, Client: line.Client}
		if diff := cmp.Diff(got, logged); diff != "" || line.Seconds != got.Took.Seconds() {
			t.Errorf("logged (-told +logged):\n%s", diff)
		}
	}
	for _, secret := range []string{"berlin", unknown, "4242424242424242", "nobody", "secret", "BREW"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("%s is in the access log", secret)
		}
	}
}

// The response of a handler next to the server is reported once, also if the handler lets the
// server refuse the request.
func TestBeside(t *testing.T) {
	t.Parallel()
	var told []httpserver.Answer
	w := newWorld(t, func(w *world) {
		w.options.Answered = func(_ context.Context, a httpserver.Answer) { told = append(told, a) }
	})
	beside := w.server.Beside("/oauth/*", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/oauth/token":
			_, _ = rw.Write([]byte("four"))
		case "/oauth/teapot":
			rw.WriteHeader(http.StatusTeapot)
		default:
			w.server.Refuse(rw, r)
		}
	}))
	want := []httpserver.Answer{{Status: 200, Bytes: 4}, {Status: 418}, {Status: 404}}
	for i, path := range []string{"/oauth/token", "/oauth/teapot", "/oauth/nowhere"} {
		rec := httptest.NewRecorder()
		beside.ServeHTTP(rec, httptest.NewRequest("POST", path, nil))
		if len(told) != i+1 {
			t.Fatalf("told of %d answers after %d", len(told), i+1)
		}
		want[i].Method, want[i].Route, want[i].Request, want[i].Took = "POST", "/oauth/*", told[i].Request, told[i].Took
		want[i].Bytes = rec.Body.Len()
		if diff := cmp.Diff(want[i], told[i]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if rec.Code == 404 && !strings.Contains(rec.Body.String(), told[i].Request.URN()) {
			t.Errorf("the problem is not %v: %s", told[i].Request, rec.Body)
		}
	}
}
