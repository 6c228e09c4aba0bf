package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gateway"
	"github.com/traintravel/traintravel/sandbox"
)

// An operation is one of the four, ready to be asked for.
type operation struct {
	name string
	ask  func() (traintravel.Outcome, error)
}

func (c till) operations(ctx context.Context, ch traintravel.Charge, r traintravel.Refund) []operation {
	return []operation{
		{"charge", func() (traintravel.Outcome, error) { return c.Charge(ctx, ch) }},
		{"refund", func() (traintravel.Outcome, error) { return c.Refund(ctx, r) }},
		{"lookup", func() (traintravel.Outcome, error) { return c.Lookup(ctx, ch.ID) }},
		{"cancel", func() (traintravel.Outcome, error) { return c.Cancel(ctx, ch.ID) }},
	}
}

func TestClient(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newTill(t)
	paid, refused := charge(card(good)), charge(card(declined))
	if _, err := c.Lookup(ctx, paid.ID); !errors.Is(err, traintravel.ErrNotFound) {
		t.Errorf("before it came: %v", err)
	}
	for range 2 {
		o, err := c.Charge(ctx, paid)
		wantStatus(t, o, err, traintravel.Succeeded)
	}
	o, err := c.Charge(ctx, refused)
	wantStatus(t, o, err, traintravel.Failed)
	if want, err := c.sandbox.Lookup(ctx, refused.ID); err != nil || o != want {
		t.Errorf("%+v, and the gateway said %+v, %v", o, want, err)
	}
	o, err = c.Charge(ctx, charge(account("AT321904300235473204")))
	wantStatus(t, o, err, traintravel.Pending)
	back := refund(paid)
	o, err = c.Refund(ctx, back)
	wantStatus(t, o, err, traintravel.Succeeded)
	o, err = c.Lookup(ctx, back.ID)
	wantStatus(t, o, err, traintravel.Succeeded)
	if _, err := c.Refund(ctx, refund(charge(card(good)))); !errors.Is(err, traintravel.ErrNotFound) {
		t.Errorf("a refund of a charge that never came: %v", err)
	}
	if o, err := c.Refund(ctx, refund(paid)); err != nil || o.Resolution != traintravel.RefundedElsewhere {
		t.Errorf("a refund of what was given back: %+v, %v", o, err)
	}
	more := refund(paid)
	more.Amount.Amount++
	if o, err := c.Refund(ctx, more); err == nil {
		t.Errorf("a refund beyond the charge: %+v", o)
	}
	fenced := charge(card(good))
	o, err = c.Cancel(ctx, fenced.ID)
	wantStatus(t, o, err, traintravel.Failed)
	o, err = c.Charge(ctx, fenced)
	wantStatus(t, o, err, traintravel.Failed)
	if err := c.Check(ctx); err != nil {
		t.Error(err)
	}
	if b, err := c.sandbox.Balance(t.Context(), "eur"); err != nil || b != eur(0) {
		t.Errorf("the balance is %s", b)
	}
}

// A response that is not signed for the request determines no outcome, whatever it looks like:
// if a proxy's page counted as "unknown charge", a paid seat would be given away.
func TestOnlySignedAnswersCount(t *testing.T) {
	t.Parallel()
	const asOurs = `{"type":"urn:traintravel:gateway:not-found","title":"x","status":404}`
	for name, f := range map[string]fault{
		"request lost":                    loseRequest,
		"answer lost":                     loseAnswer,
		"answer cut":                      cutAnswer,
		"answer delayed":                  delay,
		"bad gateway":                     page(502, "text/html", "<h1>502 Bad Gateway</h1>"),
		"not found":                       page(404, "text/html", "<h1>404 Not Found</h1>"),
		"not found, as ours":              page(404, "application/problem+json", asOurs),
		"an outcome":                      page(200, "application/json", `{"status":"failed"}`),
		"nothing":                         page(200, "application/json", ""),
		"no content":                      page(204, "", ""),
		"very much":                       page(200, "application/json", strings.Repeat(" ", 65<<10)),
		"redirect":                        redirect,
		"unsigned":                        unsigned,
		"another status":                  status(201),
		"not found, with a signed answer": status(404),
		"two signatures": changed(func(a *httptest.ResponseRecorder) {
			a.Header().Add("Webhook-Signature", a.Header().Get("Webhook-Signature"))
		}),
		"another type": changed(func(a *httptest.ResponseRecorder) { a.Header().Set("Content-Type", "text/plain") }),
		"no type":      changed(func(a *httptest.ResponseRecorder) { a.Header()["Content-Type"] = nil }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newTill(t)
			ctx, stop := context.WithCancel(t.Context())
			if name == "answer delayed" {
				ctx, stop = context.WithTimeout(ctx, 50*time.Millisecond)
			}
			defer stop()
			ch := charge(card(good))
			for _, op := range c.operations(ctx, ch, refund(ch)) {
				before := c.proxy.asked()
				c.proxy.next(f)
				o, err := op.ask()
				if err == nil || errors.Is(err, traintravel.ErrNotFound) {
					t.Errorf("%s: %+v, %v", op.name, o, err)
				}
				quiet(t, fmt.Sprint(o, err))
				if n := c.proxy.asked() - before; n != 1 && ctx.Err() == nil {
					t.Errorf("%s was asked for %d times", op.name, n)
				}
			}
			if all, err := c.sandbox.Movements(t.Context()); err != nil || len(all) > 2 { // the charge and its refund
				t.Errorf("moved: %+v", all)
			}
		})
	}
}

var uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// quiet says that a text shows nothing of what must not be shown.
func quiet(t *testing.T, text string) {
	t.Helper()
	text = uuids.ReplaceAllString(text, "")
	for _, s := range []string{good, declined, "987", secret[6:20], newer[6:20], "Fake Street"} {
		if strings.Contains(text, s) {
			t.Errorf("%q shows %q", text, s)
		}
	}
}

// No bit of a response can be changed, and no response can be used for another request.
func TestAnswersCannotBeForged(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newTill(t)
	ch := charge(card(declined))
	o, err := c.Charge(ctx, ch)
	wantStatus(t, o, err, traintravel.Failed)
	for at := range c.proxy.last.Body.Len() {
		c.proxy.next(flip(at))
		if o, err := c.Lookup(ctx, ch.ID); err == nil || errors.Is(err, traintravel.ErrNotFound) {
			t.Fatalf("with byte %d changed: %+v, %v", at, o, err)
		}
	}
	// The same question, answered before.
	_, err = c.Lookup(ctx, uuid.New())
	for range 2 {
		if !errors.Is(err, traintravel.ErrNotFound) {
			t.Fatal(err)
		}
		c.proxy.next(c.proxy.replay)
		if o, err := c.Lookup(ctx, ch.ID); err == nil || errors.Is(err, traintravel.ErrNotFound) {
			t.Fatalf("an answer to another: %+v, %v", o, err)
		}
		unknown := uuid.New()
		_, err = c.Lookup(ctx, unknown)
		c.proxy.next(c.proxy.replay)
		if o, err := c.Lookup(ctx, unknown); err == nil || errors.Is(err, traintravel.ErrNotFound) {
			t.Fatalf("an answer of before: %+v, %v", o, err)
		}
	}
	// A request that is sent back is not an answer.
	c.proxy.next(func(w http.ResponseWriter, r *http.Request, _ func() *httptest.ResponseRecorder) {
		for _, name := range []string{"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"} {
			w.Header().Set(name, r.Header.Get(name))
		}
		w.Header().Set("Content-Type", "application/json")
	})
	if o, err := c.Lookup(ctx, ch.ID); err == nil {
		t.Fatalf("its own request: %+v", o)
	}
}

// Repeated requests, also those that a proxy repeats, act once.
func TestDuplicates(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newTill(t)
	ch := charge(card(good))
	c.proxy.next(twice)
	o, err := c.Charge(ctx, ch)
	wantStatus(t, o, err, traintravel.Succeeded)
	c.proxy.next(loseAnswer, pass)
	if o, err := c.Refund(ctx, traintravel.Refund{ID: ch.Booking, Charge: ch.ID, Amount: eur(1)}); err == nil {
		t.Fatalf("%+v", o)
	}
	c.proxy.next(twice)
	o, err = c.Refund(ctx, traintravel.Refund{ID: ch.Booking, Charge: ch.ID, Amount: eur(1)})
	wantStatus(t, o, err, traintravel.Succeeded)
	if b, err := c.sandbox.Balance(t.Context(), "eur"); err != nil || b != eur(4998) {
		t.Errorf("the balance is %s", b)
	}
}

