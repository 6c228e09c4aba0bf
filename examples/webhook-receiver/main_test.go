package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/internal/demo"
	"github.com/traintravel/traintravel/store/memstore"
)

// A real service delivers a booking to the running program; the first attempt fails on the way.
func TestDelivery(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()

	read, write := io.Pipe()
	defer read.Close()
	lines := bufio.NewScanner(read)
	running.Go(func() { write.CloseWithError(run(ctx, []string{"--addr", "127.0.0.1:0"}, secret, write)) })
	if !lines.Scan() {
		t.Fatal(lines.Err())
	}
	url := strings.TrimPrefix(lines.Text(), "listening on ")

	began, midnight := time.Now(), time.Date(2024, 2, 1, 0, 0, 0, 0, time.UTC)
	hasty := func() time.Time { return midnight.Add(60 * time.Since(began)) } // the retry is soon
	way := &badWay{}
	sender, err := httpserver.NewWebhookSender(httpserver.WebhookSenderOptions{BaseURL: "https://trains.example", Transport: way})
	if err != nil {
		t.Fatal(err)
	}
	service, err := traintravel.New(memstore.New(), traintravel.Options{Now: hasty, Webhooks: &traintravel.WebhookOptions{
		Sender: sender, SealKey: make([]byte, 32),
		Operator: []traintravel.OperatorWebhook{{URL: url, Secrets: []traintravel.Secret{secret}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	timetable, _, err := gtfs.Read(ctx, demo.Feed(), gtfs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := service.LoadTimetable(ctx, timetable); err != nil {
		t.Fatal(err)
	}
	running.Go(func() { _ = service.Run(ctx) })

	found, err := service.SearchTrips(ctx, traintravel.TripQuery{
		Origin:      uuid.MustParse("efdbb9d1-02c2-4bc3-afb7-6788d8782b1e"),
		Destination: uuid.MustParse("b2e783e1-c824-4d63-b37a-d8d698862f1d"),
		Depart:      hasty(),
	})
	if err != nil {
		t.Fatal(err)
	}
	anna := traintravel.Caller{Subject: traintravel.Subject{Issuer: "test", ID: "anna"}}
	made, err := service.CreateBooking(ctx, anna, traintravel.NewBooking{TripID: found.Items[0].ID, PassengerName: "Anna Example", HasDog: true})
	if err != nil {
		t.Fatal(err)
	}
	if !lines.Scan() {
		t.Fatal(lines.Err())
	}
	want := fmt.Sprintf(`booking "%s" of trip "%s" for "Anna Example", with a dog`, made.ID, made.TripID)
	if lines.Text() != want {
		t.Errorf("it printed %s, want %s", lines.Text(), want)
	}
	if n := way.tries.Load(); n != 2 {
		t.Errorf("%d attempts, want 2", n)
	}
	stop()
	if lines.Scan() || lines.Err() != nil {
		t.Errorf("it ended with %q, %v", lines.Text(), lines.Err())
	}
}

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// badWay loses the first delivery.
type badWay struct{ tries atomic.Int32 }

func (w *badWay) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.tries.Add(1) == 1 {
		return nil, errors.New("lost on the way")
	}
	return http.DefaultTransport.RoundTrip(r)
}

const body = `{"id":"1","trip_id":"2","passenger_name":"Bert \u001b[2J","has_bicycle":true,"has_dog":false,"links":{"self":"https://trains.example/bookings/1"},"more":[]}`

// A repeated delivery is acknowledged again and printed once.
func TestOnce(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	r := mustReceive(t, &out)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if status := send(r, "POST", "application/json; charset=utf-8", "a", body); status != 200 {
				t.Errorf("status %d", status)
			}
		})
	}
	all.Wait()
	if want := `booking "1" of trip "2" for "Bert \x1b[2J", with a bicycle` + "\n"; out.String() != want {
		t.Errorf("it printed %s", out.String())
	}
}

// Other events have a type, and a ping has no booking.
func TestOtherEvents(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	r := mustReceive(t, &out)
	for i, text := range []string{
		`{"type":"bookingCancelled","timestamp":"2026-01-01T00:00:00Z","data":{"id":"1","trip_id":"2"}}`,
		`{"type":"ping","timestamp":"2026-01-01T00:00:00Z","data":{}}`,
	} {
		if status := send(r, "POST", "application/json", fmt.Sprint(i), text); status != 200 {
			t.Errorf("status %d for %s", status, text)
		}
	}
	if want := "\"bookingCancelled\" of \"1\"\n\"ping\"\n"; out.String() != want {
		t.Errorf("it printed %s", &out)
	}
}

// An event that could not be processed is not acknowledged, and is processed when it is retried.
func TestFailure(t *testing.T) {
	t.Parallel()
	r := mustReceive(t, full{})
	if status := send(r, "POST", "application/json", "a", body); status != 500 {
		t.Errorf("status %d, want 500", status)
	}
	var out bytes.Buffer
	r.out = &out
	if status := send(r, "POST", "application/json", "a", body); status != 200 || out.Len() == 0 {
		t.Errorf("the retry: status %d, printed %q", status, out.String())
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

func TestForgets(t *testing.T) {
	t.Parallel()
	r := mustReceive(t, io.Discard)
	for i := range maxSeen + 5 {
		if err := r.once(fmt.Sprint(i), event{}); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.seen) != maxSeen || len(r.order) != maxSeen || r.seen["4"] || !r.seen["5"] {
		t.Errorf("%d are kept", len(r.seen))
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, method, kind, id, body string
		want                         int
	}{
		{"method", "GET", "application/json", "a", body, 405},
		{"no type", "POST", "", "a", body, 415},
		{"other type", "POST", "text/plain", "a", body, 415},
		{"no ID", "POST", "application/json", "", body, 400},
		{"long ID", "POST", "application/json", strings.Repeat("a", maxID+1), body, 400},
		{"no JSON", "POST", "application/json", "a", "{", 400},
		{"no booking", "POST", "application/json", "a", `{}`, 400},
		{"wrong type", "POST", "application/json", "a", `{"id":1}`, 400},
		{"too large", "POST", "application/json", "a", `{"id":"` + strings.Repeat("a", maxBody) + `"}`, 413},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			if got := send(mustReceive(t, &out), tt.method, tt.kind, tt.id, tt.body); got != tt.want || out.Len() > 0 {
				t.Errorf("status %d, want %d; printed %q", got, tt.want, out.String())
			}
		})
	}
}

func mustReceive(t *testing.T, out io.Writer) *receiver {
	t.Helper()
	r, err := newReceiver(secret, out)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Deliveries of others, old ones and altered ones are refused.
func TestSignature(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*http.Request){
		"none":         func(r *http.Request) { r.Header.Del("Webhook-Signature") },
		"another":      func(r *http.Request) { r.Header.Set("Webhook-Signature", "v1,AAAA") },
		"no time":      func(r *http.Request) { r.Header.Del("Webhook-Timestamp") },
		"another ID":   func(r *http.Request) { r.Header.Set("Webhook-Id", "b") },
		"old":          func(r *http.Request) { r.Header.Set("Webhook-Timestamp", "1700000000") },
		"another body": func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader(body + " ")) },
	} {
		var out bytes.Buffer
		if status := send(mustReceive(t, &out), "POST", "application/json", "a", body, change); status != 401 || out.Len() > 0 {
			t.Errorf("%s: status %d, printed %q", name, status, out.String())
		}
	}
}

