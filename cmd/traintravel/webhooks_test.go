package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/traintravel/traintravel/internal/keys"
	"github.com/traintravel/traintravel/internal/pgtest"
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
	ring, err := keys.Load(ownKeys(data))
	if err != nil {
		t.Fatal(err)
	}
	_, token, _ := once(t, nil, "token", "--user", "anna", "--data", data)
	token = strings.TrimSpace(token)
	ofUser := r.call(token, "POST", "/webhooks", `{"url":"`+user+`"}`, 201)["secret"].(string)
	forItself := r.programToken(ring.ProgramSecret())
	made := r.call(forItself, "POST", "/webhooks", `{"url":"`+program+`"}`, 201)
	ofProgram := made["secret"].(string)
	_, namesake, _ := once(t, nil, "token", "--user", "traintravel-program", "--client", "traintravel-program", "--data", data)
	r.call(strings.TrimSpace(namesake), "GET", "/webhooks/"+made["id"].(string), "", 404)
	id := r.hold(token, soon())
	expect(t, toOperator, ring.WebhookSecret(), id)
	expect(t, toUser, ofUser, id)
	if code := r.stop(); code != 0 || strings.Contains(r.stderr.String(), "whsec_") || !strings.Contains(r.stderr.String(), "webhooks may have private addresses") {
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
	if code != 2 || !strings.Contains(stderr.String(), "invalid "+webhookSecret+", which does not begin with whsec_: want whsec_ and") || strings.Contains(stderr.String(), "hunter2") {
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

// The operator names the events that it wants, and those that there are not are
// refused.
func TestServeWebhookEvents(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "t.db")
	operator, got := receive(t)
	r := startIn(t, []string{"TRAINTRAVEL_WEBHOOK_EVENT=newBooking,bookingCancelled"}, "serve", "--data", data, "--webhook", operator)
	token := issue(t, "anna", data)
	id := r.book(token, soon(), "")
	r.call(token, "DELETE", "/bookings/"+id, "", 204)
	for range 2 {
		h := <-got
		if e := h.header.Get("Webhook-Event"); e != "newBooking" && e != "bookingCancelled" || !strings.Contains(h.body, id) {
			t.Errorf("%v: %s", h.header, h.body)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--webhook", operator, "--webhook-event", "newBooking,newbooking"}, `invalid --webhook-event "newbooking": want newBooking, bookingConfirmed, bookingCancelled, bookingExpired or paymentFailed; did you mean newBooking?`},
		{[]string{"--webhook", operator, "--webhook-event", "ping"}, `"ping": want newBooking, `},
		{[]string{"--webhook-event", "newBooking"}, "--webhook-event needs --webhook"},
	} {
		where := filepath.Join(t.TempDir(), "none.db")
		code, _, stderr := once(t, nil, append([]string{"serve", "--addr", "127.0.0.1:0", "--data", where}, c.args...)...)
		if _, err := os.Stat(where); code != 2 || !strings.Contains(stderr, c.want) || err == nil {
			t.Errorf("%v: %d, %s", c.args, code, stderr)
		}
	}
}

// The operator lists undelivered events of the own webhooks, and sends them again, with and
// without a running server.
func TestWebhooksCommand(t *testing.T) {
	t.Parallel()
	t.Run("file", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		webhooksCommand(t, filepath.Join(dir, "t.keys.json"), "--data", filepath.Join(dir, "t.db"))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		webhooksCommand(t, filepath.Join(t.TempDir(), "keys.json"), "--postgres", pgtest.Shared(t).NewDatabase(t))
	})
}

func webhooksCommand(t *testing.T, ring string, where ...string) {
	var status atomic.Int32
	status.Store(503)
	got := make(chan string, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header.Get("Webhook-Id")
		w.Header().Set("Retry-After", "36000") // it does not come by itself
		w.WriteHeader(int(status.Load()))
	}))
	defer receiver.Close()
	address := strings.Replace(receiver.URL, "//", "//user:hidden@", 1)
	ask := func(code int, args ...string) string {
		t.Helper()
		is, stdout, stderr := once(t, nil, append(append([]string{"webhooks"}, args...), where...)...)
		if is != code || strings.Contains(stdout+stderr, "hidden") {
			t.Fatalf("webhooks %v: %d, %s%s", args, is, stdout, stderr)
		}
		return stdout + stderr
	}
	if where[0] == "--data" {
		ask(1) // there is no file, and none is made
		if _, err := os.Stat(where[1]); err == nil {
			t.Error("it made a data file")
		}
	}
	// With a clock of long ago, which is no reason to wait.
	serve := append([]string{"serve", "--keys", ring, "--base-url", shownBase, "--webhook", address, "--clock", "2024-02-01T08:00:00Z"}, where...)
	r := start(t, serve...)
	if said := ask(0); !strings.Contains(said, "No webhook of the operator has had an event") {
		t.Errorf("before a booking: %s", said)
	}
	_, token, _ := once(t, nil, "token", "--user", "anna", "--keys", ring)
	token = strings.TrimSpace(token)
	for range 2 {
		r.hold(token, "2024-02-03")
	}
	ids := map[string]bool{<-got: true, <-got: true}
	shown := strings.Replace(address, "hidden", "xxxxx", 1)
	var list []string
	for len(list) != 2 || !strings.Contains(list[0], "last answer 503") || !strings.Contains(list[1], "last answer 503") {
		said := ask(0)
		rest, ok := strings.CutPrefix(said, shown+"\n")
		if !ok {
			t.Fatalf("it says %s, want %s first", said, shown)
		}
		list = strings.Split(strings.TrimSpace(rest), "\n")
	}
	if !strings.Contains(list[0], "newBooking of 2024-02-01T08:00:0") || !strings.Contains(list[0], "pending after 1 attempt,") {
		t.Errorf("it says %s", list[0])
	}
	if said := ask(0, "retry", "--all"); said != shown+": 0 events will be sent again\n" {
		t.Errorf("none is dead, and it says %s", said)
	}
	status.Store(200)
	one, other := strings.Fields(list[0])[0], strings.Fields(list[1])[0]
	if said := ask(0, "retry", one); said != one+" will be sent again\n" {
		t.Errorf("it says %s", said)
	}
	if again := <-got; !ids[again] {
		t.Errorf("%s came, not one of %v", again, ids)
	}
	arrived := func(id string) {
		for strings.Contains(ask(0), id) {
			time.Sleep(10 * time.Millisecond)
		}
	}
	arrived(one)
	r.stop()

	ask(2, "retry")
	ask(2, "retry", "--all", other)
	ask(2, "retry", "x")
	if said := ask(1, "retry", uuid.NewString()); !strings.Contains(said, "not found") {
		t.Errorf("it says %s", said)
	}
	if said := ask(1, "retry", one); !strings.Contains(said, "delivered") {
		t.Errorf("it says %s", said)
	}
	ask(0, "retry", other)
	if where[0] == "--data" { // a server knows which it has
		without := slices.Delete(slices.Clone(serve), slices.Index(serve, "--webhook"), slices.Index(serve, "--webhook")+2)
		r = start(t, without...)
		if said := ask(0); !strings.HasPrefix(said, shown+": no longer among --webhook") || !strings.Contains(said, other) {
			t.Errorf("it says %s", said)
		}
		if said := ask(0, "retry", "--all"); !strings.HasPrefix(said, shown+": no longer among --webhook") {
			t.Errorf("it says %s", said)
		}
		if said := ask(1, "retry", other); !strings.Contains(said, "no longer posts to its URL") {
			t.Errorf("it says %s", said)
		}
		r.stop()
		ask(0, "retry", other)
	}
	start(t, serve...)
	for came := ""; !ids[came]; {
		came = <-got
	}
	arrived(other)
}

