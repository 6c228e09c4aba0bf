package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/traintravel/traintravel"
)

// wrongUpdate is a store whose Update is made anew for each store.
func wrongUpdate(update func(ctx context.Context, s traintravel.Store, fn func(traintravel.Tx) error) error) func() traintravel.Store {
	return func() traintravel.Store { return &faulty{Store: sound(), update: update} }
}

func wrongWrites(writes func([]trialWrite) []trialWrite) func() traintravel.Store {
	return func() traintravel.Store { return &faulty{Store: sound(), writes: writes} }
}

// applyAll writes what a trial has, whatever became of it.
func applyAll(ctx context.Context, s traintravel.Store, t *trial) error {
	return s.Update(ctx, func(tx traintravel.Tx) error { t.apply(tx); return nil })
}

var wrongUpdates = []mistake{
	{"of several writes the first counts", wrongWrites(func(ws []trialWrite) []trialWrite {
		var out []trialWrite
		seen := make(map[traintravel.Key]bool)
		for _, w := range ws {
			if !seen[w.key] {
				out = append(out, w)
			}
			seen[w.key] = true
		}
		return out
	}), []string{"LastWrite"}},
	{"deletions come after all else", wrongWrites(func(ws []trialWrite) []trialWrite {
		var puts, deletions []trialWrite
		for _, w := range ws {
			if w.value == nil {
				deletions = append(deletions, w)
			} else {
				puts = append(puts, w)
			}
		}
		return append(puts, deletions...)
	}), []string{"LastWrite"}},
	{"deletions are forgotten", wrongWrites(func(ws []trialWrite) []trialWrite {
		var puts []trialWrite
		for _, w := range ws {
			if w.value != nil {
				puts = append(puts, w)
			}
		}
		return puts
	}), []string{"LastWrite", "Keys", "Tables"}},
	{"an update takes a thousand writes", wrongWrites(func(ws []trialWrite) []trialWrite { return ws[:min(len(ws), 1000)] }),
		[]string{"ManyWrites"}},
	{"deleting an absent key is an error", wrongUpdate(func(ctx context.Context, s traintravel.Store, fn func(traintravel.Tx) error) error {
		return s.Update(ctx, func(tx traintravel.Tx) error {
			t := newTrial(tx)
			if err := t.run(fn); err != nil {
				return err
			}
			for _, w := range t.writes {
				if values, err := tx.Get(ctx, w.key); err != nil || w.value == nil && values[0] == nil {
					return errors.Join(err, errors.New("not found"))
				}
			}
			t.apply(tx)
			return nil
		})
	}), []string{"LastWrite"}},
	{"unlawful writes are left out in silence", wrongWrites(func(ws []trialWrite) []trialWrite {
		var lawful []trialWrite
		for _, w := range ws {
			if traintravel.CheckKey(w.key, w.value) == nil {
				lawful = append(lawful, w)
			}
		}
		return lawful
	}), []string{"CheckKey", "Mixed"}},
	{"an update is applied, then run again and applied", wrongUpdate(func(ctx context.Context, s traintravel.Store, fn func(traintravel.Tx) error) error {
		if err := s.Update(ctx, fn); err != nil {
			return err
		}
		return s.Update(ctx, fn)
	}), []string{"Counter", "History"}},
}

