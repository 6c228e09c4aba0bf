package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/traintravel/traintravel/internal/need"
)

const alertRules = "../../deploy/prometheus/alerts.yaml"

// Each metric that an alert, the dashboard, or a query of the runbook asks for is there.
func TestAlertsUseExistingMetrics(t *testing.T) {
	t.Parallel()
	rules, err := os.ReadFile(alertRules)
	if err != nil {
		t.Fatal(err)
	}
	w := startWatched(t, nil)
	w.call(w.token, "GET", "/stations?limit=1", "", 200)
	w.call("nobody", "GET", "/stations?limit=1", "", 401)
	exposed := map[string]bool{}
	for series := range w.metrics() {
		name, _, _ := strings.Cut(series, "{")
		exposed[name] = true
	}
	asked := regexp.MustCompile(`\b(traintravel|process|go)_[a-z_]+\b`).FindAllString(string(rules)+strings.Join(append(fenced(t, "promql"), dashboardQueries(t)...), "\n"), -1)
	if len(asked) < 20 {
		t.Fatalf("they ask for %v", asked)
	}
	for _, name := range asked {
		if !exposed[name] {
			t.Errorf("they ask for %s, which there is not", name)
		}
	}
}

// The rules and the sample settings are right by Prometheus's own tool, and each rule fires
// when it should.
func TestAlertRules(t *testing.T) {
	t.Parallel()
	promtool := need.Program(t, "prometheus", "promtool")
	for _, args := range [][]string{{"check", "config", "prometheus.yaml"}, {"check", "rules", filepath.Base(alertRules)}, {"test", "rules", "alerts_test.yaml"}} {
		c := exec.CommandContext(t.Context(), promtool, args...)
		c.Dir = filepath.Dir(alertRules)
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
}

// A real Prometheus, with the sample settings, scrapes a real server and evaluates every
// rule, of which none fires, and every query of the runbook and of the dashboard.
func TestPrometheus(t *testing.T) {
	t.Parallel()
	prometheus := need.Program(t, "prometheus", "prometheus")
	rules, err := filepath.Abs(alertRules)
	if err != nil {
		t.Fatal(err)
	}
	w := startWatched(t, nil)
	w.book(w.token, soon(), "")
	w.call("nobody", "GET", "/stations?limit=1", "", 401)

	addr := unused(t) // it takes no port 0
	dir := t.TempDir()
	config, err := os.ReadFile(filepath.Join(filepath.Dir(alertRules), "prometheus.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	here := strings.NewReplacer("traintravel:8083", strings.TrimPrefix(w.admin, "http://"), "[alerts.yaml]", "["+rules+"]", "interval: 15s", "interval: 1s")
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, []byte(here.Replace(string(config))), 0o600); err != nil {
		t.Fatal(err)
	}
	var log output
	c := exec.CommandContext(t.Context(), prometheus, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+addr)
	c.Stdout, c.Stderr = &log, &log
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Wait() }) // after t.Context has ended

	type rule struct{ Name, Health, LastError, State string }
	var answer struct {
		Data struct {
			Groups []struct{ Rules []rule }
		}
	}
	unknown := []rule{{Health: "unknown"}}
	for end := time.Now().Add(time.Minute); len(unknown) > 0; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not evaluated: %+v\n%s", unknown, &log)
		}
		if scraped := query(addr, `traintravel_bookings_total{status="confirmed"} == 1`); !strings.Contains(scraped, `"value"`) {
			continue // it is starting
		}
		if err := json.Unmarshal([]byte(get(addr, "/api/v1/rules")), &answer); err != nil {
			t.Fatal(err)
		}
		unknown = nil
		for _, r := range answer.Data.Groups[0].Rules {
			if r.Health == "unknown" {
				unknown = append(unknown, r)
			}
		}
	}
	if n := len(answer.Data.Groups[0].Rules); n < 13 {
		t.Errorf("there are %d rules", n)
	}
	for _, r := range answer.Data.Groups[0].Rules {
		if r.Health != "ok" || r.State == "firing" {
			t.Errorf("%+v", r)
		}
	}
	for _, q := range fenced(t, "promql") {
		if answer := query(addr, q); !strings.HasPrefix(answer, `{"status":"success"`) {
			t.Errorf("%s: %s", q, answer)
		}
	}
	for _, q := range dashboardQueries(t) {
		answer := query(addr, q)
		// A rate is there after two scrapes.
		for end := time.Now().Add(time.Minute); !strings.Contains(answer, `"value"`) && !strings.HasSuffix(q, "> 0") && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			answer = query(addr, q)
		}
		if !strings.HasPrefix(answer, `{"status":"success"`) || !strings.Contains(answer, `"value"`) && !strings.HasSuffix(q, "> 0") {
			t.Errorf("%s: %s", q, answer)
		}
	}
}

func query(addr, q string) string { return get(addr, "/api/v1/query?query="+url.QueryEscape(q)) }

// get is what Prometheus answers, or nothing while it does not.
func get(addr, path string) string {
	resp, err := http.Get("http://" + addr + path)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return string(text)
}
