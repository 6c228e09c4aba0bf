package bench_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/boltstore"
	bolt "go.etcd.io/bbolt"
)

// BenchmarkAtSize fills files with bookings as years of use would make them and
// measures what a file of that size still does: commits of 64 callers, reopening
// after Close and after a crash, and its length by what is in it. Sizes come
// from TRAINTRAVEL_BENCH_SIZES; the first is what the others are compared with:
// the files take turns, and medians count.
func BenchmarkAtSize(b *testing.B) {
	list := os.Getenv("TRAINTRAVEL_BENCH_SIZES")
	if list == "" {
		list = "5000,20000"
	}
	var files []*sized
	for _, text := range strings.Split(list, ",") {
		size, err := strconv.Atoi(text)
		if err != nil {
			b.Fatal(err)
		}
		f := &sized{name: text, path: filepath.Join(b.TempDir(), text+".db")}
		f.open(b)
		f.close(b)
		f.load = fillFile(b, f.path, size)
		files = append(files, f)
	}
	b.ResetTimer()
	for range b.N {
		for _, f := range files {
			f.open(b)
			f.round(b) // the first bookings on a file that was just made are slower
		}
		for range 5 {
			for _, f := range files {
				f.rates = append(f.rates, f.round(b))
			}
		}
		first := 0.0
		for _, f := range files {
			slices.Sort(f.rates)
			rate := f.rates[len(f.rates)/2]
			if first == 0 {
				first = rate
			}
			b.ReportMetric(rate, f.name+"-bookings/s")
			b.ReportMetric(rate/first, f.name+"-of-first")
			f.measure(b)
		}
	}
	b.ReportMetric(0, "ns/op")
}

// sized is a file of a size.
type sized struct {
	name, path string
	load       *load
	store      *boltstore.Store
	service    *traintravel.Service
	rates      []float64
}

func (f *sized) open(b *testing.B) {
	store, err := boltstore.Open(f.path, nil)
	if err != nil {
		b.Fatal(err)
	}
	f.store = store
	if f.load == nil {
		return
	}
	if f.service, err = traintravel.New(store, f.load.options()); err != nil {
		b.Fatal(err)
	}
}

func (f *sized) close(b *testing.B) {
	if err := f.store.Close(); err != nil {
		b.Fatal(err)
	}
}

// round books with 64 callers and returns how many were made a second.
func (f *sized) round(b *testing.B) float64 {
	const n = 10_000
	took, err := parallel(64, n, func(int) error { return f.load.book(f.service) })
	if err != nil {
		b.Fatal(err)
	}
	return n / took.Seconds()
}

// yearly is how many bookings a file takes in a year of its clock.
const yearly = 5_000_000

// A load books as people do: mostly for the weeks ahead, on random trips.
type load struct {
	clock atomic.Int64 // nanos
	trips map[int][]uuid.UUID
	mu    sync.RWMutex
	start time.Time
}

func (l *load) now() time.Time { return time.Unix(0, l.clock.Load()).UTC() }

// book makes one booking, a little later than the one before.
func (l *load) book(s *traintravel.Service) error {
	now := time.Unix(0, l.clock.Add(int64(365*24*time.Hour)/yearly)).UTC()
	for {
		ahead := min(2+int(rand.ExpFloat64()*20), 300)
		trips, err := l.day(s, int(now.Sub(l.start).Hours()/24)+ahead)
		if err != nil {
			return err
		}
		_, err = s.CreateBooking(context.Background(), caller(rand.IntN(1_000_000)), traintravel.NewBooking{
			TripID: trips[rand.IntN(len(trips))], PassengerName: "Augusta Ada King",
		})
		if !errors.Is(err, traintravel.ErrSoldOut) {
			return err
		}
	}
}

