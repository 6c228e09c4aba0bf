package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/traintravel/traintravel"
)

// reading is what Get and List return.
var reading = []check{
	{"Empty", emptyStore},
	{"Get", getSeveral},
	{"Range", everyRange},
	{"Pages", pages},
	{"Tables", separateTables},
	{"OwnValues", valuesForGood},
}

// emptyStore: a new store holds nothing, in every table.
func emptyStore(ctx context.Context, s traintravel.Store) error {
	return everyReader(ctx, s, func(r traintravel.Reader) error {
		for _, t := range traintravel.Tables() {
			values, err := r.Get(ctx, traintravel.Key{Table: t, ID: "absent"})
			if err != nil {
				return doing(err, "Get of an absent key in table %v", t)
			}
			if len(values) != 1 || values[0] != nil {
				return fmt.Errorf("Get of an absent key in table %v returned %s, want [absent]", t, texts(values))
			}
			records, err := r.List(ctx, traintravel.Range{Table: t})
			if err != nil || len(records) != 0 {
				return fmt.Errorf("List of the empty table %v returned %v, %v", t, records, err)
			}
		}
		return nil
	})
}

// getSeveral: Get answers in the order asked, absent and repeated keys too.
func getSeveral(ctx context.Context, s traintravel.Store) error {
	if err := put(ctx, s, record("a", "1"), record("b", ""), record("c", "3")); err != nil {
		return err
	}
	none := text(nil)
	tooLong := strings.Repeat("a", traintravel.MaxKey+1)
	for _, c := range []struct {
		ask  []string
		want []string // as text shows it
	}{
		{nil, nil},
		{[]string{"b"}, []string{`""`}},
		{[]string{"x"}, []string{none}},
		{[]string{"c", "a", "b"}, []string{`"3"`, `"1"`, `""`}},
		{[]string{"x", "c", "y", "a", "z"}, []string{none, `"3"`, none, `"1"`, none}},
		{[]string{"a", "x", "a", "a", "x", "b", "b"}, []string{`"1"`, none, `"1"`, `"1"`, none, `""`, `""`}},
		{[]string{"A", "a", "aa"}, []string{none, `"1"`, none}},
		{[]string{"", "a", tooLong}, []string{none, `"1"`, none}}, // never written, hence absent
	} {
		err := everyReader(ctx, s, func(r traintravel.Reader) error {
			values, err := r.Get(ctx, keys(c.ask...)...)
			if err != nil {
				return err
			}
			return differ("values", c.want, texts(values))
		})
		if err != nil {
			return doing(err, "Get of %q", c.ask)
		}
	}
	return nil
}

// everyRange: List, for every sensible choice of bounds, order and limit.
func everyRange(ctx context.Context, s traintravel.Store) error {
	var records []traintravel.Record
	longest := strings.Repeat("a", traintravel.MaxKey)
	for _, id := range []string{"a", "aa", longest, "ab", "b", "ba", "c"} {
		records = append(records, record(id, "value of "+id))
	}
	if err := put(ctx, s, records...); err != nil {
		return err
	}
	bounds := []string{"", "0", "a", "a\x00", "a\xff", "aa", "ac", "b", "bb", "c", "c\x00", "d", "\xff",
		longest, longest + "\x00"} // a bound need not be a key
	return everyReader(ctx, s, func(reader traintravel.Reader) error {
		for _, from := range bounds {
			for _, to := range bounds {
				for _, reverse := range []bool{false, true} {
					for _, limit := range []int{0, 1, 2, 6, 7, 8, 1000} {
						r := traintravel.Range{Table: table, From: from, To: to, Reverse: reverse, Limit: limit}
						got, err := reader.List(ctx, r)
						if err != nil {
							return doing(err, "List of %+v", r)
						}
						if err := recordsDiffer("records", selected(records, r), got); err != nil {
							return doing(err, "List of %+v", r)
						}
					}
				}
			}
		}
		return nil
	})
}

// selected is what List must return of records, which are in order.
func selected(records []traintravel.Record, r traintravel.Range) []traintravel.Record {
	var in []traintravel.Record
	for _, rec := range records {
		if r.From <= rec.ID && (r.To == "" || rec.ID < r.To) {
			in = append(in, rec)
		}
	}
	if r.Reverse {
		slices.Reverse(in)
	}
	if r.Limit > 0 && len(in) > r.Limit {
		in = in[:r.Limit]
	}
	return in
}

