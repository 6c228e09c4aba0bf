package boltstore

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// Make makes a file at path, whole or not at all: fill writes it under another name in
// the same folder; then it is synced and, readable by its owner alone, gets its own.
// Whoever stops half-way leaves at most a file of the other name, which begins like it
// and which Open removes.
//
// A file that is there already is left as it is, with an error that wraps
// [fs.ErrExist], unless it is to be replaced: then it is kept locked meanwhile, and one
// that a Store has open is refused with [ErrInUse].
func Make(path string, replace bool, fill func(draft string) error) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	publish := func(draft string) error { return link(draft, path) }
	if info, err := os.Lstat(path); err == nil {
		switch {
		case !info.Mode().IsRegular():
			return fmt.Errorf("boltstore: %s is not a regular file", path)
		case !replace:
			return fmt.Errorf("boltstore: %s: %w", path, fs.ErrExist)
		}
		release, err := hold(path)
		if err != nil {
			return fmt.Errorf("boltstore: %w", err)
		}
		defer release()
		publish = func(draft string) error { return os.Rename(draft, path) }
	}
	if err := makeAs(path, fill, publish); err != nil {
		return fmt.Errorf("boltstore: make %s: %w", path, err)
	}
	return nil
}

// hold keeps a file from being opened. One that is no file of a store, or damaged,
// nobody can open.
func hold(path string) (release func(), err error) {
	release = func() {}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { _ = recover() }() // bbolt found a page that is none
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: time.Second})
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return nil, fmt.Errorf("%s %w", path, ErrInUse)
	case err == nil:
		release = func() { _ = db.Close() }
	}
	return release, nil
}

// draftMark is between the name of a file and the rest of that of its draft.
const draftMark = ".new-"

// makeAs has a file written and synced under another name, and then published.
func makeAs(path string, fill, publish func(draft string) error) error {
	draft := path + draftMark + strconv.FormatUint(rand.Uint64(), 36)
	defer os.Remove(draft) // gone already if it was renamed
	if err := fill(draft); err != nil {
		return err
	}
	f, err := os.OpenFile(draft, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Chmod(0o600), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := publish(draft); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// link gives a draft its name, if there is no file of that name.
func link(draft, path string) error {
	err := os.Link(draft, path) // unlike a renaming, it replaces nothing
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, statErr := os.Lstat(path); statErr == nil {
		return fs.ErrExist
	}
	return os.Rename(draft, path) // a file system without links
}

// makeFile makes a new file of no records. If another process makes it at the same
// time, the first one's is it.
func makeFile(path string) error {
	err := makeAs(path, func(draft string) error {
		db, err := bolt.Open(draft, 0o600, nil) // writes and syncs an empty one
		if err != nil {
			return err
		}
		return db.Close()
	}, func(draft string) error { return link(draft, path) })
	if err == nil {
		return nil
	}
	if _, statErr := os.Lstat(path); statErr == nil { // somebody else has made it
		return nil
	}
	return fmt.Errorf("make %s: %w", path, err)
}

// removeDrafts removes the drafts of who stopped before their files were made.
// Whoever is still at it finds that the file is there by now.
func removeDrafts(path string) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(path)+draftMark) {
			_ = os.Remove(filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
}

// syncDir makes the entry of a new file durable.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" { // has no such thing
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