// day returns the reserved trips of a day, counted from the first.
func (l *load) day(s *traintravel.Service, day int) ([]uuid.UUID, error) {
	l.mu.RLock()
	trips := l.trips[day]
	l.mu.RUnlock()
	if trips != nil {
		return trips, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	trips, err := reservedTrips(s, l.start.AddDate(0, 0, day).Truncate(24*time.Hour))
	l.trips[day] = trips
	return trips, err
}

// fillFile makes a file of size bookings through the service, quickly: on a
// store that syncs never. Holds last, as if they were paid.
func fillFile(b *testing.B, path string, size int) *load {
	db, err := bolt.Open(path, 0o600, &bolt.Options{FreelistType: bolt.FreelistMapType, NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	bulk := &bulkStore{db: db}
	l := &load{trips: map[int][]uuid.UUID{}, start: benchNow}
	l.clock.Store(benchNow.UnixNano())
	service := benchService(b, bulk, l.options())
	for range size {
		if err := l.book(service); err != nil {
			b.Fatal(err)
		}
	}
	if err := bulk.flush(); err != nil {
		b.Fatal(err)
	}
	if err := errors.Join(db.Sync(), db.Close()); err != nil {
		b.Fatal(err)
	}
	return l
}

func (l *load) options() traintravel.Options {
	return traintravel.Options{Now: l.now, HoldFor: 1000 * 24 * time.Hour, Holds: officetest.ManyHolds}
}

// measure reports how long a file is and how long it takes to open.
func (f *sized) measure(b *testing.B) {
	reopen := func(path string) (*boltstore.Store, float64) {
		start := time.Now()
		store, err := boltstore.Open(path, nil)
		if err != nil {
			b.Fatal(err)
		}
		return store, time.Since(start).Seconds()
	}
	crashed := f.path + ".crashed" // as a crash leaves it: not closed
	if err := copyFile(crashed, f.path); err != nil {
		b.Fatal(err)
	}
	f.close(b)
	store, closed := reopen(f.path)
	bytes := payload(b, store)
	if err := store.Close(); err != nil {
		b.Fatal(err)
	}
	store, crash := reopen(crashed)
	if err := errors.Join(store.Close(), os.Remove(crashed)); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(f.path)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(info.Size())/float64(bytes), f.name+"-file/payload")
	b.ReportMetric(closed, f.name+"-s-reopen")
	b.ReportMetric(crash, f.name+"-s-reopen-crashed")
}

// payload adds up the bytes of all keys and values.
func payload(b *testing.B, store traintravel.Store) (n int64) {
	for _, t := range traintravel.Tables() {
		var sum int64
		for from := ""; ; {
			records, err := store.List(b.Context(), traintravel.Range{Table: t, From: from, Limit: 10_000})
			if err != nil {
				b.Fatal(err)
			}
			if len(records) == 0 {
				break
			}
			for _, r := range records {
				sum += int64(len(r.ID) + len(r.Value))
			}
			from = records[len(records)-1].ID + "\x00"
		}
		b.Logf("%v: %d bytes", t, sum)
		n += sum
	}
	return n
}

func copyFile(to, from string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}

// bulkStore writes a file of package boltstore for one goroutine.
type bulkStore struct {
	db *bolt.DB
	tx *bolt.Tx
	n  int
}

func (s *bulkStore) flush() error {
	if s.tx == nil {
		return nil
	}
	err := s.tx.Commit()
	s.tx, s.n = nil, 0
	return err
}

func (s *bulkStore) bucket(t traintravel.Table) (*bolt.Bucket, error) {
	if s.tx == nil {
		tx, err := s.db.Begin(true)
		if err != nil {
			return nil, err
		}
		s.tx = tx
	}
	bucket := s.tx.Bucket([]byte(t.String()))
	if bucket == nil {
		return nil, fmt.Errorf("no bucket %v", t)
	}
	if t == traintravel.TableBookings || t == traintravel.TableTimetable {
		bucket.FillPercent = 0.9
	}
	return bucket, nil
}

func (s *bulkStore) Get(_ context.Context, keys ...traintravel.Key) ([][]byte, error) {
	values := make([][]byte, len(keys))
	for i, k := range keys {
		bucket, err := s.bucket(k.Table)
		if err != nil {
			return nil, err
		}
		values[i] = bucket.Get([]byte(k.ID))
	}
	return values, nil
}

func (s *bulkStore) List(_ context.Context, r traintravel.Range) (found []traintravel.Record, err error) {
	bucket, err := s.bucket(r.Table)
	if err != nil {
		return nil, err
	}
	c := bucket.Cursor()
	for k, v := c.Seek([]byte(r.From)); k != nil && (r.To == "" || string(k) < r.To); k, v = c.Next() {
		if found = append(found, traintravel.Record{ID: string(k), Value: v}); len(found) == r.Limit {
			break
		}
	}
	return found, nil
}

func (s *bulkStore) View(_ context.Context, fn func(traintravel.Reader) error) error { return fn(s) }

func (s *bulkStore) Update(_ context.Context, fn func(traintravel.Tx) error) error {
	t := &bulkTx{bulkStore: s}
	if err := fn(t); err != nil {
		return err
	}
	for _, p := range t.puts {
		bucket, err := s.bucket(p.key.Table)
		if err != nil {
			return err
		}
		if p.value == nil {
			err = bucket.Delete([]byte(p.key.ID))
		} else {
			err = bucket.Put([]byte(p.key.ID), p.value)
		}
		if err != nil {
			return err
		}
	}
	if s.n++; s.n < 256 { // what boltstore commits at a time under load
		return nil
	}
	return s.flush()
}

type bulkTx struct {
	*bulkStore
	puts []put
}

func (t *bulkTx) Put(k traintravel.Key, v []byte) { t.puts = append(t.puts, put{k, v}) }
func (t *bulkTx) Delete(k traintravel.Key)        { t.puts = append(t.puts, put{k, nil}) }
