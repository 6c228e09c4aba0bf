package officetest

import (
	"bytes"
	"context"
	"testing"

	"github.com/traintravel/traintravel"
)

// Everything is all that a store holds, but for what says whom it serves.
func Everything(t Tester, store traintravel.Store) map[traintravel.Key]string {
	t.Helper()
	all := map[traintravel.Key]string{}
	for _, table := range traintravel.Tables() {
		records, err := store.List(t.Context(), traintravel.Range{Table: table})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			if table != traintravel.TableMeta || r.ID != "closed" && r.ID != "origin" {
				all[traintravel.Key{Table: table, ID: r.ID}] = string(r.Value)
			}
		}
	}
	return all
}

// OnEveryStoreCase is onEveryStore for one of several cases.
func OnEveryStoreCase(t *testing.T, name string, test func(t *testing.T, store traintravel.Store)) {
	t.Run(name, func(t *testing.T) { OnEveryStore(t, test) })
}

// On opens an office on another store.
func (o *Office) On(store traintravel.Store, options ...func(*traintravel.Options)) *Office {
	p := *o
	p.Store = store
	q := p.Another(options...)
	p.Service = q.Service
	p.Clock = q.Clock
	return &p
}

// Interposed runs something before each update, and after each list.
type Interposed struct {
	traintravel.Store
	Before func()
	Listed func(traintravel.Range)
}

func (s *Interposed) Update(ctx context.Context, fn func(traintravel.Tx) error) error {
	if s.Before != nil {
		s.Before()
	}
	return s.Store.Update(ctx, fn)
}

func (s *Interposed) List(ctx context.Context, r traintravel.Range) ([]traintravel.Record, error) {
	records, err := s.Store.List(ctx, r)
	if s.Listed != nil {
		s.Listed(r)
	}
	return records, err
}

// Spoil makes a record one that a newer version has written, or a damaged one. The
// function that it returns puts it back.
func Spoil(t Tester, store traintravel.Store, key traintravel.Key, newer bool) (restore func()) {
	t.Helper()
	v, err := store.Get(t.Context(), key)
	if err != nil || v[0] == nil {
		t.Fatalf("%v: %v", key, err)
	}
	put := func(b []byte) {
		t.Helper()
		if err := store.Update(t.Context(), func(tx traintravel.Tx) error { tx.Put(key, b); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if newer {
		put(append([]byte{v[0][0] + 100}, v[0][1:]...))
	} else {
		put(bytes.Repeat([]byte{1}, 3))
	}
	return func() { put(v[0]) }
}