var wrongFailures = []mistake{
	{"a refused update is written", wrongUpdate(func(ctx context.Context, s traintravel.Store, fn func(traintravel.Tx) error) error {
		var t *trial
		err := s.Update(ctx, func(tx traintravel.Tx) error { t = newTrial(tx); return t.run(fn) })
		return errors.Join(err, applyAll(ctx, s, t))
	}), []string{"Refusal", "ReadAfterWrite", "Mixed", "Transfers"}},
	{"a refused update is written, and its error is right", wrongUpdate(func(ctx context.Context, s traintravel.Store, fn func(traintravel.Tx) error) error {
		var t *trial
		err := s.Update(ctx, func(tx traintravel.Tx) error { t = newTrial(tx); return t.run(fn) })
		_ = applyAll(ctx, s, t)
		return err
	}), []string{"Refusal", "ReadAfterWrite", "Mixed", "History", "Transfers"}},
	{"Update wraps its closure's error", wrongUpdate(func(ctx context.Context, s traintravel.Store, fn func(traintravel.Tx) error) error {
		return doing(s.Update(ctx, fn), "update")
	}), []string{"Refusal", "LastPlace"}},
	{"a refusal spoils the next update", func() traintravel.Store {
		var spoilt atomic.Bool
		return &faulty{Store: sound(), update: func(ctx context.Context, s traintravel.Store, fn func(traintravel.Tx) error) error {
			if spoilt.Swap(false) {
				return errors.New("the group has failed")
			}
			err := s.Update(ctx, fn)
			spoilt.Store(err != nil)
			return err
		}}
	}, []string{"Refusal", "Mixed"}},
	{"an update sees its own writes", wrongUpdate(func(ctx context.Context, s traintravel.Store, fn func(traintravel.Tx) error) error {
		return s.Update(ctx, func(tx traintravel.Tx) error {
			t := newTrial(tx)
			if err := t.run(func(traintravel.Tx) error { return fn(faultyTx{t.lender.Reader, t}) }); err != nil {
				return err
			}
			t.apply(tx)
			return nil
		})
	}), []string{"ReadAfterWrite"}},
	{"ErrReadAfterWrite is told, and does not fail the update", wrongUpdate(func(ctx context.Context, s traintravel.Store, fn func(traintravel.Tx) error) error {
		return s.Update(ctx, func(tx traintravel.Tx) error {
			t := newTrial(tx)
			err := t.run(fn)
			if err == traintravel.ErrReadAfterWrite {
				err = nil
			}
			t.apply(tx)
			return err
		})
	}), []string{"ReadAfterWrite"}},
	{"a closure's own error goes before ErrReadAfterWrite", wrongUpdate(func(ctx context.Context, s traintravel.Store, fn func(traintravel.Tx) error) error {
		var own error
		err := s.Update(ctx, func(tx traintravel.Tx) error { own = fn(tx); return own })
		if own != nil {
			return own
		}
		return err
	}), []string{"ReadAfterWrite"}},
	{"a panic becomes an error", wrongUpdate(func(ctx context.Context, s traintravel.Store, fn func(traintravel.Tx) error) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v", p)
			}
		}()
		return s.Update(ctx, fn)
	}), []string{"Panic", "Mixed"}},
	{"a panic loses its value", wrongUpdate(func(ctx context.Context, s traintravel.Store, fn func(traintravel.Tx) error) error {
		defer func() {
			if p := recover(); p != nil {
				panic(fmt.Sprint("in a closure: ", p))
			}
		}()
		return s.Update(ctx, fn)
	}), []string{"Panic", "Mixed"}},
	{"an update that panics is written", wrongUpdate(func(ctx context.Context, s traintravel.Store, fn func(traintravel.Tx) error) error {
		var t *trial
		defer func() {
			if p := recover(); p != nil {
				_ = applyAll(ctx, s, t)
				panic(p)
			}
		}()
		return s.Update(ctx, func(tx traintravel.Tx) error {
			t = newTrial(tx)
			err := t.run(fn)
			t.apply(tx)
			return err
		})
	}), []string{"Panic", "Mixed"}},
	{"the context is looked at after the writes", wrongUpdate(func(ctx context.Context, s traintravel.Store, fn func(traintravel.Tx) error) error {
		if err := s.Update(context.WithoutCancel(ctx), fn); err != nil {
			return err
		}
		return ctx.Err()
	}), []string{"Context", "Cancelled"}},
	{"an update whose context has ended is dropped without an error", wrongUpdate(func(ctx context.Context, s traintravel.Store, fn func(traintravel.Tx) error) error {
		err := s.Update(ctx, fn)
		if errors.Is(err, context.Canceled) {
			return nil
		}
		return err
	}), []string{"Context", "Cancelled"}},
	{"a cancelled caller leaves, and his update goes on", wrongUpdate(func(ctx context.Context, s traintravel.Store, fn func(traintravel.Tx) error) error {
		done := make(chan error, 1)
		go func() {
			time.Sleep(time.Millisecond)
			done <- s.Update(context.WithoutCancel(ctx), fn)
		}()
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}), []string{"Cancelled"}},
}

var wrongTogether = []mistake{
	{"updates are not isolated at all", func() traintravel.Store { return newOptimist(false, false) },
		[]string{"LastPlace", "Counter", "FirstOnly", "Transfers", "WriteSkew", "History"}},
	{"snapshot isolation", func() traintravel.Store { return newOptimist(true, false) },
		[]string{"WriteSkew", "FirstOnly", "History"}},
	{"serializable but for ranges", func() traintravel.Store { return newOptimist(true, true) },
		[]string{"FirstOnly"}},
	{"writes are applied one by one", func() traintravel.Store {
		var mu sync.Mutex
		return &faulty{Store: sound(), update: func(ctx context.Context, s traintravel.Store, fn func(traintravel.Tx) error) error {
			mu.Lock()
			defer mu.Unlock()
			var t *trial
			if err := s.View(ctx, func(r traintravel.Reader) error { t = newTrial(r); return t.run(fn) }); err != nil {
				return err
			}
			for _, w := range t.writes {
				if err := applyAll(ctx, s, &trial{writes: []trialWrite{w}}); err != nil {
					return err
				}
				time.Sleep(time.Millisecond)
			}
			return nil
		}}
	}, []string{"Transfers"}},
	{"an update returns before it is applied", func() traintravel.Store {
		return &faulty{Store: sound(), update: func(ctx context.Context, s traintravel.Store, fn func(traintravel.Tx) error) error {
			go func() { _ = s.Update(context.WithoutCancel(ctx), fn) }()
			return nil
		}}
	}, []string{"RealTime", "Refusal"}},
}

// A replica lets views read an old copy, which gets updates four at a time.
type replica struct {
	traintravel.Store
	old traintravel.Store

	mu     sync.Mutex
	behind []*trial
}

func (r *replica) Update(ctx context.Context, fn func(traintravel.Tx) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var t *trial
	err := r.Store.Update(ctx, func(tx traintravel.Tx) error {
		t = newTrial(tx)
		err := t.run(fn)
		t.apply(tx)
		return err
	})
	if err != nil {
		return err
	}
	if r.behind = append(r.behind, t); len(r.behind) == 4 {
		for _, t := range r.behind {
			if err := applyAll(ctx, r.old, t); err != nil {
				return err
			}
		}
		r.behind = nil
	}
	return nil
}

func (r *replica) View(ctx context.Context, fn func(traintravel.Reader) error) error {
	return r.old.View(ctx, fn)
}
