package boltstore

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/traintravel/traintravel"
)

// placed is a store with the record a, and the path of its file.
func placed(t *testing.T) (*Store, string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a file that is open can be neither removed nor moved here")
	}
	path := filepath.Join(t.TempDir(), "traintravel.db")
	s, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Update(t.Context(), put("a")); err != nil {
		t.Fatal(err)
	}
	return s, path
}

// works checks that a store takes updates and says so.
func works(t *testing.T, s *Store, name string) {
	t.Helper()
	if err := errors.Join(s.InPlace(), s.Ready(t.Context()), s.Update(t.Context(), put(name))); err != nil {
		t.Errorf("it takes no updates: %v", err)
	}
}

// refuses checks that a store takes no updates, says why, and that it is not the fault of
// who asks.
func refuses(t *testing.T, s *Store, why string) {
	t.Helper()
	for what, err := range map[string]error{
		"InPlace": s.InPlace(), "Ready": s.Ready(t.Context()), "Update": s.Update(t.Context(), put("refused")),
	} {
		if !errors.Is(err, traintravel.ErrUnavailable) || errors.Is(err, traintravel.ErrUnknownOutcome) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s returned %v, want that it %q", what, err, why)
		}
	}
}

func has(t *testing.T, s *Store, name string, want bool) {
	t.Helper()
	v, err := s.Get(t.Context(), key(name))
	if err != nil || (v[0] != nil) != want {
		t.Errorf("the record %s is %q, %v", name, v, err)
	}
}

func do(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// A file that was removed takes no updates; what it has can be read and backed up.
func TestRemoved(t *testing.T) {
	t.Parallel()
	s, path := placed(t)
	do(t, os.Remove(path))
	refuses(t, s, "was removed or moved")
	has(t, s, "a", true)
	has(t, s, "refused", false)
}

// A file that was moved takes none until it is back, also if another has its name.
func TestMoved(t *testing.T) {
	t.Parallel()
	s, path := placed(t)
	do(t, os.Rename(path, path+".old"))
	refuses(t, s, "was removed or moved")
	other, err := Open(path, nil)
	do(t, err)
	refuses(t, s, "another file has replaced")
	works(t, other, "b")
	do(t, other.Close(), os.Rename(path+".old", path))
	works(t, s, "c")
	has(t, s, "b", false)
	has(t, s, "refused", false)
}

// A backup, in which the heads are the other way round, takes updates as every file.
func TestBackupTakesUpdates(t *testing.T) {
	t.Parallel()
	s, path := placed(t)
	for i := range 2 {
		backup := fmt.Sprint(path, i)
		f, err := os.Create(backup)
		do(t, err, s.Snapshot(t.Context(), func(file io.WriterTo, _ int64) error {
			_, err := file.WriteTo(f)
			return err
		}), f.Close())
		copied, err := Open(backup, nil)
		do(t, err)
		works(t, copied, "b")
		works(t, copied, "c")
		do(t, copied.Close())
		works(t, s, "b")
	}
}

// A link that leads elsewhere, and a folder that is moved, are likewise.
func TestMovedAbove(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	do(t, os.Mkdir(filepath.Join(dir, "real"), 0o700), os.Symlink("real", filepath.Join(dir, "link")))
	s, err := Open(filepath.Join(dir, "link", "traintravel.db"), nil)
	do(t, err)
	t.Cleanup(func() { _ = s.Close() })
	works(t, s, "a")
	do(t, os.Rename(filepath.Join(dir, "real"), filepath.Join(dir, "away")))
	refuses(t, s, "was removed or moved")
	do(t, os.Remove(filepath.Join(dir, "link")), os.Symlink("away", filepath.Join(dir, "link")))
	works(t, s, "b")
}

// A file that another program has written over is neither read nor written, until it is
// opened again, because its content is that of the other program.
func TestWrittenOver(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, path string){
		"with another": func(t *testing.T, path string) { overwrite(t, path, another(t)) },
		"with itself, earlier": func(t *testing.T, path string) {
			overwrite(t, path, path+".backup")
		},
		"with nothing":   func(t *testing.T, path string) { do(t, os.Truncate(path, 0)) },
		"but its heads":  func(t *testing.T, path string) { do(t, os.Truncate(path, int64(2*os.Getpagesize()))) },
		"with a smaller": func(t *testing.T, path string) { do(t, os.WriteFile(path, []byte("no data"), 0o600)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, path := placed(t)
			text, err := os.ReadFile(path)
			do(t, err, os.WriteFile(path+".backup", text, 0o600), s.Update(t.Context(), put("b")))
			spoil(t, path)
			before, err := os.ReadFile(path)
			do(t, err)
			refuses(t, s, "another program has written")
			if _, err := s.Get(t.Context(), key("a")); !errors.Is(err, traintravel.ErrUnavailable) {
				t.Errorf("a read returned %v", err)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("it has written to the other's file")
			}
			do(t, s.Close())
		})
	}
}

