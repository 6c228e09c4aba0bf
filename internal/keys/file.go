package keys

import (
	"bytes"
	"crypto/ecdsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"
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

// Create makes a keys file with fresh keys unless it exists, adds keys that are missing in a
// file from an older version, and returns the content of the file. If several processes call
// it at once, one of them makes the keys and all return the same.
func Create(path string) (*Ring, error) {
	if r, err := Load(path); err == nil && (len(r.tickets) == 0 || len(r.seal) == 0 || r.webhookSecret == "") {
		return completed(path)
	} else if !errors.Is(err, fs.ErrNotExist) {
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
		// The file system has no hard links. The lock excludes other processes.
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return fs.ErrExist
		}
		return os.Rename(temporary, path)
	})
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("making the keys file: %w", err)
	}
	made := err == nil
	r, err := Load(path)
	if err == nil {
		r.created = made
	}
	return r, err
}

// read returns the text of a keys file that only its owner may read.
func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("the keys file: %w", err)
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait for a writer
		return nil, fmt.Errorf("the keys file %s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the keys file: %w", err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, fmt.Errorf("the keys file: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("the keys file %s has mode %04o, so that other users can read or write it: run chmod 600 %s", path, mode, path)
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

// write makes a complete, synced file that only its owner may read, under a temporary name,
// and calls publish to give it its final name.
func write(path string, text []byte, publish func(temporary string) error) (err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		if inner := (*fs.PathError)(nil); errors.As(err, &inner) {
			err = inner.Err // its path is that of the temporary file
		}
		do := "let this user write to the folder " + dir
		if _, missing := os.Stat(dir); missing != nil {
			do = "make the folder " + dir
		}
		return fmt.Errorf("cannot make the file %s: %w: %s, or name another file", path, err, do)
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

// completed makes what a file has not, unless somebody has meanwhile.
func completed(path string) (*Ring, error) {
	err := change(path, func(now *Ring) (map[string]any, error) {
		missing := map[string]any{}
		if len(now.tickets) == 0 {
			key, err := newKey()
			if err != nil {
				return nil, err
			}
			if missing[nameTickets], err = encodeKeys([]*ecdsa.PrivateKey{key}); err != nil {
				return nil, err
			}
		}
		if len(now.seal) == 0 {
			missing[nameSeal] = encodeBytes(random())
		}
		if now.webhookSecret == "" {
			missing[nameWebhook] = newWebhookSecret()
		}
		return missing, nil
	})
	if err != nil {
		return nil, fmt.Errorf("adding keys: %w", err)
	}
	return Load(path)
}

// RotateTickets makes a new key that signs tickets from the next start of a server
// on. Those that were there still verify.
func RotateTickets(path string) error {
	return ChangeTickets(path, func(now []*ecdsa.PrivateKey) ([]*ecdsa.PrivateKey, error) {
		key, err := newKey()
		return slices.Insert(now, 0, key), err
	})
}

// ChangeTickets changes the keys of tickets in a keys file as it is now.
func ChangeTickets(path string, to func(now []*ecdsa.PrivateKey) ([]*ecdsa.PrivateKey, error)) error {
	return change(path, func(now *Ring) (map[string]any, error) {
		keys, err := to(now.tickets)
		if err != nil {
			return nil, err
		}
		encoded, err := encodeKeys(keys)
		return map[string]any{nameTickets: encoded}, err
	})
}

// RotateSigning makes a new key that signs tokens. The one that did still verifies
// until its tokens have run out, at an instant that is given. Those that had run out
// now are gone.
func RotateSigning(path string, now, out time.Time) error {
	return change(path, func(ring *Ring) (map[string]any, error) {
		key, err := newKey()
		if err != nil {
			return nil, err
		}
		ring.retire(ring.signing[0], out)
		left := slices.DeleteFunc(ring.signing, func(k *ecdsa.PrivateKey) bool { return ring.out(k, now) })
		return ring.signed(slices.Insert(left, 0, key))
	})
}

// RemoveSigning removes a key that no longer signs new tokens; tokens that it signed become
// invalid.
func RemoveSigning(path, name string, now time.Time) error {
	return change(path, func(ring *Ring) (map[string]any, error) {
		switch n := slices.IndexFunc(ring.signing, func(k *ecdsa.PrivateKey) bool { return id(k) == name }); n {
		case -1:
			return nil, fmt.Errorf("key %.200q not found", name)
		case 0:
			return nil, fmt.Errorf("key %s signs new tokens: rotate the keys first", name)
		default:
			ring.retire(ring.signing[n], now)
			return ring.signed(slices.Delete(ring.signing, n, n+1))
		}
	})
}

// retire records when tokens of a key have run out. The record outlives the key: by
// it servers know rings that had keys in common.
func (r *Ring) retire(key *ecdsa.PrivateKey, out time.Time) {
	if r.retired == nil {
		r.retired = map[string]time.Time{}
	}
	r.retired[id(key)] = out.UTC().Truncate(time.Second)
}

// signed are the members of a file with these keys that sign tokens.
func (r *Ring) signed(keys []*ecdsa.PrivateKey) (map[string]any, error) {
	encoded, err := encodeKeys(keys)
	return map[string]any{nameSigning: encoded, nameRetired: r.retired}, err
}

// change changes members of a keys file as it is now: of that which a link leads to, lest
// who knows it by its own name goes on with what it was.
func change(path string, to func(now *Ring) (map[string]any, error)) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	unlock := lock(filepath.Dir(path))
	defer unlock()
	now, err := Load(path)
	if err != nil {
		return err
	}
	members, err := to(now)
	if err != nil {
		return err
	}
	changed := false
	for name, v := range members {
		raw, err := json.Marshal(v)
		if err != nil {
			return err
		}
		changed = changed || !bytes.Equal(now.members[name], raw)
		now.members[name] = raw
	}
	if !changed {
		return nil
	}
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
