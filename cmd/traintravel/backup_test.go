package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/pgtest"
	"github.com/traintravel/traintravel/store/boltstore"
)

// says runs a command, and checks its exit code and its output.
func says(t *testing.T, code int, want string, args ...string) string {
	t.Helper()
	got, stdout, stderr := once(t, nil, args...)
	if got != code || !strings.Contains(stdout+stderr, want) {
		t.Fatalf("%v: %d, want %d and %q:\n%s%s", args, got, code, want, stdout, stderr)
	}
	return stdout
}

// only fails the test unless these are all files of a folder.
func only(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if diff := cmp.Diff(names, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

// Data is checked and backed up while a server sells, and put back.
func TestCheckBackupRestore(t *testing.T) {
	t.Parallel()
	dir, kept := t.TempDir(), t.TempDir()
	data, backup := filepath.Join(dir, "trains.db"), filepath.Join(kept, "backup.db")
	r := start(t, "serve", "--data", data)
	token := issue(t, "anna", data)
	day := time.Now().AddDate(0, 0, 2).Format(time.DateOnly)
	for range 3 {
		r.book(token, day, "")
	}
	says(t, 0, "of 3 bookings: no faults found", "check", "--data", data)
	var rep checked
	if err := json.Unmarshal([]byte(says(t, 0, "", "check", "--data", data, "--json")), &rep); err != nil || rep.Records["bookings"] != 3 || rep.Faults == nil || rep.Pages {
		t.Errorf("%+v, %v", rep, err)
	}

	var selling sync.WaitGroup
	selling.Go(func() {
		for range 5 {
			r.book(token, day, "")
		}
	})
	says(t, 0, "The keys are not in it", "backup", backup, "--data", data)
	selling.Wait()
	if info, err := os.Stat(backup); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	only(t, kept, "backup.db")
	says(t, 1, "--force to replace it", "backup", backup, "--data", data)
	says(t, 2, "is the data file itself", "backup", data, "--force", "--data", data)
	says(t, 2, "argument 1 is empty", "backup", "", "--data", data)
	says(t, 2, "--data is empty", "backup", "elsewhere.db", "--data", "")
	ring := ownKeys(data)
	says(t, 2, "is a keys file", "backup", ring, "--force", "--data", data)
	says(t, 1, "no such file", "backup", filepath.Join(kept, "none", "b.db"), "--data", data)
	says(t, 0, "all pages of the file: no faults found", "check", "--data", backup)
	says(t, 1, "stop its server first", "compact", "--data", data)
	says(t, 1, "--force to replace it", "restore", backup, "--data", data)
	says(t, 1, "stop its server first", "restore", backup, "--data", data, "--force")
	says(t, 0, "of 8 bookings: no faults found", "check", "--data", data)
	r.stop()

	says(t, 0, "all data", "backup", backup, "--force", "--data", data) // by itself
	says(t, 0, "all pages of the file: no faults found", "check", "--data", data)
	says(t, 0, "compacted from ", "compact", "--data", data)
	says(t, 0, "of 8 bookings, and all pages of the file: no faults found", "check", "--data", data)
	if out := says(t, 0, "8 bookings", "restore", backup, "--data", data, "--force"); strings.Contains(out, "keys") {
		t.Errorf("of keys that agree: %s", out)
	}
	elsewhere := filepath.Join(t.TempDir(), "trains.db")
	says(t, 2, "is a keys file", "restore", backup, "--data", ring, "--force")
	half := filepath.Join(t.TempDir(), "keys.json") // damaged, so that nobody reads it
	if err := os.WriteFile(half, read(t, ring)[:100], 0o600); err != nil {
		t.Fatal(err)
	}
	says(t, 2, "is a keys file", "backup", half, "--force", "--data", data)
	says(t, 2, "is a keys file", "restore", backup, "--data", half, "--force")
	says(t, 0, "Keys file ", "restore", backup, "--data", elsewhere)
	other := filepath.Join(t.TempDir(), "other.db")
	start(t, "serve", "--data", other).stop()
	says(t, 0, "are not those", "restore", backup, "--data", filepath.Join(filepath.Dir(other), "again.db"), "--keys", ownKeys(other))

	r = start(t, "serve", "--data", data)
	if n := len(r.call(issue(t, "anna", data), "GET", "/bookings?limit=100", "", 200)["data"].([]any)); n != 8 {
		t.Errorf("%d bookings are there", n)
	}
}

// A backup of a database is a data file, and goes back into an empty database.
func TestBackupDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, backup := filepath.Join(dir, "trains.db"), filepath.Join(dir, "backup.db")
	r := start(t, "serve", "--data", data)
	r.book(issue(t, "anna", data), time.Now().AddDate(0, 0, 2).Format(time.DateOnly), "")
	r.stop()
	database := pgtest.Shared(t).NewDatabase(t)
	says(t, 0, ": 1 booking\n", "restore", data, "--postgres", database)
	says(t, 1, "give an empty database", "restore", data, "--postgres", database)
	says(t, 0, "of 1 booking: no faults found", "check", "--postgres", database)
	says(t, 0, "all data", "backup", backup, "--postgres", database)
	before := records(t, openBolt(t, data))
	if diff := cmp.Diff(before, records(t, openBolt(t, backup))); diff != "" {
		t.Error(diff)
	}
	says(t, 0, "all pages of the file: no faults found", "check", "--data", backup)
}

// Faults are named, and a backup with faults is not restored.
func TestCheckFaults(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := filepath.Join(dir, "trains.db")
	store, err := boltstore.Open(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = store.Update(t.Context(), func(tx traintravel.Tx) error {
		tx.Put(traintravel.Key{Table: traintravel.TableMeta, ID: "nonsense"}, nil)
		tx.Put(traintravel.Key{Table: traintravel.TableBookings, ID: "\x01\x02"}, nil)
		return nil
	})
	if err != nil || store.Close() != nil {
		t.Fatal(err)
	}
	out := says(t, 1, "2 faults found", "check", "--data", data)
	for _, want := range []string{"unknown-key: meta nonsense: ", "unreadable: bookings 0102: ", "Every operation that needs the record fails."} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %q:\n%s", want, out)
		}
	}
	var rep checked
	if err := json.Unmarshal([]byte(says(t, 1, "", "check", "--data", data, "--json")), &rep); err != nil || rep.Found != 2 || len(rep.Faults) != 2 || !rep.Pages {
		t.Errorf("%+v, %v", rep, err)
	}
	other := filepath.Join(dir, "other.db")
	says(t, 1, "not restored", "restore", data, "--data", other)
	only(t, dir, "trains.db")
	says(t, 0, "restored ", "restore", data, "--data", other, "--faulty")

	says(t, 1, "not found", "check", "--data", filepath.Join(dir, "none.db"))
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	says(t, 1, "not a data file of traintravel", "restore", text, "--data", filepath.Join(dir, "third.db"))
	says(t, 1, "not a data file of traintravel", "check", "--data", text)
}

// A command whose output cannot be written fails, because a nightly check without its output has
// checked nothing.
func TestLostWords(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "t.db")
	start(t, "serve", "--data", data).stop()
	for _, args := range [][]string{{"check", "--data", data}, {"version"}, {"token", "--user", "anna", "--data", data}} {
		stderr := &output{}
		if code := run(t.Context(), args, broken{syscall.ENOSPC}, stderr, nil); code != 1 || !strings.Contains(stderr.String(), syscall.ENOSPC.Error()) {
			t.Errorf("%v: %d, %s", args, code, stderr)
		}
	}
	if code := run(t.Context(), []string{"check", "--data", data}, broken{syscall.EPIPE}, &output{}, nil); code != 0 {
		t.Errorf("a reader that has heard enough: %d", code)
	}
}

type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }
