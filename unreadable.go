package traintravel

import (
	"context"
	"errors"
	"slices"
)

// A record may be unreadable: damaged, or written by a newer version beside this one. What
// is about that record alone fails with its error. What goes through many goes on with the
// others, and says how many it has left out. Nothing writes to a record that was not read.

var errMissing = errors.New("a record is missing")

// batch is how many records are looked at together.
const batch = 256

// unreadable says whether an error is of a record, and not of the store or of a rule.
func unreadable(err error) bool {
	return errors.Is(err, ErrNewerData) || errors.Is(err, errDamaged) || errors.Is(err, errMissing)
}

// An omission is a record that an operation has left out.
type omission struct {
	key Key
	err error
}

// omissions are those of an operation. The zero value is none. A closure of Store.Update
// begins with none each time that it runs.
type omissions []omission

func (o *omissions) add(k Key, err error) { *o = append(*o, omission{k, err}) }

// of says whether a record was left out.
func (o omissions) of(k Key) bool {
	return slices.ContainsFunc(o, func(o omission) bool { return o.key == k })
}

// eachOf reads the records of a range page by page and hands those that decode reads to fn,
// until there is no more or fn returns false. It returns what it could not read.
func eachOf[T any](ctx context.Context, r Reader, rg Range, decode func(Record) (T, error), fn func(T) bool) (left omissions, err error) {
	if rg.Limit == 0 {
		rg.Limit = batch
	}
	for {
		page, err := r.List(ctx, rg)
		if err != nil {
			return left, err
		}
		for _, rec := range page {
			v, err := decode(rec)
			if err != nil {
				left.add(Key{rg.Table, rec.ID}, err)
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
