package main

import (
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// A password in the URL of any setting is in nothing that a command prints or logs, be it
// refused or not, and neither is a key in the place of the user.
func TestSettingsDoNotShowPasswords(t *testing.T) {
	t.Parallel()
	hides := func(args []string, environ ...string) (code int, stderr string) {
		t.Helper()
		code, stdout, stderr := once(t, environ, args...)
		if strings.Contains(stdout+stderr, "hush") {
			t.Errorf("%v: %d\n%s%s", args, code, stdout, stderr)
		}
		return code, stderr
	}
	values := []string{"https://user:hush@shop.example", "https://hush@shop.example/?key=hush", "ftp://user:hush@shop.example:port/", "postgres://user:hush@shop.example/db"}
	bare := []string{"user:hush@shop.example", "user_1:hush@shop.example", "//user:hush@shop.example:port", "https:/user:hush@shop.example"}
	refused := map[string]bool{"base-url": true, "issuer": true, "audience": true, "cors-origin": true, "trusted-proxy": true, "addr": true, "admin-addr": true, "data": true, "keys": true, "clock": true}
	serverFlags().VisitAll(func(f *pflag.Flag) {
		for _, value := range slices.Concat(values, bare) {
			file := slices.Contains(bare, value) && (f.Name == "data" || f.Name == "keys") // may be named so
			for _, args := range [][]string{{"config", "--" + f.Name, value}, {"config", "--" + f.Name + "=" + value}} {
				if f.Name == "issuer" {
					args = append(args, "--audience", "x")
				}
				if code, _ := hides(args); code == 0 && refused[f.Name] && !file {
					t.Errorf("--%s %s is not refused", f.Name, value)
				}
			}
			hides([]string{"config"}, variable(f.Name)+"="+value)
			hides([]string{"config", "--config", configFile(t, f.Name+": "+value+"\n")})
		}
	})
	data := []string{"--data", filepath.Join(t.TempDir(), "t.db"), "--addr", "127.0.0.1:0"}
	for _, value := range values {
		for _, args := range [][]string{
			{"--gateway", value}, {"--accounts", value}, {"--tls-cert", value, "--tls-key", value}, {"--issuer", value, "--audience", "x"}, {"--config", value},
			{"--keys", value}, {"--admin-addr", value}, {"--base-url", value},
		} {
			if code, _ := hides(append(append([]string{"serve"}, args...), data...), gatewaySecret+"=whsec_"+strings.Repeat("A", 32)); code == 0 {
				t.Errorf("%v starts", args)
			}
		}
		for _, name := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"} {
			if code, stderr := hides(append([]string{"serve"}, data...), name+"="+value); code != 2 || !strings.Contains(stderr, name+" ") {
				t.Errorf("%s=%s: %d, %s", name, value, code, stderr)
			}
		}
		for _, args := range [][]string{{"token", "--user", "anna", "--keys", value}, {"check", "--data", value}, {"verify-ticket", "x", "--keys", value}, {"verify-ticket", "x", "--server", value}, {"import", value, data[0], data[1]}} {
			if code, _ := hides(args); code == 0 {
				t.Errorf("%v is done", args)
			}
		}
	}
	for _, value := range bare {
		for _, flag := range []string{"--gateway", "--issuer", "--audience", "--base-url", "--webhook"} {
			args := append([]string{"serve", flag, value}, data...)
			if code, stderr := hides(args, gatewaySecret+"=whsec_"+strings.Repeat("A", 32)); code != 2 || !strings.Contains(stderr, flag) {
				t.Errorf("%v: %d, %s", args, code, stderr)
			}
		}
	}
	hides([]string{"serve", "--postgres", "postgres://user:hush@127.0.0.1:port/db", "--addr", "127.0.0.1:0"})
}

// The secrets in the URL of the operator's webhook are in no output of a server: log, metrics,
// problems, description, and the list of undelivered events.
func TestServerDoesNotShowPasswords(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "t.db")
	r := start(t, "serve", "--data", data, "--webhook", "http://user:hush@127.0.0.1:1/?key=hush", "--admin-addr", ":0", "--log-level", "debug", "--access-log")
	_, rest, _ := strings.Cut(r.stdout.String(), "metrics are at ")
	admin, _, _ := strings.Cut(rest, "/metrics\n")
	token := issue(t, "anna", data)
	r.hold(token, soon())
	for _, url := range []string{admin + "/metrics", admin + "/readyz", r.base + "/openapi.yaml", r.base + "/bookings", r.base + "/webhooks/x", r.base + "/.well-known/oauth-protected-resource", r.base + "/.well-known/oauth-authorization-server"} {
		for _, bearer := range []string{"", token} {
			req, err := http.NewRequest(http.MethodGet, url, nil)
			if err != nil {
				t.Fatal(err)
			}
			if bearer != "" {
				req.Header.Set("Authorization", "Bearer "+bearer)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || len(text) == 0 || strings.Contains(string(text), "hush") {
				t.Errorf("%s: %d, %v: %s", url, resp.StatusCode, err, text)
			}
		}
	}
	if list := says(t, 0, "http://user:xxxxx@127.0.0.1:1/?xxxxx", "webhooks", "--data", data); strings.Contains(list, "hush") {
		t.Error(list)
	}
	r.stop()
	if said := r.stdout.String() + r.stderr.String(); strings.Contains(said, "hush") {
		t.Error(said)
	}
}

func TestWithoutPasswords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                       "",
		"https://a.example/x@y:z":                "https://a.example/x@y:z",
		"https://a.example:8080/bookings?by=a@b": "https://a.example:8080/bookings?xxxxx",
		`the "https://u:hush@h" and ftp://v:hu@sh@i/x.`: `the "https://u:xxxxx@h" and ftp://v:xxxxx@i/x.`,
		"postgres://u:xxxxx@h/d":                        "postgres://u:xxxxx@h/d",
		"postgres://u@h/d":                              "postgres://u@h/d",
		"open https://key@h/?key=hush: no such file":    "open https://xxxxx@h/?xxxxx: no such file",
		"see https://h/x, or (http://i:80/y).":          "see https://h/x, or (http://i:80/y).",
	} {
		if got := withoutPasswords(text); got != want {
			t.Errorf("%q is shown as %q", text, got)
		}
	}
}
