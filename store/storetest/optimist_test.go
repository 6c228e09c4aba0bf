package storetest

import (
	"context"
	"sync"
	"time"

	"github.com/traintravel/traintravel"
)

// An optimist runs closures side by side on snapshots and checks, when it
// comes to writing, whether a key that matters was written since: too few of
// them, whence it is faulty.
type optimist struct {
	traintravel.Store
	checkWrites bool // the keys written: snapshot isolation
	checkGets   bool // the keys got too: serializable but for ranges

	mu      sync.Mutex
	clock   int
	written map[traintravel.Key]int // when
}

func newOptimist(checkWrites, checkGets bool) *optimist {
	return &optimist{Store: sound(), checkWrites: checkWrites, checkGets: checkGets, written: make(map[traintravel.Key]int)}
}

func (o *optimist) Update(ctx context.Context, fn func(traintravel.Tx) error) error {
	for {
		o.mu.Lock()
		start := o.clock
		o.mu.Unlock()
		got := &gets{}
		err := o.Store.View(ctx, func(r traintravel.Reader) error {
			got.trial = newTrial(r)
			return got.run(func(traintravel.Tx) error { return fn(got) })
		})
		time.Sleep(time.Millisecond) // for others to start
		if done, err := o.commit(ctx, start, got, err); done {
			return err
		}
	}
}

func (o *optimist) commit(ctx context.Context, start int, got *gets, err error) (done bool, _ error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var matter []traintravel.Key
	if o.checkGets {
		matter = append(matter, got.keys...)
	}
	if o.checkWrites {
		for _, w := range got.writes {
			matter = append(matter, w.key)
		}
	}
	for _, k := range matter {
		if o.written[k] > start {
			return false, nil
		}
	}
	if err != nil {
		return true, err
	}
	o.clock++
	for _, w := range got.writes {
		o.written[w.key] = o.clock
	}
	return true, o.Store.Update(ctx, func(tx traintravel.Tx) error {
		got.apply(tx)
		return nil
	})
}

// gets is a trial that remembers which keys were got.
type gets struct {
	*trial
	keys []traintravel.Key
}

func (g *gets) Get(ctx context.Context, keys ...traintravel.Key) ([][]byte, error) {
	g.keys = append(g.keys, keys...)
	return g.trial.Get(ctx, keys...)
}