// another returns the path of another store's file, which is closed.
func another(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "another.db")
	s, err := Open(path, nil)
	do(t, err)
	for range 5 {
		do(t, s.Update(t.Context(), put("another's")))
	}
	do(t, s.Close())
	return path
}

// overwrite does what cp does.
func overwrite(t *testing.T, path, with string) {
	t.Helper()
	text, err := os.ReadFile(with)
	do(t, err, os.WriteFile(path, text, 0))
}

// A read while the file is truncated returns an error, because the mapped pages no longer
// exist.
func TestTruncatedWhileRead(t *testing.T) {
	t.Parallel()
	read := func(s *Store, path string) func(traintravel.Reader) error {
		return func(r traintravel.Reader) error {
			v, err := r.Get(t.Context(), key("a"))
			do(t, err, os.Truncate(path, 0))
			return errors.New("it has read " + string(v[0]))
		}
	}
	for name, use := range map[string]func(*Store, string) error{
		"View": func(s *Store, path string) error { return s.View(t.Context(), read(s, path)) },
		"Update": func(s *Store, path string) error {
			return s.Update(t.Context(), func(tx traintravel.Tx) error { return read(s, path)(tx) })
		},
		"List": func(s *Store, path string) error {
			do(t, os.Truncate(path, 0))
			_, err := s.List(t.Context(), traintravel.Range{Table: traintravel.TableRuns})
			return err
		},
		"Get": func(s *Store, path string) error {
			do(t, os.Truncate(path, 0))
			_, err := s.Get(t.Context(), key("a"))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, path := placed(t)
			do(t, s.Update(t.Context(), func(tx traintravel.Tx) error {
				tx.Put(key("a"), make([]byte, 2*os.Getpagesize())) // has pages of its own
				return nil
			}))
			if err := use(s, path); !errors.Is(err, traintravel.ErrUnavailable) {
				t.Errorf("it returned %v", err)
			}
			refuses(t, s, "another program has written")
			_ = s.Close() // which does not wait for ever
		})
	}
}

// What happens to the file during a commit makes its outcome unknown: nobody is told that
// it was written.
func TestMovedDuringCommit(t *testing.T) {
	t.Parallel()
	for name, during := range map[string]func(t *testing.T, path string){
		"moved":        func(t *testing.T, path string) { do(t, os.Rename(path, path+".old")) },
		"written over": func(t *testing.T, path string) { overwrite(t, path, another(t)) },
	} {
		for when, commit := range map[string]func(tx *bolt.Tx, during func()) error{
			"before": func(tx *bolt.Tx, during func()) error { during(); return tx.Commit() },
			"after":  func(tx *bolt.Tx, during func()) error { err := tx.Commit(); during(); return err },
		} {
			t.Run(name+" "+when, func(t *testing.T) {
				t.Parallel()
				s, path := placed(t)
				s.commit = func(tx *bolt.Tx) error { return commit(tx, func() { during(t, path) }) }
				if err := s.Update(t.Context(), put("b")); !errors.Is(err, traintravel.ErrUnknownOutcome) {
					t.Errorf("it returned %v", err)
				}
				s.commit = (*bolt.Tx).Commit
				if name == "written over" {
					refuses(t, s, "another program has written")
					return
				}
				refuses(t, s, "was removed or moved")
				do(t, os.Rename(path+".old", path))
				works(t, s, "c")
				has(t, s, "b", true)
			})
		}
	}
}

// What each commit costs more, beside its syncs.
func BenchmarkInPlace(b *testing.B) {
	s, err := Open(filepath.Join(b.TempDir(), "traintravel.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for b.Loop() {
		if err := s.InPlace(); err != nil {
			b.Fatal(err)
		}
	}
}
