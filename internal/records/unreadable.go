package records

import (
	"context"
	"errors"
	"slices"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/store"
)

// A record may be unreadable: damaged, or written by a newer version beside this one. What
// is about that record alone fails with its error. What goes through many goes on with the
// others, and says how many it has left out. Nothing writes to a record that was not read.

// ErrMissing is of a record that others lead to and that is not there.
var ErrMissing = errors.New("a record is missing")

// Batch is how many records are looked at together.
const Batch = 256

// Unreadable says whether an error is of a record, and not of the store or of a rule.
func Unreadable(err error) bool {
	return errors.Is(err, codec.ErrNewerData) || errors.Is(err, codec.ErrDamaged) || errors.Is(err, ErrMissing)
}

// An Omission is a record that an operation has left out.
type Omission struct {
	Key store.Key
	Err error
}

// Omissions are those of an operation. The zero value is none. A closure of Store.Update
// begins with none each time that it runs.
type Omissions []Omission

// Add notes a record that was left out, and why.
func (o *Omissions) Add(k store.Key, err error) { *o = append(*o, Omission{k, err}) }

// Of says whether a record was left out.
func (o Omissions) Of(k store.Key) bool {
	return slices.ContainsFunc(o, func(o Omission) bool { return o.Key == k })
}

// EachOf reads the records of a range page by page and hands those that decode reads to fn,
// until there is no more or fn returns false. It returns what it could not read.
func EachOf[T any](ctx context.Context, r store.Reader, rg store.Range, decode func(store.Record) (T, error), fn func(T) bool) (left Omissions, err error) {
	if rg.Limit == 0 {
		rg.Limit = Batch
	}
	for {
		page, err := r.List(ctx, rg)
		if err != nil {
			return left, err
		}
		for _, rec := range page {
			v, err := decode(rec)
			if err != nil {
				left.Add(store.Key{Table: rg.Table, ID: rec.ID}, err)
				continue
			}
			if !fn(v) {
				return left, nil
			}
		}
		if len(page) < rg.Limit {
			return left, nil
		}
		if last := page[len(page)-1].ID; rg.Reverse {
			rg.To = last
		} else {
			rg.From = last + "\x00"
		}
	}
}
