package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The health command reports that a real server is ready, however its address is set, and fails
// after the server has stopped.
func TestHealth(t *testing.T) {
	t.Parallel()
	r := start(t, "serve", "--data", filepath.Join(t.TempDir(), "t.db"))
	addr := strings.TrimPrefix(r.base, "http://")
	file := configFile(t, "addr: "+addr+"\nhold: 5m\n")
	for _, c := range []struct {
		environ []string
		args    []string
		said    string
	}{
		{nil, []string{r.base}, "ready\n"},
		{nil, []string{r.base + "/", "--live"}, "alive\n"},
		{nil, []string{"--addr", addr}, "ready\n"},
		{[]string{"TRAINTRAVEL_ADDR=" + addr}, nil, "ready\n"},
		{nil, []string{"--config", file}, "ready\n"},
	} {
		if code, said, errs := once(t, c.environ, append([]string{"health"}, c.args...)...); code != 0 || said != c.said || errs != "" {
			t.Errorf("health %v: %d, %q, %s", c.args, code, said, errs)
		}
	}
	r.stop()
	if code, said, errs := once(t, nil, "health", "--json", r.base); code != 1 || !strings.Contains(said, `"status": "failed"`) || !strings.Contains(said, r.base+"/readyz: ") || errs == "" {
		t.Errorf("as JSON, of a server that has stopped: %d, %q, %s", code, said, errs)
	}
	if code, said, errs := once(t, nil, "health", r.base); code != 1 || said != "" || !strings.Contains(errs, r.base+"/readyz: ") {
		t.Errorf("of a server that has stopped: %d, %q, %s", code, said, errs)
	}
}

// A server that is not ready, redirects or does not respond is unhealthy, and the message has
// its response.
func TestHealthOfOthers(t *testing.T) {
	t.Parallel()
	end := make(chan struct{})
	h := http.NewServeMux()
	h.HandleFunc("/busy/readyz", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no store", http.StatusServiceUnavailable) })
	h.HandleFunc("/busy/healthz", func(http.ResponseWriter, *http.Request) {})
	h.Handle("/moved/readyz", http.RedirectHandler("/busy/healthz", http.StatusFound))
	h.HandleFunc("/silent/readyz", func(http.ResponseWriter, *http.Request) { <-end })
	plain, secure := httptest.NewServer(h), httptest.NewUnstartedServer(h)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // one client refuses its certificate
	secure.StartTLS()
	t.Cleanup(func() { close(end); plain.Close(); secure.Close() })
	for _, c := range []struct {
		args []string
		code int
		said string
	}{
		{[]string{plain.URL + "/busy"}, 1, "503 Service Unavailable: no store"},
		{[]string{plain.URL + "/busy", "--live"}, 0, "alive"},
		{[]string{plain.URL + "/moved"}, 1, "302 Found"},
		{[]string{plain.URL + "/silent", "--timeout", "50ms"}, 1, "no answer within 50ms"},
		{[]string{secure.URL + "/busy", "--live"}, 1, "certificate"}, // a URL's certificate is verified
		{[]string{"--addr", secure.Listener.Addr().String(), "--tls-cert", "x.pem"}, 1, "404"},
		{[]string{"--addr", "127.0.0.1:0"}, 2, "give its URL"},
		{[]string{"--addr", "here"}, 2, `invalid --addr "here"`},
		{[]string{"ftp://a.example"}, 2, "want an http or https URL"},
		{[]string{"https://a:hush@b.example?x=y"}, 2, "want an http or https URL"},
		{[]string{plain.URL, "--timeout", "0s"}, 2, "invalid --timeout 0s"},
		{[]string{plain.URL, plain.URL}, 2, "unexpected argument"},
	} {
		code, said, errs := once(t, nil, append([]string{"health"}, c.args...)...)
		if code != c.code || !strings.Contains(said+errs, c.said) || strings.Contains(said+errs, "hush") {
			t.Errorf("health %v: %d, want %d; %q is not in %q", c.args, code, c.code, c.said, said+errs)
		}
	}
}

// A server that cannot reach its issuer logs that at the start, and says why it is not ready on the
// operator's listener alone.
func TestHealthReason(t *testing.T) {
	t.Parallel()
	down := httptest.NewServer(nil)
	down.Close()
	r := start(t, "serve", "--data", filepath.Join(t.TempDir(), "t.db"), "--issuer", down.URL, "--audience", "x", "--admin-addr", "127.0.0.1:0")
	for !strings.Contains(r.stderr.String(), "fetching the keys of the token issuer failed") {
		time.Sleep(10 * time.Millisecond)
	}
	reason := "the keys of " + down.URL
	if code, said, errs := once(t, nil, "health", r.base); code != 1 || strings.Contains(said+errs, reason) || strings.Contains(errs, "{") {
		t.Errorf("the public listener: %d, %s%s", code, said, errs)
	}
	_, admin, _ := strings.Cut(r.stdout.String(), "metrics are at ")
	admin, _, _ = strings.Cut(admin, "/metrics")
	code, said, _ := once(t, nil, "health", "--json", admin)
	var told struct{ Status, Error string }
	if err := json.Unmarshal([]byte(said), &told); err != nil || code != 1 || told.Status != "failed" || !strings.Contains(told.Error, "/readyz: 503 Service Unavailable: ") || !strings.Contains(told.Error, reason) || strings.Contains(told.Error, "{") {
		t.Errorf("the operator's listener: %d, %v, %s", code, err, said)
	}
}

// A server that listens on all addresses is asked at this machine's own.
func TestHealthTarget(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		":8080": "http://127.0.0.1:8080/readyz", "0.0.0.0:80": "http://127.0.0.1:80/readyz", "[::]:80": "http://127.0.0.1:80/readyz",
		"10.0.0.7:80": "http://10.0.0.7:80/readyz", "[::1]:80": "http://[::1]:80/readyz", "trains.example:http": "http://trains.example:80/readyz",
	} {
		h := healthCheck{addr: addr}
		if got, err := h.target(""); err != nil || got != want {
			t.Errorf("%s: %s, %v", addr, got, err)
		}
	}
}
