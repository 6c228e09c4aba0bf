package main

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/keys"
)

// startFiles are the files that the start of a server has made: a failed start removes them, so
// that the next one, with other settings, finds none of its own making.
type startFiles struct {
	set    settings
	log    *slog.Logger
	absent bool // there was no data file before it was opened

	keys  string        // the keys file, if this start has made it
	store closableStore // nil until it is open
	fresh bool          // this start has made the data file
}

// opened notes the store, and whether this start has made it: no file was there before, and
// nothing was in it after it was locked.
func (f *startFiles) opened(ctx context.Context, store closableStore) {
	f.store = store
	f.fresh = f.absent && !f.set.shared() && empty(ctx, store)
}

// empty says whether a store has no records.
func empty(ctx context.Context, store traintravel.Store) bool {
	for _, table := range traintravel.Tables() {
		if found, err := store.List(ctx, traintravel.Range{Table: table, Limit: 1}); err != nil || len(found) > 0 {
			return false
		}
	}
	return true
}

// end closes the store, and removes what a start that failed has made. Files are removed before
// the store is closed, and unlocked, except on Windows, which removes no open file.
func (f *startFiles) end(ctx context.Context, started bool) (err error) {
	locked := runtime.GOOS == "windows"
	if !started && !locked {
		f.remove(ctx)
	}
	if f.store != nil {
		err = f.store.Close()
	}
	if !started && locked {
		f.remove(ctx)
	}
	return err
}

// remove removes what a failed start has made. The data file is still locked, so that no other
// process has begun to use it.
func (f *startFiles) remove(ctx context.Context) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer stop()
	var files []string
	switch {
	case f.fresh:
		files = append(files, target(f.set.data), f.keys)
	case f.store == nil && (f.set.shared() || !exists(f.set.data)):
		files = append(files, f.keys)
	case f.store != nil:
		// Keys that servers of the data have agreed on are needed.
		if agreed, err := traintravel.Agreed(ctx, f.store); err == nil && agreed == nil {
			files = append(files, f.keys)
		}
	}
	for _, file := range files {
		if file == "" {
			continue
		}
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			f.log.Warn("cannot remove a file of the failed start", "file", file, "error", err)
		}
	}
}

// firstKeys makes the keys for a data file that is still to be made: data that is there and
// has no keys has lost them.
func (p *program) firstKeys(s settings, made *startFiles) error {
	path := s.keysFile(s.keys)
	if old := filepath.Join(filepath.Dir(s.data), oldKeys); s.keys == "" && old != path && exists(old) {
		p.log.Warn("making new keys for the new data file; the keys file beside it belongs to other data", "keys", path, "other", old)
	}
	ring, err := keys.Create(path)
	if err != nil {
		return err
	}
	if ring.Created() {
		made.keys = path
	}
	return s.refuseTaken(ring, path, ring.Use(), s.use(uuid.NewString(), path))
}
