package models_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/memstore"
)

// A careless store decides on what it has read before, and writes later.
type careless struct{ traintravel.Store }

func (s careless) Update(ctx context.Context, fn func(traintravel.Tx) error) error {
	p := &plan{}
	err := s.View(ctx, func(r traintravel.Reader) error {
		p.Reader = r
		return fn(p)
	})
	if err != nil {
		return err
	}
	time.Sleep(time.Microsecond)
	return s.Store.Update(ctx, func(tx traintravel.Tx) error {
		for _, write := range p.writes {
			write(tx)
		}
		return nil
	})
}

// A plan is a Tx that keeps its writes.
type plan struct {
	traintravel.Reader
	writes []func(traintravel.Tx)
}

func (p *plan) Put(k traintravel.Key, v []byte) {
	p.writes = append(p.writes, func(tx traintravel.Tx) { tx.Put(k, v) })
}

func (p *plan) Delete(k traintravel.Key) {
	p.writes = append(p.writes, func(tx traintravel.Tx) { tx.Delete(k) })
}

// A lying store does not do each update that it says it did.
type lying struct {
	traintravel.Store
	updates atomic.Int64
}

func (s *lying) Update(ctx context.Context, fn func(traintravel.Tx) error) error {
	if s.updates.Add(1)%20 > 0 {
		return s.Store.Update(ctx, fn)
	}
	return s.View(ctx, func(r traintravel.Reader) error { return fn(&plan{Reader: r}) })
}

// A stubborn store answers reads of a booking as it did before.
type stubborn struct {
	traintravel.Store
	said sync.Map
}

func (s *stubborn) Get(ctx context.Context, keys ...traintravel.Key) ([][]byte, error) {
	values, err := s.Store.Get(ctx, keys...)
	if err == nil && len(keys) == 1 && keys[0].Table == traintravel.TableBookings && values[0] != nil {
		first, _ := s.said.LoadOrStore(keys[0], values[0])
		values[0] = first.([]byte)
	}
	return values, err
}

// An uneven store reads a list of bookings not all at one moment.
type uneven struct{ traintravel.Store }

func (s uneven) View(_ context.Context, fn func(traintravel.Reader) error) error {
	return fn(piecemeal{s.Store})
}

type piecemeal struct{ traintravel.Reader }

func (r piecemeal) Get(ctx context.Context, keys ...traintravel.Key) (values [][]byte, err error) {
	for _, k := range keys {
		time.Sleep(time.Microsecond)
		v, err := r.Reader.Get(ctx, k)
		if err != nil {
			return nil, err
		}
		values = append(values, v...)
	}
	return values, nil
}

// TestLinearizableFindsFaults: a store that breaks its promises is found out.
func TestLinearizableFindsFaults(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]func(traintravel.Store) traintravel.Store{
		"careless": func(s traintravel.Store) traintravel.Store { return careless{s} },
		"lying":    func(s traintravel.Store) traintravel.Store { return &lying{Store: s} },
		"stubborn": func(s traintravel.Store) traintravel.Store { return &stubborn{Store: s} },
		"uneven":   func(s traintravel.Store) traintravel.Store { return uneven{s} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := broken(memstore.New())
			offices := linearOffices(t, store, store)
			for day := range 300 {
				if !linearizable(newRush(t, offices, day).run(15)) {
					t.Logf("on day %d", day)
					return
				}
			}
			t.Error("nobody notices")
		})
	}
}
