package boltstore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/traintravel/traintravel"
)

// Where no file can be made, nothing is left of the attempt.
func TestDraftsAreRemovedOnFailure(t *testing.T) {
	t.Chdir(t.TempDir())
	const want = "boltstore: the path of the file is empty"
	if _, err := Open("", nil); err == nil || err.Error() != want {
		t.Errorf("Open: %v, want %s", err, want)
	}
	if err := makeFile(""); err == nil { // it has a draft, and cannot get its name
		t.Error("a file without a name was made")
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) > 0 {
		t.Errorf("there are %v, %v", entries, err)
	}
}

// What was left half-way is named, and is gone with the next file of its name. No file
// may have a name like that.
func TestDraftsGo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, other := filepath.Join(dir, "a.db"), filepath.Join(dir, "b.db")
	leave := func() {
		for _, name := range []string{path + ".traintravel-draft-0abc", path + ".traintravel-draft-1z.traintravel-draft-xyz", other + ".traintravel-draft-1", path + ".newer", path + ".traintravel-draft-A"} {
			if err := os.WriteFile(name, []byte("half"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	is := func(want ...string) {
		t.Helper()
		drafts, err := Drafts(dir)
		for i, d := range drafts {
			drafts[i] = strings.TrimPrefix(d, dir+string(filepath.Separator))
		}
		if err != nil || !slices.Equal(drafts, want) {
			t.Errorf("drafts %v, %v, want %v", drafts, err, want)
		}
	}
	fill := func(draft string) error { return os.WriteFile(draft, []byte("whole"), 0o600) }
	leave()
	is("a.db.traintravel-draft-0abc", "a.db.traintravel-draft-1z.traintravel-draft-xyz", "b.db.traintravel-draft-1")
	for _, replace := range []bool{false, true} {
		leave()
		if err := Make(path, replace, fill); err != nil {
			t.Fatal(err)
		}
		is("b.db.traintravel-draft-1")
	}
	leave()
	if err := Make(path, false, fill); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	is("a.db.traintravel-draft-0abc", "a.db.traintravel-draft-1z.traintravel-draft-xyz", "b.db.traintravel-draft-1")
	if err := Make(path, true, func(string) error { return fs.ErrInvalid }); !errors.Is(err, fs.ErrInvalid) {
		t.Error(err)
	}
	is("b.db.traintravel-draft-1") // there is room for the next try
	if err := Make(path+".traintravel-draft-20261128", false, fill); err == nil || !strings.Contains(err.Error(), "give another") {
		t.Errorf("a file with the name of a draft: %v", err)
	}

	// Of two who make a file, one has it, and takes the other's draft away.
	err := Make(other, false, func(draft string) error {
		if err := Make(other, false, fill); err != nil {
			t.Error(err)
		}
		return fill(draft)
	})
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("the second of two: %v", err)
	}
	is()
}

// Compacting follows links, and what was left of it half-way is not a file of a store.
func TestCompactHalf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a.db"), filepath.Join(t.TempDir(), "link.db")
	s, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	half := filepath.Join(dir, "half.db")
	db, err := bolt.Open(half, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	tables := len(traintravel.Tables()) // all are copied then
	if err := compacted(&ends{t.Context(), tables}, db, s.db); !errors.Is(err, context.Canceled) {
		t.Errorf("half-way: %v", err)
	}
	if err := errors.Join(db.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	if s, err := Open(half, nil); err == nil || !strings.Contains(err.Error(), "not a data file of traintravel") {
		t.Errorf("half a copy is opened: %v, %v", s, err)
	}

	if err := errors.Join(os.Remove(half), os.Symlink(path, link), os.WriteFile(path+".traintravel-draft-abc", nil, 0o600)); err != nil {
		t.Skip(err)
	}
	if _, _, err := Compact(t.Context(), link); err != nil {
		t.Error(err)
	}
	if to, err := os.Readlink(link); err != nil || to != path {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("there are %v, %v", entries, err)
	}
}

// An ends is a context that is over when it was asked so often.
type ends struct {
	context.Context
	after int
}

func (e *ends) Err() error {
	if e.after--; e.after < 0 {
		return context.Canceled
	}
	return nil
}
