package boltstore

import (
	"context"
	"fmt"
	"runtime/debug"

	bolt "go.etcd.io/bbolt"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/group"
)

// A reader reads one snapshot: a transaction of the file and, in an update, what
// the earlier closures of its group have written. Values lie in the memory map.
type reader struct {
	store *Store
	tx    *bolt.Tx // nil when the closure has returned
	over  group.Overlay

	buckets []*bolt.Bucket // by table, opened when first read
	seekers []*bolt.Cursor // likewise: one for all keys that are looked for
}

// Get implements [traintravel.Reader].
func (r *reader) Get(ctx context.Context, keys ...traintravel.Key) (_ [][]byte, err error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	defer caught(&err)()
	values := make([][]byte, len(keys))
	for i, k := range keys {
		values[i] = r.get(k)
	}
	return values, nil
}

func (r *reader) get(k traintravel.Key) []byte {
	if v, known := r.over.Get(k); known {
		return v
	}
	b := r.bucket(k.Table)
	if b == nil {
		return nil
	}
	if r.seekers == nil {
		r.seekers = make([]*bolt.Cursor, len(r.buckets))
	}
	c := r.seekers[k.Table]
	if c == nil {
		c = b.Cursor()
		r.seekers[k.Table] = c
	}
	if found, v := c.Seek([]byte(k.ID)); string(found) == k.ID {
		return v
	}
	return nil
}

// List implements [traintravel.Reader].
func (r *reader) List(ctx context.Context, rg traintravel.Range) (records []traintravel.Record, err error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	defer caught(&err)()
	b := r.bucket(rg.Table)
	if b == nil {
		return nil, nil
	}
	r.over.Records(rg, scan(b.Cursor(), rg), func(id string, value []byte) bool {
		records = append(records, traintravel.Record{ID: id, Value: value})
		if len(records)%1024 == 0 && ctx.Err() != nil {
			err = ctx.Err()
			return false
		}
		return len(records) != rg.Limit
	})
	if err != nil {
		return nil, err
	}
	return records, nil
}

func (r *reader) check(ctx context.Context) error {
	if r.tx == nil {
		return group.ErrDead
	}
	return ctx.Err()
}

// bucket returns the bucket of a table; nil if the table does not exist.
func (r *reader) bucket(t traintravel.Table) *bolt.Bucket {
	if r.buckets == nil {
		r.buckets = make([]*bolt.Bucket, len(r.store.names))
	}
	if int(t) >= len(r.buckets) {
		return nil
	}
	if r.buckets[t] == nil {
		r.buckets[t] = r.store.bucket(r.tx, t)
	}
	return r.buckets[t]
}

// scan returns the records of a range one by one, in its direction.
func scan(c *bolt.Cursor, rg traintravel.Range) func() (id string, value []byte, ok bool) {
	step := c.Next
	if rg.Reverse {
		step = c.Prev
	}
	begun := false
	return func() (string, []byte, bool) {
		var k, v []byte
		if begun {
			k, v = step()
		} else {
			k, v = first(c, rg)
			begun = true
		}
		switch {
		case k == nil,
			!rg.Reverse && rg.To != "" && string(k) >= rg.To,
			rg.Reverse && string(k) < rg.From:
			return "", nil, false
		}
		return string(k), v, true
	}
}

// first moves the cursor to the first record of the range in its direction.
func first(c *bolt.Cursor, rg traintravel.Range) (k, v []byte) {
	switch {
	case !rg.Reverse && rg.From == "":
		return c.First()
	case !rg.Reverse:
		return c.Seek([]byte(rg.From))
	case rg.To == "":
		return c.Last()
	}
	if k, _ := c.Seek([]byte(rg.To)); k == nil {
		return c.Last()
	}
	return c.Prev()
}

// caught is to be deferred, called, by who reads pages that may be damaged.
func caught(err *error) func() {
	before := debug.SetPanicOnFault(true) // a damaged page may point anywhere
	return func() {
		debug.SetPanicOnFault(before)
		if p := recover(); p != nil { // bbolt found an invalid page
			*err = fmt.Errorf("damaged: %v", p)
		}
	}
}
