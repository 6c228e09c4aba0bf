package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/traintravel/traintravel"
)

// TestTwice: what Twice says of good closures and of bad ones.
func TestTwice(t *testing.T) {
	t.Parallel()
	const otherwise = "did otherwise"
	ctx := t.Context()
	for name, c := range map[string]struct {
		closure func() func(tx traintravel.Tx) error
		says    string // "" is not an error
	}{
		"reads and writes": {func() func(traintravel.Tx) error {
			var result int
			return func(tx traintravel.Tx) (err error) {
				result, err = number(ctx, tx, key("n"))
				tx.Put(key("n"), digits(result+1))
				return err
			}
		}, ""},
		"writes in another order": {func() func(traintravel.Tx) error {
			run := 0
			return func(tx traintravel.Tx) error {
				run++
				tx.Put(key(fmt.Sprint("k", run)), nil)
				tx.Put(key(fmt.Sprint("k", 3-run)), nil)
				return nil
			}
		}, ""},
		"writes what it has read": {func() func(traintravel.Tx) error {
			return func(tx traintravel.Tx) error {
				values, err := tx.Get(ctx, key("n"))
				if err == nil {
					tx.Put(key("copy"), values[0])
				}
				return err
			}
		}, ""},
		"refuses": {func() func(traintravel.Tx) error {
			return func(tx traintravel.Tx) error { tx.Delete(key("n")); return errRefused }
		}, "refused"},
		"reads after writing": {func() func(traintravel.Tx) error {
			return func(tx traintravel.Tx) error {
				tx.Delete(key("n"))
				_, _ = tx.Get(ctx, key("n"))
				return nil
			}
		}, traintravel.ErrReadAfterWrite.Error()},
		"writes another value": {func() func(traintravel.Tx) error {
			run := 0
			return func(tx traintravel.Tx) error { run++; tx.Put(key("n"), digits(run)); return nil }
		}, otherwise},
		"writes another long value": {func() func(traintravel.Tx) error {
			run := 0
			return func(tx traintravel.Tx) error {
				run++
				tx.Put(key("n"), append(make([]byte, 2000), digits(run)...))
				return nil
			}
		}, otherwise},
		"writes another key": {func() func(traintravel.Tx) error {
			run := 0
			return func(tx traintravel.Tx) error { run++; tx.Put(key(fmt.Sprint(run)), nil); return nil }
		}, otherwise},
		"deletes instead": {func() func(traintravel.Tx) error {
			run := 0
			return func(tx traintravel.Tx) error {
				if run++; run > 1 {
					tx.Delete(key("n"))
				} else {
					tx.Put(key("n"), nil)
				}
				return nil
			}
		}, otherwise},
		"refuses the second time": {func() func(traintravel.Tx) error {
			run := 0
			return func(tx traintravel.Tx) error {
				if run++; run > 1 {
					return errRefused
				}
				return nil
			}
		}, otherwise},
		"keeps what it read from the first run": {func() func(traintravel.Tx) error {
			n := -1
			return func(tx traintravel.Tx) (err error) {
				if n < 0 {
					n, err = number(ctx, tx, key("n"))
				}
				tx.Put(key("m"), digits(n))
				return err
			}
		}, otherwise},
		"lists another range": {func() func(traintravel.Tx) error {
			run := 0
			return func(tx traintravel.Tx) error {
				run++
				_, err := tx.List(ctx, traintravel.Range{Table: table, Limit: run})
				return err
			}
		}, otherwise},
		"modifies what it read": {func() func(traintravel.Tx) error {
			return func(tx traintravel.Tx) error {
				values, err := tx.Get(ctx, key("n"))
				if err == nil {
					values[0][0]++
				}
				return err
			}
		}, "modified"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := sound()
			if err := put(ctx, inner, record("n", "7")); err != nil {
				t.Fatal(err)
			}
			before, err := inner.List(ctx, traintravel.Range{Table: table})
			if err != nil {
				t.Fatal(err)
			}
			err = Twice(inner).Update(ctx, c.closure())
			if c.says == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("Update returned %v, want %q in it", err, c.says)
			}
			if err := holds(ctx, inner, before...); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestTwiceWritesOnce: the closure's writes are there, of one run only, with
// the values it put, though they were lent.
func TestTwiceWritesOnce(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), Twice(sound())
	if err := put(ctx, s, record("n", "7")); err != nil {
		t.Fatal(err)
	}
	runs := 0
	err := s.Update(ctx, func(tx traintravel.Tx) error {
		runs++
		values, err := tx.Get(ctx, key("n"))
		if err == nil {
			tx.Put(key("copy"), values[0])
		}
		return err
	})
	if err != nil || runs != 2 {
		t.Fatalf("Update returned %v after %d runs", err, runs)
	}
	if err := holds(ctx, s, record("copy", "7"), record("n", "7")); err != nil {
		t.Error(err)
	}
}

// TestTwiceTakesBack: values do not outlive their closure, in a View neither;
// a View that modifies one fails; and the store is unharmed.
func TestTwiceTakesBack(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), Twice(sound())
	if err := put(ctx, s, record("n", "7")); err != nil {
		t.Fatal(err)
	}
	var kept [][]byte
	keep := func(r traintravel.Reader) error {
		values, err := r.Get(ctx, key("n"))
		records, err2 := r.List(ctx, traintravel.Range{Table: table})
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		kept = append(kept, values[0], records[0].Value)
		return nil
	}
	if err := s.View(ctx, keep); err != nil {
		t.Error(err)
	}
	if err := s.Update(context.Background(), func(tx traintravel.Tx) error { return keep(tx) }); err != nil {
		t.Error(err)
	}
	for i, v := range kept {
		if string(v) == "7" {
			t.Errorf("value %d outlived its closure", i)
		}
	}
	err := s.View(ctx, func(r traintravel.Reader) error {
		records, err := r.List(ctx, traintravel.Range{Table: table})
		if err == nil {
			records[0].Value[0] = 'x'
		}
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "modified") {
		t.Errorf("a View that modified a value returned %v", err)
	}
	if err := holds(ctx, s, record("n", "7")); err != nil {
		t.Error(err)
	}
}
