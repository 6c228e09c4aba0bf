package demo_test

import (
	"encoding/csv"
	"slices"
	"testing"
	"time"
	"unicode"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/demo"
)

// A box holds the mainland of a country, roughly, in degrees.
type box struct{ south, north, west, east float64 }

var boxes = map[string]box{
	"AT": {46.3, 49.1, 9.5, 17.2}, "BE": {49.4, 51.6, 2.5, 6.5}, "BG": {41.2, 44.3, 22.3, 28.7},
	"CH": {45.8, 47.9, 5.9, 10.6}, "CZ": {48.5, 51.1, 12.0, 18.9}, "DE": {47.2, 55.1, 5.8, 15.1},
	"DK": {54.5, 57.8, 8.0, 12.8}, "ES": {36.0, 43.8, -9.4, 3.4}, "FR": {42.3, 51.1, -4.9, 8.3},
	"GB": {49.9, 58.7, -6.3, 1.8}, "GR": {36.4, 41.8, 19.9, 26.7}, "HR": {42.4, 46.6, 13.4, 19.5},
	"HU": {45.7, 48.6, 16.1, 22.9}, "IT": {37.9, 47.1, 6.6, 18.6}, "LU": {49.4, 50.2, 5.7, 6.6},
	"NL": {50.7, 53.6, 3.3, 7.3}, "NO": {57.9, 71.2, 4.6, 31.1}, "PL": {49.0, 54.9, 14.1, 24.2},
	"PT": {36.9, 42.2, -9.6, -6.1}, "RO": {43.6, 48.3, 20.2, 29.8}, "RS": {42.2, 46.2, 18.8, 23.1},
	"SE": {55.3, 69.1, 11.1, 24.2}, "SI": {45.4, 46.9, 13.3, 16.6}, "SK": {47.7, 49.7, 16.8, 22.6},
	"TR": {40.0, 42.2, 26.0, 29.5}, // its European part
}

func TestStations(t *testing.T) {
	t.Parallel()
	n := load(t)
	for _, s := range n.Stations {
		b, known := boxes[s.Country]
		if !known || s.Latitude < b.south || s.Latitude > b.north || s.Longitude < b.west || s.Longitude > b.east {
			t.Errorf("%s is at %.4f, %.4f, not in %q", s.Name, s.Latitude, s.Longitude, s.Country)
		}
		if _, err := time.LoadLocation(s.Zone); err != nil || s.Zone == "" {
			t.Errorf("%s: zone %q: %v", s.Name, s.Zone, err)
		}
		if s.ID.Version() != 4 || s.ID.Variant() != uuid.RFC4122 {
			t.Errorf("%s: %s is not a random UUID", s.Name, s.ID)
		}
		if s.Address == "" {
			t.Errorf("%s has no address", s.Name)
		}
	}
	if len(n.byID) != len(n.Stations) || len(n.byName) != len(n.Stations) {
		t.Errorf("%d stations have %d IDs and %d names", len(n.Stations), len(n.byID), len(n.byName))
	}
}

// Between all stations of a city there is a way that takes its time.
func TestCrossings(t *testing.T) {
	t.Parallel()
	n := load(t)
	takes := map[[2]uuid.UUID]time.Duration{}
	for _, ch := range n.Changes {
		takes[[2]uuid.UUID{ch.From, ch.To}] = ch.Time
	}
	cities := 0
	for _, a := range n.Stations {
		for _, b := range n.Stations {
			metres := a.Distance(b)
			if metres == 0 || metres > 20_000 {
				continue
			}
			cities++
			there, back := takes[[2]uuid.UUID{a.ID, b.ID}], takes[[2]uuid.UUID{b.ID, a.ID}]
			if walk := time.Duration(metres) * time.Second; there < walk/4 || there < 15*time.Minute || there > time.Hour || there != back {
				t.Errorf("from %s to %s it takes %v, and back %v", a.Name, b.Name, there, back)
			}
		}
	}
	if len(n.Changes) != cities || cities < 8 {
		t.Errorf("%d rules for %d ways", len(n.Changes), cities)
	}
}

// The reader leaves out stations without trains: there are none.
func TestNoStationLeftOut(t *testing.T) {
	t.Parallel()
	f, err := demo.Feed().Open("stops.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(load(t).Stations), len(rows)-1; got != want {
		t.Errorf("%d of %d stations are served", got, want)
	}
	for _, row := range rows[1:] {
		if id, err := uuid.Parse(row[0]); err != nil || id.String() != row[0] {
			t.Errorf("stop_id %q of %s is not a UUID in lower case", row[0], row[1])
		}
	}
}

func TestNamesOfManyScripts(t *testing.T) {
	t.Parallel()
	n := load(t)
	for _, script := range []*unicode.RangeTable{unicode.Latin, unicode.Greek, unicode.Cyrillic} {
		count := 0
		for name := range n.byName {
			if slices.ContainsFunc([]rune(name), func(r rune) bool { return r > unicode.MaxASCII && unicode.Is(script, r) }) {
				count++
			}
		}
		if count < 2 {
			t.Errorf("%d names of a script", count)
		}
	}
}
