package traintravel_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/memstore"
)

// someStations are stations to be searched.
var someStations = []struct {
	name, address, country string
	lat, lon               float64
}{
	{"Łódź Fabryczna", "", "PL", 51.77, 19.47},
	{"Zürich HB", "Bahnhofplatz 15", "CH", 47.378, 8.540},
	{"Winterthur", "Züricherstrasse", "CH", 47.500, 8.724},
	{"Bern", "", "CH", 46.949, 7.439},
	{"Neustadt an der Weinstraße", "", "DE", 49.350, 8.140},
	{"Århus H", "", "DK", 56.150, 10.204},
	{"Saint-Étienne Châteaucreux", "", "FR", 45.443, 4.400},
	{"Halle (Saale) Hbf", "", "DE", 51.477, 11.987},
	{"Ｆｕｌｄ Wide", "", "", 0, 179.9},
}

func TestStations(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		tt := &traintravel.Timetable{}
		for i, c := range someStations {
			tt.Stations = append(tt.Stations, traintravel.Station{
				ID: uuid.UUID{15: byte(i + 1), 6: 0x40, 8: 0x80}, Name: c.name, Address: c.address, Country: c.country,
				Zone: "Europe/Zurich", Latitude: c.lat, Longitude: c.lon,
			})
		}
		o.Load(tt)
		ask := func(q traintravel.StationQuery) []string {
			t.Helper()
			stations := officetest.Walk(t, 2, func(p traintravel.Page) (traintravel.List[traintravel.Station], error) {
				q.Page = p
				return o.Stations(t.Context(), q)
			}, func(int) {})
			names := []string{}
			for _, s := range stations {
				names = append(names, s.Name)
			}
			return names
		}
		for search, want := range map[string][]string{
			"lodz":           {"Łódź Fabryczna"},
			"ŁÓDŹ FAB":       {"Łódź Fabryczna"},
			"zur":            {"Zürich HB", "Winterthur"}, // by name and by address
			"ZÜRICH hb":      {"Zürich HB"},
			"hb zürich":      {"Zürich HB"}, // in any order
			"strasse":        {},            // in the middle of a word
			"weinstrasse":    {"Neustadt an der Weinstraße"},
			"weinstraße neu": {"Neustadt an der Weinstraße"},
			"etienne":        {"Saint-Étienne Châteaucreux"},
			"st etienne":     {"Saint-Étienne Châteaucreux"},
			"zuerich hbf":    {"Zürich HB"},
			"winterhtur":     {"Winterthur"}, // misspelt
			"châteaucreux":   {"Saint-Étienne Châteaucreux"},
			"saale":          {"Halle (Saale) Hbf"},
			"hbf":            {"Halle (Saale) Hbf", "Zürich HB", "Århus H"},
			"bern":           {"Bern"},
			"ern":            {"Bern"}, // a letter left out
			"rn":             {},
			"bahnhofplatz":   {"Zürich HB"},
			"*":              {}, // there is no word in it
			" ":              ask(traintravel.StationQuery{}),
		} {
			if got := ask(traintravel.StationQuery{Search: search}); !slices.Equal(got, want) {
				t.Errorf("%q: %q, want %q", search, got, want)
			}
		}
		for country, want := range map[string][]string{"CH": {"Bern", "Winterthur", "Zürich HB"}, "ch": {"Bern", "Winterthur", "Zürich HB"}, "SE": {}} {
			if got := ask(traintravel.StationQuery{Country: country}); !slices.Equal(got, want) {
				t.Errorf("%q: %q, want %q", country, got, want)
			}
		}
		near := func(lat, lon float64) *traintravel.Position {
			return &traintravel.Position{Latitude: lat, Longitude: lon}
		}
		if got := ask(traintravel.StationQuery{Near: near(47.49, 8.72)}); !slices.Equal(got, []string{"Winterthur", "Zürich HB"}) {
			t.Errorf("near Winterthur: %q", got)
		}
		if got := ask(traintravel.StationQuery{Near: near(47.38, 8.54), Search: "zur", Country: "CH"}); !slices.Equal(got, []string{"Zürich HB", "Winterthur"}) {
			t.Errorf("near Zürich: %q", got)
		}
		if got := ask(traintravel.StationQuery{Near: near(0, -179.9)}); len(got) != 1 {
			t.Errorf("across the date line: %q", got)
		}
		if got := ask(traintravel.StationQuery{}); len(got) != len(someStations) || got[0] != "Århus H" || got[1] != "Bern" {
			t.Errorf("all: %q", got)
		}
		for field, q := range map[string]traintravel.StationQuery{
			"search": {Search: strings.Repeat("z ", 101)}, "country": {Country: "CHE"}, "coordinates": {Near: near(91, 0)}, "coordinates ": {Near: near(0, -181)},
		} {
			_, err := o.Stations(t.Context(), q)
			var wrong *traintravel.InvalidError
			if !errors.As(err, &wrong) || wrong.Field != field[:len(wrong.Field)] {
				t.Errorf("%s: %v", field, err)
			}
		}
		ask(traintravel.StationQuery{Search: strings.Repeat("zü", 100)}) // as long as it may be
		first := tt.Stations[0]
		if got, err := o.Station(t.Context(), first.ID); err != nil || !cmp.Equal(got, first) {
			t.Errorf("%+v, %v", got, err)
		}
		_, err := o.Station(t.Context(), uuid.New())
		o.Expect("no station", err, traintravel.ErrNotFound)
	})
}

