package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/traintravel/traintravel"
)

// Run proves the behaviour of a store: what reads and updates do when they
// come one at a time. It runs each clause as a parallel subtest on a store of
// its own: open returns a new, empty one, fails the test if it cannot, and
// leaves the cleaning up to t.Cleanup. Every store must pass.
func Run(t *testing.T, open func(t testing.TB) traintravel.Store) {
	t.Helper()
	runAll(t, open, behaviour())
}

// RunConcurrency proves that updates appear to run one after another and that
// views see none of them by half, under real parallel load. It asks of open
// what [Run] does. Every store must pass; run it with the race detector too.
func RunConcurrency(t *testing.T, open func(t testing.TB) traintravel.Store) {
	t.Helper()
	runAll(t, open, concurrency())
}

func behaviour() []check   { return slices.Concat(reading, keeping, viewing, updating, failing) }
func concurrency() []check { return slices.Concat(competing, isolating) }

func runAll(t *testing.T, open func(t testing.TB) traintravel.Store, checks []check) {
	t.Helper()
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := c.run(t.Context(), open(t)); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A check is one clause of the contract. It is given a new, empty store and
// returns what is wrong with it. That it reports by error instead of failing a
// test is what lets this package's own tests run it on broken stores.
type check struct {
	name string
	run  func(ctx context.Context, s traintravel.Store) error
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
	return differ("the table's records", records, got)
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

// everyReader calls fn with each kind of Reader there is.
func everyReader(ctx context.Context, s traintravel.Store, fn func(traintravel.Reader) error) error {
	return errors.Join(
		doing(fn(s), "read by the Store"),
		doing(s.View(ctx, fn), "read in a View"),
		doing(s.Update(ctx, func(tx traintravel.Tx) error { return fn(tx) }), "read in an Update"),
	)
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
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	return errors.Join(errs[:min(len(errs), 3)]...)
}

// differ returns an error that shows how got differs from want, or nil. No
// records and no values are the same whether nil or empty.
func differ(what string, want, got any) error {
	if reflect.DeepEqual(want, got) { // much faster than cmp
		return nil
	}
	w, ok := want.([]traintravel.Record)
	g, ok2 := got.([]traintravel.Record)
	if ok && ok2 {
		from, w, g := excerpt(w, g)
		if from > 0 {
			what = fmt.Sprintf("%s from the one at %d on", what, from)
		}
		want, got = w, g
	}
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		return fmt.Errorf("%s differ (-want +got):\n%s", what, d)
	}
	return nil
}

// excerpt returns the first records that differ, and how many are before.
func excerpt(want, got []traintravel.Record) (from int, w, g []traintravel.Record) {
	for from < min(len(want), len(got)) && want[from].ID == got[from].ID && bytes.Equal(want[from].Value, got[from].Value) {
		from++
	}
	const most = 3
	return from, want[from:min(len(want), from+most)], got[from:min(len(got), from+most)]
}

// doing says what failed, unless err is nil.
func doing(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), err)
}
