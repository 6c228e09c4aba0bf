// Package boltstore keeps the records of a traintravel service in one file, with
// [go.etcd.io/bbolt]. It is the store to begin with: nothing to install, and
// durable.
//
// When [Store.Update] returns nil, its writes and all it has read are on stable
// storage: written and synced. A process or a machine that stops at any moment
// leaves a file that opens with every update that returned; any other update is in it
// completely or not at all.
//
// Updates that wait at the same time share one commit. While one commit is in progress,
// others queue; the first of them then runs all their closures, one after another, in one
// transaction of the file, and commits once. No update waits for a timer, and no goroutine
// runs between calls. An update whose closure returns an error writes nothing to the disk.
//
// Notes:
//
//   - One file belongs to one Store of one process at a time; [Open] returns [ErrInUse] if
//     another has it. Put the file on a local disk: file locks and memory maps on network
//     file systems are not reliable.
//   - If the file is removed, moved or replaced while it is open, updates fail until it is
//     back in its place. If another program has overwritten it, it is neither read nor
//     written until it is opened again: see [Store.InPlace]. Each update checks this before
//     it returns.
//   - A read sees the file through a memory map. While a View runs, the space
//     that updates free meanwhile cannot be used again, and the file grows: do
//     no slow work in a View.
//   - On a full disk, only the updates that need space fail. If the last sync of a commit
//     fails, its updates return [traintravel.ErrUnknownOutcome], and all later ones fail
//     until the file is opened again.
//   - Small values are cheap. One that is larger than a page, mostly 4 KiB, is
//     rewritten together with one to three of its neighbours.
//   - Deleted records make room for new ones, but the file does not shrink, unless
//     [Compact] rewrites it.
//   - On 64-bit systems other than Windows, 16 GiB of address space are mapped at once,
//     whatever the file's size. This uses no memory.
package boltstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/group"
)

// ErrClosed is returned by every method of a Store after Close.
var ErrClosed = errors.New("boltstore: the store is closed")

// ErrInUse is returned (wrapped) by [Open], [Make] and [Compact] for a file that another
// Store, usually of another process, has open.
var ErrInUse = errors.New("is in use by another process, or another Store of this one")

// Options configures Open. The zero value is valid.
type Options struct {
	// LockTimeout is how long Open waits while another process, or another
	// Store in this one, has the file. Zero means one second; less than zero,
	// not at all.
	LockTimeout time.Duration

	// Committed, if not nil, is called after each commit, or failed one, with how many
	// updates shared it and how long it took. The next commit waits for it to return.
	Committed func(updates int, took time.Duration, err error)
	// ReadOnly opens an existing file without changing it, to read or check it; the file may
	// be write-protected. Several Stores may do so at a time while no other Store has the file
	// open for writing. Updates fail, and damage causes an error, never a panic.
	ReadOnly bool
}

// A Store is a [traintravel.Store] in one file. It is safe for concurrent use.
type Store struct {
	db     *bolt.DB
	path   string
	names  [][]byte // of the buckets, by table
	queue  group.Queue
	commit func(*bolt.Tx) error                             // (*bolt.Tx).Commit, or a test's
	told   func(updates int, took time.Duration, err error) // Options.Committed, or nil
	claims traintravel.Claims

	place   *place
	spoiled atomic.Pointer[error] // why nothing is to be read or written any more
	stuck   atomic.Bool           // bbolt holds a lock that nobody releases
	proof   proof
}

var (
	_ traintravel.LocalStore = (*Store)(nil)
	_ traintravel.ReadyStore = (*Store)(nil)
)

