package httpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/httpserver"
)

const (
	secret      = traintravel.Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	otherSecret = traintravel.Secret("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD")
)

// A receiver of webhooks keeps what it got and answers as it is told.
type receiver struct {
	status atomic.Int32

	mu  sync.Mutex
	got []received
}

type received struct {
	header http.Header
	body   string
}

func newReceiver(status int) *receiver {
	r := &receiver{}
	r.status.Store(int32(status))
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	text, _ := io.ReadAll(req.Body)
	r.mu.Lock()
	r.got = append(r.got, received{req.Header, string(text)})
	r.mu.Unlock()
	w.Header().Set("Location", "/elsewhere%zz")
	w.WriteHeader(int(r.status.Load()))
	_, _ = io.WriteString(w, "a secret of the receiver's")
}

// listen has the receiver answer on a port.
func (r *receiver) listen(t *testing.T) string {
	srv := httptest.NewServer(r)
	t.Cleanup(srv.Close)
	return srv.URL
}

// RoundTrip is a transport that leads to the receiver, whatever the URL.
func (r *receiver) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	maps.DeleteFunc(req.Header, func(_ string, values []string) bool { return len(values) == 0 }) // which is not sent
	rec := httptest.NewRecorder()
	r.ServeHTTP(rec, req)
	return rec.Result(), nil
}

func (r *receiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]received(nil), r.got...)
}

// verify fails unless a secret signed what was received.
func (r received) verify(t *testing.T, secret traintravel.Secret) {
	t.Helper()
	wh, err := standardwebhooks.NewWebhook(string(secret))
	if err != nil {
		t.Fatal(err)
	}
	if err := wh.Verify([]byte(r.body), r.header); err != nil {
		t.Errorf("the official library says: %v", err)
	}
	if wh.Verify([]byte(r.body+" "), r.header) == nil {
		t.Error("another body is good too")
	}
}

func newSender(t *testing.T, opts httpserver.WebhookSenderOptions) *httpserver.WebhookSender {
	t.Helper()
	opts.BaseURL = base
	s, err := httpserver.NewWebhookSender(opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The posted booking equals the response of POST /bookings byte for byte, and the official
// library verifies its signature with each secret.
func TestWebhook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hook := newReceiver(200)
		w := newWorld(t, withWebhooks(hook, "https://h.example/hook?key=1"))
		trip := w.trip().ID
		var made []string
		for _, name := range []string{"Anna Example", `<b>Tom & "Jerry"</b>`, "🚂👩👧 Ünïcödé", "日本 語"} {
			text, err := json.Marshal(name)
			if err != nil {
				t.Fatal(err)
			}
			made = append(made, w.post("/bookings", `{"trip_id":"`+trip+`","passenger_name":`+string(text)+`}`).want(201).body)
		}
		w.do("DELETE", "/bookings/"+w.get("/bookings").collection().Data[0].ID, as("anna-w")).want(204) // another event, for nobody
		w.deliver()
		got := hook.all()
		if len(got) != len(made) {
			t.Fatalf("%d calls, want %d", len(got), len(made))
		}
		ids := map[string]bool{}
		for _, r := range got {
			if !slices.Contains(made, r.body) {
				t.Errorf("posted %s, which is not an answer", r.body)
			}
			id := r.header.Get("webhook-id")
			if ids[id] || uuid.Validate(id) != nil || r.header.Get("Content-Type") != "application/json" || r.header.Get("webhook-event") != "newBooking" {
				t.Errorf("headers %v", r.header)
			}
			ids[id] = true
			r.verify(t, secret)
			r.verify(t, otherSecret)
		}
	})
}

func post(url string) traintravel.WebhookPost {
	return traintravel.WebhookPost{URL: url, Secrets: []traintravel.Secret{secret}, Operator: true, Event: traintravel.Event{
		ID: uuid.New(), Type: traintravel.BookingCreated, Booking: traintravel.Booking{ID: uuid.New(), Status: traintravel.Held},
	}}
}

// Of an answer, the status is told and nothing else; no redirect is followed.
func TestWebhookAnswers(t *testing.T) {
	t.Parallel()
	s := newSender(t, httpserver.WebhookSenderOptions{})
	hook := newReceiver(200)
	url := hook.listen(t)
	for i, status := range []int{200, 201, 202, 301, 302, 303, 307, 308, 401, 404, 410, 500, 503} {
		hook.status.Store(int32(status))
		got, err := s.Send(t.Context(), post(url))
		if err != nil || got != (traintravel.WebhookAnswer{Status: status}) {
			t.Errorf("%d: %+v, %v", status, got, err)
		}
		if len(hook.all()) != i+1 {
			t.Errorf("%d: %d calls, want %d: a redirect was followed, or none was made", status, len(hook.all()), i+1)
		}
	}
	if h := hook.all()[0].header; h.Get("User-Agent") != "traintravel" || h["Idempotency-Key"] != nil || h["Accept-Encoding"] != nil {
		t.Errorf("headers %v", h)
	}
}

