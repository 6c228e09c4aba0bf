package boltstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	bolt "go.etcd.io/bbolt"
)

// Snapshot calls fn with the content of the file at one instant, and its size in bytes.
// Updates continue meanwhile. A file that fn writes from the content has the same records.
// Space that updates free meanwhile cannot be used again before fn returns.
func (s *Store) Snapshot(ctx context.Context, fn func(file io.WriterTo, size int64) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.view(func(r *reader) error { return fn(r.tx, r.tx.Size()) })
}

// Compact rewrites the file at path without the space of deleted records, and returns its
// size in bytes before and after. No Store may have the file open, and the disk needs space
// for the new file, which replaces the old one when it is complete. Compact refuses a file
// with other names: see [OneName].
func Compact(ctx context.Context, path string) (before, after int64, err error) {
	s, err := Open(path, nil)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return s.compact(ctx)
}

func (s *Store) compact(ctx context.Context) (before, after int64, err error) {
	path := resolved(s.path)
	if err := OneName(path); err != nil {
		return 0, 0, err
	}
	if before, err = size(path); err != nil {
		return 0, 0, err
	}
	err = makeAs(path, func(draft string) error {
		db, err := bolt.Open(draft, 0o600, &bolt.Options{NoSync: true, FreelistType: bolt.FreelistArrayType, NoStatistics: true})
		if err != nil {
			return err
		}
		err = compacted(ctx, db, s.db)
		if err := errors.Join(err, db.Close()); err != nil {
			return err
		}
		after, err = size(draft)
		return err
	}, func(draft string) error { return os.Rename(draft, path) })
	if err != nil {
		return 0, 0, fmt.Errorf("boltstore: compact %s: %w", s.path, err)
	}
	return before, after, nil
}

// compacted copies all buckets in the order of their keys, so that pages are full. The
// store's own is the last: without it, what was copied half is not a file of a store.
func compacted(ctx context.Context, to, from *bolt.DB) (err error) {
	defer caught(&err)()
	return from.View(func(src *bolt.Tx) error {
		err := src.ForEach(func(name []byte, b *bolt.Bucket) error {
			if string(name) == ownBucket {
				return nil
			}
			return copyBucket(ctx, to, name, b)
		})
		if err != nil {
			return err
		}
		return copyBucket(ctx, to, []byte(ownBucket), src.Bucket([]byte(ownBucket)))
	})
}

func copyBucket(ctx context.Context, to *bolt.DB, name []byte, b *bolt.Bucket) error {
	const most = 8 << 20 // bytes in one transaction
	c := b.Cursor()
	for k, v, first := []byte(nil), []byte(nil), true; first || k != nil; {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := to.Update(func(dst *bolt.Tx) error {
			d, err := dst.CreateBucketIfNotExists(name)
			if err != nil {
				return err
			}
			d.FillPercent = 0.95 // none comes between; some room is left for changes
			if first {
				k, v = c.First()
				first = false
			}
			for n := 0; k != nil && n < most; k, v = c.Next() {
				if err := d.Put(k, v); err != nil {
					return err
				}
				n += len(k) + len(v)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func size(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
