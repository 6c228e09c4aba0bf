package boltstore

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// Make makes a file at path, completely or not at all: fill writes a draft under another name
// in the same folder; then Make syncs the draft and renames it to path, readable only by its
// owner. If the process is killed, at most a draft remains, whose name begins with that of the
// file. [Open] removes the drafts of its file, and so does Make once its own file exists; a
// Make that is still writing such a draft then fails. [Drafts] lists the drafts in a folder. A
// path must not have the form of a draft's name.
//
// If the file exists, Make does not change it and returns an error that wraps [fs.ErrExist],
// unless replace is set: then Make locks the file meanwhile, and returns [ErrInUse] if a Store
// has it open. Make refuses a symbolic link, because somebody else may have made it; give the
// path that it leads to. A replaced file stays under its other names: see [OneName].
func Make(path string, replace bool, fill func(draft string) error) error {
	if isDraft.MatchString(path) {
		return fmt.Errorf("boltstore: %s has the form of the names of temporary files, which are removed: give another name", path)
	}
	held := false
	publish := func(draft string) error { return link(draft, path) }
	if info, err := os.Lstat(path); err == nil {
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			return fmt.Errorf("boltstore: %s is a symbolic link: give the path that it leads to, or remove it", path)
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
		held = true
		removeDrafts(path) // the lock is held, so no other Make is using them
		publish = func(draft string) error { return os.Rename(draft, path) }
	}
	err := makeAs(path, fill, publish)
	if err != nil && !held && there(path) { // another process made the file first
		err = fs.ErrExist
	}
	if err != nil {
		return fmt.Errorf("boltstore: make %s: %w", path, err)
	}
	removeDrafts(path)
	return nil
}

// OneName returns an error if the file at path has other names (hard links): replacing it
// would replace only one name, and the old data would stay under the others. It returns nil
// if the file does not exist, and on systems that do not report the number of links.
func OneName(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("boltstore: %w", err)
	}
	if n := names(info); n > 1 {
		return fmt.Errorf("boltstore: %s has %d hard links, and the old data would stay under the other names: remove those first (find -samefile lists them)", path, n)
	}
	return nil
}

// resolved is the path of a file without links.
func resolved(path string) string {
	if path, err := filepath.EvalSymlinks(path); err == nil {
		return path
	}
	return path
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// hold keeps a file from being opened. One that is not a file of a store, or damaged,
// nobody can open.
func hold(path string) (release func(), err error) {
	release = func() {}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { _ = recover() }() // bbolt found an invalid page
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
const draftMark = ".traintravel-draft-"

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

// link gives a draft its name, unless a file has that name already.
func link(draft, path string) error {
	err := os.Link(draft, path) // unlike a renaming, it replaces nothing
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if there(path) {
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
	if _, e := os.Stat(path); e == nil { // another process made the file
		return nil
	} else if there(path) {
		return fmt.Errorf("%s is a symbolic link to a file that does not exist: mount or restore that file, or remove the link", path)
	}
	return fmt.Errorf("make %s: %w", path, err)
}

// Drafts returns the paths of the drafts in a folder: files that [Make] or [Compact] is
// writing, or was writing when its process was killed. It cannot tell which of the two.
func Drafts(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	var drafts []string
	for _, e := range entries {
		if isDraft.MatchString(e.Name()) {
			drafts = append(drafts, filepath.Join(dir, e.Name()))
		}
	}
	return drafts, err
}

var isDraft = regexp.MustCompile(`.` + regexp.QuoteMeta(draftMark) + `[0-9a-z]{1,13}$`)

// removeDrafts removes the drafts of who stopped before their files were made.
// Whoever is still at it finds that the file is there by now.
func removeDrafts(path string) {
	path = resolved(path)
	drafts, _ := Drafts(filepath.Dir(path))
	for _, draft := range drafts {
		if strings.HasPrefix(filepath.Base(draft), filepath.Base(path)+draftMark) {
			_ = os.Remove(draft)
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
