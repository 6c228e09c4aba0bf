package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"github.com/traintravel/traintravel"
)

// A check is one clause of the contract. It is given a new, empty store and
// returns what is wrong with it. That it reports by error instead of failing a
// test is what lets this package's own tests run it on broken stores.
type check struct {
	name string
	run  func(ctx context.Context, s traintravel.Store) error
}

// on runs the check, if the store is what a check is given. One that tests
// share would let most checks fail, each for a reason that misleads.
func (c check) on(ctx context.Context, s traintravel.Store) error {
	if err := isNew(ctx, s); err != nil {
		return err
	}
	return c.run(ctx, s)
}

func isNew(ctx context.Context, s traintravel.Store) error {
	for _, t := range traintravel.Tables() {
		records, err := s.List(ctx, traintravel.Range{Table: t, Limit: 1})
		if err != nil {
			return doing(err, "List of table %v of a new store", t)
		}
		if len(records) > 0 {
			return errors.New("open must return a new, empty store; this one has records")
		}
	}
	return nil
}

// table is where checks write that need only one.
const table = traintravel.TableBookings

func key(id string) traintravel.Key { return traintravel.Key{Table: table, ID: id} }

func keys(ids ...string) []traintravel.Key {
	ks := make([]traintravel.Key, len(ids))
	for i, id := range ids {
		ks[i] = key(id)
	}
	return ks
}

func record(id, value string) traintravel.Record {
	return traintravel.Record{ID: id, Value: []byte(value)}
}

// put writes records in one update.
func put(ctx context.Context, s traintravel.Store, records ...traintravel.Record) error {
	err := s.Update(ctx, func(tx traintravel.Tx) error {
		for _, r := range records {
			tx.Put(key(r.ID), bytes.Clone(r.Value))
		}
		return nil
	})
	return doing(err, "an update that puts %d records", len(records))
}

// holds returns an error unless records are all that the table holds.
func holds(ctx context.Context, s traintravel.Store, records ...traintravel.Record) error {
	got, err := s.List(ctx, traintravel.Range{Table: table})
	if err != nil {
		return doing(err, "List")
	}
	return recordsDiffer("the table's records", records, got)
}

// get reads one value, which it copies; nil if the key is absent.
func get(ctx context.Context, r traintravel.Reader, k traintravel.Key) ([]byte, error) {
	values, err := r.Get(ctx, k)
	if err != nil {
		return nil, err
	}
	if len(values) != 1 {
		return nil, fmt.Errorf("Get of one key returned %d values", len(values))
	}
	return bytes.Clone(values[0]), nil
}

// number reads a key as a number, zero if it is absent. It lets others run
// afterwards, so that a store that mixes closures is found out.
func number(ctx context.Context, r traintravel.Reader, k traintravel.Key) (int, error) {
	value, err := get(ctx, r, k)
	if err != nil || value == nil {
		return 0, err
	}
	runtime.Gosched()
	return parseNumber(k.ID, value)
}

// parseNumber says of a value that is none whose it is: often the store's
// mistake is an absent key that reads as empty.
func parseNumber(id string, value []byte) (int, error) {
	n, err := strconv.Atoi(string(value))
	switch {
	case err == nil:
		return n, nil
	case len(value) == 0:
		return 0, fmt.Errorf("%q: the counter's value is empty, not a number", id)
	}
	return 0, fmt.Errorf("%q: the counter's value is %s, not a number", id, text(value))
}

func digits(n int) []byte { return strconv.AppendInt(nil, int64(n), 10) }

// everyReader calls fn with each kind of Reader there is. What is wrong with
// several of them alike it tells once.
func everyReader(ctx context.Context, s traintravel.Store, fn func(traintravel.Reader) error) error {
	var found []error
	var readers []string // that found it
	for _, c := range []struct {
		reader string
		err    error
	}{
		{"by the Store", fn(s)},
		{"in a View", s.View(ctx, fn)},
		{"in an Update", s.Update(ctx, func(tx traintravel.Tx) error { return fn(tx) })},
	} {
		if c.err == nil {
			continue
		}
		i := slices.IndexFunc(found, func(err error) bool { return err.Error() == c.err.Error() })
		if i >= 0 {
			readers[i] += ", " + c.reader
			continue
		}
		found, readers = append(found, c.err), append(readers, c.reader)
	}
	for i, err := range found {
		found[i] = doing(err, "read %s", readers[i])
	}
	return errors.Join(found...)
}

// together runs fn n times at once and returns when all have. Of the errors,
// which are often all the same, it returns a few.
func together(n int, fn func(i int) error) error {
	var (
		start = make(chan struct{})
		errs  = make([]error, n)
		wg    sync.WaitGroup
	)
	for i := range n {
		wg.Go(func() {
			<-start
			errs[i] = fn(i)
		})
	}
	close(start)
	wg.Wait()
	return distinct(errs)
}
