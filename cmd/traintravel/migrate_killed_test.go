package main

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/pgtest"
	"github.com/traintravel/traintravel/store/boltstore"
)

// A process that moves a file is killed at any moment, and run again, until it has
// come to its end. At no moment can servers use both the file and the database, and
// in the end all is in the database.
func TestMigrateKilled(t *testing.T) {
	exe := itself(t)
	t.Parallel()
	dir := t.TempDir()
	data := filepath.Join(dir, "trains.db")
	r := start(t, "serve", "--data", data)
	token := issue(t, "anna", data)
	day := time.Now().AddDate(0, 0, 2).Format(time.DateOnly)
	for range 20 {
		r.book(token, day, "")
	}
	r.stop()
	content, err := os.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	kills, closed := 0, 0
	took := time.Second // about, from start to end
	for begun, rounds := time.Now(), 0; rounds < 2 || rounds < 6 && time.Since(begun) < 10*time.Second; rounds++ {
		if err := os.WriteFile(data, content, 0o600); err != nil {
			t.Fatal(err)
		}
		before := records(t, openBolt(t, data))
		database := pgtest.Shared(t).NewDatabase(t)
		records(t, openDatabase(t, database)) // its tables are there
		for tries, done := 0, false; !done; tries++ {
			var said bytes.Buffer
			cmd := exec.Command(exe, "migrate", "--data", data, "--postgres", database)
			cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), asCommandEnv+"=1"), &said, &said
			began := time.Now()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if tries < 10 {
				kill := time.AfterFunc(rand.N(took), func() { _ = cmd.Process.Kill() })
				defer kill.Stop()
			}
			err := cmd.Wait()
			switch done = err == nil; {
			case done:
				took = time.Since(began)
			case cmd.ProcessState.Exited():
				t.Fatalf("try %d: %v\n%s", tries, err, &said)
			default:
				kills++
			}
			file, pg := usable(t, openBolt(t, data)), usable(t, openDatabase(t, database))
			if file && pg && len(records(t, openDatabase(t, database))) > 0 || done && (file || !pg) {
				t.Fatalf("try %d: the file can be used: %v, the database: %v", tries, file, pg)
			}
			if !file && !pg {
				closed++
			}
		}
		if diff := cmp.Diff(before, records(t, openDatabase(t, database))); diff != "" {
			t.Errorf("the copy is another:\n%s", diff)
		}
	}
	t.Logf("killed %d times, of which %d left both closed", kills, closed)
}

func openBolt(t *testing.T, path string) closableStore {
	t.Helper()
	s, err := boltstore.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func openDatabase(t *testing.T, url string) closableStore {
	t.Helper()
	s, err := openPostgres(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// usable says whether a service may use a store, and closes that.
func usable(t *testing.T, s closableStore) bool {
	t.Helper()
	err := traintravel.Agree(t.Context(), s, func(recorded []byte) ([]byte, error) { return recorded, nil })
	if err != nil && !errors.Is(err, traintravel.ErrMoved) && !errors.Is(err, traintravel.ErrCopying) {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	return err == nil
}

// records returns all records of a store but those that say what it is, and closes that.
func records(t *testing.T, s closableStore) map[traintravel.Key]string {
	t.Helper()
	all := map[traintravel.Key]string{}
	for _, table := range traintravel.Tables() {
		list, err := s.List(t.Context(), traintravel.Range{Table: table})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			if table != traintravel.TableMeta || r.ID != "closed" && r.ID != "origin" {
				all[traintravel.Key{Table: table, ID: r.ID}] = string(r.Value)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	return all
}