// Open opens the file at path. If it does not exist, Open makes it, readable only by its
// owner; the directory must exist. Nil Options are the zero value.
//
// Open refuses a file from a newer version of this package with an error that wraps
// [traintravel.ErrNewerData]. It also refuses files of other kinds, empty files and damaged
// files, and does not change them.
func Open(path string, opts *Options) (*Store, error) {
	if opts == nil {
		opts = &Options{}
	}
	s := &Store{path: path, commit: (*bolt.Tx).Commit, told: opts.Committed}
	s.names = make([][]byte, 1)
	for _, t := range traintravel.Tables() {
		s.names = append(s.names, []byte(t.String()))
	}
	var err error
	var file *os.File
	if s.db, file, err = openFile(path, *opts); err != nil {
		return nil, fmt.Errorf("boltstore: %w", err)
	}
	if err = s.prepare(); err == nil {
		s.place, err = newPlace(path, file, s.db.Info().PageSize)
	}
	if err != nil {
		return nil, fmt.Errorf("boltstore: %s: %w", path, errors.Join(err, s.db.Close()))
	}
	return s, nil
}

// Close waits for the updates and views under way, and closes the file. Every
// later call is refused with ErrClosed; a second Close does nothing. Close must
// not be called in a closure given to View or Update.
func (s *Store) Close() error {
	if s.stuck.Load() {
		return fmt.Errorf("boltstore: close %s: %w; the file stays open until the process ends", s.path, errWrittenOver)
	}
	s.queue.Close(ErrClosed)
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("boltstore: close %s: %w", s.path, err)
	}
	return nil
}

// Get implements [traintravel.Reader] on a snapshot of its own.
func (s *Store) Get(ctx context.Context, keys ...traintravel.Key) (values [][]byte, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	tx, err := s.read()
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	defer caught(&err)()
	values = make([][]byte, len(keys))
	var (
		table traintravel.Table
		b     *bolt.Bucket
	)
	for i, k := range keys {
		if k.Table != table {
			table, b = k.Table, s.bucket(tx, k.Table)
		}
		if b != nil {
			values[i] = clone(b.Get([]byte(k.ID)))
		}
	}
	return values, nil
}

// bucket returns the bucket of a table; nil if the table does not exist.
func (s *Store) bucket(tx *bolt.Tx, t traintravel.Table) *bolt.Bucket {
	if t == 0 || int(t) >= len(s.names) {
		return nil
	}
	return tx.Bucket(s.names[t])
}

// List implements [traintravel.Reader] on a snapshot of its own.
func (s *Store) List(ctx context.Context, rg traintravel.Range) ([]traintravel.Record, error) {
	var records []traintravel.Record
	err := s.view(func(r *reader) (err error) {
		if records, err = r.List(ctx, rg); err != nil {
			return err
		}
		for i := range records {
			records[i].Value = clone(records[i].Value)
		}
		return nil
	})
	return records, err
}

// Claims implements [traintravel.LocalStore]: a file belongs to one process.
func (s *Store) Claims() *traintravel.Claims { return &s.claims }

// View implements [traintravel.Store].
func (s *Store) View(ctx context.Context, fn func(traintravel.Reader) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.view(func(r *reader) error { return fn(r) })
}

func (s *Store) view(fn func(*reader) error) (err error) {
	tx, err := s.read()
	if err != nil {
		return err
	}
	r := &reader{store: s, tx: tx}
	defer func() {
		r.tx = nil
		_ = tx.Rollback()
	}()
	defer s.faults(&err, nil)()
	return fn(r)
}

// read begins a transaction that reads.
func (s *Store) read() (tx *bolt.Tx, err error) {
	if err := s.spoiled.Load(); err != nil {
		return nil, *err
	}
	return s.open(false)
}

// open begins a transaction of the file. If bbolt faults in it, its locks are held for good.
func (s *Store) open(writable bool) (tx *bolt.Tx, err error) {
	defer s.faults(&err, &s.stuck)()
	if tx, err = s.db.Begin(writable); err != nil {
		return nil, s.readable(err)
	}
	return tx, nil
}

// readable says in our words why a transaction of the file did not begin.
func (s *Store) readable(err error) error {
	if errors.Is(err, berrors.ErrDatabaseNotOpen) {
		return ErrClosed
	}
	return fmt.Errorf("boltstore: %s: %w", s.path, err)
}

// clone copies what lies in the memory map. An empty value stays apart from an
// absent one.
func clone(v []byte) []byte {
	if v == nil {
		return nil
	}
	return append(make([]byte, 0, len(v)), v...)
}
