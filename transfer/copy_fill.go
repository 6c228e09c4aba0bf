package transfer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"slices"

	"github.com/traintravel/traintravel/store"
)

// fill replaces the content of the target with that of the source, as read by from.
func (c *copying) fill(ctx context.Context, from store.Reader) error {
	err := EachRecord(ctx, c.to, func(t store.Table, page []store.Record) error { // of a copy that broke off
		return c.update(ctx, func(tx store.Tx) {
			for _, r := range page {
				tx.Delete(store.Key{Table: t, ID: r.ID})
			}
		})
	})
	if err != nil {
		return fmt.Errorf("clearing the target: %w", err)
	}
	source, err := c.tallies(ctx, from, nil)
	if err != nil {
		return fmt.Errorf("reading the source: %w", err)
	}
	for _, t := range source {
		c.total += 2 * t.records // to copy, and to verify
	}
	c.tell(0)
	copied, err := c.tallies(ctx, from, func(t store.Table, page []store.Record) error { return c.write(ctx, t, page) })
	if err != nil {
		return fmt.Errorf("copying: %w", err)
	}
	there, err := c.tallies(ctx, c.to, func(_ store.Table, page []store.Record) error {
		c.tell(len(page))
		return nil
	})
	if err != nil {
		return fmt.Errorf("verifying: %w", err)
	}
	for _, t := range store.Tables() {
		if a, b := source[t], copied[t]; a != b {
			return fmt.Errorf("the table %v of the source has changed meanwhile: %v, then %v", t, a, b)
		}
		if a, b := source[t], there[t]; a != b {
			return fmt.Errorf("the copy of the table %v is not what the source holds: %v, not %v", t, b, a)
		}
	}
	return nil
}

func (c *copying) tell(records int) {
	c.done += int64(records)
	c.progress(c.done, c.total)
}

// write writes a page of records, in one update or several.
func (c *copying) write(ctx context.Context, t store.Table, page []store.Record) error {
	for len(page) > 0 {
		n, size := 0, 0
		for n < len(page) && (n == 0 || size+len(page[n].Value) <= store.PageBytes) {
			size += len(page[n].Value)
			n++
		}
		part := page[:n]
		page = page[n:]
		err := c.update(ctx, func(tx store.Tx) {
			for _, r := range part {
				tx.Put(store.Key{Table: t, ID: r.ID}, bytes.Clone(r.Value)) // which may be a view's
			}
		})
		if err != nil {
			return err
		}
		c.tell(n)
	}
	return nil
}

// A tally is what two copies of a table have in common.
type tally struct {
	records int64
	sum     [sha256.Size]byte
}

// String returns a short text for people.
func (t tally) String() string { return fmt.Sprintf("%d records, %x", t.records, t.sum[:4]) }

// tallies reads a store, hands its records to fn if there is one, and says what
// they were.
func (c *copying) tallies(ctx context.Context, r store.Reader, fn func(store.Table, []store.Record) error) (all [store.TableEnd]tally, err error) {
	sums := [store.TableEnd]hash.Hash{}
	err = EachRecord(ctx, r, func(t store.Table, page []store.Record) error {
		if sums[t] == nil {
			sums[t] = sha256.New()
		}
		var b []byte
		for _, rec := range page {
			b = binary.AppendUvarint(b[:0], uint64(len(rec.ID)))
			b = append(b, rec.ID...)
			b = binary.AppendUvarint(b, uint64(len(rec.Value)))
			sums[t].Write(append(b, rec.Value...))
		}
		all[t].records += int64(len(page))
		if fn == nil {
			return nil
		}
		return fn(t, page)
	})
	for t, sum := range sums {
		if sum != nil {
			sum.Sum(all[t].sum[:0])
		}
	}
	return all, err
}

// EachRecord calls fn with all records of a store, page by page, except those that mark the
// store as closed or moved.
func EachRecord(ctx context.Context, r store.Reader, fn func(store.Table, []store.Record) error) error {
	for _, t := range store.Tables() {
		err := store.EachPage(ctx, r, store.Range{Table: t}, func(page []store.Record) error {
			page = slices.DeleteFunc(page, func(rec store.Record) bool {
				k := store.Key{Table: t, ID: rec.ID}
				return k == ClosedKey() || k == OriginKey()
			})
			if len(page) == 0 {
				return nil
			}
			return fn(t, page)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
