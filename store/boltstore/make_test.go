package boltstore_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/traintravel/traintravel/internal/need"
	"github.com/traintravel/traintravel/store/boltstore"
)

// makesFile, if set, makes the test binary a process that makes a file there.
const makesFile = "TRAINTRAVEL_TEST_MAKES_FILE"

func TestMain(m *testing.M) {
	if path := os.Getenv(makesFile); path != "" {
		_, _ = os.Stdout.WriteString("begins\n")
		s, err := boltstore.Open(path, nil)
		if err != nil || s.Close() != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// onlyFile fails the test unless the file is all there is in its directory.
func onlyFile(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 || entries[0].Name() != filepath.Base(path) {
		t.Errorf("there are %v, %v", entries, err)
	}
}

// A process that is killed while it makes a file leaves none or a complete one.
func TestKilledWhileMaking(t *testing.T) {
	need.Short(t, "processes that are killed")
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new.db")
	for range 40 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), makesFile+"="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.IntN(int(4 * time.Millisecond))))
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		s, err := boltstore.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		onlyFile(t, path)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// Many may make one file at once: one has it, the others are told so.
func TestMadeAtOnce(t *testing.T) {
	t.Parallel()
	for range 20 {
		path := filepath.Join(t.TempDir(), "new.db")
		var wg sync.WaitGroup
		stores := make([]*boltstore.Store, 8)
		errs := make([]error, len(stores))
		for i := range stores {
			wg.Go(func() { stores[i], errs[i] = boltstore.Open(path, &boltstore.Options{LockTimeout: time.Millisecond}) })
		}
		wg.Wait()
		opened := 0
		for i, s := range stores {
			switch {
			case errs[i] == nil:
				opened++
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			case !strings.Contains(errs[i].Error(), "is in use"):
				t.Error(errs[i])
			}
		}
		if opened != 1 {
			t.Errorf("%d have it at once: %v", opened, errors.Join(errs...))
		}
		s, err := boltstore.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		onlyFile(t, path)
	}
}

// A file of two names is not compacted, unless the other is that of the draft that it was,
// which who made it could not remove any more.
func TestTwoNames(t *testing.T) {
	t.Parallel()
	path := stocked(t, 10)
	if err := boltstore.OneName(path); err != nil {
		t.Error(err)
	}
	if err := boltstore.OneName(path + ".none"); err != nil {
		t.Errorf("a file that is not there: %v", err)
	}
	draft := path + ".traintravel-draft-1"
	if err := os.Link(path, draft); err != nil {
		t.Skip(err)
	}
	if _, _, err := boltstore.Compact(t.Context(), path); err != nil {
		t.Errorf("the other name is its draft's: %v", err)
	}
	onlyFile(t, path)
	if runtime.GOOS == "windows" {
		t.Skip("on Windows, boltstore does not count the hard links of a file")
	}
	other := filepath.Join(t.TempDir(), "other.db")
	if err := errors.Join(os.Link(path, other), os.Link(path, other+".too")); err != nil {
		t.Skip(err)
	}
	if _, _, err := boltstore.Compact(t.Context(), other); err == nil || !strings.Contains(err.Error(), other+" has 3 hard links") {
		t.Errorf("a file of three names: %v", err)
	}
	if n := count(t, opened(t, path, readOnly)); n != 10 {
		t.Errorf("%d records", n)
	}
}
