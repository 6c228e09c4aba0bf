package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/traintravel/traintravel/internal/need"
)

// soakEnv says how long to soak, if not for soakTime or a sample of it.
const (
	soakEnv  = "TRAINTRAVEL_SOAK"
	soakTime = 5 * time.Second
)

// The load beside the customers': so many who search, and how many requests the server
// works on, which is fewer than are made.
const (
	soakSearchers = 12
	soakRequests  = 16
)

// TestSoak keeps a server busy with everything at once for a while: people search, book, pay,
// cancel and look, subscribers get events, timetables are imported and backups are made. Only
// requests above the limit are refused; memory and goroutines level off; at the end Check finds
// no faults, and everything acknowledged exists and was delivered.
func TestSoak(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the test stops servers with SIGTERM, which Windows does not have")
	}
	need.Short(t, "other processes")
	t.Parallel()
	length, err := time.ParseDuration(cmp.Or(os.Getenv(soakEnv), need.Sample(soakTime/3, soakTime).String()))
	if err != nil {
		t.Fatalf("%s: %v", soakEnv, err)
	}
	o := newOffice(t, "demo="+filepath.Join("..", "..", "internal", "demo", "feed"))
	o.args = []string{"--admin-addr", "127.0.0.1:0", "--max-requests", fmt.Sprint(soakRequests)}
	o.open()
	w := &witness{Transport: &http.Transport{MaxIdleConnsPerHost: 3 * soakRequests}, took: map[string][]time.Duration{}}
	o.client.Transport = w

	o.users[0].soak(o.Context(), length/10)
	o.users[0].search(o.Context(), length/50)
	idle := w.taken()
	levels := o.soak(length)
	loaded := w.taken()

	o.look()
	o.hearing.end()
	o.answers(w)
	levels.off(t, "go_goroutines", 20)
	levels.off(t, "go_memstats_next_gc_bytes", 16<<20) // about twice what is in use
	levels.off(t, "go_memstats_sys_bytes", 16<<20)     // all that Go has of the system
	for _, series := range []string{
		"process_resident_memory_bytes", // with pages of the file
		`traintravel_pending_oldest_seconds{what="events"}`, `traintravel_pending_oldest_seconds{what="deliveries"}`,
	} {
		levels.thirds(t, series)
	}
	o.close()
	o.audit()
	for _, what := range []string{"booking", "read", "search"} {
		t.Logf("%s: idle %s, under load %s", what, idle[what], loaded[what])
	}
	t.Logf("%v: %v, refused on purpose %d; load of the machine %s", length, o.count, w.refused, loadOfMachine())
}

// soak is the whole load. It returns what was measured meanwhile.
func (o *office) soak(length time.Duration) (seen levels) {
	ctx, stop := context.WithTimeout(o.Context(), length)
	defer stop()
	var all sync.WaitGroup
	for _, u := range o.users {
		all.Go(func() { u.soak(ctx, length) })
	}
	for range soakSearchers {
		all.Go(func() { o.users[0].search(ctx, length) })
	}
	pause := length / 100
	all.Go(func() {
		for ctx.Err() == nil {
			o.operate()
			time.Sleep(pause)
		}
	})
	for ctx.Err() == nil {
		seen = append(seen, scrape(o.T, o.server.admin))
		time.Sleep(pause)
	}
	all.Wait()
	o.complaints()
	return seen
}

// soak is a customer at work, who looks now and then at what has become of it.
func (u *customer) soak(ctx context.Context, length time.Duration) {
	ctx, stop := context.WithTimeout(ctx, length)
	defer stop()
	for ctx.Err() == nil && !u.Failed() {
		work, end := context.WithTimeout(ctx, time.Second)
		u.rounds++
		u.work(work, u.rounds)
		end()
		u.look()
	}
}

// search looks for trains all the time.
func (u *customer) search(ctx context.Context, length time.Duration) {
	ctx, stop := context.WithTimeout(ctx, length)
	defer stop()
	for ctx.Err() == nil {
		date := time.Now().AddDate(0, 0, 1+rand.N(30)).Format(time.DateOnly)
		if status, text := u.ask("GET", "/trips?origin="+berlin+"&destination="+paris+"&date="+date, ""); status != http.StatusOK {
			u.Errorf("search: %d: %s", status, text)
			return
		}
	}
}

