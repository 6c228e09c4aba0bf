package boltstore

import (
	"context"
	"errors"

	bolt "go.etcd.io/bbolt"

	"github.com/traintravel/traintravel"
)

// errDead is returned to closures that let their Reader or Tx out.
var errDead = errors.New("boltstore: a read after the closure returned")

// A reader reads one snapshot: a transaction of the file and, in an update, what
// the earlier closures of its group have written. Values lie in the memory map.
type reader struct {
	store *Store
	tx    *bolt.Tx // nil when the closure has returned
	over  overlay

	buckets []*bolt.Bucket // by table, opened when first read
}

// Get implements [traintravel.Reader].
func (r *reader) Get(ctx context.Context, keys ...traintravel.Key) ([][]byte, error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	values := make([][]byte, len(keys))
	for i, k := range keys {
		values[i] = r.get(k)
	}
	return values, nil
}

func (r *reader) get(k traintravel.Key) []byte {
	if v, known := r.over.get(k); known {
		return v
	}
	b := r.bucket(k.Table)
	if b == nil {
		return nil
	}
	return b.Get([]byte(k.ID))
}

// List implements [traintravel.Reader].
func (r *reader) List(ctx context.Context, rg traintravel.Range) ([]traintravel.Record, error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	b := r.bucket(rg.Table)
	if b == nil {
		return nil, nil
	}
	var (
		records []traintravel.Record
		err     error
	)
	merge(b.Cursor(), r.over.within(rg), rg, func(id string, value []byte) bool {
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
		return errDead
	}
	return ctx.Err()
}

// bucket returns the bucket of a table; nil if there is no such table.
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

// merge yields the records of a range in order, those of the overlay instead of
// those of the file, until yield returns false.
func merge(c *bolt.Cursor, over []write, rg traintravel.Range, yield func(id string, value []byte) bool) {
	k, v := first(c, rg)
	step := c.Next
	if rg.Reverse {
		step = c.Prev
	}
	for i := 0; ; {
		inFile := k != nil && (rg.Reverse || rg.To == "" || string(k) < rg.To) &&
			(!rg.Reverse || string(k) >= rg.From)
		if i == len(over) {
			if !inFile || !yield(string(k), v) {
				return
			}
			k, v = step()
			continue
		}
		w := over[i]
		if rg.Reverse {
			w = over[len(over)-1-i]
		}
		switch {
		case inFile && string(k) == w.id:
			k, v = step() // hidden by w, which comes next
		case inFile && (string(k) < w.id) != rg.Reverse:
			if !yield(string(k), v) {
				return
			}
			k, v = step()
		default:
			if w.value != nil && !yield(w.id, w.value) {
				return
			}
			i++
		}
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
