package storetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/traintravel/traintravel"
)

// viewing is that a View returns what its closure does, and sees one moment.
var viewing = []check{
	{"View", viewReturns},
	{"Snapshot", oneSnapshot},
}

// viewReturns: View runs its closure once and returns its error as it is.
func viewReturns(ctx context.Context, s traintravel.Store) error {
	runs, refusal := 0, errors.New("refusal")
	err := s.View(ctx, func(traintravel.Reader) error { runs++; return refusal })
	if err != refusal {
		return fmt.Errorf("View returned %v (%T), not the closure's error as it is", err, err)
	}
	err = s.View(ctx, func(traintravel.Reader) error { runs++; return nil })
	if err != nil || runs != 2 {
		return fmt.Errorf("two views ran their closures %d times; the second returned %v", runs, err)
	}
	return nil
}

// oneSnapshot: an update that runs while a view is under way is not seen by
// half. It may wait for the view, so the view does not wait for it for ever.
func oneSnapshot(ctx context.Context, s traintravel.Store) error {
	if err := put(ctx, s, record("a", "old"), record("b", "old"), record("c", "old")); err != nil {
		return err
	}
	updated := make(chan error, 1)
	err := s.View(ctx, func(r traintravel.Reader) error {
		first, err := r.Get(ctx, keys("a")...)
		if err != nil {
			return err
		}
		go func() {
			updated <- s.Update(ctx, func(tx traintravel.Tx) error {
				tx.Put(key("a"), []byte("new"))
				tx.Put(key("b"), []byte("new"))
				tx.Delete(key("c"))
				tx.Put(key("d"), []byte("new"))
				return nil
			})
		}()
		select {
		case err := <-updated:
			updated <- err
		case <-time.After(50 * time.Millisecond): // it waits, or is slow: nothing is proved
		}
		values, err := r.Get(ctx, keys("a", "b", "c", "d")...)
		records, err2 := r.List(ctx, traintravel.Range{Table: table})
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		return errors.Join(
			differ("what Get returned before an update and after it", []string{`"old"`}, texts(first)),
			differ("values", []string{`"old"`, `"old"`, `"old"`, text(nil)}, texts(values)),
			recordsDiffer("records", []traintravel.Record{record("a", "old"), record("b", "old"), record("c", "old")}, records),
		)
	})
	if err := doing(<-updated, "an update beside a view"); err != nil {
		return err
	}
	if err != nil {
		return doing(err, "a view beside an update")
	}
	return holds(ctx, s, record("a", "new"), record("b", "new"), record("d", "new"))
}
