package main

import (
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/traintravel/traintravel/gateway"
	"github.com/traintravel/traintravel/sandbox"
)

const sharedSecret = "whsec_bm90IGEgc2VjcmV0OiBldmVyeWJvZHkga25vd3MgaXQ="

// With --gateway another program moves the money.
func TestGateway(t *testing.T) {
	t.Parallel()
	bank := sandbox.New()
	h, err := gateway.NewHandler(bank, sharedSecret, gateway.HandlerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	there := httptest.NewServer(h)
	t.Cleanup(there.Close)
	data := filepath.Join(t.TempDir(), "t.db")
	r := startIn(t, []string{gatewaySecret + "=" + sharedSecret}, "serve", "--data", data, "--gateway", there.URL, "--demo")
	r.book(issue(t, "anna", data), time.Now().AddDate(0, 0, 2).Format(time.DateOnly), "")
	all, err := bank.Movements(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatalf("moved: %+v, %v", all, err)
	}
	if held, err := bank.Balance(t.Context(), all[0].Amount.Currency); err != nil || held != all[0].Amount {
		t.Errorf("held: %v, %v", held, err)
	}
	r.stop()
	said := r.stderr.String()
	if !strings.Contains(said, "loaded the demo network, whose trains are invented; but payments for them move real money") {
		t.Errorf("it does not warn of the demo network: %s", said)
	}
	if !strings.Contains(said, "payments move real money through") || !strings.Contains(said, there.URL) || strings.Contains(said, "sandbox payments") || strings.Contains(said, "WARN msg=\"the gateway") {
		t.Errorf("it said: %s", said)
	}
	if strings.Contains(said, "4242424242424242") || strings.Contains(said, sharedSecret) {
		t.Errorf("it shows what is secret: %s", said)
	}
}

// With --gateway the demo network is not sold unless --demo is given, and the log says what to
// do. The command config prints that default.
func TestGatewayWithoutDemo(t *testing.T) {
	t.Parallel()
	down := httptest.NewServer(nil)
	down.Close()
	data := filepath.Join(t.TempDir(), "t.db")
	env := []string{gatewaySecret + "=" + sharedSecret}
	r := startIn(t, env, "serve", "--data", data, "--gateway", down.URL)
	r.call(issue(t, "anna", data), "GET", "/stations", "", 503)
	r.stop()
	said := r.stderr.String()
	for _, want := range []string{"no timetable is loaded", "import FEED.zip --data " + data, "give --demo"} {
		if !strings.Contains(said, want) {
			t.Errorf("the log does not say %q: %s", want, said)
		}
	}
	for want, more := range map[string][]string{
		"demo: false": nil,
		"demo: true":  {"--demo"},
	} {
		code, printed, stderr := config(t, env, append([]string{"--gateway", down.URL}, more...)...)
		if code != 0 || !strings.Contains(printed, want) {
			t.Errorf("config %v: %d, %s, %s", more, code, printed, stderr)
		}
	}
	env = append(env, "TRAINTRAVEL_DEMO=true")
	r = startIn(t, env, "serve", "--data", data, "--gateway", down.URL)
	r.call(issue(t, "anna", data), "GET", "/stations", "", 200)
}

// A gateway that does not respond is reported, and does not keep the server from selling.
func TestGatewayDown(t *testing.T) {
	t.Parallel()
	down := httptest.NewServer(nil)
	down.Close()
	data := filepath.Join(t.TempDir(), "t.db")
	r := startIn(t, []string{gatewaySecret + "=" + sharedSecret}, "serve", "--data", data, "--gateway", down.URL, "--demo")
	if status := r.ask("GET", "/readyz").StatusCode; status != 200 {
		t.Errorf("readiness is %d", status)
	}
	for !strings.Contains(r.stderr.String(), "payment gateway check failed") {
		time.Sleep(10 * time.Millisecond)
	}
}

func TestGatewayRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ url, secret, want string }{
		{"https://pay.example", "", gatewaySecret},
		{"https://pay.example", "whsec_c2hvcnQ=", "invalid " + gatewaySecret + ", which has 5 bytes after whsec_, not 24 to 64: want whsec_ and"},
		{"https://pay.example", "hunter2hunter2hunter2hunter2hunter2", "invalid " + gatewaySecret + ", which does not begin with whsec_: want whsec_ and"},
		{"http://pay.example", sharedSecret, "invalid --gateway \"http://pay.example\": the URL must begin with https"},
		{"https://anna:hunter2@pay.example", sharedSecret, ": the URL has a user"},
	} {
		var stdout, stderr output
		code := run(t.Context(), []string{"serve", "--addr", "127.0.0.1:0", "--data", filepath.Join(t.TempDir(), "t.db"), "--gateway", c.url},
			&stdout, &stderr, []string{gatewaySecret + "=" + c.secret})
		if said := stderr.String(); code != 2 || !strings.Contains(said, c.want) || strings.Contains(said, "hunter2") || strings.Contains(said, sharedSecret) {
			t.Errorf("%s: %d, %s", c.url, code, said)
		}
	}
}