// Whatever a receiver does, it gets no more than its due, and errors do not repeat it.
func TestWebhookHostileAnswers(t *testing.T) {
	t.Parallel()
	const hidden = "hidden"
	endless := strings.Repeat("x", 1<<16)
	for name, answer := range map[string]string{
		"nothing":         "",
		"no HTTP":         hidden + "\r\n\r\n",
		"status":          "HTTP/1.1 " + hidden + " OK\r\n\r\n",
		"status alone":    "HTTP/1.1 99999 " + hidden + "\r\n\r\n",
		"header":          "HTTP/1.1 200 OK\r\n" + hidden + "\r\n\r\n",
		"headers too big": "HTTP/1.1 200 OK\r\nA: " + endless + endless + hidden + "\r\n\r\n",
		"length":          "HTTP/1.1 200 OK\r\nContent-Length: " + hidden + "\r\n\r\n",
		"two lengths":     "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\nX: " + hidden + "\r\n\r\n",
		"only headers":    strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: "+hidden+"\r\n\r\n", 5000),
		"coding":          "HTTP/1.1 200 OK\r\nTransfer-Encoding: " + hidden + "\r\n\r\n",
		"cut headers":     "HTTP/1.1 200 OK\r\nX: " + hidden,
	} {
		_, err := newSender(t, httpserver.WebhookSenderOptions{}).Send(t.Context(), post(rawServer(t, answer)+"/"+hidden+"?k="+hidden))
		if err == nil || strings.Contains(err.Error(), hidden) || !strings.Contains(err.Error(), "http://127.0.0.1:") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, answer := range map[string]string{
		"body without end": "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + strings.Repeat(endless, 100),
		"body cut off":     "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nx",
		"bad chunks":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + hidden,
		"no gzip":          "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 6\r\n\r\n" + hidden,
	} {
		got, err := newSender(t, httpserver.WebhookSenderOptions{}).Send(t.Context(), post(rawServer(t, answer)))
		if err != nil || got.Status != 200 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// rawServer answers each connection with a text, whatever it is asked.
func rawServer(t *testing.T, answer string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer c.Close()
				req, err := http.ReadRequest(bufio.NewReader(c))
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, req.Body)
				_, _ = io.WriteString(c, answer)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		serving.Wait()
	})
	return "http://" + l.Addr().String()
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A receiver may ask to be left alone for a time, or until one.
func TestWebhookRetryAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		for value, want := range map[string]time.Duration{
			"": 0, "0": 0, "120": 2 * time.Minute, "-5": 0, "1.5": 0, "soon": 0, "99999999999999999999": 1<<32*time.Second - time.Second,
			now.Add(time.Hour).UTC().Format(http.TimeFormat):                       time.Hour,
			now.Add(-time.Hour).UTC().Format(http.TimeFormat):                      0,
			now.Add(time.Hour).UTC().Format("Monday, 02-Jan-06 15:04:05") + " GMT": time.Hour,
		} {
			s := newSender(t, httpserver.WebhookSenderOptions{Transport: transport(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 503, Header: http.Header{"Retry-After": {value}}, Body: http.NoBody}, nil
			})})
			if got, err := s.Send(t.Context(), post("https://h.example")); err != nil || got.RetryAfter != want {
				t.Errorf("%q: %+v, %v, want %v", value, got, err, want)
			}
		}
	})
}

// A receiver that never answers has as long as the context; the error shows no more
// of the URL than its host.
func TestWebhookTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSender(t, httpserver.WebhookSenderOptions{Transport: transport(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})})
		ctx, stop := context.WithTimeout(t.Context(), 15*time.Second)
		defer stop()
		_, err := s.Send(ctx, post("https://user:hidden@slow.example:8443/hidden?key=hidden"))
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "https://slow.example:8443:") || strings.Contains(err.Error(), "hidden") {
			t.Errorf("the error is %v", err)
		}
	})
}

// Errors of posts that cannot be sent reveal nothing.
func TestWebhookCannotSend(t *testing.T) {
	t.Parallel()
	s := newSender(t, httpserver.WebhookSenderOptions{})
	bad := post("https://h.example")
	bad.Secrets = []traintravel.Secret{"whsec_hidden!"}
	for _, p := range []traintravel.WebhookPost{bad, post("https://h.example/%zzhidden"), post("file:///hidden"), post("https:hidden"), post("")} {
		if _, err := s.Send(t.Context(), p); err == nil || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v", p.URL, err)
		}
	}
	for _, text := range []string{"", "trains.example", "ftp://trains.example"} {
		if _, err := httpserver.NewWebhookSender(httpserver.WebhookSenderOptions{BaseURL: text}); err == nil {
			t.Errorf("the base URL %q is taken", text)
		}
	}
}

// The operator may protect an endpoint with a password.
func TestWebhookPassword(t *testing.T) {
	t.Parallel()
	hook := newReceiver(200)
	url := strings.Replace(hook.listen(t), "http://", "http://user:p%40ss@", 1)
	if _, err := newSender(t, httpserver.WebhookSenderOptions{}).Send(t.Context(), post(url)); err != nil {
		t.Fatal(err)
	}
	r := http.Request{Header: hook.all()[0].header}
	if user, password, _ := r.BasicAuth(); user != "user" || password != "p@ss" {
		t.Errorf("%q %q", user, password)
	}
}

// Whatever a URL has in it, the line of the request is one.
func TestWebhookRequestLine(t *testing.T) {
	t.Parallel()
	lines := make(chan string, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { lines <- r.RequestURI }))
	defer srv.Close()
	s := newSender(t, httpserver.WebhookSenderOptions{AllowPrivate: true})
	for at, want := range map[string]string{
		"/a b?c=d e HTTP/1.1": "/a%20b?c=d%20e%20HTTP/1.1",
		"/ä?ö=%C3%B6&%0d%0a=": "/%C3%A4?%C3%B6=%C3%B6&%0d%0a=",
		"?a=b&c;d=\"<>|":      "/?a=b&c;d=\"<>|",
		"/?":                  "/?",
	} {
		if err := s.CheckURL(srv.URL + at); err != nil {
			t.Error(err)
		}
		for _, operator := range []bool{false, true} {
			p := post(srv.URL + at)
			p.Operator = operator
			a, err := s.Send(t.Context(), p)
			if err != nil || a.Status != 200 {
				t.Errorf("%s: %+v, %v", at, a, err)
			} else if got := <-lines; got != want {
				t.Errorf("%s: %s, want %s", at, got, want)
			}
		}
	}
}
