//go:build unix

package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A shop is a server in a process of its own, and somebody who books at it.
type shop struct {
	*process
	data, token string
	trip        string // that he books
}

// newShop opens one in a folder, on a data file that has one booking.
func newShop(t *testing.T, dir string, args ...string) *shop {
	t.Helper()
	data := filepath.Join(dir, "trains.db")
	s := &shop{data: data, process: spawn(t, dir, append([]string{"serve", "--data", data, "--base-url", shownBase}, args...)...).listen()}
	s.token = issue(t, "anna", data)
	day := time.Now().AddDate(0, 0, 2).Format(time.DateOnly)
	trips, _ := decode([]byte(s.get(t, 200, "/trips?origin="+berlin+"&destination="+paris+"&date="+day)))["data"].([]any)
	if len(trips) == 0 {
		t.Fatal("there is no trip")
	}
	s.trip, _ = trips[0].(map[string]any)["id"].(string)
	return s
}

// ask makes a request, and returns the answer, which must have the status.
func (s *shop) ask(t *testing.T, status int, method, path, body string) string {
	t.Helper()
	req, err := http.NewRequest(method, s.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", method, path, err, &s.stderr)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != status {
		t.Fatalf("%s %s: %d, %v, want %d: %s\n%s", method, path, resp.StatusCode, err, status, text, &s.stderr)
	}
	if status == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") == "" {
		t.Errorf("%s %s: 503 without Retry-After", method, path)
	}
	return string(text)
}

func (s *shop) get(t *testing.T, status int, path string) string {
	t.Helper()
	return s.ask(t, status, "GET", path, "")
}

// book returns the ID of a booking.
func (s *shop) book(t *testing.T) string {
	t.Helper()
	id, _ := decode([]byte(s.ask(t, 201, "POST", "/bookings", fmt.Sprintf(`{"trip_id": %q, "passenger_name": "J. Doe"}`, s.trip))))["id"].(string)
	return id
}

// sells checks that the server books, and says that it does.
func (s *shop) sells(t *testing.T) string {
	t.Helper()
	s.get(t, 200, "/readyz")
	return s.book(t)
}

// sellsNot checks that it does not, and says so at once.
func (s *shop) sellsNot(t *testing.T) {
	t.Helper()
	s.get(t, 503, "/readyz")
	s.get(t, 200, "/healthz")
	if text := s.ask(t, 503, "POST", "/bookings", fmt.Sprintf(`{"trip_id": %q, "passenger_name": "J. Doe"}`, s.trip)); !strings.Contains(text, "/problems/unavailable") {
		t.Errorf("it is told: %s", text)
	}
}

// logs waits until the server's log has some words.
func (s *shop) logs(t *testing.T, words string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !strings.Contains(s.stderr.String(), words); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the log does not have %q:\n%s", words, &s.stderr)
		}
	}
}

func done(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// If the data file is removed under a server, the server makes no bookings that would be lost,
// and a backup saves the earlier ones.
func TestDataFileRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := newShop(t, dir)
	id := s.sells(t)
	done(t, os.Remove(s.data))
	s.sellsNot(t)
	s.get(t, 200, "/bookings/"+id)
	s.logs(t, "data file was moved, removed or replaced")
	saved := filepath.Join(dir, "saved.db")
	says(t, 0, "has all data", "backup", saved, "--data", s.data)
	s.signal(syscall.SIGTERM)
	s.ends(time.Minute, 0)
	says(t, 0, "1 booking", "restore", saved, "--data", s.data)
	again := newShop(t, dir)
	again.get(t, 200, "/bookings/"+id)
	again.sells(t)
}

// If the data file is removed under a server, a second server on its path does not make a new
// file, because nobody could then save the removed one.
func TestServerOverRemovedData(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := newShop(t, dir)
	s.sells(t)
	done(t, os.Remove(s.data))
	p := spawn(t, dir, "serve", "--data", s.data)
	p.ends(time.Minute, 1)
	if !strings.Contains(p.stderr.String(), "still has it open: move the file back; or save the data with") || exists(s.data) {
		t.Errorf("it says %s", &p.stderr)
	}
	saved := filepath.Join(dir, "saved.db")
	says(t, 0, "has all data", "backup", saved, "--data", s.data)
	s.signal(syscall.SIGTERM)
	s.ends(time.Minute, 0)
	says(t, 0, "1 booking", "restore", saved, "--data", s.data)
}

// If the data file is moved away, and another server starts on an older file in its place, only
// one of them sells. When the file is back, its server continues.
func TestDataFileMoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := newShop(t, dir)
	backup := filepath.Join(dir, "backup.db")
	says(t, 0, "has all data", "backup", backup, "--data", first.data)
	id := first.sells(t)
	done(t, os.Rename(first.data, first.data+".old"))
	first.sellsNot(t)
	says(t, 0, "still has it open: move the file back; or save the data with", "restore", backup, "--data", first.data)
	first.sellsNot(t)
	second := newShop(t, dir)
	other := second.sells(t)
	first.sellsNot(t)
	first.logs(t, "data file was moved, removed or replaced")
	first.get(t, 404, "/bookings/"+other)
	second.kill()
	done(t, os.Rename(first.data+".old", first.data))
	first.logs(t, "data file is back")
	first.sells(t)
	first.get(t, 200, "/bookings/"+id)
	first.signal(syscall.SIGTERM)
	first.ends(time.Minute, 0)
	says(t, 0, "no faults found", "check", "--data", first.data)
}

// If another data file is copied over that of a server, the server neither reads nor writes it,
// and a new server finds it intact.
func TestDataFileCopiedOver(t *testing.T) {
	t.Parallel()
	dir, elsewhere := t.TempDir(), t.TempDir()
	s, other := newShop(t, dir), newShop(t, elsewhere)
	id := s.sells(t)
	other.signal(syscall.SIGTERM)
	other.ends(time.Minute, 0)
	text, err := os.ReadFile(other.data)
	done(t, err)
	done(t, os.WriteFile(s.data, text, 0))
	s.sellsNot(t)
	s.get(t, 503, "/bookings/"+id)
	s.logs(t, "another program has written to the file")
	says(t, 1, "500 Internal Server Error: the store is unavailable: ", "backup", filepath.Join(dir, "saved.db"), "--data", s.data)
	s.signal(syscall.SIGTERM)
	<-s.ended
	says(t, 0, "no faults found", "check", "--data", s.data)
	newShop(t, dir, "--new-keys").sells(t) // the file is the other's
}

// If the keys file is removed, the server logs it before the file is needed.
func TestKeysFileRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := newShop(t, dir)
	keys := filepath.Join(dir, "trains.keys.json")
	done(t, os.Rename(keys, keys+".old"))
	s.logs(t, "keys file is missing")
	s.sells(t)
	done(t, os.Rename(keys+".old", keys))
	s.logs(t, "keys file is back")
}
