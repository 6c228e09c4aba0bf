package storetest

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/traintravel/traintravel"
)

// Bench measures a store where it matters, as benchmarks below b:
//
//   - Update: one booking after the other, from one goroutine;
//   - Update64: the same from 64 goroutines, each booking on its own run;
//   - HotKey64: 64 goroutines, all of whose bookings change the same record;
//   - Refuse64: 64 goroutines whose updates read and are given up;
//   - Get, Get64 and List10: reads by the Store, of one key, and of a page of
//     10, among 10,000 bookings.
//
// An update reads a meta record and a run of 200 bytes, rewrites the run and
// puts three records of 300, 0 and 16 bytes under keys that grow with time,
// much as booking a place does. It asks of open what [Run] does.
func Bench(b *testing.B, open func(t testing.TB) traintravel.Store) {
	b.Run("Update", func(b *testing.B) {
		l := newLoad(b, open(b), 0)
		for b.Loop() {
			l.book(b, 0)
		}
	})
	b.Run("Update64", func(b *testing.B) {
		l := newLoad(b, open(b), 0)
		parallel(b, l.book)
	})
	b.Run("HotKey64", func(b *testing.B) {
		l := newLoad(b, open(b), 0)
		parallel(b, func(b testing.TB, _ int) { l.book(b, 0) })
	})
	b.Run("Refuse64", func(b *testing.B) {
		l := newLoad(b, open(b), 0)
		parallel(b, l.refuse)
	})
	b.Run("Get", func(b *testing.B) {
		l := newLoad(b, open(b), stock)
		for b.Loop() {
			l.get(b, 0)
		}
	})
	b.Run("Get64", func(b *testing.B) {
		l := newLoad(b, open(b), stock)
		parallel(b, l.get)
	})
	b.Run("List10", func(b *testing.B) {
		l := newLoad(b, open(b), stock)
		for b.Loop() {
			l.list(b)
		}
	})
}

// stock is how many bookings there are before reads are measured.
const stock = 10_000

// parallel runs fn on 64 goroutines, or a few more to suit GOMAXPROCS, and
// tells each which it is.
func parallel(b *testing.B, fn func(b testing.TB, worker int)) {
	var workers atomic.Int64
	procs := runtime.GOMAXPROCS(0)
	b.SetParallelism((64 + procs - 1) / procs)
	b.ResetTimer() // what was stored before is not measured
	b.RunParallel(func(pb *testing.PB) {
		worker := int(workers.Add(1))
		for pb.Next() {
			fn(b, worker)
		}
	})
}

// A load is a store under measurement.
type load struct {
	ctx   context.Context
	store traintravel.Store
	next  atomic.Int64 // the next booking
}

var metaKey = traintravel.Key{Table: traintravel.TableMeta, ID: "timetable"}

func newLoad(b testing.TB, s traintravel.Store, bookings int) *load {
	l := &load{ctx: b.Context(), store: s}
	err := s.Update(l.ctx, func(tx traintravel.Tx) error {
		tx.Put(metaKey, []byte("generation 1"))
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	for done := 0; done < bookings; done += 1000 {
		err := s.Update(l.ctx, func(tx traintravel.Tx) error {
			for i := range 1000 {
				tx.Put(bookingKey(done+i), make([]byte, 300))
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	return l
}

func bookingKey(n int) traintravel.Key { return key(fmt.Sprintf("%016x", n)) }

func runKey(worker int) traintravel.Key {
	return traintravel.Key{Table: traintravel.TableRuns, ID: fmt.Sprintf("2030-01-01/%04d", worker)}
}

func (l *load) book(b testing.TB, worker int) {
	n := int(l.next.Add(1))
	booking, run := bookingKey(n), runKey(worker)
	err := l.store.Update(l.ctx, func(tx traintravel.Tx) error {
		if _, err := tx.Get(l.ctx, metaKey, run); err != nil {
			return err
		}
		tx.Put(run, make([]byte, 200))
		tx.Put(booking, make([]byte, 300))
		tx.Put(traintravel.Key{Table: traintravel.TableOwned, ID: fmt.Sprintf("%04d/%s", worker, booking.ID)}, nil)
		tx.Put(traintravel.Key{Table: traintravel.TableAgenda, ID: "expire/" + booking.ID}, make([]byte, 16))
		return nil
	})
	if err != nil {
		b.Error(err)
	}
}

func (l *load) refuse(b testing.TB, worker int) {
	err := l.store.Update(l.ctx, func(tx traintravel.Tx) error {
		if _, err := tx.Get(l.ctx, metaKey, runKey(worker)); err != nil {
			return err
		}
		return errRefused
	})
	if err != errRefused {
		b.Error(err)
	}
}

func (l *load) get(b testing.TB, _ int) {
	k := bookingKey(int(l.next.Add(7919) % stock))
	values, err := l.store.Get(l.ctx, k)
	if err != nil || len(values) != 1 || values[0] == nil {
		b.Errorf("Get of %q returned %d values, %v", k.ID, len(values), err)
	}
}

func (l *load) list(b testing.TB) {
	from := bookingKey(int(l.next.Add(7919) % (stock - 10)))
	records, err := l.store.List(l.ctx, traintravel.Range{Table: table, From: from.ID, Limit: 10})
	if err != nil || len(records) != 10 {
		b.Errorf("List from %q returned %d records, %v", from.ID, len(records), err)
	}
}
