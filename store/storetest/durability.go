package storetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/traintravel/traintravel"
)

// A Durable is a store that can be closed and opened again.
type Durable interface {
	traintravel.Store

	// Close gives back whatever keeps the store from being opened again, and
	// by the time it returns another may open it, in the same process: locks
	// and connections are gone. It has nothing left to write, since Update
	// returned when that was done. The suite calls it once, when no other
	// method runs and none will be called, and takes an error for a failure.
	// A store whose process is killed is opened again without it.
	Close() error
}

// RunDurability proves that what a store has acknowledged is there when it is
// opened again: after a Close, and after its process was killed under load.
//
// open opens the store that is kept at dir, and makes it if there is none. It
// is called several times with one dir, each time after the former store was
// closed or its process killed, and must not close the store by itself. When
// it is first called with a dir, the store has no records. A
// store that is not kept in files derives the name of its place from dir,
// which is a directory of the test's own, and cleans up by t.Cleanup.
//
// To be killed, the test binary starts itself again with -test.run set to t
// alone, so call RunDurability once in a test that does nothing else. A
// TestMain runs in that process too, beside the one in the first: it may print
// what it likes, and must not remove stores. A kill proves that nothing acknowledged
// was left in the process. It does not prove that it would survive a loss of
// power: no test on a running machine can; see to the fsync yourself.
func RunDurability(t *testing.T, open func(t testing.TB, dir string) Durable) {
	t.Helper()
	if dir := os.Getenv(killEnv); dir != "" {
		untilKilled(t, open(t, dir))
		return
	}
	// opener makes sure that the store is new, for which it is opened once more.
	opener := func(t testing.TB, dir string) func() Durable {
		reopen := func() Durable { return open(t, dir) }
		if err := using(reopen, func(s traintravel.Store) error { return isNew(t.Context(), s) }); err != nil {
			t.Fatal(err)
		}
		return reopen
	}
	for _, c := range durable {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := c.run(t.Context(), opener(t, t.TempDir())); err != nil {
				t.Fatal(err)
			}
		})
	}
	test := t.Name()
	t.Run("Killed", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		if err := killed(t.Context(), test, dir, opener(t, dir)); err != nil {
			t.Fatal(err)
		}
	})
}

// durable is checks of which each has a place of its own: open opens the same
// store again and again.
var durable = []struct {
	name string
	run  func(ctx context.Context, open func() Durable) error
}{
	{"Reopen", reopen},
	{"ReopenAfterLoad", reopenAfterLoad},
}

// using opens the store, calls fn and closes the store.
func using(open func() Durable, fn func(s traintravel.Store) error) error {
	s := open()
	err := fn(s)
	return errors.Join(err, doing(s.Close(), "Close"))
}

// reopen: records of every table, with odd keys and values, overwritten and
// deleted, are what they were, time after time; what was refused is not there.
func reopen(ctx context.Context, open func() Durable) error {
	want := make(map[traintravel.Table][]traintravel.Record)
	for _, t := range traintravel.Tables() {
		for i, id := range oddIDs() {
			rec := record(id, fmt.Sprintf("%v %q", t, id))
			switch i % 3 {
			case 0:
				rec.Value = nil
			case 1:
				rec.Value = []byte(strings.Repeat(string(rec.Value), i%20))
			}
			want[t] = append(want[t], rec)
		}
	}
	want[table][0].Value = noise(traintravel.MaxValue)

	write := func(s traintravel.Store, fn func(tx traintravel.Tx)) error {
		return s.Update(ctx, func(tx traintravel.Tx) error { fn(tx); return nil })
	}
	err := using(open, func(s traintravel.Store) error {
		return errors.Join(
			write(s, func(tx traintravel.Tx) {
				for t, records := range want {
					for _, rec := range records {
						tx.Put(traintravel.Key{Table: t, ID: rec.ID}, []byte("overwritten"))
						tx.Put(traintravel.Key{Table: t, ID: "deleted"}, []byte("deleted"))
					}
				}
			}),
			write(s, func(tx traintravel.Tx) {
				for t, records := range want {
					for _, rec := range records {
						tx.Put(traintravel.Key{Table: t, ID: rec.ID}, rec.Value)
						tx.Delete(traintravel.Key{Table: t, ID: "deleted"})
					}
				}
			}),
		)
	})
	if err != nil {
		return err
	}
	for range 3 {
		err := using(open, func(s traintravel.Store) error {
			for t, records := range want {
				got, err := s.List(ctx, traintravel.Range{Table: t})
				if err != nil {
					return err
				}
				if err := recordsDiffer("records", records, got); err != nil {
					return doing(err, "table %v after the store was opened again", t)
				}
			}
			err := s.Update(ctx, func(tx traintravel.Tx) error { scribble(tx); return errRefused })
			if err != errRefused {
				return fmt.Errorf("a refused update returned %v", err)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// reopenAfterLoad: updates from many goroutines, each there after the last has
// returned and the store was closed; and again with more of them.
func reopenAfterLoad(ctx context.Context, open func() Durable) error {
	const workers, each, rounds = 20, 5, 3
	for round := range rounds {
		err := using(open, func(s traintravel.Store) error {
			n, err := number(ctx, s, key("counter"))
			if err != nil {
				return err
			}
			if n != round*workers*each {
				return fmt.Errorf("of %d updates %d are there when the store is opened again", round*workers*each, n)
			}
			return together(workers, func(int) error {
				for range each {
					err := s.Update(ctx, func(tx traintravel.Tx) error {
						n, err := number(ctx, tx, key("counter"))
						if err != nil {
							return err
						}
						tx.Put(key("counter"), digits(n+1))
						return nil
					})
					if err != nil {
						return doing(err, "an increment")
					}
				}
				return nil
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}
