package bench_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/boltstore"
	"github.com/traintravel/traintravel/store/memstore"
	bolt "go.etcd.io/bbolt"
)

// The benchmarks compare the service with a ceiling in the same run: what the
// same bytes cost in bare bbolt. docs/benchmarks.md says how to read them.

var benchNow = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

var benchStart = time.Now()

// benchClock goes on from benchNow, so that IDs order by time as they do in
// life.
func benchClock() time.Time { return benchNow.Add(time.Since(benchStart)) }

func benchService(b *testing.B, store traintravel.Store, opts traintravel.Options) *traintravel.Service {
	b.Helper()
	s, err := traintravel.New(store, opts)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := s.LoadTimetable(b.Context(), officetest.DemoNetwork(b)); err != nil {
		b.Fatal(err)
	}
	return s
}

// benchOptions are those of a service that somebody listens to.
var benchOptions = traintravel.Options{
	Now:      benchClock,
	Holds:    officetest.ManyHolds,
	Notifier: traintravel.NotifierFunc(func(context.Context, traintravel.Event) error { return nil }),
}

func benchBolt(b *testing.B) *boltstore.Store {
	b.Helper()
	store, err := boltstore.Open(filepath.Join(b.TempDir(), "bench.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { store.Close() })
	return store
}

var (
	berlin = uuid.MustParse("efdbb9d1-02c2-4bc3-afb7-6788d8782b1e")
	paris  = uuid.MustParse("b2e783e1-c824-4d63-b37a-d8d698862f1d")
)

// spreadTrips returns IDs of reserved trips on many trains and days.
func spreadTrips(b *testing.B, s *traintravel.Service, n int) []uuid.UUID {
	b.Helper()
	var ids []uuid.UUID
	for day := 1; len(ids) < n && day < 365; day++ {
		more, err := reservedTrips(s, benchNow.AddDate(0, 0, day))
		if err != nil {
			b.Fatal(err)
		}
		ids = append(ids, more...)
	}
	return ids[:min(n, len(ids))]
}

// reservedTrips returns the IDs of all reserved trips of a day.
func reservedTrips(s *traintravel.Service, day time.Time) ([]uuid.UUID, error) {
	stations, err := s.Stations(context.Background(), traintravel.StationQuery{Page: traintravel.Page{Limit: 100}})
	if err != nil {
		return nil, err
	}
	var ids []uuid.UUID
	for _, from := range stations.Items {
		for _, to := range stations.Items {
			if from.ID == to.ID {
				continue
			}
			found, err := s.SearchTrips(context.Background(), traintravel.TripQuery{
				Origin: from.ID, Destination: to.ID, Depart: day, Direct: true, Page: traintravel.Page{Limit: 100},
			})
			if err != nil {
				return nil, err
			}
			for _, t := range found.Items {
				if t.Reserved {
					ids = append(ids, t.ID)
				}
			}
		}
	}
	return ids, nil
}

func caller(i int) traintravel.Caller {
	return traintravel.Caller{Subject: traintravel.Subject{Issuer: "https://id.example", ID: fmt.Sprintf("user-%d", i)}, Client: "bench"}
}

// recording is a store that notes what each update writes.
type recording struct {
	traintravel.Store
	mu      sync.Mutex
	updates [][]put
}

type put struct {
	key   traintravel.Key
	value []byte
}

func (r *recording) Update(ctx context.Context, fn func(traintravel.Tx) error) error {
	var puts []put
	err := r.Store.Update(ctx, func(tx traintravel.Tx) error {
		puts = nil
		return fn(recordingTx{tx, &puts})
	})
	if err == nil {
		r.mu.Lock()
		r.updates = append(r.updates, puts)
		r.mu.Unlock()
	}
	return err
}

type recordingTx struct {
	traintravel.Tx
	puts *[]put
}

func (t recordingTx) Put(k traintravel.Key, v []byte) {
	*t.puts = append(*t.puts, put{k, v})
	t.Tx.Put(k, v)
}

// rawGroup is the ceiling: callers queue, the first of them commits for all.
type rawGroup struct {
	db      *bolt.DB
	mu      sync.Mutex
	queue   []rawCall
	leading bool
}

type rawCall struct {
	puts []put
	done chan error // nil error when committed, errLead to lead the next group
}

var errLead = errors.New("lead")

func openRaw(b *testing.B) *bolt.DB {
	b.Helper()
	db, err := bolt.Open(filepath.Join(b.TempDir(), "raw.db"), 0o600, &bolt.Options{FreelistType: bolt.FreelistMapType, NoFreelistSync: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	if err := db.Update(func(tx *bolt.Tx) error {
		for _, t := range traintravel.Tables() {
			if _, err := tx.CreateBucketIfNotExists([]byte(t.String())); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		b.Fatal(err)
	}
	return db
}

func rawPut(tx *bolt.Tx, puts []put) error {
	for _, p := range puts {
		if err := tx.Bucket([]byte(p.key.Table.String())).Put([]byte(p.key.ID), p.value); err != nil {
			return err
		}
	}
	return nil
}

func (g *rawGroup) update(puts []put) error {
	c := rawCall{puts, make(chan error, 1)}
	g.mu.Lock()
	g.queue = append(g.queue, c)
	lead := !g.leading
	g.leading = true
	g.mu.Unlock()
	if !lead {
		if err := <-c.done; err != errLead {
			return err
		}
	}
	g.mu.Lock()
	group := g.queue
	g.queue = nil
	g.mu.Unlock()
	err := g.db.Update(func(tx *bolt.Tx) error {
		for _, m := range group {
			if err := rawPut(tx, m.puts); err != nil {
				return err
			}
		}
		return nil
	})
	g.mu.Lock()
	if len(g.queue) > 0 {
		g.queue[0].done <- errLead
	} else {
		g.leading = false
	}
	g.mu.Unlock()
	for _, m := range group {
		if m.done != c.done {
			m.done <- err
		}
	}
	return err
}

// parallel runs n calls from a number of goroutines and returns how long it took.
func parallel(callers, n int, call func(i int) error) (time.Duration, error) {
	var next atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, callers)
	start := time.Now()
	for g := range callers {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n || errs[g] != nil {
					return
				}
				errs[g] = call(i)
			}
		})
	}
	wg.Wait()
	return time.Since(start), errors.Join(errs...)
}

func median[T cmp.Ordered](v []T) T {
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2]
}

const benchRounds = 5

// BenchmarkCreateBooking books durably and reports how that compares with the
// same puts in bare bbolt: of-raw is a ratio of rates for many callers and of
// median latencies for one.
func BenchmarkCreateBooking(b *testing.B) {
	for _, callers := range []int{1, 64, 256} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			rec := &recording{Store: memstore.New()}
			source := benchService(b, rec, benchOptions)
			service := benchService(b, benchBolt(b), benchOptions)
			raw := &rawGroup{db: openRaw(b)}
			trips := spreadTrips(b, source, 20_000)
			per := 1000
			if callers > 1 {
				per = 40 * callers
			}
			rec.updates = nil
			var ours, bare []float64
			b.ResetTimer()
			for range b.N {
				for round := range benchRounds {
					base := round * per
					book := func(s *traintravel.Service) func(int) error {
						return func(i int) error {
							_, err := s.CreateBooking(b.Context(), caller(base+i), traintravel.NewBooking{
								TripID: trips[(base+i)%len(trips)], PassengerName: "Ada Lovelace",
							})
							return err
						}
					}
					rec.updates = nil
					if _, err := parallel(1, per, book(source)); err != nil {
						b.Fatal(err)
					}
					if callers == 1 {
						a, c := latencies(b, per, book(service)), latencies(b, per, func(i int) error {
							return raw.db.Update(func(tx *bolt.Tx) error { return rawPut(tx, rec.updates[i]) })
						})
						ours, bare = append(ours, a), append(bare, c)
						continue
					}
					t, err := parallel(callers, per, book(service))
					if err != nil {
						b.Fatal(err)
					}
					ours = append(ours, float64(per)/t.Seconds())
					t, err = parallel(callers, per, func(i int) error { return raw.update(rec.updates[i]) })
					if err != nil {
						b.Fatal(err)
					}
					bare = append(bare, float64(per)/t.Seconds())
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(ours)/median(bare), "of-raw")
			unit := "bookings/s"
			if callers == 1 {
				unit = "median-µs"
			}
			b.ReportMetric(median(ours), unit)
		})
	}
}

