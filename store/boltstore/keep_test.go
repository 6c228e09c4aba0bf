package boltstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/boltstore"
)

func key(n int) traintravel.Key {
	return traintravel.Key{Table: traintravel.TableBookings, ID: fmt.Sprintf("%08d", n)}
}

// stocked makes a file with so many records.
func stocked(t *testing.T, n int) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "a.db")
	s := opened(t, path, nil)
	for i := 0; i < n; i += 1000 {
		update(t, s, func(tx traintravel.Tx) {
			for j := i; j < min(n, i+1000); j++ {
				tx.Put(key(j), []byte(strings.Repeat("x", 200)))
			}
		})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func opened(t *testing.T, path string, opts *boltstore.Options) *boltstore.Store {
	t.Helper()
	s, err := boltstore.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func update(t *testing.T, s *boltstore.Store, write func(traintravel.Tx)) {
	t.Helper()
	if err := s.Update(t.Context(), func(tx traintravel.Tx) error { write(tx); return nil }); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, s *boltstore.Store) int {
	t.Helper()
	records, err := s.List(t.Context(), traintravel.Range{Table: traintravel.TableBookings})
	if err != nil {
		t.Fatal(err)
	}
	return len(records)
}

var readOnly = &boltstore.Options{ReadOnly: true}

// What a snapshot writes is one instant, whatever is updated while it does.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	s := opened(t, stocked(t, 3000), nil)
	path := filepath.Join(t.TempDir(), "copy.db")
	err := s.Snapshot(t.Context(), func(file io.WriterTo, size int64) error {
		for i := range 3000 {
			if i%2 == 0 && i%100 == 0 {
				update(t, s, func(tx traintravel.Tx) { tx.Delete(key(i)) })
			}
		}
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		n, err := file.WriteTo(f)
		if n != size {
			t.Errorf("%d bytes, not %d", n, size)
		}
		return errors.Join(err, f.Close())
	})
	if err != nil {
		t.Fatal(err)
	}
	c := opened(t, path, readOnly)
	if n := count(t, c); n != 3000 {
		t.Errorf("the snapshot has %d records", n)
	}
	if n := count(t, s); n != 2970 {
		t.Errorf("the store has %d records", n)
	}
	if err := errors.Join(c.CheckPages(t.Context()), s.CheckPages(t.Context())); err != nil {
		t.Error(err)
	}
}

// A file is compacted as a whole, when nobody has it.
func TestCompact(t *testing.T) {
	t.Parallel()
	path := stocked(t, 20_000)
	s := opened(t, path, nil)
	for i := 0; i < 18_000; i += 1000 {
		update(t, s, func(tx traintravel.Tx) {
			for j := i; j < i+1000; j++ {
				tx.Delete(key(j))
			}
		})
	}
	if _, _, err := boltstore.Compact(t.Context(), path); !errors.Is(err, boltstore.ErrInUse) {
		t.Errorf("a file in use: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	if _, _, err := boltstore.Compact(ended, path); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that is over: %v", err)
	}
	before, after, err := boltstore.Compact(t.Context(), path)
	if err != nil || after*5 > before {
		t.Errorf("%d bytes and then %d, %v", before, after, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() != after || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	onlyFile(t, path)
	s = opened(t, path, nil)
	if n := count(t, s); n != 2000 {
		t.Errorf("%d records are left", n)
	}
	if err := s.CheckPages(t.Context()); err != nil {
		t.Error(err)
	}
}

// An Open that waits for a file that is replaced meanwhile opens the new one.
func TestReplacedWhileWaiting(t *testing.T) {
	t.Parallel()
	path, other := stocked(t, 10), stocked(t, 20)
	s := opened(t, path, nil)
	waits := make(chan *boltstore.Store)
	go func() {
		late, err := boltstore.Open(path, &boltstore.Options{LockTimeout: time.Minute})
		if err != nil {
			t.Error(err)
		}
		waits <- late
	}()
	time.Sleep(100 * time.Millisecond) // so that it mostly waits for the old one
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	late := <-waits
	defer late.Close()
	if n := count(t, late); n != 20 {
		t.Errorf("%d records", n)
	}
}

// Make makes a file whole or not at all, and replaces what nobody has.
func TestMake(t *testing.T) {
	t.Parallel()
	path := stocked(t, 10)
	fill := func(draft string) error {
		s, err := boltstore.Open(draft, nil)
		if err != nil {
			return err
		}
		return s.Close()
	}
	if err := boltstore.Make(path, false, fill); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file that is there: %v", err)
	}
	s := opened(t, path, nil)
	if err := boltstore.Make(path, true, fill); !errors.Is(err, boltstore.ErrInUse) {
		t.Errorf("a file in use: %v", err)
	}
	if n := count(t, s); n != 10 {
		t.Errorf("%d records", n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := boltstore.Make(path, true, func(draft string) error {
		return errors.Join(os.WriteFile(draft, []byte("half"), 0o644), broken)
	})
	if !errors.Is(err, broken) {
		t.Errorf("one that cannot be made: %v", err)
	}
	onlyFile(t, path)
	if n := count(t, opened(t, path, readOnly)); n != 10 {
		t.Errorf("%d records", n)
	}
	damaged := filepath.Join(t.TempDir(), "damaged.db")
	for _, content := range []string{"", "no file of a store", strings.Repeat("\xff", 1<<16)} {
		if err := os.WriteFile(damaged, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := boltstore.Make(damaged, true, fill); err != nil {
			t.Errorf("in place of a damaged file: %v", err)
		}
		s := opened(t, damaged, readOnly)
		if n := count(t, s); n != 0 {
			t.Errorf("%d records", n)
		}
		s.Close()
	}
	if err := boltstore.Make(t.TempDir(), true, fill); err == nil {
		t.Error("a folder was replaced")
	}
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(damaged, link); err != nil {
		t.Skip(err)
	}
	before, err := os.ReadFile(damaged)
	if err != nil {
		t.Fatal(err)
	}
	for _, leadsTo := range []string{damaged, filepath.Join(t.TempDir(), "none.db")} {
		if err := errors.Join(os.Remove(link), os.Symlink(leadsTo, link)); err != nil {
			t.Fatal(err)
		}
		for _, replace := range []bool{false, true} {
			if err := boltstore.Make(link, replace, fill); err == nil || !strings.Contains(err.Error(), "symbolic link") {
				t.Errorf("a link to %s: %v", leadsTo, err)
			}
		}
		if to, err := os.Readlink(link); err != nil || to != leadsTo {
			t.Errorf("the link leads to %q, %v", to, err)
		}
	}
	if after, err := os.ReadFile(damaged); err != nil || !bytes.Equal(before, after) {
		t.Errorf("what the link leads to has changed, %v", err)
	}
	if _, err := boltstore.Open(link, nil); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("opened through a link to nothing: %v", err)
	}
	if _, err := os.Stat(link); err == nil {
		t.Error("a data file was made where a link leads")
	}
}

// A store that is read only changes nothing, needs no right to, and is no obstacle to
// another one.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	path := stocked(t, 10)
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	a, b := opened(t, path, readOnly), opened(t, path, readOnly)
	if count(t, a) != 10 || count(t, b) != 10 {
		t.Error("records are missing")
	}
	if err := a.Update(t.Context(), func(tx traintravel.Tx) error { tx.Put(key(1), nil); return nil }); err == nil {
		t.Error("it was written")
	}
	if err := a.CheckPages(t.Context()); err != nil {
		t.Error(err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("it has changed, %v", err)
	}
	if _, err := boltstore.Open(filepath.Join(t.TempDir(), "none.db"), readOnly); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}
