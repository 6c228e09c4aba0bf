package keys

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// maxSize bounds what is read as a keys file.
const maxSize = 1 << 20

// Load reads a keys file. An error that is [fs.ErrNotExist] says that there is
// none. A file that others may read is refused: its keys are not secret any
// more, and whoever made it so must know.
func Load(path string) (*Ring, error) {
	text, err := read(path)
	if err != nil {
		return nil, err
	}
	r, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("the keys file %s %w", path, err)
	}
	r.path = path
	return r, nil
}

// Create makes a keys file with fresh keys unless there is one, and returns what
// the file holds then. If several processes do so at once, one of them makes the
// file and all return the same keys.
func Create(path string) (*Ring, error) {
	if r, err := Load(path); !errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	fresh, err := New()
	if err != nil {
		return nil, err
	}
	text, err := encode(fresh.members)
	if err != nil {
		return nil, err
	}
	unlock := lock(filepath.Dir(path))
	defer unlock()
	err = write(path, text, func(temporary string) error {
		err := os.Link(temporary, path)
		if err == nil || errors.Is(err, fs.ErrExist) {
			return err
		}
		// The file system has no links. What lock keeps out is kept out.
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return fs.ErrExist
		}
		return os.Rename(temporary, path)
	})
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("making the keys file: %w", err)
	}
	return Load(path)
}

// read returns the text of a keys file that only its owner may read.
func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the keys file: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("the keys file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("the keys file %s is not a file", path)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("the keys file %s has mode %04o, so others may use it: chmod 600 %s", path, mode, path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return nil, fmt.Errorf("the keys file: %w", err)
	}
	if len(text) > maxSize {
		return nil, fmt.Errorf("the keys file %s is larger than %d bytes", path, maxSize)
	}
	return text, nil
}

// write makes a file for its owner alone, complete and synced, under a name of
// its own, and calls publish to give it the name it is to have.
func write(path string, text []byte, publish func(temporary string) error) (err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already if it was renamed
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := publish(f.Name()); err != nil {
		return err
	}
	if d, err := os.Open(dir); err == nil { // so that the name outlives a power cut
		_ = d.Sync() // not every system can
		_ = d.Close()
	}
	return nil
}

// replaceMember changes one member of a keys file as it is now.
func replaceMember(path, name string, v json.RawMessage) error {
	unlock := lock(filepath.Dir(path))
	defer unlock()
	now, err := Load(path)
	if err != nil {
		return err
	}
	if bytes.Equal(now.members[name], v) {
		return nil
	}
	now.members[name] = v
	text, err := encode(now.members)
	if err != nil {
		return err
	}
	return write(path, text, func(temporary string) error { return os.Rename(temporary, path) })
}

func encode(members map[string]json.RawMessage) ([]byte, error) {
	text, err := json.MarshalIndent(members, "", "  ")
	return append(text, '\n'), err
}
