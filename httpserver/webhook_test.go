package httpserver_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/httpserver"
)

// A receiver of webhooks keeps what it got and answers as it is told.
type receiver struct {
	*httptest.Server
	status atomic.Int32

	mu  sync.Mutex
	got []received
}

type received struct {
	header http.Header
	body   string
}

func newReceiver(t *testing.T, status int) *receiver {
	r := &receiver{}
	r.status.Store(int32(status))
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		text, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		r.got = append(r.got, received{req.Header, string(text)})
		r.mu.Unlock()
		w.Header().Set("Location", r.URL+"/elsewhere")
		w.WriteHeader(int(r.status.Load()))
		_, _ = io.WriteString(w, "a secret of the receiver's")
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]received(nil), r.got...)
}

func newWebhook(t *testing.T, urls ...string) *httpserver.Webhook {
	t.Helper()
	h, err := httpserver.NewWebhook(httpserver.WebhookOptions{URLs: urls, BaseURL: base})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// What is posted is the booking as POST /bookings answered it, to the byte.
func TestWebhook(t *testing.T) {
	t.Parallel()
	hook := newReceiver(t, 200)
	w := newWorld(t, func(w *world) { w.service_.Notifier = newWebhook(t, hook.URL+"/hook?key=1") })
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = w.service.Run(ctx) })
	defer running.Wait()
	defer stop()

	made := w.post("/bookings", newBooking(w.trip().ID)).want(201)
	w.do("DELETE", "/bookings/"+made.resource().ID, as("anna-w")).want(204) // another event, for nobody
	for deadline := time.Now().Add(10 * time.Second); len(hook.all()) == 0 && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	stop()
	running.Wait()
	got := hook.all()
	if len(got) != 1 {
		t.Fatalf("%d calls, want 1", len(got))
	}
	if got[0].body != made.body {
		t.Errorf("posted %s, want %s", got[0].body, made.body)
	}
	h := got[0].header
	if h.Get("Content-Type") != "application/json" || h.Get("webhook-event") != "newBooking" || uuid.Validate(h.Get("webhook-id")) != nil {
		t.Errorf("headers %v", h)
	}
}

func event() traintravel.Event {
	return traintravel.Event{ID: uuid.New(), Type: traintravel.BookingCreated, Booking: traintravel.Booking{ID: uuid.New(), Status: traintravel.Held}}
}

// Only 200 acknowledges; who has acknowledged does not get it again when
// another has not.
func TestWebhookRetries(t *testing.T) {
	t.Parallel()
	good, bad := newReceiver(t, 200), newReceiver(t, 500)
	h := newWebhook(t, bad.URL, good.URL)
	e := event()
	for i, status := range []int{500, 204, 201, 202, 302, 307, 410, 404} {
		bad.status.Store(int32(status))
		err := h.Notify(t.Context(), e)
		if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), bad.URL) {
			t.Errorf("%d: the error is %v", status, err)
		}
		if len(bad.all()) != i+1 {
			t.Errorf("%d: %d calls, want %d: a redirect was followed, or none was made", status, len(bad.all()), i+1)
		}
	}
	bad.status.Store(200)
	if err := h.Notify(t.Context(), e); err != nil {
		t.Error(err)
	}
	if n := len(good.all()); n != 1 {
		t.Errorf("the good receiver was called %d times for one event", n)
	}
	first, last := bad.all()[0], bad.all()[8]
	if first.body != last.body || first.header.Get("webhook-id") != e.ID.String() || last.header.Get("webhook-id") != e.ID.String() {
		t.Error("a retry is not what the first try was")
	}
	if err := h.Notify(t.Context(), event()); err != nil || len(good.all()) != 2 {
		t.Errorf("the next event: %v, %d calls", err, len(good.all()))
	}
	for _, other := range []traintravel.EventType{traintravel.BookingConfirmed, traintravel.BookingExpired, traintravel.BookingCancelled, traintravel.PaymentFailed} {
		if err := h.Notify(t.Context(), traintravel.Event{ID: uuid.New(), Type: other}); err != nil {
			t.Errorf("%s: %v", other, err)
		}
	}
	if len(good.all()) != 2 {
		t.Error("an event that nobody asked for was posted")
	}
}

// Many events that some have and others lack are remembered, not all of them.
func TestWebhookForgets(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	h, err := httpserver.NewWebhook(httpserver.WebhookOptions{
		URLs: []string{"https://good.example", "https://bad.example"}, BaseURL: base,
		Transport: transport(func(r *http.Request) (*http.Response, error) {
			if r.URL.Host == "bad.example" {
				return nil, io.ErrUnexpectedEOF
			}
			calls.Add(1)
			return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	first := event()
	for range 2 {
		if err := h.Notify(t.Context(), first); err == nil {
			t.Fatal("no error")
		}
	}
	for range 10_000 {
		_ = h.Notify(t.Context(), event())
	}
	_ = h.Notify(t.Context(), first)
	if n := calls.Load(); n != 10_002 {
		t.Errorf("%d calls, want 10002: the first event is remembered at first, and not for ever", n)
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A receiver that does not answer is given up after 15 seconds.
func TestWebhookTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, err := httpserver.NewWebhook(httpserver.WebhookOptions{
			URLs: []string{"https://user:hidden@slow.example/path?key=hidden"}, BaseURL: base,
			Transport: transport(func(r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}),
		})
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		err = h.Notify(t.Context(), event())
		if took := time.Since(begun); err == nil || took != 15*time.Second {
			t.Errorf("%v after %v", err, took)
		}
		if strings.Contains(err.Error(), "hidden") {
			t.Errorf("the error shows what may be secret: %v", err)
		}
	})
}

func TestWebhookOptions(t *testing.T) {
	t.Parallel()
	for _, opts := range []httpserver.WebhookOptions{
		{BaseURL: base},
		{URLs: []string{"https://h"}},
		{URLs: []string{"https://h", "h"}, BaseURL: base},
		{URLs: []string{"file:///etc/passwd"}, BaseURL: base},
	} {
		if _, err := httpserver.NewWebhook(opts); err == nil {
			t.Errorf("%+v is taken", opts)
		}
	}
}