// pages: going through many records page by page, both ways, meets each once,
// though some pages end on the last record.
func pages(ctx context.Context, s traintravel.Store) error {
	var records []traintravel.Record
	for i := range 1500 {
		records = append(records, record(fmt.Sprintf("%04d", i), strings.Repeat("v", i%40)))
	}
	for part := range slices.Chunk(shuffled(records), 300) {
		if err := put(ctx, s, part...); err != nil {
			return err
		}
	}
	for _, size := range []int{1, 7, 100, 500, 1499, 1500, 1501} {
		all := traintravel.Range{Table: table, Limit: size}
		if size == 1 {
			all.From, all.To = "0700", "0800"
		}
		up, err := walk(ctx, s, all, func(last string) traintravel.Range {
			next := all
			next.From = last + "\x00"
			return next
		})
		all.Reverse = true
		down, err2 := walk(ctx, s, all, func(last string) traintravel.Range {
			next := all
			next.To = last
			return next
		})
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		all.Limit, all.Reverse = 0, false
		want := selected(records, all)
		slices.Reverse(down)
		if err := errors.Join(recordsDiffer("records going up", want, up), recordsDiffer("records going down", want, down)); err != nil {
			return doing(err, "in pages of %d", size)
		}
	}
	return nil
}

// walk lists a page after the other, until one is not full.
func walk(ctx context.Context, s traintravel.Reader, r traintravel.Range, next func(last string) traintravel.Range) ([]traintravel.Record, error) {
	var records []traintravel.Record
	for {
		page, err := s.List(ctx, r)
		if err != nil {
			return nil, doing(err, "List of %+v", r)
		}
		records = append(records, page...)
		if len(page) < r.Limit || len(records) > 10_000 {
			return records, nil
		}
		r = next(page[len(page)-1].ID)
	}
}

// shuffled returns records in another order, the same each time.
func shuffled(records []traintravel.Record) []traintravel.Record {
	out := make([]traintravel.Record, 0, len(records))
	const step = 7 // any start modulo step, so each is taken once
	for first := range step {
		for i := first; i < len(records); i += step {
			out = append(out, records[i])
		}
	}
	return out
}

// separateTables: one ID names a record in each table.
func separateTables(ctx context.Context, s traintravel.Store) error {
	tables := traintravel.Tables()
	err := s.Update(ctx, func(tx traintravel.Tx) error {
		for _, t := range tables {
			tx.Put(traintravel.Key{Table: t, ID: "id"}, []byte(t.String()))
		}
		return nil
	})
	if err != nil {
		return doing(err, "an update of all tables")
	}
	gone := tables[len(tables)/2]
	if err := s.Update(ctx, func(tx traintravel.Tx) error {
		tx.Delete(traintravel.Key{Table: gone, ID: "id"})
		return nil
	}); err != nil {
		return doing(err, "an update that deletes")
	}
	return everyReader(ctx, s, func(r traintravel.Reader) error {
		for _, t := range tables {
			want, value := []traintravel.Record{record("id", t.String())}, []byte(t.String())
			if t == gone {
				want, value = nil, nil
			}
			records, err := r.List(ctx, traintravel.Range{Table: t})
			values, err2 := r.Get(ctx, traintravel.Key{Table: t, ID: "id"})
			if err := errors.Join(err, err2); err != nil {
				return err
			}
			if err := errors.Join(
				recordsDiffer("records", want, records),
				differ("values", []string{text(value)}, texts(values)),
			); err != nil {
				return doing(err, "table %v after a record of table %v was deleted", t, gone)
			}
		}
		return nil
	})
}

// valuesForGood: what a Store's own reads return stays what it was, whatever
// is written later.
func valuesForGood(ctx context.Context, s traintravel.Store) error {
	var ids []string
	var records []traintravel.Record
	for i := range 20 {
		ids = append(ids, fmt.Sprintf("%02d", i))
		records = append(records, record(ids[i], strings.Repeat(ids[i], 100)))
	}
	if err := put(ctx, s, records...); err != nil {
		return err
	}
	values, err := s.Get(ctx, keys(ids...)...)
	listed, err2 := s.List(ctx, traintravel.Range{Table: table})
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	for round := range 5 {
		err := s.Update(ctx, func(tx traintravel.Tx) error {
			for i, id := range ids {
				if (i+round)%3 == 0 {
					tx.Delete(key(id))
				} else {
					tx.Put(key(id), bytes.Repeat([]byte{'x'}, 200))
				}
			}
			return nil
		})
		if err != nil {
			return doing(err, "an update that overwrites and deletes")
		}
		if _, err := s.Get(ctx, keys(ids...)...); err != nil {
			return err
		}
		if _, err := s.List(ctx, traintravel.Range{Table: table}); err != nil {
			return err
		}
	}
	var want [][]byte
	for _, r := range records {
		want = append(want, r.Value)
	}
	return errors.Join(
		differ("the values that Get returned, after later updates,", texts(want), texts(values)),
		recordsDiffer("the records that List returned, after later updates,", records, listed),
	)
}
