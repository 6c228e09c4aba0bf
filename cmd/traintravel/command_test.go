package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	berlin = "efdbb9d1-02c2-4bc3-afb7-6788d8782b1e"
	paris  = "b2e783e1-c824-4d63-b37a-d8d698862f1d"
)

// output collects what a command prints while it runs.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// A running is a server command that has said where it listens.
type running struct {
	t              *testing.T
	base           string
	stdout, stderr *output
	stop           func() int
}

// start runs a server command until it listens.
func start(t *testing.T, args ...string) *running {
	t.Helper()
	return startIn(t, nil, args...)
}

// startIn does so in an environment.
func startIn(t *testing.T, environ []string, args ...string) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{t: t, stdout: &output{}, stderr: &output{}}
	code := make(chan int, 1)
	go func() { code <- run(ctx, append(args, "--addr", "127.0.0.1:0"), r.stdout, r.stderr, environ) }()
	r.stop = sync.OnceValue(func() int {
		http.DefaultClient.CloseIdleConnections() // for which it would wait
		cancel()
		return <-code
	})
	t.Cleanup(func() { r.stop() })
	for {
		if _, rest, ok := strings.Cut(r.stdout.String(), "listens on "); ok && strings.Contains(rest, "\n") {
			r.base, _, _ = strings.Cut(rest, "\n")
			return r
		}
		select {
		case c := <-code:
			code <- c
			t.Fatalf("it ended with %d: %s", c, r.stderr)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// call makes a request and decodes the answer, which must have the status.
func (r *running) call(token, method, path, body string, status int) map[string]any {
	r.t.Helper()
	req, err := http.NewRequest(method, r.base+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != status {
		r.t.Fatalf("%s %s: %d, %v, want %d: %s", method, path, resp.StatusCode, err, status, text)
	}
	if len(text) == 0 {
		return nil
	}
	var v map[string]any
	if err := json.Unmarshal(text, &v); err != nil {
		r.t.Fatalf("%s %s: %v: %s", method, path, err, text)
	}
	return v
}

// book books and pays the first trip of a day and returns the booking's ID.
func (r *running) book(token, date, payment string) string {
	r.t.Helper()
	trips := r.call(token, "GET", "/trips?origin="+berlin+"&destination="+paris+"&date="+date, "", 200)["data"].([]any)
	if len(trips) == 0 {
		r.t.Fatal("there is no trip on", date)
	}
	trip := trips[0].(map[string]any)
	b := r.call(token, "POST", "/bookings", fmt.Sprintf(`{"trip_id": %q, "passenger_name": "John Doe"}`, trip["id"]), 201)
	if payment == "" {
		payment = fmt.Sprintf(`{"amount": %v, "currency": %q, "source": {"object": "card", "name": "J. Doe", "number": "4242424242424242",
			"cvc": "123", "exp_month": 12, "exp_year": %d, "address_country": "gb"}}`, trip["price"], trip["currency"], time.Now().Year()+2)
	}
	id := b["id"].(string)
	if p := r.call(token, "POST", "/bookings/"+id+"/payment", payment, 200); p["status"] != "succeeded" {
		r.t.Fatalf("the payment: %v", p)
	}
	return id
}

// once runs a command that ends by itself.
func once(t *testing.T, environ []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs output
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute) // a server that should not have started ends too
	defer stop()
	code = run(ctx, args, &out, &errs, environ)
	return code, out.String(), errs.String()
}

// A newcomer's day: serve, token, book, pay, cancel, restart.
func TestServe(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "trains.db")
	r := start(t, "serve", "--data", data)
	if r.call("", "GET", "/readyz", "", 200)["status"] != "ready" {
		t.Error("it is not ready")
	}
	code, token, stderr := once(t, nil, "token", "--user", "anna", "--data", data)
	if code != 0 || strings.Count(token, ".") != 2 || strings.Count(token, "\n") != 1 {
		t.Fatalf("token: %d, %q, %s", code, token, stderr)
	}
	token = strings.TrimSpace(token)
	tomorrow := time.Now().AddDate(0, 0, 2).Format(time.DateOnly)
	kept, dropped := r.book(token, tomorrow, ""), r.book(token, tomorrow, "")
	r.call(token, "DELETE", "/bookings/"+dropped, "", 204)
	_, other, _ := once(t, nil, "token", "--user", "bert", "--data", data)
	r.call(strings.TrimSpace(other), "GET", "/bookings/"+kept, "", 404)
	r.call("", "GET", "/bookings/"+kept, "", 401)
	_, reader, _ := once(t, nil, "token", "--user", "anna", "--scope", "read", "--data", data)
	r.call(strings.TrimSpace(reader), "DELETE", "/bookings/"+kept, "", 403)

	// A second server says who has the file.
	if code, _, stderr := once(t, nil, "serve", "--data", data, "--addr", "127.0.0.1:0"); code != 1 || !strings.Contains(stderr, "in use") {
		t.Errorf("a second server: %d, %s", code, stderr)
	}
	if code := r.stop(); code != 0 {
		t.Errorf("stopped, it ends with %d: %s", code, r.stderr)
	}
	if _, err := os.Stat(data + ".sock"); !os.IsNotExist(err) {
		t.Errorf("the control socket is still there: %v", err)
	}

	again := start(t, "serve", "--data", data, "--base-url", r.base) // tokens are bound to the issuer's URL
	if b := again.call(token, "GET", "/bookings/"+kept, "", 200); b["id"] != kept {
		t.Errorf("after the restart: %v", b)
	}
	again.call(token, "GET", "/bookings/"+dropped, "", 404)
}

// The published examples of the API, as they are.
func TestMockPublishedExamples(t *testing.T) {
	t.Parallel()
	r := start(t, "mock")
	r.book("anything", "2024-02-01T09:00:00Z", `{"amount": 49.99, "currency": "gbp", "source": {"object": "card", "name": "J. Doe",
		"number": "4242424242424242", "cvc": "123", "exp_month": 12, "exp_year": 2025, "address_line1": "123 Fake Street",
		"address_line2": "4th Floor", "address_city": "London", "address_country": "gb", "address_post_code": "N12 9XX"}}`)
	if n := len(r.call("anything", "GET", "/bookings", "", 200)["data"].([]any)); n != 1 {
		t.Errorf("there are %d bookings", n)
	}
	if n := len(r.call("another", "GET", "/bookings", "", 200)["data"].([]any)); n != 0 {
		t.Errorf("another token sees %d bookings", n)
	}
}

// Behind a proxy, links begin with --base-url or, without it, with the proxy's headers. The
// proxy always determines the address of the client.
func TestServeBehindProxy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		flags []string
		self  string
	}{
		{[]string{"--base-url", "https://trains.example/api"}, "https://trains.example/api/stations"},
		{nil, "https://proxy.example/p/stations"},
	} {
		data := filepath.Join(t.TempDir(), "trains.db")
		r := start(t, append([]string{"serve", "--data", data, "--trusted-proxy", "127.0.0.0/8", "--public-signin", "--rate-limit", "3"}, c.flags...)...)
		_, token, _ := once(t, nil, "token", "--user", "anna", "--data", data)
		ask := func(method, path, token, from string) *http.Response {
			req, err := http.NewRequest(method, r.base+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header = http.Header{
				"Authorization": {"Bearer " + strings.TrimSpace(token)}, "X-Forwarded-For": {from},
				"X-Forwarded-Proto": {"https"}, "X-Forwarded-Host": {"proxy.example"}, "X-Forwarded-Prefix": {"/p"},
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { resp.Body.Close() })
			return resp
		}
		var list struct{ Links struct{ Self string } }
		if err := json.NewDecoder(ask("GET", "/stations", token, "198.51.100.1").Body).Decode(&list); err != nil || list.Links.Self != c.self {
			t.Errorf("%v: links.self is %q, %v, want %q", c.flags, list.Links.Self, err, c.self)
		}
		// Who guesses the secrets of programs is stopped, by address.
		for _, guess := range []struct {
			from   string
			status int
		}{{"198.51.100.2", 400}, {"198.51.100.2", 400}, {"198.51.100.2", 400}, {"198.51.100.2", 429}, {"198.51.100.3", 400}} {
			resp := ask("POST", "/oauth/token", "", guess.from)
			if resp.StatusCode != guess.status || resp.Header.Get("RateLimit") == "" || (resp.Header.Get("Retry-After") != "") != (guess.status == 429) {
				t.Errorf("%v: %d %v", guess, resp.StatusCode, resp.Header)
			}
		}
	}
}

