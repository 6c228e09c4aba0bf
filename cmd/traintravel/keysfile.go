package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/pflag"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/agreed"
	"github.com/traintravel/traintravel/internal/keys"
)

// All commands find the keys file of data by the rule in this file.
//
// It is the file that --keys names; or the one named after the data file; or, beside an older
// data file, the one with the name that all keys files once had; or a new one named after the
// data file. A keys file names the data that it belongs to. It can be used for no other as
// long as that data exists, unless it is copied or moved to another path.

// oldKeys is the name that each keys file once had. It is also the own one of the default
// data file, and the one of databases.
const oldKeys = "traintravel.keys.json"

func keysFlag(f *pflag.FlagSet, keys *string) {
	f.StringVar(keys, "keys", "", "keys `file` (default: beside the data file and named after it, as traintravel.keys.json for traintravel.db; with --postgres traintravel.keys.json in the working folder)")
}

// checkKeysFlag returns an error unless file can be the path of a keys file.
func checkKeysFlag(file string) error {
	if strings.Contains(file, "://") {
		return usagef("invalid --keys %.200q: want a file, not a URL", withoutSecrets(file))
	}
	return nil
}

// ownKeys is the keys file that is named after a data file.
func ownKeys(data string) string { return strings.TrimSuffix(data, ".db") + ".keys.json" }

// keysFile is where the keys are, or are to be made. The flag, if given, says so alone.
func (s *storage) keysFile(flag string) string {
	switch {
	case flag != "":
		return flag
	case s.shared():
		return oldKeys
	}
	own, dir := ownKeys(s.data), filepath.Dir(s.data)
	old := filepath.Join(dir, oldKeys)
	switch {
	case exists(own) || !exists(old):
		return own
	case !exists(s.data) || exists(filepath.Join(dir, defaultData)): // it was made for other data
		return own
	}
	if ring, err := keys.Load(old); err == nil && taken(ring.Use(), s.use("", old)) {
		return own
	}
	return old
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// use is what a keys file would record about this data. The ID may be unknown.
func (s *storage) use(id, file string) keys.Use {
	u := keys.Use{ID: id, Keys: wherever(file)}
	if !s.shared() {
		u.Data = wherever(s.data)
	}
	return u
}

// wherever is the absolute path of a file, without links.
func wherever(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	} else if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return path
}

// taken says whether a keys file serves data that is other than that of now. Data that
// moved from a file to a database or back keeps its ID, and so it does in each copy.
func taken(was, now keys.Use) bool {
	switch {
	case was.Keys == "" || was.Keys != now.Keys:
		return false // it was not used yet, or is a copy, or was moved
	case was.Data == "":
		return was.ID != now.ID && (now.ID != "" || now.Data != "")
	case was.Data == now.Data || !exists(was.Data) || sameFile(was.Data, now.Data) || freed(was):
		return false
	}
	return now.Data != "" || was.ID != now.ID
}

// freed says whether the data that a keys file served has meanwhile got its own.
func freed(was keys.Use) bool {
	own := wherever(ownKeys(was.Data))
	return own != was.Keys && exists(own)
}

// refuseTaken returns an error that says what to do if a keys file serves other data.
func (s *storage) refuseTaken(ring *keys.Ring, file string, was, now keys.Use) error {
	if !taken(was, now) {
		return nil
	}
	other, rename := "another database", ""
	if was.Data != "" {
		other = "the data file " + was.Data
		if own := ownKeys(was.Data); wherever(own) != was.Keys {
			rename = own
		}
	}
	var do string
	switch own := ownKeys(s.data); {
	case !s.shared() && wherever(own) != now.Keys:
		do = fmt.Sprintf("give this data its own keys file, %s: if its servers have used %s, copy that ('cp -p'); else leave out --keys and serve makes one", shellWord(own), shellWord(file))
	case rename != "":
		do = fmt.Sprintf("give that data its own keys file: 'mv %s %s', or 'cp -p' if servers of both have used it", shellWord(file), shellWord(rename))
	default:
		do = fmt.Sprintf("give --keys another file: a copy of %s ('cp -p') if servers of this data have used that, else a new name", shellWord(file))
	}
	return fmt.Errorf("the keys file %s belongs to %s, and two data may not share one: %s", file, other, do)
}

// ring reads the keys file that belongs to the data, for a command that leaves the data
// alone.
func (s *storage) ring(flag string) (*keys.Ring, string, error) {
	if err := checkKeysFlag(flag); err != nil {
		return nil, "", err
	}
	path := s.keysFile(flag)
	ring, err := keys.Load(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, path, noKeysFile(path)
	}
	if err != nil {
		return nil, path, err
	}
	if flag != "" && !s.given {
		return ring, path, nil // whatever it serves
	}
	return ring, path, s.refuseTaken(ring, path, ring.Use(), s.use("", path))
}

func noKeysFile(path string) error {
	return fmt.Errorf("keys file %s not found: start '%s serve' once, which makes it, or name the file with --data or --keys", path, ourName())
}

// serverKeys reads the keys that a server of a store is to have, or makes them if the
// store has had no server yet, or is to have new ones.
func (s *settings) serverKeys(ctx context.Context, store traintravel.Store) (*keys.Ring, error) {
	before, err := agreed.Read(ctx, store)
	if err != nil {
		return nil, s.explain(err)
	}
	path := s.keysFile(s.keys)
	if before != nil && !s.newKeys && !exists(path) {
		return nil, s.lostKeys(path, *before)
	}
	ring, err := keys.Create(path)
	if err != nil {
		return nil, err
	}
	return ring, s.refuseTaken(ring, path, ring.Use(), s.use(agreed.ID(before, ring, uuid.NewString()), path))
}

// lostKeys says what to do about a keys file that is not there, though servers of the data
// had one.
func (s *settings) lostKeys(path string, before agreed.Record) error {
	found := ""
	beside, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*.keys.json"))
	for _, file := range beside {
		if ring, err := keys.Load(file); err == nil && (agreed.Record{Prints: ring.Prints()}).Agrees(before, true) {
			found = fmt.Sprintf(" (%s has the same keys: 'cp -p %[1]s %s')", shellWord(file), shellWord(path))
			break
		}
	}
	return fmt.Errorf("keys file %s not found, and servers of %s have used one: copy their keys file to %[1]s%[3]s; or, if it is lost, start once with --new-keys", path, s.named(), found)
}

// claim records in a keys file which data it serves, unless it serves other data. A keys
// file that cannot be written is used as it is.
func (p *program) claim(ctx context.Context, s settings, store traintravel.Store, ring *keys.Ring) error {
	recorded, err := agreed.Read(ctx, store)
	if err != nil {
		return s.explain(err)
	}
	path := s.keysFile(s.keys)
	now := s.use(recorded.ID, path)
	var refused error
	err = ring.Claim(now, func(was keys.Use) error {
		refused = s.refuseTaken(ring, path, was, now)
		return refused
	})
	if refused != nil {
		return refused
	}
	if err != nil {
		p.log.Warn("cannot record in the keys file which data it belongs to", "keys", path, "error", err)
	}
	return nil
}
