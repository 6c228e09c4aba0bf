// Package memstore keeps everything in memory: it is the reference implementation of
// [traintravel.Store], and the store of the examples and the tests. It meets the whole
// contract except durability: its data ends with the process.
//
// Updates run one after another, and views run concurrently with them. A view in progress
// delays the writes of an update, but not its closure; so keep views short.
package memstore

import (
	"context"
	"errors"
	"sync"

	"github.com/traintravel/traintravel"
)

// A Store is a [traintravel.Store] in memory. Only the memory limits its size. It is safe for
// concurrent use. Create one with [New].
type Store struct {
	updates sync.Mutex // held by the update under way, which alone writes

	mu     sync.RWMutex // held for reading by views, and to apply an update
	tables map[traintravel.Table]*table

	claims traintravel.Claims
}

var _ traintravel.LocalStore = (*Store)(nil)

// New returns an empty store. It starts nothing and needs no closing.
func New() *Store {
	s := &Store{tables: make(map[traintravel.Table]*table)}
	for _, t := range traintravel.Tables() {
		s.tables[t] = new(table)
	}
	return s
}

// Claims implements [traintravel.LocalStore].
func (s *Store) Claims() *traintravel.Claims { return &s.claims }

// Get implements [traintravel.Reader] on a snapshot of its own.
func (s *Store) Get(ctx context.Context, keys ...traintravel.Key) (values [][]byte, err error) {
	err = s.View(ctx, func(r traintravel.Reader) (err error) {
		values, err = r.Get(ctx, keys...)
		return err
	})
	return values, err
}

// List implements [traintravel.Reader] on a snapshot of its own.
func (s *Store) List(ctx context.Context, r traintravel.Range) (records []traintravel.Record, err error) {
	err = s.View(ctx, func(reader traintravel.Reader) (err error) {
		records, err = reader.List(ctx, r)
		return err
	})
	return records, err
}

// View implements [traintravel.Store]. Its values stay valid after it returns.
func (s *Store) View(ctx context.Context, fn func(traintravel.Reader) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	r := &reader{tables: s.tables}
	defer r.end()
	return fn(r)
}

// Update implements [traintravel.Store]. The closure runs once, on the
// caller's goroutine. An update whose context has ended when its turn comes
// does not run.
func (s *Store) Update(ctx context.Context, fn func(traintravel.Tx) error) error {
	s.updates.Lock()
	defer s.updates.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	// Nobody else writes until this update is over, so it reads unlocked.
	t := &tx{reader: reader{tables: s.tables}}
	defer t.end()
	err := fn(t)
	if t.err != nil { // whatever the closure makes of it
		return t.err
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range t.writes {
		w.apply(s.tables[w.key.Table])
	}
	return nil
}

// errOver is what a Reader or a Tx says that outlived its closure.
var errOver = errors.New("memstore: a read after the closure has returned")

// reader reads the tables, which must not change before its end.
type reader struct {
	tables map[traintravel.Table]*table // nil at the end
}

func (r *reader) end() { r.tables = nil }

func (r *reader) ready(ctx context.Context) error {
	if r.tables == nil {
		return errOver
	}
	return ctx.Err()
}

func (r *reader) Get(ctx context.Context, keys ...traintravel.Key) ([][]byte, error) {
	if err := r.ready(ctx); err != nil {
		return nil, err
	}
	values := make([][]byte, len(keys))
	for i, k := range keys {
		if t := r.tables[k.Table]; t != nil {
			values[i] = t.get(k.ID)
		}
	}
	return values, nil
}

func (r *reader) List(ctx context.Context, rg traintravel.Range) ([]traintravel.Record, error) {
	if err := r.ready(ctx); err != nil {
		return nil, err
	}
	t := r.tables[rg.Table]
	if t == nil {
		return nil, nil
	}
	return t.list(rg), nil
}

// tx is a reader that refuses to read once it has written.
type tx struct {
	reader
	writes []write
	err    error // the first mistake of the closure: it fails the update
}

func (t *tx) Get(ctx context.Context, keys ...traintravel.Key) ([][]byte, error) {
	if err := t.deciding(); err != nil {
		return nil, err
	}
	return t.reader.Get(ctx, keys...)
}

func (t *tx) List(ctx context.Context, r traintravel.Range) ([]traintravel.Record, error) {
	if err := t.deciding(); err != nil {
		return nil, err
	}
	return t.reader.List(ctx, r)
}

// deciding returns an error, and fails the update, after the first write.
func (t *tx) deciding() error {
	if len(t.writes) == 0 {
		return nil
	}
	t.fail(traintravel.ErrReadAfterWrite)
	return traintravel.ErrReadAfterWrite
}

func (t *tx) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

func (t *tx) Put(key traintravel.Key, value []byte) {
	if value == nil {
		value = []byte{} // nil would read as absent
	}
	t.write(write{key, value[:len(value):len(value)]})
}

func (t *tx) Delete(key traintravel.Key) { t.write(write{key: key}) }

func (t *tx) write(w write) {
	if err := traintravel.CheckKey(w.key, w.value); err != nil {
		t.fail(err)
	}
	t.writes = append(t.writes, w)
}

// A write puts a value or, where that is nil, deletes the key.
type write struct {
	key   traintravel.Key
	value []byte
}

func (w write) apply(t *table) {
	if w.value == nil {
		t.delete(w.key.ID)
	} else {
		t.put(w.key.ID, w.value)
	}
}