// A secret is replaced without failed payments.
func TestRotation(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		client, server string
		good           bool
	}{
		"there first":   {secret, newer + " " + secret, true},
		"here first":    {secret + " " + newer, secret, true},
		"done there":    {secret + " " + newer, newer, true},
		"done here":     {newer, secret + " " + newer, true},
		"none the same": {newer, secret, false},
	} {
		gw := &script{outcome: traintravel.Outcome{Status: traintravel.Succeeded}}
		h, err := gateway.NewHandler(gw, c.server, gateway.HandlerOptions{})
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(h)
		t.Cleanup(server.Close)
		cl, err := gateway.New(server.URL+"/", c.client, gateway.ClientOptions{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = cl.Lookup(t.Context(), uuid.New())
		if (err == nil) != c.good || gw.asked != map[bool]int{true: 1}[c.good] {
			t.Errorf("%s: %v, asked %d times", name, err, gw.asked)
		}
		if err != nil {
			quiet(t, err.Error())
		}
	}
}

// A script is a gateway that says what it is told to.
type script struct {
	outcome traintravel.Outcome
	err     error
	asked   int
}

func (s *script) Charge(context.Context, traintravel.Charge) (traintravel.Outcome, error) {
	return s.answer()
}
func (s *script) Refund(context.Context, traintravel.Refund) (traintravel.Outcome, error) {
	return s.answer()
}
func (s *script) Lookup(context.Context, uuid.UUID) (traintravel.Outcome, error) { return s.answer() }

func (s *script) answer() (traintravel.Outcome, error) {
	s.asked++
	if s.outcome.Status == "panic" {
		panic("a fault of the gateway's")
	}
	return s.outcome, s.err
}

// All outcomes and failures of a gateway.
func TestOutcomesOfGateways(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ß", 40<<10)
	for name, c := range map[string]struct {
		script   script
		status   traintravel.PaymentStatus // empty for an error
		notFound bool
	}{
		"an error":              {script: script{err: errors.New("4242424242424242 is down")}},
		"a panic":               {script: script{outcome: traintravel.Outcome{Status: "panic"}}},
		"no status":             {},
		"another status":        {script: script{outcome: traintravel.Outcome{Status: "refunded"}}},
		"failed, and no word":   {script: script{outcome: traintravel.Outcome{Status: traintravel.Failed}}, status: traintravel.Failed},
		"very many words":       {script: script{outcome: traintravel.Outcome{Status: traintravel.Failed, Failure: traintravel.Failure{Code: long, Message: long}}}, status: traintravel.Failed},
		"words that are none":   {script: script{outcome: traintravel.Outcome{Status: traintravel.Failed, Failure: traintravel.Failure{Code: "\xff\x00", Message: "\xed\xa0\x80"}}}, status: traintravel.Failed},
		"pending":               {script: script{outcome: traintravel.Outcome{Status: traintravel.Pending}}, status: traintravel.Pending},
		"succeeded, with words": {script: script{outcome: traintravel.Outcome{Status: traintravel.Succeeded, Failure: traintravel.Failure{Code: "x"}}}, status: traintravel.Succeeded},
		"never asked":           {script: script{err: fmt.Errorf("x: %w", traintravel.ErrNotFound)}, notFound: true},
	} {
		p := serve(t, &c.script)
		cl := newClient(t, p.url)
		o, err := cl.Lookup(t.Context(), uuid.New())
		if o.Status != c.status || (err == nil) != (c.status != "") || errors.Is(err, traintravel.ErrNotFound) != c.notFound {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
		if (o.Status == traintravel.Failed) != (o.Failure.Code != "") {
			t.Errorf("%s: %+v", name, o)
		}
		quiet(t, fmt.Sprint(o, err))
		if o, err := cl.Cancel(t.Context(), uuid.New()); !errors.Is(err, errors.ErrUnsupported) || errors.Is(err, traintravel.ErrNotFound) {
			t.Errorf("%s: a gateway that cannot cancel: %+v, %v", name, o, err)
		}
		if o, err := cl.Charge(t.Context(), charge(card(good))); errors.Is(err, traintravel.ErrNotFound) {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
		if err := cl.Check(t.Context()); (err == nil) != c.notFound {
			t.Errorf("%s: Check: %v", name, err)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for url, good := range map[string]bool{
		"https://pay.example": true, "https://pay.example:8443/a/b/": true, "http://127.0.0.1:9292": true, "http://[::1]/x": true, "http://localhost": true,
		"": false, "pay.example": false, "http://pay.example": false, "http://10.0.0.1": false, "http://localhost.example": false, "ftp://localhost": false,
		"https://": false, "https:pay.example": false, "https://anna:hunter2@pay.example": false, "https://hunter2@pay.example": false,
		"https://pay.example/?key=hunter2": false, "https://pay.example?": false, "https://pay.example/#x": false, "https://pay.example/#": false, "https://hunter2:%zz@x": false,
	} {
		c, err := gateway.New(url, secret, gateway.ClientOptions{})
		if (err == nil) != good {
			t.Errorf("%s: %v", url, err)
		}
		if bad := (*traintravel.InvalidError)(nil); err != nil && (!errors.As(err, &bad) || bad.Field != "url" || strings.Contains(err.Error(), "hunter2")) {
			t.Errorf("%s: %v", url, err)
		}
		if err == nil && c.URL() != strings.TrimRight(url, "/") {
			t.Errorf("%s: the URL is %s", url, c.URL())
		}
	}
	var bad *traintravel.InvalidError
	if _, err := gateway.New("https://pay.example", "short", gateway.ClientOptions{}); !errors.As(err, &bad) || bad.Field != "secret" {
		t.Error(err)
	}
	if _, err := gateway.NewHandler(&script{}, "", gateway.HandlerOptions{}); !errors.As(err, &bad) || bad.Field != "secret" {
		t.Error(err)
	}
	if _, err := gateway.NewHandler(nil, secret, gateway.HandlerOptions{}); !errors.As(err, &bad) || bad.Field != "gateway" {
		t.Error(err)
	}
	if _, err := gateway.NewHandler(&script{}, secret, gateway.HandlerOptions{Timeout: -1}); !errors.As(err, &bad) || bad.Field != "HandlerOptions.Timeout" {
		t.Error(err)
	}
}

// Numbers are in the body of a charge and nowhere else.
func TestCardNumbersAreOnlyInBodies(t *testing.T) {
	t.Parallel()
	c := newTill(t)
	ch := charge(card(good))
	for _, op := range c.operations(t.Context(), ch, refund(ch)) {
		if _, err := op.ask(); err != nil {
			t.Fatalf("%s: %v", op.name, err)
		}
	}
	for _, r := range c.proxy.seen {
		quiet(t, fmt.Sprint(r.URL, r.Header["User-Agent"], r.Header["Accept"], r.Header["Content-Type"]))
		if r.Method == http.MethodGet && r.ContentLength > 0 {
			t.Errorf("%s has a body", r.URL)
		}
	}
	if o, err := c.Charge(t.Context(), charge(traintravel.Source{})); err == nil {
		t.Errorf("no source: %+v", o)
	}
}

// The client works over TLS, with HTTP/2 too, and refuses an untrusted certificate.
func TestTLS(t *testing.T) {
	t.Parallel()
	for _, h2 := range []bool{false, true} {
		s := sandbox.New()
		server := httptest.NewUnstartedServer(newHandler(t, s))
		server.EnableHTTP2 = h2
		server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
		server.StartTLS()
		t.Cleanup(server.Close)
		c, err := gateway.New(server.URL, secret, gateway.ClientOptions{Transport: server.Client().Transport})
		if err != nil {
			t.Fatal(err)
		}
		o, err := c.Charge(t.Context(), charge(card(good)))
		wantStatus(t, o, err, traintravel.Succeeded)
		if o, err := newClient(t, server.URL).Charge(t.Context(), charge(card(good))); err == nil {
			t.Errorf("a certificate of nobody's: %+v", o)
		}
		if all, err := s.Movements(t.Context()); err != nil || len(all) != 1 {
			t.Errorf("moved: %+v", all)
		}
	}
}

// What the contract costs: BenchmarkLookup/direct is the gateway alone.
func BenchmarkLookup(b *testing.B) {
	s := sandbox.New()
	server := httptest.NewServer(newHandler(b, s))
	b.Cleanup(server.Close)
	ch := charge(card(good))
	if _, err := s.Charge(b.Context(), ch); err != nil {
		b.Fatal(err)
	}
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	b.Cleanup(plain.Close)
	client := newClient(b, server.URL)
	for _, c := range []struct {
		name string
		ask  func() error
	}{
		{"direct", func() error { _, err := s.Lookup(b.Context(), ch.ID); return err }},
		{"HTTP alone", func() error {
			resp, err := plain.Client().Get(plain.URL)
			if err == nil {
				err = resp.Body.Close()
			}
			return err
		}},
		{"signed", func() error { _, err := client.Lookup(b.Context(), ch.ID); return err }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if err := c.ask(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// cancels is a gateway whose cancellations have an error.
type cancels struct {
	*script
	err error
}

func (c cancels) Cancel(context.Context, uuid.UUID) (traintravel.Outcome, error) {
	return traintravel.Outcome{}, c.err
}

// Only the gateway itself can say that it cannot cancel: not a failed request, nor a 501 from a
// proxy.
func TestClientOfGatewayThatCannotCancel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"it cannot":  {fmt.Errorf("this provider: %w", errors.ErrUnsupported), true},
		"it is down": {errors.New("503"), false},
	} {
		p := serve(t, cancels{&script{}, c.err})
		if o, err := newClient(t, p.url).Cancel(t.Context(), uuid.New()); err == nil || errors.Is(err, errors.ErrUnsupported) != c.want {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
	}
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusNotImplemented)
		_, _ = io.WriteString(w, `{"type":"urn:traintravel:gateway:cancel-not-supported","title":"no","status":501}`)
	}))
	t.Cleanup(page.Close)
	if o, err := newClient(t, page.URL).Cancel(t.Context(), uuid.New()); err == nil || errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("501 that is not signed: %+v, %v", o, err)
	}
}
