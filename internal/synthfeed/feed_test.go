package synthfeed

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
)

// read reads a feed with package gtfs, which finds nothing to say about it.
func read(t testing.TB, opts Options) (*traintravel.Timetable, gtfs.Report) {
	t.Helper()
	tt, report, err := gtfs.Read(t.Context(), feed(t, opts), gtfs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, note := range report.Notes {
		t.Errorf("%+v: %v", opts, note)
	}
	if err := tt.Check(); err != nil {
		t.Error(err)
	}
	return tt, report
}

func TestReadsClean(t *testing.T) {
	t.Parallel()
	for i, scale := range []float64{0.001, 0.01, small, 0.05, 0.2} {
		from := traintravel.NewDate(2024, 2, 1+i)
		_, report := read(t, Options{Seed: uint64(i), Scale: scale, From: from, Days: 28})
		if report.First != from || report.Last != from+27 {
			t.Errorf("scale %v runs from %v to %v", scale, report.First, report.Last)
		}
	}
}

// Even a small feed has everything that the package comment promises.
func TestHolds(t *testing.T) {
	t.Parallel()
	tt, report := read(t, Options{Seed: 1, Scale: small})
	if report.First != traintravel.NewDate(2026, 12, 13) || report.Last != traintravel.NewDate(2027, 12, 11) {
		t.Errorf("runs from %v to %v", report.First, report.Last)
	}
	zones, countries := map[string]bool{}, map[string]bool{}
	for _, s := range tt.Stations {
		zones[s.Zone], countries[s.Country] = true, true
	}
	if len(zones) < 6 || len(countries) < 6 {
		t.Errorf("zones %v, countries %v", zones, countries)
	}
	kinds := map[string]int{}
	past, exceptions := 0, 0
	for _, train := range tt.Trains {
		kind, _, _ := strings.Cut(train.Number, " ")
		kinds[kind]++
		last := len(train.Calls) - 1
		if train.Calls[last].Arrive > 24*3600 {
			past++
		}
		if len(train.Days.Removed) > 0 {
			exceptions++
		}
		for i, c := range train.Calls {
			barred := kind == "NJ" && i > 0 && i < last
			if !barred && (c.NoBoarding != (i == last) || c.NoAlighting != (i == 0)) || barred && c.NoBoarding == c.NoAlighting {
				t.Fatalf("%s, call %d of %d: %+v", train.Number, i, last+1, c)
			}
		}
		if kind == "NJ" && (train.Calls[0].Depart < 18*3600 || train.Calls[last].Arrive < 24*3600) {
			t.Errorf("%s leaves at %v and arrives at %v", train.Number, train.Calls[0].Depart, train.Calls[last].Arrive)
		}
	}
	for _, kind := range []string{"HSR", "IC", "IR", "NJ", "R"} {
		if kinds[kind] == 0 {
			t.Errorf("no train of kind %s", kind)
		}
	}
	if past < 100 || exceptions < 1000 {
		t.Errorf("%d trains run past midnight, %d have exceptions", past, exceptions)
	}
	transfers, err := fs.ReadFile(feed(t, Options{Scale: small}), "transfers.txt")
	if err != nil || strings.Count(string(transfers), "\n") < 1+14 {
		t.Errorf("transfers.txt: %v\n%s", err, transfers)
	}
}

// size says what a feed holds without writing it.
func size(opts Options) (stations, trains, calls int) {
	p := newPlan(opts.withDefaults())
	for _, t := range p.trips {
		calls += len(p.lines[t.line].stops)
	}
	return len(p.stops), len(p.trips), calls
}

func TestSizes(t *testing.T) {
	t.Parallel()
	for _, want := range []struct {
		scale                   float64
		stations, trains, calls int
	}{
		{1, 3015, 36_337, 380_509}, {4, 12_006, 123_128, 1_808_361},
	} {
		for seed := range uint64(2) {
			stations, trains, calls := size(Options{Seed: seed, Scale: want.scale})
			if !about(stations, want.stations) || !about(trains, want.trains) || !about(calls, want.calls) {
				t.Errorf("scale %v, seed %d: %d stations, %d trains, %d calls", want.scale, seed, stations, trains, calls)
			}
		}
	}
}

// about allows five percent.
func about(got, want int) bool { return got*20 >= want*19 && got*20 <= want*21 }

func TestScaleOneReadsClean(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 380,000 calls")
	}
	t.Parallel()
	opts := Options{Seed: 1}
	_, report := read(t, opts)
	stations, trains, calls := size(opts)
	if report.Stations != stations || report.Trains != trains || report.Calls != calls {
		t.Errorf("%+v, of %d stations, %d trains and %d calls", report, stations, trains, calls)
	}
}
