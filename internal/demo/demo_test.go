package demo_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
	"github.com/traintravel/traintravel/internal/demo"
	"github.com/traintravel/traintravel/internal/fold"
)

var (
	berlin    = uuid.MustParse("efdbb9d1-02c2-4bc3-afb7-6788d8782b1e")
	parisNord = uuid.MustParse("b2e783e1-c824-4d63-b37a-d8d698862f1d")
)

// A network is the timetable, with its stations by ID and by name.
type network struct {
	*traintravel.Timetable
	report gtfs.Report
	byID   map[uuid.UUID]traintravel.Station
	byName map[string]traintravel.Station
}

var read = sync.OnceValues(func() (*network, error) {
	timetable, report, err := gtfs.Read(context.Background(), demo.Feed(), gtfs.Options{})
	if err != nil {
		return nil, err
	}
	n := &network{timetable, report, map[uuid.UUID]traintravel.Station{}, map[string]traintravel.Station{}}
	for _, s := range timetable.Stations {
		n.byID[s.ID] = s
		n.byName[s.Name] = s
	}
	return n, nil
})

func load(t *testing.T) *network {
	t.Helper()
	n, err := read()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// dates are days on which things go wrong if they ever do.
func dates(t *testing.T) []traintravel.Date {
	t.Helper()
	var dates []traintravel.Date
	for _, s := range []string{
		"2020-01-01", "2024-02-01", "2024-02-29", "2024-03-30", "2024-03-31", "2024-07-14",
		"2024-10-26", "2024-10-27", "2024-12-25", "2099-12-31",
	} {
		d, err := traintravel.ParseDate(s)
		if err != nil {
			t.Fatal(err)
		}
		dates = append(dates, d)
	}
	return dates
}

// A ride is on one train from call to call.
type ride struct {
	train    traintravel.Train
	from, to int
}

func (r ride) duration() time.Duration {
	return time.Duration(r.train.Calls[r.to].Arrive-r.train.Calls[r.from].Depart) * time.Second
}

// rides are the direct ones between two stations on a day.
func (n *network) rides(from, to uuid.UUID, d traintravel.Date) []ride {
	var rides []ride
	for _, train := range n.Trains {
		if !train.Days.Runs(d) {
			continue
		}
		for i, a := range train.Calls {
			for j, b := range train.Calls[i+1:] {
				if a.Station == from && b.Station == to && !a.NoBoarding && !b.NoAlighting {
					rides = append(rides, ride{train, i, i + 1 + j})
				}
			}
		}
	}
	return rides
}

func places(t traintravel.Train) int {
	sum := 0
	for _, c := range t.Coaches {
		sum += c.Seats
	}
	return sum
}

func TestReadsClean(t *testing.T) {
	t.Parallel()
	n := load(t)
	for _, note := range n.report.Notes {
		t.Error(note)
	}
	countries := map[string]bool{}
	for _, s := range n.Stations {
		countries[s.Country] = true
	}
	if len(n.Stations) < 60 || len(countries) < 15 || len(n.Trains) < 200 {
		t.Errorf("%d stations, %d countries, %d trains", len(n.Stations), len(countries), len(n.Trains))
	}
	first, last := n.report.First.String(), n.report.Last.String()
	if first != "2020-01-01" || last != "2099-12-31" {
		t.Errorf("runs from %s to %s", first, last)
	}
	if n.byID[berlin].Name != "Berlin Hauptbahnhof" || n.byID[parisNord].Name != "Paris Gare du Nord" {
		t.Error("Berlin or Paris is not what it should be")
	}
}

func TestBerlinParis(t *testing.T) {
	t.Parallel()
	n := load(t)
	for _, d := range dates(t) {
		for _, way := range [][2]uuid.UUID{{berlin, parisNord}, {parisNord, berlin}} {
			var day, night, both, neither int
			for _, r := range n.rides(way[0], way[1], d) {
				if places(r.train) < 100 {
					t.Errorf("%s has %d places", r.train.Number, places(r.train))
				}
				switch took := r.duration(); {
				case took > 7*time.Hour && took < 9*time.Hour:
					day++
				case took > 11*time.Hour && took < 14*time.Hour:
					night++
				default:
					t.Errorf("%s takes %v", r.train.Number, took)
				}
				switch bicycles, dogs := r.train.Bicycles, r.train.Dogs; {
				case bicycles == traintravel.Allowed && dogs == traintravel.Allowed:
					both++
				case bicycles == traintravel.NotAllowed && dogs == traintravel.NotAllowed:
					neither++
				}
			}
			if day < 3 || night < 1 || both < 1 || neither < 1 {
				t.Errorf("%s from %s: %d by day, %d by night, %d with bicycles and dogs, %d without either",
					d, n.byID[way[0]].Name, day, night, both, neither)
			}
		}
	}
}

// A search between the first two stations of the list finds a trip.
func TestFirstTwoStations(t *testing.T) {
	t.Parallel()
	n := load(t)
	stations := slices.SortedFunc(slices.Values(n.Stations), func(a, b traintravel.Station) int {
		return strings.Compare(fold.String(a.Name), fold.String(b.Name))
	})
	a, b := stations[0], stations[1]
	if a.Name != "Amsterdam Centraal" || b.Name != "Antwerpen-Centraal" {
		t.Fatalf("the first two stations are %s and %s", a.Name, b.Name)
	}
	for _, d := range dates(t) {
		there, back := len(n.rides(a.ID, b.ID, d)), len(n.rides(b.ID, a.ID, d))
		if there < 5 || back < 5 {
			t.Errorf("%s: %d trains there and %d back", d, there, back)
		}
	}
}

// Every station can be left and reached on every day.
func TestAllStationsServedDaily(t *testing.T) {
	t.Parallel()
	n := load(t)
	for _, d := range dates(t) {
		left, reached := map[uuid.UUID]bool{}, map[uuid.UUID]bool{}
		for _, train := range n.Trains {
			if !train.Days.Runs(d) {
				continue
			}
			for i, c := range train.Calls {
				left[c.Station] = left[c.Station] || i < len(train.Calls)-1 && !c.NoBoarding
				reached[c.Station] = reached[c.Station] || i > 0 && !c.NoAlighting
			}
		}
		for _, s := range n.Stations {
			if !left[s.ID] || !reached[s.ID] {
				t.Errorf("%s: %s is left: %t, reached: %t", d, s.Name, left[s.ID], reached[s.ID])
			}
		}
	}
}

func TestCalendars(t *testing.T) {
	t.Parallel()
	n := load(t)
	for day, want := range map[string]bool{ // does a train of working days run?
		"2024-12-24": true, "2024-12-25": false, "2024-12-28": false, "2024-12-30": true, "2025-01-01": false,
	} {
		d, err := traintravel.ParseDate(day)
		if err != nil {
			t.Fatal(err)
		}
		for _, train := range n.Trains {
			want := want
			switch train.Number {
			case "SX 81", "SX 82":
			case "GR 1451", "GR 1452":
				want = !want
			default:
				want = true
			}
			if got := train.Days.Runs(d); got != want {
				t.Errorf("%s runs on %s: %t", train.Number, day, got)
			}
		}
	}
}