func send(r http.Handler, method, kind, id, body string, change ...func(*http.Request)) int {
	req := httptest.NewRequest(method, "/", strings.NewReader(body))
	req.Header.Set("Content-Type", kind)
	req.Header.Set("Webhook-Id", id)
	hooks, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		panic(err)
	}
	now := time.Now()
	signature, err := hooks.Sign(id, now, []byte(body))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10))
	req.Header.Set("Webhook-Signature", signature)
	for _, f := range change {
		f(req)
	}
	rec := httptest.NewRecorder()
	r.ServeHTTP(rec, req)
	return rec.Code
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--addr", "nowhere"}, {"--no-such-flag"}} {
		if err := run(t.Context(), args, secret, io.Discard); err == nil {
			t.Errorf("run %q: no error", args)
		}
	}
}

// The receiver refuses the same secrets as serve, and says what is wrong and what to do, without
// quoting them.
func TestSecretsRefused(t *testing.T) {
	t.Parallel()
	sender, err := httpserver.NewWebhookSender(httpserver.WebhookSenderOptions{BaseURL: "https://trains.example"})
	if err != nil {
		t.Fatal(err)
	}
	over, stop := context.WithCancel(t.Context())
	stop()
	encoded := func(n int) string { return base64.StdEncoding.EncodeToString(make([]byte, n)) }
	for secret, says := range map[string]string{
		"":                      "is not set",
		encoded(32):             "does not begin with whsec_",
		"WHSEC_" + encoded(32):  "does not begin with whsec_",
		"whsec_?" + encoded(30): "is not base64",
		"whsec_" + strings.TrimRight(encoded(32), "="): "is not base64",
		"whsec_" + encoded(23):                         "has 23 bytes",
		"whsec_" + encoded(65):                         "has 65 bytes",
	} {
		_, err := traintravel.New(memstore.New(), traintravel.Options{Webhooks: &traintravel.WebhookOptions{
			Sender: sender, SealKey: make([]byte, 32),
			Operator: []traintravel.OperatorWebhook{{URL: "https://shop.example/", Secrets: []traintravel.Secret{traintravel.Secret(secret)}}},
		}})
		if err == nil {
			t.Errorf("a server takes %q", secret)
		}
		err = run(over, []string{"--addr", "127.0.0.1:0"}, secret, io.Discard)
		switch {
		case err == nil:
			t.Errorf("the receiver takes %q", secret)
		case !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "openssl rand") || strings.Contains(err.Error(), "AAAA"):
			t.Errorf("of %q: %v", secret, err)
		}
	}
	if err := checkSecret(secret); err != nil {
		t.Error(err)
	}
}
