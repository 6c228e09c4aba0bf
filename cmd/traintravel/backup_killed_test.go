package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/boltstore"
	"github.com/traintravel/traintravel/store/memstore"
)

// keptBookings are in the file that is backed up, restored and compacted.
const keptBookings = 3000

// soldFile makes a file with so many bookings of the demo network.
func soldFile(t *testing.T, path string, n int) {
	t.Helper()
	mem := memstore.New()
	service, err := traintravel.New(mem, traintravel.Options{HoldFor: 100 * time.Hour, Holds: traintravel.HoldLimits{User: -1, Train: -1}})
	if err != nil {
		t.Fatal(err)
	}
	if err := loadDemo(t.Context(), service); err != nil {
		t.Fatal(err)
	}
	var trips []uuid.UUID
	for day := 2; len(trips)*50 < n; day++ {
		found, err := service.SearchTrips(t.Context(), traintravel.TripQuery{
			Origin: uuid.MustParse(berlin), Destination: uuid.MustParse(paris), Depart: time.Now().AddDate(0, 0, day).Truncate(24 * time.Hour), Direct: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, trip := range found.Items {
			trips = append(trips, trip.ID)
		}
	}
	for i := range n {
		owner := traintravel.Caller{Subject: traintravel.Subject{Issuer: "builtin", ID: fmt.Sprint("user-", i%100)}}
		if _, err := service.CreateBooking(t.Context(), owner, traintravel.NewBooking{TripID: trips[i%len(trips)], PassengerName: "Anna Example"}); err != nil {
			t.Fatal(err)
		}
	}
	file := openBolt(t, path)
	if err := traintravel.Backup(t.Context(), file, mem, traintravel.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

// A keeping is a command that makes a file of another one, and what is to be so when
// it was stopped half-way.
type keeping struct {
	name   string
	args   []string
	target string // the file that it makes
	had    string // what is there before: a copy of that file, or nothing
	served bool   // a server has the file that it reads, and works on all but bookings
}

// If the command is killed or interrupted while it backs up, restores or compacts a file, the
// file that it reads is unchanged, and the file that it makes is complete or missing. The next
// command for the same file removes what was left.
func TestKeepingKilled(t *testing.T) {
	rounds := killsHere(t)
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	data, old := path("trains.db"), path("old.db")
	soldFile(t, data, keptBookings)
	soldFile(t, old, 20)
	says(t, 0, "of 3000 bookings, and all pages of the file: no faults found", "check", "--data", data)
	served := path("served.db")
	copyTo(t, data, served)
	start(t, "serve", "--data", served)

	for _, sub := range []string{"new", "over", "served", "restored", "instead", "compacted"} {
		if err := os.Mkdir(path(sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	in := func(sub string) string { return filepath.Join(dir, sub, "b.db") }
	for _, k := range []keeping{
		{"backup", []string{"backup", in("new"), "--data", data}, in("new"), "", false},
		{"backup over another", []string{"backup", in("over"), "--data", data, "--force"}, in("over"), old, false},
		{"backup of a server", []string{"backup", in("served"), "--data", served}, in("served"), "", true},
		{"restore", []string{"restore", data, "--data", in("restored")}, in("restored"), "", false},
		{"restore over another", []string{"restore", data, "--data", in("instead"), "--force"}, in("instead"), old, false},
		{"compact", []string{"compact", "--data", in("compacted")}, in("compacted"), data, false},
	} {
		t.Run(k.name, func(t *testing.T) { k.stop(t, data, rounds/3) })
	}
}

// stop stops the command at many moments, from when it begins to write.
func (k keeping) stop(t *testing.T, data string, rounds int) {
	all, before := k.records(t, data), map[traintravel.Key]string(nil)
	if k.had != "" {
		before = k.records(t, k.had)
	}
	seen := map[string]bool{} // drafts
	content, dir := read(t, data), filepath.Dir(k.target)
	took := time.Duration(0) // from the first byte to the end
	counts := map[string]int{}
	for round := range rounds + 1 {
		if err := os.Remove(k.target); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if k.had != "" {
			copyTo(t, k.had, k.target)
		}
		left := len(drafts(t, dir))
		stop := os.Kill
		if round%3 == 0 {
			stop = os.Interrupt
		}
		if round == 0 {
			stop = nil
		}
		code, lasted, said := k.once(t, stop, rand.N(took+time.Millisecond))
		took = max(took, lasted)

		var now map[traintravel.Key]string
		if _, err := os.Stat(k.target); err == nil {
			if err := checkPages(t.Context(), k.target); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
			now = k.records(t, k.target)
		}
		whole, untouched := gocmp.Equal(now, all), gocmp.Equal(now, before)
		switch {
		case code == 0 && !whole, !whole && !untouched:
			t.Fatalf("round %d ends with %d, and there are %d records, before %d, of %d: %s", round, code, len(now), len(before), len(all), said)
		case code == 1 && (!untouched || !strings.Contains(said, "interrupted: "+k.target+" is unchanged")):
			t.Fatalf("round %d: interrupted, it says %s", round, said)
		case code > 1:
			t.Fatalf("round %d ends with %d: %s", round, code, said)
		}
		if code >= 0 && len(drafts(t, dir)) > left {
			t.Fatalf("round %d ends with %d and leaves %v", round, code, drafts(t, dir))
		}
		if !bytes.Equal(content, read(t, data)) {
			t.Fatalf("round %d: %s has changed", round, data)
		}
		counts[map[int]string{-1: "killed", 0: "done", 1: "interrupted"}[code]]++
		for _, draft := range drafts(t, dir) {
			if !seen[draft] {
				seen[draft] = true
				counts["drafts"]++
				says(t, 2, "is an incomplete file", "restore", draft, "--data", filepath.Join(t.TempDir(), "restored.db"))
			}
		}
	}
	t.Logf("%s: %v", k.name, counts)

	// The next one, with room to spare, names what another file's has left, and takes
	// away what is of this one.
	other := filepath.Join(dir, "other.db.traintravel-draft-1")
	for _, name := range []string{other, k.target + ".traintravel-draft-1"} {
		if err := os.WriteFile(name, content[:len(content)/2], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if k.had == "" {
		if err := os.Remove(k.target); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	code, _, said := k.once(t, nil, 0)
	if code != 0 || k.name != "compact" && strings.Count(said, "is an incomplete file") != 1 {
		t.Errorf("%d, %s", code, said)
	}
	only(t, dir, "b.db", filepath.Base(other))
}

// once runs the command in a separate process and stops it a while after it has begun to write.
// It returns the exit code (-1 if the process was killed), how long it wrote, and its output.
func (k keeping) once(t *testing.T, stop os.Signal, after time.Duration) (code int, wrote time.Duration, said string) {
	t.Helper()
	had := drafts(t, filepath.Dir(k.target))
	var text output
	cmd := exec.Command(itself(t), k.args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), asCommandEnv+"=1"), &text, &text
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	var began time.Time
	var watch sync.WaitGroup
	watch.Go(func() {
		for range time.Tick(100 * time.Microsecond) {
			if slices.ContainsFunc(drafts(t, filepath.Dir(k.target)), func(d string) bool { return !slices.Contains(had, d) }) {
				break
			}
			select {
			case <-ended:
				return
			default:
			}
		}
		began = time.Now()
		if stop == nil {
			return
		}
		select {
		case <-ended:
		case <-time.After(after):
			_ = cmd.Process.Signal(stop)
		}
	})
	_ = cmd.Wait() // the exit code tells
	close(ended)
	end := time.Now()
	watch.Wait()
	if !began.IsZero() {
		wrote = max(0, end.Sub(began))
	}
	return cmd.ProcessState.ExitCode(), wrote, text.String()
}

// records are those of a file, of which nothing is removed.
func (k keeping) records(t *testing.T, path string) map[traintravel.Key]string {
	t.Helper()
	store, err := boltstore.Open(path, readOnly)
	if err != nil {
		t.Fatal(err)
	}
	all := records(t, store)
	if k.served {
		maps.DeleteFunc(all, func(key traintravel.Key, _ string) bool { return key.Table != traintravel.TableBookings })
	}
	return all
}

func drafts(t *testing.T, dir string) []string {
	t.Helper()
	found, err := boltstore.Drafts(dir)
	if err != nil {
		t.Error(err)
	}
	return found
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func copyTo(t *testing.T, from, to string) {
	t.Helper()
	src, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(dst, src); err != nil || dst.Close() != nil {
		t.Fatal(err)
	}
}