// Webhooks work from a file, from the database that it is moved into, and from all
// servers of that, with the secrets and the events that there were.
func TestServeWebhooksPostgres(t *testing.T) {
	t.Parallel()
	database := pgtest.Shared(t).NewDatabase(t)
	dir := t.TempDir()
	data, ring := filepath.Join(dir, "t.db"), filepath.Join(dir, "traintravel.keys.json")
	operator, toOperator := receive(t)
	var open atomic.Bool
	toUser := make(chan hookRequest, 100)
	user := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		if r.Header.Get("Webhook-Event") == "ping" {
			return
		}
		if !open.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		toUser <- hookRequest{r.Header, string(text)}
	}))
	defer user.Close()
	serve := []string{"serve", "--keys", ring, "--base-url", shownBase, "--webhook", operator, "--webhook-allow-private"}

	file := start(t, append(serve, "--data", data)...)
	token := issue(t, "anna", data)
	secrets, err := keys.Load(ring)
	if err != nil {
		t.Fatal(err)
	}
	ofUser := file.call(token, "POST", "/webhooks", `{"url":"`+user.URL+`"}`, 201)["secret"].(string)
	refused := file.hold(token, soon())
	expect(t, toOperator, secrets.WebhookSecret(), refused)
	expect(t, toUser, ofUser, refused)
	file.stop()
	if code, stdout, stderr := once(t, nil, "migrate", "--data", data, "--postgres", database); code != 0 {
		t.Fatalf("migrate: %d, %s%s", code, stdout, stderr)
	}

	open.Store(true)
	var servers [2]*running
	for i := range servers {
		servers[i] = start(t, append(serve, "--postgres", database)...)
	}
	expect(t, toUser, ofUser, refused)
	for _, s := range servers {
		id := s.hold(token, soon())
		expect(t, toOperator, secrets.WebhookSecret(), id)
		expect(t, toUser, ofUser, id)
	}
	for _, s := range servers {
		if code := s.stop(); code != 0 || strings.Contains(s.stderr.String(), "level=ERROR") {
			t.Errorf("%d: %s", code, s.stderr)
		}
	}
}