// Where trains decide the order, a new timetable means to begin again.
func TestPagesOfASearchAreOfOneTimetable(t *testing.T) {
	t.Parallel()
	o := officetest.New(t, memstore.New())
	searched, all := traintravel.StationQuery{Search: "s"}, traintravel.StationQuery{}
	tt := &traintravel.Timetable{}
	for i := range 5 {
		tt.Stations = append(tt.Stations, traintravel.Station{ID: officetest.Station(rune('A' + i)), Name: "S " + string(rune('A'+i)), Zone: "UTC"})
	}
	tt.Trains = append(tt.Trains, officetest.Train("1", 8, "CE"), officetest.Train("2", 9, "CD"))
	o.Load(tt)
	next := func(q traintravel.StationQuery) traintravel.StationQuery {
		t.Helper()
		q.Page.Limit = 2
		found, err := o.Stations(t.Context(), q)
		if err != nil || len(found.Items) != 2 {
			t.Fatal(found.Items, err)
		}
		q.Page.After = found.Next
		return q
	}
	names := func(q traintravel.StationQuery) (names string) {
		t.Helper()
		found, err := o.Stations(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range found.Items {
			names += s.Name[2:]
		}
		return names
	}
	searched, all = next(searched), next(all)
	if got := names(searched) + names(next(searched)) + " " + names(all); got != "EAB CD" {
		t.Errorf("after the first page come %s", got)
	}
	for what, q := range map[string]traintravel.StationQuery{
		"another search":        {Search: "e", Page: searched.Page},
		"a search for nothing":  {Search: "nothing", Page: searched.Page},
		"no search":             {Page: searched.Page},
		"a search after a list": {Search: "s", Page: all.Page},
	} {
		refused(o, what, q)
	}
	o.Load(tt)
	refused(o, "a search, now that the timetable is another", searched)
	if got := names(all); got != "CD" {
		t.Errorf("of all come %s", got)
	}
}

// refused asks for a page of stations after one of another list.
func refused(o *officetest.Office, what string, q traintravel.StationQuery) {
	o.T.Helper()
	var wrong *traintravel.InvalidError
	if _, err := o.Stations(o.T.Context(), q); !errors.As(err, &wrong) || wrong.Field != "after" {
		o.T.Errorf("%s: %v", what, err)
	}
}