// latencies returns the median latency of n calls, one after another, in µs.
func latencies(b *testing.B, n int, call func(int) error) float64 {
	all := make([]time.Duration, n)
	for i := range n {
		start := time.Now()
		if err := call(i); err != nil {
			b.Fatal(err)
		}
		all[i] = time.Since(start)
	}
	return float64(median(all).Nanoseconds()) / 1000
}

// BenchmarkReadBooking reports how reading a booking compares with a bare
// View and Get of the same bytes.
func BenchmarkReadBooking(b *testing.B) {
	store := benchBolt(b)
	service := benchService(b, store, benchOptions)
	raw := openRaw(b)
	var ids []uuid.UUID
	for _, trip := range spreadTrips(b, service, 1000) {
		bk, err := service.CreateBooking(b.Context(), caller(1), traintravel.NewBooking{TripID: trip, PassengerName: "Ada Lovelace"})
		if err != nil {
			b.Fatal(err)
		}
		ids = append(ids, bk.ID)
		key := traintravel.Key{Table: traintravel.TableBookings, ID: string(bk.ID[:])}
		v, err := store.Get(b.Context(), key)
		if err != nil {
			b.Fatal(err)
		}
		if err := raw.Update(func(tx *bolt.Tx) error { return rawPut(tx, []put{{key, v[0]}}) }); err != nil {
			b.Fatal(err)
		}
	}
	bucket := []byte(traintravel.TableBookings.String())
	var ours, bare []float64
	var sink int
	b.ResetTimer()
	for range b.N {
		for range benchRounds {
			const n = 20_000
			start := time.Now()
			for i := range n {
				if _, err := service.Booking(b.Context(), caller(1), ids[i%len(ids)]); err != nil {
					b.Fatal(err)
				}
			}
			ours = append(ours, n/time.Since(start).Seconds())
			start = time.Now()
			for i := range n {
				id := ids[i%len(ids)]
				if err := raw.View(func(tx *bolt.Tx) error {
					sink += len(tx.Bucket(bucket).Get(id[:]))
					return nil
				}); err != nil {
					b.Fatal(err)
				}
			}
			bare = append(bare, n/time.Since(start).Seconds())
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(ours), "reads/s")
	b.ReportMetric(median(ours)/median(bare), "of-raw")
}

// BenchmarkSearchTrips searches a day from Berlin to Paris on the demo network.
func BenchmarkSearchTrips(b *testing.B) {
	service := benchService(b, memstore.New(), benchOptions)
	q := traintravel.TripQuery{Origin: berlin, Destination: paris, Depart: benchNow.AddDate(0, 0, 1).Truncate(24 * time.Hour), Direct: true}
	b.ReportAllocs()
	for b.Loop() {
		found, err := service.SearchTrips(b.Context(), q)
		if err != nil || len(found.Items) < 3 {
			b.Fatal(len(found.Items), err)
		}
	}
}

// BenchmarkHotRun has 64 callers book one almost full run, most refused, and
// reports how their rate compares with that of a load spread over many runs.
func BenchmarkHotRun(b *testing.B) {
	const callers, per = 64, 6400
	service := benchService(b, benchBolt(b), benchOptions)
	trips := spreadTrips(b, service, 20_000)
	found, err := service.SearchTrips(b.Context(), traintravel.TripQuery{Origin: berlin, Destination: paris, Depart: benchNow.AddDate(0, 0, 200), Direct: true})
	if err != nil || len(found.Items) == 0 {
		b.Fatal(err)
	}
	hot := found.Items[0]
	for range hot.Seats - 10 {
		if _, err := service.CreateBooking(b.Context(), caller(0), traintravel.NewBooking{TripID: hot.ID, PassengerName: "Ada"}); err != nil {
			b.Fatal(err)
		}
	}
	var crowd, spread []float64
	b.ResetTimer()
	for range b.N {
		for round := range benchRounds {
			t, err := parallel(callers, per, func(i int) error {
				_, err := service.CreateBooking(b.Context(), caller(i), traintravel.NewBooking{TripID: hot.ID, PassengerName: "Ada Lovelace"})
				if errors.Is(err, traintravel.ErrSoldOut) {
					return nil
				}
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
			crowd = append(crowd, per/t.Seconds())
			t, err = parallel(callers, per, func(i int) error {
				_, err := service.CreateBooking(b.Context(), caller(i), traintravel.NewBooking{
					TripID: trips[(round*per+i)%len(trips)], PassengerName: "Ada Lovelace",
				})
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
			spread = append(spread, per/t.Seconds())
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(crowd), "requests/s")
	b.ReportMetric(median(crowd)/median(spread), "of-spread")
}