// operate is what the operator does while the server serves.
func (o *office) operate() {
	o.load()
	o.counts("imported")
	backup := filepath.Join(o.dir, "backup.db")
	for _, args := range [][]string{{"backup", backup, "--force", "--data", o.data()}, {"check", "--data", backup}} {
		if code, stdout, stderr := once(o.T, nil, args...); code != 0 {
			o.Errorf("%v: %d\n%s%s", args, code, stdout, stderr)
		}
	}
	o.counts("backed up")
}

// answers looks at what the server says of its answers and posts.
func (o *office) answers(w *witness) {
	series := scrape(o.T, o.server.admin)
	busy := 0.0
	for name, n := range series {
		switch {
		case strings.HasPrefix(name, `traintravel_http_requests_total{code="503"`), strings.HasPrefix(name, `traintravel_http_requests_total{code="429"`):
			busy += n
		case strings.HasPrefix(name, `traintravel_http_requests_total{code="5`):
			o.Errorf("%s is %v", name, n)
		}
	}
	onPurpose := series[`traintravel_http_refusals_total{problem="overloaded"}`] + series[`traintravel_http_refusals_total{problem="rate-limited"}`]
	if busy != onPurpose || int(busy) != w.refused {
		o.Errorf("%v answers are 503 or 429, of which %v on purpose, and clients had %d", busy, onPurpose, w.refused)
	}
	if dead := series[`traintravel_delivery_attempts_total{outcome="dead",to="webhook"}`]; dead != 0 {
		o.Errorf("%v deliveries are dead", dead)
	}
}

// levels are the metrics of a server, one time after another.
type levels []map[string]float64

// off fails the test if a value goes on rising: if it is much higher in the last third
// of the time than in the one before.
func (l levels) off(t *testing.T, series string, slack float64) {
	t.Helper()
	if m := l.thirds(t, series); m[2] > 1.5*m[1]+slack {
		t.Errorf("%s does not level off", series)
	}
}

// thirds are the medians of a value in each third of the time.
func (l levels) thirds(t *testing.T, series string) (medians [3]float64) {
	t.Helper()
	for n := range medians {
		var values []float64
		for _, m := range l[len(l)*n/3 : len(l)*(n+1)/3] {
			v, ok := m[series]
			if !ok {
				t.Fatalf("there is no %s", series)
			}
			values = append(values, v)
		}
		if len(values) == 0 {
			t.Fatalf("there are only %d samples", len(l))
		}
		slices.Sort(values)
		medians[n] = values[len(values)/2]
	}
	t.Logf("%s, by thirds of the time: %.0f", series, medians)
	return medians
}

// A witness sees how long answers take, and asks again what was refused for the time
// being, as a client should.
type witness struct {
	*http.Transport
	mu      sync.Mutex
	took    map[string][]time.Duration // by what was asked
	refused int
}

func (w *witness) RoundTrip(r *http.Request) (*http.Response, error) {
	for {
		began := time.Now()
		resp, err := w.Transport.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		seconds, later := strconv.Atoi(resp.Header.Get("Retry-After"))
		if resp.StatusCode != http.StatusServiceUnavailable && resp.StatusCode != http.StatusTooManyRequests || later != nil {
			w.note(r, time.Since(began))
			return resp, nil
		}
		resp.Body.Close()
		w.mu.Lock()
		w.refused++
		w.mu.Unlock()
		time.Sleep(rand.N(time.Duration(max(1, seconds)) * time.Second))
		again := r.Clone(r.Context())
		if again.Body, err = r.GetBody(); err != nil {
			return nil, err
		}
		r = again
	}
}

func (w *witness) note(r *http.Request, took time.Duration) {
	what := "other"
	switch path := r.URL.Path; {
	case r.Method == "POST" && path == "/bookings":
		what = "booking"
	case r.Method == "GET" && strings.HasPrefix(path, "/bookings/") && strings.Count(path, "/") == 2:
		what = "read"
	case path == "/trips":
		what = "search"
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.took[what] = append(w.took[what], took)
}

// taken is what was seen since the last time, in words.
func (w *witness) taken() map[string]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	words := map[string]string{}
	for what, took := range w.took {
		slices.Sort(took)
		at := func(percent int) time.Duration { return took[len(took)*percent/100].Round(10 * time.Microsecond) }
		words[what] = fmt.Sprintf("p50 %v p99 %v (of %d)", at(50), at(99), len(took))
	}
	clear(w.took)
	return words
}

// loadOfMachine is what Linux says of the last minutes.
func loadOfMachine() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "not known"
	}
	return strings.TrimSpace(string(text))
}
