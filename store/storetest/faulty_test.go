package storetest

import (
	"context"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/memstore"
)

// faulty is a sound store, of which a test replaces one part by a wrong one.
type faulty struct {
	traintravel.Store

	get  func(ctx context.Context, r traintravel.Reader, keys []traintravel.Key) ([][]byte, error)
	list func(ctx context.Context, r traintravel.Reader, rg traintravel.Range) ([]traintravel.Record, error)

	// view and update are given the sound store.
	view   func(ctx context.Context, s traintravel.Store, fn func(traintravel.Reader) error) error
	update func(ctx context.Context, s traintravel.Store, fn func(traintravel.Tx) error) error

	// writes changes what an update writes.
	writes func([]trialWrite) []trialWrite
}

func sound() traintravel.Store { return memstore.New() }

func (f *faulty) Get(ctx context.Context, keys ...traintravel.Key) ([][]byte, error) {
	return f.reader(f.Store).Get(ctx, keys...)
}

func (f *faulty) List(ctx context.Context, rg traintravel.Range) ([]traintravel.Record, error) {
	return f.reader(f.Store).List(ctx, rg)
}

func (f *faulty) View(ctx context.Context, fn func(traintravel.Reader) error) error {
	wrong := func(r traintravel.Reader) error { return fn(f.reader(r)) }
	if f.view != nil {
		return f.view(ctx, f.Store, wrong)
	}
	return f.Store.View(ctx, wrong)
}

func (f *faulty) Update(ctx context.Context, fn func(traintravel.Tx) error) error {
	wrong := func(tx traintravel.Tx) error {
		if f.writes != nil {
			t := newTrial(f.reader(tx))
			if err := t.run(fn); err != nil {
				return err
			}
			t.writes = f.writes(t.writes)
			t.apply(tx)
			return nil
		}
		return fn(faultyTx{f.reader(tx), tx})
	}
	if f.update != nil {
		return f.update(ctx, f.Store, wrong)
	}
	return f.Store.Update(ctx, wrong)
}

func (f *faulty) reader(r traintravel.Reader) traintravel.Reader { return faultyReader{r, f} }

type faultyReader struct {
	traintravel.Reader
	f *faulty
}

func (r faultyReader) Get(ctx context.Context, keys ...traintravel.Key) ([][]byte, error) {
	if r.f.get != nil {
		return r.f.get(ctx, r.Reader, keys)
	}
	return r.Reader.Get(ctx, keys...)
}

func (r faultyReader) List(ctx context.Context, rg traintravel.Range) ([]traintravel.Record, error) {
	if r.f.list != nil {
		return r.f.list(ctx, r.Reader, rg)
	}
	return r.Reader.List(ctx, rg)
}

// faultyTx reads by one and writes by the other.
type faultyTx struct {
	traintravel.Reader
	tx traintravel.Tx
}

func (t faultyTx) Put(key traintravel.Key, value []byte) { t.tx.Put(key, value) }
func (t faultyTx) Delete(key traintravel.Key)            { t.tx.Delete(key) }

// mangled is a store that changes keys and values on their way in and keys
// when it is asked for them.
func mangled(key func(traintravel.Key) traintravel.Key, value func([]byte) []byte) *faulty {
	return &faulty{
		Store: sound(),
		get: func(ctx context.Context, r traintravel.Reader, keys []traintravel.Key) ([][]byte, error) {
			var ks []traintravel.Key
			for _, k := range keys {
				ks = append(ks, key(k))
			}
			return r.Get(ctx, ks...)
		},
		writes: func(ws []trialWrite) []trialWrite {
			var out []trialWrite
			for _, w := range ws {
				w.key = key(w.key)
				if w.value != nil {
					w.value = value(w.value)
				}
				out = append(out, w)
			}
			return out
		},
	}
}
