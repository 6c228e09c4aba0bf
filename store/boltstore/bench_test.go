package boltstore_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/traintravel/traintravel"
)

// The benchmarks measure this store against bbolt itself doing the same puts
// and gets, in rounds one after the other, and report the median of the ratios:
// "ours/raw" is our rate over bbolt's.

const round = 300 * time.Millisecond

// A put is one record of a booking as the service writes it.
type put struct {
	table traintravel.Table
	id    string
	value []byte
}

var clock atomic.Uint64

// booking returns what taking one place writes: the booking, its index entries
// and one of a hundred runs.
func booking(rnd *rand.Rand) []put {
	id := timeOrdered(rnd)
	owner := binary.BigEndian.AppendUint64(nil, rnd.Uint64())
	run := binary.BigEndian.AppendUint64([]byte("20260601"), rnd.Uint64N(100))
	return []put{
		{traintravel.TableBookings, id, make([]byte, 300)},
		{traintravel.TableOwned, string(owner) + id, []byte{1}},
		{traintravel.TableRuns, string(run), make([]byte, 4000)},
		{traintravel.TableAgenda, "\x01" + id[:8] + id, []byte{}},
	}
}

// timeOrdered returns 16 bytes like those of a UUID of version 7.
func timeOrdered(rnd *rand.Rand) string {
	b := binary.BigEndian.AppendUint64(nil, clock.Add(1)<<12)
	return string(binary.BigEndian.AppendUint64(b, rnd.Uint64()))
}

// A rival does the work of one caller, once.
type rival func(rnd *rand.Rand) error

// compare runs the two in turn, callers at a time, and reports.
func compare(b *testing.B, callers int, ours, raw rival) {
	var ratios, rates, rawRates []float64
	rate(b, callers, ours) // to warm up
	rate(b, callers, raw)
	for b.Loop() {
		o, r := rate(b, callers, ours), rate(b, callers, raw)
		ratios, rates, rawRates = append(ratios, o/r), append(rates, o), append(rawRates, r)
	}
	b.ReportMetric(median(ratios), "ours/raw")
	b.ReportMetric(median(rates), "ours/s")
	b.ReportMetric(median(rawRates), "raw/s")
	b.ReportMetric(0, "ns/op")
}

func median(xs []float64) float64 {
	slices.Sort(xs)
	return xs[len(xs)/2]
}

func rate(b *testing.B, callers int, work rival) float64 {
	var (
		wg    sync.WaitGroup
		done  atomic.Int64
		start = time.Now()
	)
	for i := range callers {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(i), uint64(start.UnixNano())))
			for time.Since(start) < round {
				if err := work(rnd); err != nil {
					b.Error(err)
					return
				}
				done.Add(1)
			}
		})
	}
	wg.Wait()
	return float64(done.Load()) / time.Since(start).Seconds()
}

func BenchmarkUpdate(b *testing.B) {
	for _, callers := range []int{1, 64, 256} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			s, raw := openNew(b), newRaw(b)
			ours := func(rnd *rand.Rand) error {
				puts := booking(rnd)
				return s.Update(context.Background(), func(tx traintravel.Tx) error {
					for _, p := range puts {
						tx.Put(traintravel.Key{Table: p.table, ID: p.id}, p.value)
					}
					return nil
				})
			}
			bare := raw.group
			if callers == 1 {
				bare = raw.update
			}
			compare(b, callers, ours, bare)
		})
	}
}

func BenchmarkGet(b *testing.B) {
	s, raw := openNew(b), newRaw(b)
	var ids []string
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		var puts []put
		for range 1000 {
			id := timeOrdered(rnd)
			ids = append(ids, id)
			puts = append(puts, put{traintravel.TableBookings, id, make([]byte, 300)})
		}
		err := s.Update(context.Background(), func(tx traintravel.Tx) error {
			for _, p := range puts {
				tx.Put(traintravel.Key{Table: p.table, ID: p.id}, p.value)
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		if err := raw.db.Update(func(tx *bolt.Tx) error { return raw.put(tx, puts) }); err != nil {
			b.Fatal(err)
		}
	}
	ours := func(rnd *rand.Rand) error {
		_, err := s.Get(context.Background(), traintravel.Key{Table: traintravel.TableBookings, ID: ids[rnd.IntN(len(ids))]})
		return err
	}
	bare := func(rnd *rand.Rand) error {
		id := ids[rnd.IntN(len(ids))]
		var value []byte
		return raw.db.View(func(tx *bolt.Tx) error {
			value = append(value, tx.Bucket([]byte("bookings")).Get([]byte(id))...)
			return nil
		})
	}
	for _, callers := range []int{1, 8} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) { compare(b, callers, ours, bare) })
	}
}

// raw is bbolt without us: the puts, and the least of a group commit.
type raw struct {
	db    *bolt.DB
	mu    sync.Mutex
	queue []*rawCall
	busy  bool
}

type rawCall struct {
	puts []put
	done chan error
}

func newRaw(b *testing.B) *raw {
	db, err := bolt.Open(filepath.Join(b.TempDir(), "raw.db"), 0o600, &bolt.Options{InitialMmapSize: int(min(math.MaxInt, int64(16<<30))), NoStatistics: true})
	if err != nil {
		b.Fatal(err)
	}
	db.AllocSize = 4 << 20
	b.Cleanup(func() { db.Close() })
	err = db.Update(func(tx *bolt.Tx) error {
		for _, t := range traintravel.Tables() {
			if _, err := tx.CreateBucket([]byte(t.String())); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return &raw{db: db}
}

func (r *raw) put(tx *bolt.Tx, puts []put) error {
	for _, p := range puts {
		if err := tx.Bucket([]byte(p.table.String())).Put([]byte(p.id), p.value); err != nil {
			return err
		}
	}
	return nil
}

// update is one transaction of its own.
func (r *raw) update(rnd *rand.Rand) error {
	puts := booking(rnd)
	return r.db.Update(func(tx *bolt.Tx) error { return r.put(tx, puts) })
}

// group shares the transaction with all that came while the last committed.
func (r *raw) group(rnd *rand.Rand) error {
	c := &rawCall{puts: booking(rnd), done: make(chan error, 1)}
	r.mu.Lock()
	r.queue = append(r.queue, c)
	lead := !r.busy
	r.busy = true
	r.mu.Unlock()
	for lead {
		r.mu.Lock()
		calls := r.queue
		r.queue = nil
		lead = len(calls) > 0
		r.busy = lead
		r.mu.Unlock()
		if !lead {
			break
		}
		err := r.db.Update(func(tx *bolt.Tx) error {
			for _, c := range calls {
				if err := r.put(tx, c.puts); err != nil {
					return err
				}
			}
			return nil
		})
		for _, c := range calls {
			c.done <- err
		}
	}
	return <-c.done
}
