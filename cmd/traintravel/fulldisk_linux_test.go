package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/traintravel/traintravel/internal/need"
)

// smallDisk mounts a file system of some megabytes for the length of a test.
func smallDisk(t *testing.T, megabytes int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", megabytes)); err != nil {
		t.Skipf("this user may not mount a small file system (%v); TestFileLimit does without", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill takes all the space that is left, and returns what gives it back.
func fill(t *testing.T, dir string) (free func()) {
	t.Helper()
	path := filepath.Join(dir, "ballast")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else if err != nil {
			t.Fatal(err)
		}
	}
	f.Close()
	return func() {
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	}
}

// If the disk becomes full under load, refused requests get 503 and Retry-After, acknowledged
// work is kept, and the server continues when there is space again.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := smallDisk(t, 24)
	data := filepath.Join(dir, "trains.db")
	p := spawn(t, t.TempDir(), "serve", "--data", data, "--rate-limit", "0", "--user-holds", "0", "--train-holds", "0").listen()
	l := &load{T: t, base: p.base, token: issue(t, "anna", data), day: time.Now().AddDate(0, 0, 2)}
	l.done(200) // of requests that go well
	for range 3 {
		free := fill(t, dir)
		l.refused(100)
		l.ready(p.base, 503)
		code, _, stderr := once(t, nil, "backup", filepath.Join(dir, "backup.db"), "--data", data)
		if code != 1 || !strings.Contains(stderr, "no space left on device") {
			t.Errorf("a backup to the full disk: %d, %s", code, stderr)
		}
		only(t, dir, "ballast", "trains.db", "trains.db.sock", "trains.keys.json")
		free()
		l.ready(p.base, 200)
		l.done(200)
	}
	l.look()
	says(t, 0, "no faults found", "check", "--data", data)
	says(t, 0, "all data", "backup", filepath.Join(t.TempDir(), "backup.db"), "--data", data)
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-p.ended
	says(t, 0, "all pages of the file: no faults found", "check", "--data", data)
	t.Logf("%d bookings and %d payments were acknowledged, %d requests refused", len(l.booked), len(l.paid), l.unavailable)
}

// The data file may not grow, and not be written but for its first pages, in the middle
// of load: likewise.
func TestFileLimit(t *testing.T) {
	t.Parallel()
	prlimit := need.Program(t, "util-linux", "prlimit")
	data := filepath.Join(t.TempDir(), "trains.db")
	p := spawn(t, t.TempDir(), "serve", "--data", data, "--rate-limit", "0", "--user-holds", "0", "--train-holds", "0").listen()
	limit := func(size string) {
		t.Helper()
		out, err := exec.Command(prlimit, "--pid", strconv.Itoa(p.cmd.Process.Pid), "--fsize="+size+":unlimited").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	l := &load{T: t, base: p.base, token: issue(t, "anna", data), day: time.Now().AddDate(0, 0, 2)}
	l.done(50)
	for range 2 {
		limit("65536")
		l.refused(50)
		l.ready(p.base, 503)
		limit("unlimited")
		l.ready(p.base, 200)
		l.done(50)
	}
	l.look()
	says(t, 0, "no faults found", "check", "--data", data)
}

// A load is people who book and pay, and what they were answered.
type load struct {
	*testing.T
	base, token string
	day         time.Time

	mu           sync.Mutex
	booked, paid map[string]bool
	ok           int
	unavailable  int
}

// done has people at work until so much has gone well.
func (l *load) done(n int) { l.until(func() int { return l.ok }, n) }

// refused likewise until so much was refused.
func (l *load) refused(n int) { l.until(func() int { return l.unavailable }, n) }

func (l *load) until(count func() int, n int) {
	l.Helper()
	counted := func() int {
		l.mu.Lock()
		defer l.mu.Unlock()
		return count()
	}
	begun, deadline := counted(), time.Now().Add(time.Minute)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for counted() < begun+n && time.Now().Before(deadline) && !l.Failed() {
				l.work()
			}
		})
	}
	all.Wait()
	if counted() < begun+n {
		l.Fatalf("%d of %d in a minute", counted()-begun, n)
	}
}

// ready has somebody at work, unless that has been refused, until the server says how it is.
func (l *load) ready(base string, status int) {
	l.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		resp, err := http.Get(base + "/readyz")
		if err != nil {
			l.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode == status {
			return
		}
		if time.Now().After(deadline) {
			l.Fatalf("/readyz is %d for a minute, want %d", resp.StatusCode, status)
		}
		if status != http.StatusOK {
			l.work()
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// ask makes a request. Any answer but success, a conflict and 503 with Retry-After is a
// fault.
func (l *load) ask(method, path, body string) document {
	req, err := http.NewRequest(method, l.base+path, strings.NewReader(body))
	if err != nil {
		l.Error(err)
		return nil
	}
	req.Header.Set("Authorization", "Bearer "+l.token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		l.Error(err)
		return nil
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil:
		l.Error(err)
	case resp.StatusCode < 300:
		l.ok++
		return decode(text)
	case resp.StatusCode == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != "":
		l.unavailable++
	case resp.StatusCode != http.StatusConflict:
		l.Errorf("%s %s: %d: %s", method, path, resp.StatusCode, text)
	}
	return nil
}

// work books a trip and pays for it.
func (l *load) work() {
	day := l.day.AddDate(0, 0, rand.N(30)).Format(time.DateOnly)
	trips, _ := l.ask("GET", "/trips?origin="+berlin+"&destination="+paris+"&date="+day, "")["data"].([]any)
	if len(trips) == 0 {
		return
	}
	trip := trips[rand.N(len(trips))].(map[string]any)
	b := l.ask("POST", "/bookings", fmt.Sprintf(`{"trip_id": %q, "passenger_name": "%s"}`, trip["id"], strings.Repeat("J", 190)))
	if b == nil {
		return
	}
	id := b["id"].(string)
	l.note(&l.booked, id)
	pay := l.ask("POST", "/bookings/"+id+"/payment", fmt.Sprintf(`{"amount": %v, "currency": %q, "source": {"object": "card", "name": "J. Doe",
		"number": "4242424242424242", "cvc": "123", "exp_month": 12, "exp_year": 2099, "address_country": "gb"}}`, trip["price"], trip["currency"]))
	if pay != nil && pay["status"] == "succeeded" {
		l.note(&l.paid, id)
	}
}

func (l *load) note(in *map[string]bool, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if *in == nil {
		*in = map[string]bool{}
	}
	(*in)[id] = true
}

// look reads all that was acknowledged.
func (l *load) look() {
	for id := range l.booked {
		if l.ask("GET", "/bookings/"+id, "") == nil {
			l.Errorf("booking %s is lost", id)
		}
	}
	for id := range l.paid {
		if p := l.ask("GET", "/bookings/"+id+"/payment", ""); p == nil || p["status"] != "succeeded" {
			l.Errorf("the payment of booking %s is %v", id, p["status"])
		}
	}
}
