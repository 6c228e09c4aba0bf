package bench_test

import (
	"bufio"
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/internal/synthfeed"
	"github.com/traintravel/traintravel/store/boltstore"
	"github.com/traintravel/traintravel/store/memstore"
)

// BenchmarkImport imports a synthetic feed until a search is answered: in memory,
// into a bolt file, and from that file again. Each is compared with reading the
// same files by encoding/csv, in turn.
func BenchmarkImport(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "feed")
	if err := synthfeed.Write(dir, synthfeed.Options{Seed: 1, Scale: benchScale(b)}); err != nil {
		b.Fatal(err)
	}
	options := traintravel.Options{Now: func() time.Time { return officetest.BenchDay.Start(time.UTC).AddDate(0, 0, -2) }}
	calls := 0
	open := func(store traintravel.Store, load bool) *traintravel.Service {
		service, err := traintravel.New(store, options)
		if err != nil {
			b.Fatal(err)
		}
		if load {
			tt, _, err := gtfs.ReadFile(b.Context(), dir, gtfs.Options{})
			if err != nil {
				b.Fatal(err)
			}
			calls = 0
			for i := range tt.Trains {
				calls += len(tt.Trains[i].Calls)
			}
			if _, err := service.LoadTimetable(b.Context(), tt); err != nil {
				b.Fatal(err)
			}
		}
		stations, err := service.Stations(b.Context(), traintravel.StationQuery{})
		if err != nil || len(stations.Items) < 2 {
			b.Fatal(err)
		}
		_, err = service.SearchTrips(b.Context(), traintravel.TripQuery{
			Origin: stations.Items[0].ID, Destination: stations.Items[1].ID, Depart: officetest.BenchDay.Start(time.UTC),
		})
		if err != nil {
			b.Fatal(err)
		}
		return service
	}
	median := func(d []time.Duration) float64 {
		slices.Sort(d)
		return d[len(d)/2].Seconds()
	}
	var scans, inMemory, durable, again []time.Duration
	var live, peak uint64
	for range b.N {
		for range 3 {
			scans = append(scans, timed(func() { scanCSV(b, dir) }))
			inMemory = append(inMemory, timed(func() { open(memstore.New(), true) }))
			path := filepath.Join(b.TempDir(), "a.db")
			before := heap()
			var highest uint64
			stop := watchHeap(&highest)
			durable = append(durable, timed(func() {
				useBolt(b, path, func(s *boltstore.Store) {
					service := open(s, true)
					stop()
					live, peak = heap()-before, highest-before
					runtime.KeepAlive(service)
				})
			}))
			again = append(again, timed(func() { useBolt(b, path, func(s *boltstore.Store) { open(s, false) }) }))
			if err := os.Remove(path); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(median(scans), "s-csv")
	b.ReportMetric(median(inMemory)/median(scans), "memory-of-csv")
	b.ReportMetric(median(durable)/median(scans), "durable-of-csv")
	b.ReportMetric(median(again)/median(durable), "restart-of-import")
	b.ReportMetric(float64(live)/float64(calls), "live-B/stop_time")
	b.ReportMetric(float64(peak)/float64(live), "peak-of-live")
	b.ReportMetric(0, "ns/op")
}

func useBolt(b *testing.B, path string, use func(*boltstore.Store)) {
	store, err := boltstore.Open(path, nil)
	if err != nil {
		b.Fatal(err)
	}
	use(store)
	if err := store.Close(); err != nil {
		b.Fatal(err)
	}
}

func timed(f func()) time.Duration {
	begun := time.Now()
	f()
	return time.Since(begun)
}

// heap is what lives.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// watchHeap notes the highest heap until it is stopped.
func watchHeap(highest *uint64) (stop func()) {
	var over atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !over.Load() {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			*highest = max(*highest, m.HeapAlloc)
			time.Sleep(5 * time.Millisecond)
		}
	}()
	return func() { over.Store(true); <-done }
}

func scanCSV(b *testing.B, dir string) {
	names, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(names) == 0 {
		b.Fatal(err)
	}
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		r := csv.NewReader(bufio.NewReader(f))
		r.ReuseRecord = true
		for err == nil {
			_, err = r.Read()
		}
		if err != io.EOF {
			b.Fatal(err)
		}
		f.Close()
	}
}
