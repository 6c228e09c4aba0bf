package pgstore

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/group"
)

// errMissing gives a closure up that reads what was not fetched yet. It runs
// again when it was.
var errMissing = errors.New("pgstore: not fetched yet; the closure runs again")

// base is what a group knows of the database, all of one state: that which the
// lock keeps. The zero value knows nothing.
type base struct {
	values map[traintravel.Key][]byte // nil for a key that is absent
	ranges map[traintravel.Range]extent

	wantedKeys   []traintravel.Key
	wantedRanges []traintravel.Range // with the limits to be fetched
	asked        []traintravel.Range // what they are kept under
}

// An extent is what was fetched of a range.
type extent struct {
	records []traintravel.Record
	limit   int // zero is all
}

// queue queues the statements that fetch what is wanted.
func (b *base) queue(q *pgx.Batch) {
	if b.values == nil {
		b.values, b.ranges = map[traintravel.Key][]byte{}, map[traintravel.Range]extent{}
	}
	for _, k := range b.wantedKeys {
		b.values[k] = nil
	}
	if sql, args := selectKeys(b.wantedKeys); sql != "" {
		q.Queue(sql, args...).Query(func(rows pgx.Rows) error {
			return eachKey(rows, func(k traintravel.Key, v []byte) { b.values[k] = v })
		})
	}
	for i, r := range b.wantedRanges {
		asked := b.asked[i]
		b.ranges[asked] = extent{limit: r.Limit}
		if sql, args := selectRange(r); sql != "" {
			q.Queue(sql, args...).Query(func(rows pgx.Rows) error {
				records, err := scanRecords(rows)
				b.ranges[asked] = extent{records, r.Limit}
				return err
			})
		}
	}
	b.wantedKeys, b.wantedRanges, b.asked = nil, nil, nil
}

// has says whether a record that is to be written was read.
func (b *base) has(w group.Write) bool {
	if b.values[traintravel.Key{Table: w.Table, ID: w.ID}] != nil {
		return true
	}
	for r, e := range b.ranges {
		if r.Table == w.Table && slices.ContainsFunc(e.records, func(rec traintravel.Record) bool { return rec.ID == w.ID }) {
			return true
		}
	}
	return false
}

// A reader reads the state of the database and, before it, what the earlier
// closures of the group have written.
type reader struct {
	base    *base
	over    group.Overlay
	fetch   func() error // fetches what is missing, unless the closure is to run again
	missing bool         // something was
	failed  error        // fetch did
}

// want is called when something is missing. If it returns nil, it is no more.
func (r *reader) want() error {
	if r.fetch == nil {
		r.missing = true
		return errMissing
	}
	if r.failed == nil {
		r.failed = r.fetch()
	}
	return r.failed
}

// Get implements [traintravel.Reader].
func (r *reader) Get(ctx context.Context, keys ...traintravel.Key) ([][]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	values := make([][]byte, len(keys))
	if !r.get(keys, values) {
		if err := r.want(); err != nil {
			return nil, err
		}
		r.get(keys, values)
	}
	return values, nil
}

// get reads what is known, and says whether that is all.
func (r *reader) get(keys []traintravel.Key, values [][]byte) (all bool) {
	all = true
	for i, k := range keys {
		v, known := r.over.Get(k)
		if !known {
			v, known = r.base.values[k]
		}
		if !known {
			r.base.wantedKeys = append(r.base.wantedKeys, k)
			all = false
		}
		values[i] = v
	}
	return all
}

// List implements [traintravel.Reader].
func (r *reader) List(ctx context.Context, rg traintravel.Range) ([]traintravel.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	need := rg
	if rg.Limit > 0 { // what is hidden by the overlay does not count
		need.Limit += len(r.over.Within(rg))
	}
	have, ok := r.base.ranges[rg]
	if !ok || len(have.records) == have.limit && have.limit > 0 && have.limit < need.Limit {
		r.base.wantedRanges, r.base.asked = append(r.base.wantedRanges, need), append(r.base.asked, rg)
		if err := r.want(); err != nil {
			return nil, err
		}
		have = r.base.ranges[rg]
	}
	var records []traintravel.Record
	i := 0
	next := func() (string, []byte, bool) {
		if i == len(have.records) {
			return "", nil, false
		}
		i++
		return have.records[i-1].ID, have.records[i-1].Value, true
	}
	r.over.Records(rg, next, func(id string, value []byte) bool {
		records = append(records, traintravel.Record{ID: id, Value: value})
		return len(records) != rg.Limit
	})
	return records, nil
}
