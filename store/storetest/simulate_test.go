package storetest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/chance"
)

// A sound store passes.
func TestSimulate(t *testing.T) {
	Simulate(t, func(testing.TB) traintravel.Store { return sound() })
}

// forgetful loses every so-manieth update that writes: it says that it was written.
func forgetful() traintravel.Store {
	var n atomic.Int64
	return &faulty{Store: sound(), update: func(ctx context.Context, s traintravel.Store, fn func(traintravel.Tx) error) error {
		return s.Update(ctx, func(tx traintravel.Tx) error {
			t := newTrial(tx)
			if err := t.run(fn); err != nil {
				return err
			}
			if len(t.writes) > 0 && n.Add(1)%97 == 0 {
				return nil
			}
			t.apply(tx)
			return nil
		})
	}}
}

// hasty lets two updates read the same state before either writes: the second undoes what the first
// has decided.
func hasty() traintravel.Store {
	var mu sync.Mutex
	return &faulty{Store: sound(), update: func(ctx context.Context, s traintravel.Store, fn func(traintravel.Tx) error) error {
		var writes *trial
		err := s.View(ctx, func(r traintravel.Reader) error {
			writes = newTrial(r)
			return writes.run(fn)
		})
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		return applyAll(ctx, s, writes)
	}}
}

// A store that loses an update, or lets two at once decide on the same state, does not.
func TestSimulateWrong(t *testing.T) {
	for name, wrong := range map[string]func() traintravel.Store{"loses updates": forgetful, "lets two read the same": hasty} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range chance.Seed(histories) {
				if err := simulate(t, seed, wrong()); err != nil {
					t.Log(err)
					return
				}
			}
			t.Errorf("the store passed %d histories", histories)
		})
	}
}
