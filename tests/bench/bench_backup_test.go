package bench_test

import (
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/traintravel/traintravel"
)

// backupSizeEnv says how many bookings are in the file of BenchmarkBackup.
const backupSizeEnv = "TRAINTRAVEL_BENCH_BACKUP"

// BenchmarkBackup books while nothing else is done, while backups are made on the same
// disk one after the other, and while the store is checked again and again, in turns;
// and it reports how long one check takes of a store at rest, and the memory it has.
func BenchmarkBackup(b *testing.B) {
	size, err := strconv.Atoi(cmp.Or(os.Getenv(backupSizeEnv), "100000"))
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	f := &sized{path: filepath.Join(dir, "trains.db")}
	f.open(b) // makes it
	f.close(b)
	f.load = fillFile(b, f.path, size)
	f.open(b)
	defer f.close(b)
	backup := func() error {
		return f.store.Snapshot(b.Context(), func(file io.WriterTo, _ int64) error {
			to, err := os.Create(filepath.Join(dir, "backup.db"))
			if err != nil {
				return err
			}
			_, err = file.WriteTo(to)
			return errors.Join(err, to.Sync(), to.Close())
		})
	}
	check := func() error {
		rep, err := traintravel.Check(b.Context(), f.store, traintravel.CheckOptions{})
		for _, fault := range rep.Faults {
			err = errors.Join(err, errors.New(fault.String()))
		}
		return err
	}
	beside := func(work func() error) float64 {
		var doing sync.WaitGroup
		over := make(chan struct{})
		doing.Go(func() {
			for {
				if err := work(); err != nil {
					b.Error(err)
				}
				select {
				case <-over:
					return
				default:
				}
			}
		})
		rate := f.round(b)
		close(over)
		doing.Wait()
		return rate
	}
	for b.Loop() {
		var alone, backups, checks []float64
		for range 3 {
			alone = append(alone, f.round(b))
			backups = append(backups, beside(backup))
			checks = append(checks, beside(check))
		}
		b.ReportMetric(median(alone), "bookings/s")
		b.ReportMetric(median(backups)/median(alone), "beside-backups-of-alone")
		b.ReportMetric(median(checks)/median(alone), "beside-checks-of-alone")
		var before, most runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		start := time.Now()
		rep, err := traintravel.Check(b.Context(), f.store, traintravel.CheckOptions{Progress: func(done, _ int64) {
			var now runtime.MemStats
			if done%64_000 == 0 {
				if runtime.ReadMemStats(&now); now.HeapAlloc > most.HeapAlloc {
					most = now
				}
			}
		}})
		if err != nil || rep.Found > 0 {
			b.Fatal(rep.Faults, err)
		}
		b.ReportMetric(float64(rep.Records[traintravel.TableBookings])/time.Since(start).Seconds(), "checked-bookings/s")
		b.ReportMetric(float64(max(most.HeapAlloc, before.HeapAlloc)-before.HeapAlloc)/1e6, "MB-to-check")
	}
	b.ReportMetric(0, "ns/op")
}
