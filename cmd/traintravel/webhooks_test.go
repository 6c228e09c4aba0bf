package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/traintravel/traintravel/internal/keys"
)

const ownSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// A hookRequest is what a receiver got.
type hookRequest struct {
	header http.Header
	body   string
}

// receive listens for webhooks.
func receive(t *testing.T) (string, <-chan hookRequest) {
	got := make(chan hookRequest, 100)
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		got <- hookRequest{r.Header, string(text)}
	}))
	t.Cleanup(srv.Close)
	return srv.URL, got
}

// expect waits for the event of a booking, signed with a secret. Others may come before
// it, again: a server that is stopped does not always know what has arrived.
func expect(t *testing.T, from <-chan hookRequest, secret, booking string) {
	t.Helper()
	wh, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	for {
		select {
		case r := <-from:
			if !strings.HasPrefix(r.body, `{"id":"`+booking) {
				continue
			}
			if err := wh.Verify([]byte(r.body), r.header); err != nil {
				t.Errorf("%v: %v", err, r.header)
			}
			return
		case <-time.After(30 * time.Second):
			t.Fatalf("no event of %s came", booking)
		}
	}
}

// hold books for the holder of a token, and returns the booking's ID.
func (r *running) hold(token, day string) string {
	r.t.Helper()
	found := r.call(token, "GET", "/trips?limit=1&date="+day+"&origin="+berlin+"&destination="+paris, "", 200)
	trip := found["data"].([]any)[0].(map[string]any)["id"].(string)
	return r.call(token, "POST", "/bookings", `{"trip_id":"`+trip+`","passenger_name":"Anna"}`, 201)["id"].(string)
}

// soon is a day with trains.
func soon() string { return time.Now().AddDate(0, 0, 2).Format(time.DateOnly) }

// programToken is what a client gets that acts for itself.
func (r *running) programToken(secret string) string {
	r.t.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "scope": {"read write"}, "client_id": {"traintravel-program"}, "client_secret": {secret}}
	resp, err := http.PostForm(r.base+"/oauth/token", form)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || answer.Token == "" {
		r.t.Fatalf("%d: %v", resp.StatusCode, err)
	}
	return answer.Token
}

// The operator's own webhook, a user's, and that of a program for all that is booked
// through it get events, each with its own secret, over a restart.
func TestServeWebhooks(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "t.db")
	operator, toOperator := receive(t)
	user, toUser := receive(t)
	program, toProgram := receive(t)
	serve := []string{"serve", "--data", data, "--webhook", operator, "--webhook-client", "traintravel-program", "--webhook-allow-private"}

	r := start(t, serve...)
	ring, err := keys.Load(filepath.Join(filepath.Dir(data), "traintravel.keys.json"))
	if err != nil {
		t.Fatal(err)
	}
	_, token, _ := once(t, nil, "token", "--user", "anna", "--data", data)
	token = strings.TrimSpace(token)
	ofUser := r.call(token, "POST", "/webhooks", `{"url":"`+user+`"}`, 201)["secret"].(string)
	forItself := r.programToken(ring.ProgramSecret())
	ofProgram := r.call(forItself, "POST", "/webhooks", `{"url":"`+program+`"}`, 201)["secret"].(string)
	id := r.hold(token, soon())
	expect(t, toOperator, ring.WebhookSecret(), id)
	expect(t, toUser, ofUser, id)
	if code := r.stop(); code != 0 || strings.Contains(r.stderr.String(), "whsec_") || !strings.Contains(r.stderr.String(), "webhooks are for trying out") {
		t.Errorf("%d: %s", code, r.stderr)
	}

	r = startIn(t, []string{webhookSecret + "=" + ownSecret}, serve...)
	id = r.hold(r.programToken(ring.ProgramSecret()), soon())
	expect(t, toOperator, ownSecret, id)
	expect(t, toProgram, ofProgram, id)
}

// Subscribers name no private addresses unless the operator allows it, and a secret
// that is none is refused.
func TestServeWebhooksRefuses(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "t.db")
	r := start(t, "serve", "--data", data)
	_, token, _ := once(t, nil, "token", "--user", "anna", "--data", data)
	token = strings.TrimSpace(token)
	for _, url := range []string{"http://shop.example", "https://127.0.0.1/", "https://localhost:8443", "https://[::1]/"} {
		r.call(token, "POST", "/webhooks", `{"url":"`+url+`"}`, 400)
	}
	hook := r.call(token, "POST", "/webhooks", `{"url":"https://shop.example"}`, 201)
	r.call(token, "DELETE", "/webhooks/"+hook["id"].(string), "", 204)

	var stdout, stderr output
	code := run(t.Context(), []string{"serve", "--addr", "127.0.0.1:0", "--data", filepath.Join(t.TempDir(), "t.db"), "--webhook", "https://shop.example"},
		&stdout, &stderr, []string{webhookSecret + "=hunter2"})
	if code != 2 || !strings.Contains(stderr.String(), webhookSecret) || strings.Contains(stderr.String(), "hunter2") {
		t.Errorf("%d: %s", code, &stderr)
	}
}

// The mock server posts to any address.
func TestMockWebhooks(t *testing.T) {
	t.Parallel()
	at, got := receive(t)
	r := start(t, "mock")
	secret := r.call("anna", "POST", "/webhooks", `{"url":"`+at+`"}`, 201)["secret"].(string)
	expect(t, got, secret, r.hold("anna", "2024-02-02"))
}
