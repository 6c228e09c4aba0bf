package cities_test

import (
	"bufio"
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/cities"
	"github.com/traintravel/traintravel/gtfs"
	"github.com/traintravel/traintravel/internal/demo"
	"github.com/traintravel/traintravel/places"
	"github.com/traintravel/traintravel/store/memstore"
)

// Of names that people type, the first hit is the right one nearly always. The lists
// in testdata are of the demo network and of a German feed of long-distance trains,
// which is not ours to pass on: TRAINTRAVEL_TEST_DE_FEED names its zip file.
func TestTypedNames(t *testing.T) {
	t.Parallel()
	networks := map[string]*traintravel.Service{"demo": serving(t, demoTimetable(t))}
	if path := os.Getenv("TRAINTRAVEL_TEST_DE_FEED"); path != "" {
		networks["de"] = serving(t, feedTimetable(t, path))
	}
	for _, list := range []struct {
		file  string
		least float64 // of all
	}{
		{"testdata/typed-tuning.tsv", 0.98},
		{"testdata/typed-heldout.tsv", 0.95},
	} {
		right, all := map[string]int{}, map[string]int{}
		for _, row := range rows(t, list.file) {
			network, typed, want := row[0], row[1], strings.Split(row[2], "|")
			service := networks[network]
			if service == nil {
				continue
			}
			all[network]++
			got := firstHit(t, service, typed)
			if slices.Contains(want, got) {
				right[network]++
				continue
			}
			t.Logf("%s, %s: %q finds %q, want %q", list.file, network, typed, got, want)
		}
		for network := range all {
			rate := float64(right[network]) / float64(all[network])
			t.Logf("%s, %s: the first hit is right for %d of %d, %.1f %%", list.file, network, right[network], all[network], 100*rate)
			if rate < list.least {
				t.Errorf("%s, %s: %.3f is less than %v", list.file, network, rate, list.least)
			}
		}
	}
}

// rows reads a file of columns with tabs between.
func rows(t *testing.T, file string) (rows [][]string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if line := lines.Text(); line != "" && line[0] != '#' {
			row := strings.Split(line, "\t")
			if len(row) != 3 {
				t.Fatalf("%s: %q has %d columns", file, line, len(row))
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// firstHit is the name of the first station that a search lists, or empty.
func firstHit(t *testing.T, s *traintravel.Service, typed string) string {
	t.Helper()
	list, err := s.Stations(context.Background(), traintravel.StationQuery{Search: typed, Page: traintravel.Page{Limit: 1}})
	if err != nil {
		t.Fatalf("%q: %v", typed, err)
	}
	if len(list.Items) == 0 {
		return ""
	}
	return list.Items[0].Name
}

func serving(t *testing.T, tt *traintravel.Timetable) *traintravel.Service {
	t.Helper()
	s, err := traintravel.New(memstore.New(), traintravel.Options{Cities: cities.Europe()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.LoadTimetable(context.Background(), tt); err != nil {
		t.Fatal(err)
	}
	return s
}

func demoTimetable(t *testing.T) *traintravel.Timetable {
	t.Helper()
	tt, _, err := gtfs.Read(context.Background(), demo.Feed(), gtfs.Options{Feed: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	return tt
}

// feedTimetable reads a feed whose stations have no country.
func feedTimetable(t *testing.T, path string) *traintravel.Timetable {
	t.Helper()
	finder, err := places.Open()
	if err != nil {
		t.Fatal(err)
	}
	tt, _, err := gtfs.ReadFile(context.Background(), path, gtfs.Options{Feed: "de", Locate: finder.Locate})
	if err != nil {
		t.Fatal(err)
	}
	return tt
}
