package bench_test

import (
	"cmp"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/internal/synthfeed"
	"github.com/traintravel/traintravel/store/memstore"
)

// benchScale is the scale of synthetic feeds, 1 unless TRAINTRAVEL_BENCH_SCALE
// says another.
func benchScale(b *testing.B) float64 {
	text := os.Getenv("TRAINTRAVEL_BENCH_SCALE")
	if text == "" {
		return 1
	}
	scale, err := strconv.ParseFloat(text, 64)
	if err != nil {
		b.Fatal(err)
	}
	return scale
}

// synthetic reads a synthetic feed.
func synthetic(b *testing.B) *traintravel.Timetable {
	dir := filepath.Join(b.TempDir(), "feed")
	if err := synthfeed.Write(dir, synthfeed.Options{Seed: 1, Scale: benchScale(b)}); err != nil {
		b.Fatal(err)
	}
	tt, _, err := gtfs.ReadFile(b.Context(), dir, gtfs.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return tt
}

// BenchmarkJourneys searches whole days between random stations for all that
// is best, with up to three changes. In turn with each, a plain connection scan
// finds one earliest arrival between the same stations.
func BenchmarkJourneys(b *testing.B) {
	tt := synthetic(b)
	service, err := traintravel.New(memstore.New(), traintravel.Options{
		Now: func() time.Time { return officetest.BenchDay.Start(time.UTC).AddDate(0, 0, -2) },
	})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := service.LoadTimetable(b.Context(), tt); err != nil {
		b.Fatal(err)
	}
	scan := newScan(tt, officetest.BenchDay)
	const queries = 400
	r := rand.New(rand.NewPCG(1, 2))
	b.ResetTimer()
	for range b.N {
		var ours, direct, plain []time.Duration
		trips, none := 0, 0
		for range queries {
			from, to := r.IntN(len(tt.Stations)), r.IntN(len(tt.Stations))
			if from == to {
				continue
			}
			loc, _ := time.LoadLocation(tt.Stations[from].Zone)
			q := traintravel.TripQuery{
				Origin: tt.Stations[from].ID, Destination: tt.Stations[to].ID, Depart: officetest.BenchDay.Start(loc), Page: traintravel.Page{Limit: 100},
			}
			n := 0
			search := func() {
				found, err := service.SearchTrips(b.Context(), q)
				if err != nil {
					b.Fatal(err)
				}
				n = len(found.Items)
			}
			ours = append(ours, leastOf(3, search))
			trips += n
			if n == 0 {
				none++
			}
			q.Direct = true
			direct = append(direct, leastOf(3, search))
			at := officetest.BenchDay.Start(loc).Add(time.Duration(r.IntN(20*3600)) * time.Second)
			plain = append(plain, leastOf(3, func() { scan.earliest(int32(from), int32(to), at.Unix()) }))
		}
		mean := func(d []time.Duration) float64 {
			var sum time.Duration
			for _, x := range d {
				sum += x
			}
			return float64(sum) / float64(len(d))
		}
		slices.Sort(ours)
		b.ReportMetric(mean(ours)/1e3, "mean-µs")
		b.ReportMetric(mean(plain)/1e3, "scan-µs")
		b.ReportMetric(mean(ours)/mean(plain), "of-scan")
		b.ReportMetric(float64(ours[len(ours)*99/100])/mean(ours), "p99-of-mean")
		b.ReportMetric(mean(direct)/mean(ours), "direct-of-mean")
		b.ReportMetric(float64(trips)/float64(len(ours)), "trips/query")
		b.ReportMetric(float64(none)/float64(len(ours)), "none")
	}
	b.ReportMetric(0, "ns/op")
}

// leastOf is the least time that a few runs take: other work on the machine
// makes single ones longer.
func leastOf(times int, run func()) time.Duration {
	least := time.Duration(1<<63 - 1)
	for range times {
		begun := time.Now()
		run()
		least = min(least, time.Since(begun))
	}
	return least
}

// A scan is the plainest search: all hops of the trains of a day and the next,
// by departure.
type scan struct {
	hops   []hop
	arrive []int64 // by station
	on     []bool  // by run
}

type hop struct {
	depart, arrive int64
	from, to, run  int32
}

func newScan(tt *traintravel.Timetable, day traintravel.Date) *scan {
	s := &scan{arrive: make([]int64, len(tt.Stations))}
	at := map[uuid.UUID]int32{}
	for i, st := range tt.Stations {
		at[st.ID] = int32(i)
	}
	runs := int32(0)
	for i := range tt.Trains {
		t := &tt.Trains[i]
		loc, _ := time.LoadLocation(t.Zone)
		for d := day - 1; d <= day+1; d++ {
			if !t.Days.Runs(d) {
				continue
			}
			start := traintravel.ServiceTime(0).Instant(d, loc).Unix()
			for j := 1; j < len(t.Calls); j++ {
				s.hops = append(s.hops, hop{
					depart: start + int64(t.Calls[j-1].Depart), arrive: start + int64(t.Calls[j].Arrive),
					from: at[t.Calls[j-1].Station], to: at[t.Calls[j].Station], run: runs,
				})
			}
			runs++
		}
	}
	slices.SortStableFunc(s.hops, func(a, b hop) int { return cmp.Compare(a.depart, b.depart) })
	s.on = make([]bool, runs)
	return s
}

// earliest is when one can be at a station, departing from another at an instant.
func (s *scan) earliest(from, to int32, at int64) int64 {
	const change = 300
	for i := range s.arrive {
		s.arrive[i] = 1<<62 - 1
	}
	clear(s.on)
	s.arrive[from] = at - change
	first, _ := slices.BinarySearchFunc(s.hops, at, func(h hop, at int64) int { return cmp.Compare(h.depart, at) })
	for i := first; i < len(s.hops); i++ {
		h := &s.hops[i]
		if s.arrive[to] <= h.depart {
			break
		}
		if s.on[h.run] || s.arrive[h.from]+change <= h.depart {
			s.on[h.run] = true
			s.arrive[h.to] = min(s.arrive[h.to], h.arrive)
		}
	}
	return s.arrive[to]
}