// Messages name commands in the form in which the user can type them.
func TestNameOf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	exe, other := filepath.Join(dir, "traintravel"), filepath.Join(dir, "other")
	for _, f := range []string{exe, other} {
		if err := os.WriteFile(f, nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	const goRun = "go run ./cmd/traintravel"
	for _, c := range []struct{ exe, arg, found, want string }{
		{exe, "traintravel", exe, "traintravel"},
		{exe, exe, exe, "traintravel"},
		{exe, "./traintravel", "", "./traintravel"},
		{exe, "./traintravel", other, "./traintravel"},
		{exe, "./it's mine/x", "", `'./it'\''s mine/x'`},
		{"/tmp/go-build3872/b001/exe/traintravel", "/tmp/go-build3872/b001/exe/traintravel", exe, goRun},
		{"/var/cache/go-build/1f/" + strings.Repeat("1f", 32) + "-d/traintravel", "x/traintravel", "", goRun},
		{"/srv/cache/1f/" + strings.Repeat("1f", 32) + "-d/traintravel", "x/traintravel", "", goRun},
	} {
		if got := nameOf(c.exe, c.arg, c.found); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// A clock in the past continues after a restart where it was.
func TestServeClock(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "trains.db")
	flags := []string{"serve", "--data", data, "--clock", "2024-02-01T08:00:00Z", "--any-amount"}
	r := start(t, flags...)
	_, token, _ := once(t, nil, "token", "--user", "anna", "--data", data)
	token = strings.TrimSpace(token)
	id := r.book(token, "2024-02-01", `{"amount": 49.99, "currency": "gbp", "source": {"name": "J. Doe", "number": "4242424242424242",
		"cvc": 123, "exp_month": 12, "exp_year": 2025, "address_country": "gb"}}`)
	r.stop()
	again := start(t, append(flags, "--base-url", r.base)...)
	again.call(token, "GET", "/bookings/"+id, "", 200)
}
