package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A watched server has a listener for its operator.
type watched struct {
	*running
	admin  string // its URL
	token  string // of anna's
	folder string // of its data
}

func startWatched(t *testing.T, environ []string, args ...string) *watched {
	t.Helper()
	data := filepath.Join(t.TempDir(), "t.db")
	r := startIn(t, environ, append([]string{"serve", "--data", data, "--admin-addr", ":0"}, args...)...)
	_, rest, _ := strings.Cut(r.stdout.String(), "metrics are at ")
	admin, _, ok := strings.Cut(rest, "/metrics\n")
	if !ok {
		t.Fatalf("it does not say where its metrics are: %s", r.stdout)
	}
	_, token, _ := once(t, nil, "token", "--user", "anna", "--scope", "read write", "--data", data)
	return &watched{r, admin, strings.TrimSpace(token), filepath.Dir(data)}
}

// fetch is what a URL answers.
func fetch(t *testing.T, url string) (int, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func (w *watched) metrics() map[string]float64 {
	w.t.Helper()
	return scrape(w.t, w.admin)
}

// scrape reads the series that a server exposes to its operator, with their values.
func scrape(t *testing.T, admin string) map[string]float64 {
	t.Helper()
	code, text := fetch(t, admin+"/metrics")
	if code != 200 {
		t.Fatalf("/metrics: %d %s", code, text)
	}
	all := map[string]float64{}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		line := lines.Text()
		at := strings.LastIndexByte(line, ' ')
		if strings.HasPrefix(line, "#") || at < 0 {
			continue
		}
		v, err := strconv.ParseFloat(line[at+1:], 64)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all[line[:at]] = v
	}
	return all
}

// What is for operators is only on the operator's listener.
func TestAdmin(t *testing.T) {
	t.Parallel()
	w := startWatched(t, nil)
	for _, path := range []string{"/metrics", "/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/profile?seconds=1", "/healthz", "/readyz"} {
		if code, text := fetch(t, w.admin+path); code != 200 {
			t.Errorf("the operator's %s: %d %s", path, code, text)
		}
		if code, _ := fetch(t, w.base+path); (code != 404) != strings.HasSuffix(path, "z") {
			t.Errorf("the public's %s: %d", path, code)
		}
	}
	if !strings.HasPrefix(w.admin, "http://127.0.0.1:") {
		t.Errorf("the operator's listener is at %s", w.admin)
	}
	if code, text := fetch(t, w.admin+"/debug/pprof/cmdline"); code != 404 {
		t.Errorf("the command line, which may have a password in it: %d %s", code, text)
	}
	for _, path := range []string{"/stations", "/bookings", "/"} {
		if code, _ := fetch(t, w.admin+path); code != 404 {
			t.Errorf("the operator's %s: %d", path, code)
		}
	}
}

// The metrics count what happens, separately for each of two servers in one process.
func TestMetrics(t *testing.T) {
	t.Parallel()
	w, idle := startWatched(t, nil), startWatched(t, nil)
	day := time.Now().AddDate(0, 0, 2).Format(time.DateOnly)
	paid := w.book(w.token, day, "")
	w.hold(w.token, day)
	w.call(w.token, "DELETE", "/bookings/"+paid, "", 204)
	w.call(w.token, "GET", "/bookings/"+paid, "", 404)
	w.call("nobody", "GET", "/bookings", "", 401)
	w.call("", "GET", "/nowhere", "", 404)
	w.programTokenRefused()
	want := map[string]float64{
		`traintravel_bookings_total{status="held"}`:                                                       2,
		`traintravel_bookings_total{status="confirmed"}`:                                                  1,
		`traintravel_bookings_total{status="cancelled"}`:                                                  1,
		`traintravel_bookings_total{status="expired"}`:                                                    0,
		`traintravel_payments_total{status="succeeded"}`:                                                  1,
		`traintravel_refunds_total{status="pending"}`:                                                     1,
		`traintravel_holds_open`:                                                                          1,
		`traintravel_http_requests_total{code="201",method="POST",route="/bookings"}`:                     2,
		`traintravel_http_requests_total{code="200",method="POST",route="/bookings/{bookingId}/payment"}`: 1,
		`traintravel_http_requests_total{code="404",method="GET",route="/bookings/{bookingId}"}`:          1,
		`traintravel_http_requests_total{code="404",method="GET",route="none"}`:                           1,
		`traintravel_http_requests_total{code="401",method="POST",route="/oauth/*"}`:                      1,
		`traintravel_http_request_duration_seconds_count{method="DELETE",route="/bookings/{bookingId}"}`:  1,
		`traintravel_http_refusals_total{problem="not-found"}`:                                            2,
		`traintravel_http_refusals_total{problem="unauthorized"}`:                                         1,
		`traintravel_http_requests_in_flight`:                                                             0,
		`traintravel_timetable_stations`:                                                                  72,
		`traintravel_timetable_trains`:                                                                    336,
		`traintravel_state_up`:                                                                            1,
		`traintravel_pending{what="payments"}`:                                                            0,
	}
	for series, value := range w.metricsUntil(`traintravel_refunds_total{status="succeeded"}`, 1) {
		if v, ok := want[series]; ok && v != value {
			t.Errorf("%s is %v, want %v", series, value, v)
		}
		delete(want, series)
	}
	for series := range want {
		t.Errorf("%s is missing", series)
	}
	if m := idle.metrics(); m[`traintravel_bookings_total{status="held"}`] != 0 || m[`traintravel_state_up`] != 1 {
		t.Error("the idle server counts what the other does")
	}
}

// metricsUntil waits for a series to have a value.
func (w *watched) metricsUntil(series string, value float64) map[string]float64 {
	w.t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		m := w.metrics()
		if m[series] == value {
			return m
		}
		if time.Now().After(end) {
			w.t.Fatalf("%s is %v", series, m[series])
		}
	}
}

func (w *watched) programTokenRefused() {
	w.t.Helper()
	resp, err := http.PostForm(w.base+"/oauth/token", map[string][]string{
		"grant_type": {"client_credentials"}, "client_id": {"traintravel-program"}, "client_secret": {"wrong"},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if resp.Body.Close(); resp.StatusCode != 401 {
		w.t.Errorf("a wrong secret: %d", resp.StatusCode)
	}
}

// The log is as it is asked for, and its lines of a request name it.
func TestLog(t *testing.T) {
	t.Parallel()
	r := start(t, "serve", "--data", filepath.Join(t.TempDir(), "t.db"), "--log-format", "json", "--log-level", "debug", "--access-log")
	r.call("nobody", "GET", "/bookings?search=Anna", "", 401)
	r.stop()
	names := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(r.stderr.String()), "\n") {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if id, ok := entry["request"].(string); ok {
			names[entry["msg"].(string)] = id
		}
		if strings.Count(line, `"request":`) > 1 {
			t.Error(line)
		}
	}
	if id := names["request"]; len(names) != 2 || id == "" || names["request refused"] != id {
		t.Errorf("%v: %s", names, r.stderr)
	}
}

// Wrong flags are named, all at once.
func TestWatchingFlags(t *testing.T) {
	t.Parallel()
	for args, want := range map[string][]string{
		"--log-format xml --log-level loud --admin-addr nowhere": {"invalid --log-format \"xml\"", "invalid --log-level \"loud\"", "invalid --admin-addr \"nowhere\""},
		"--admin-addr :8080":                  {"it is the public address"},
		"--admin-addr 0.0.0.0:8080":           {"it is the public address"},
		"--addr :80 --admin-addr 10.0.0.1:80": {"it is the public address"},
	} {
		code, _, stderr := once(t, nil, append([]string{"serve", "--data", filepath.Join(t.TempDir(), "t.db")}, strings.Fields(args)...)...)
		for _, w := range want {
			if code != 2 || !strings.Contains(stderr, w) {
				t.Errorf("%s: %d, %s, want %s", args, code, stderr, w)
			}
		}
	}
}

// A listener of this machine answers under no other name, and no page of elsewhere.
func TestAdminFromElsewhere(t *testing.T) {
	t.Parallel()
	w := startWatched(t, nil)
	_, port, _ := strings.Cut(strings.TrimPrefix(w.admin, "http://"), ":")
	for _, c := range []struct {
		host, site string
		status     int
	}{
		{"127.0.0.1:" + port, "", 200}, {"localhost", "none", 200}, {"[::1]:" + port, "same-origin", 200},
		{"evil.example:" + port, "same-origin", 403}, {"evil.example", "", 403}, {"localhost.evil.example", "", 403}, {"10.0.0.1", "", 403},
		{"127.0.0.1:" + port, "cross-site", 403}, {"127.0.0.1:" + port, "same-site", 403},
	} {
		for _, path := range []string{"/metrics", "/healthz", "/debug/pprof/"} {
			req, err := http.NewRequest(http.MethodGet, w.admin+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Host = c.host
			if c.site != "" {
				req.Header.Set("Sec-Fetch-Site", c.site)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != c.status {
				t.Errorf("%s as %s from %q: %d, want %d", path, c.host, c.site, resp.StatusCode, c.status)
			}
		}
	}
}
