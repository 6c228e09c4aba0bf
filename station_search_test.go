package traintravel

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/traintravel/traintravel/internal/fold"
)

// found are the names of the stations that a search lists, in its order.
func (sn *snapshot) found(search, country string, near *Position) []string {
	out := []string{}
	for _, i := range sn.search(fold.Words(fold.String(search)), country, near, 0, 1000) {
		out = append(out, sn.stations[i].Name)
	}
	return out
}

func TestStationSearch(t *testing.T) {
	t.Parallel()
	tt := &Timetable{}
	for i, s := range []Station{
		{Name: "Zürich HB", Address: "Bahnhofplatz 15", Country: "CH", Latitude: 47.378, Longitude: 8.540},
		{Name: "Oerlikon", Address: "Zürich-Nord", Country: "CH", Latitude: 47.411, Longitude: 8.544},
		{Name: "Bern", Country: "CH", Latitude: 46.949, Longitude: 7.439},
		{Name: "Bernau", Country: "DE", Latitude: 52.676, Longitude: 13.592},
		{Name: "Halle (Saale) Hbf", Country: "DE", Latitude: 51.477, Longitude: 11.987},
		{Name: "ǅakovo", Latitude: 0, Longitude: 179.9},
		{Name: "East", Latitude: 0, Longitude: -179.9},
	} {
		s.ID, s.Zone = stationNamed(string(rune('a'+i))), "UTC"
		tt.Stations = append(tt.Stations, s)
	}
	sn := compiled(t, tt)
	zurich := &Position{47.378, 8.540}
	for _, c := range []struct {
		search, country string
		near            *Position
		want            []string
	}{
		{"", "", nil, []string{"Bern", "Bernau", "ǅakovo", "East", "Halle (Saale) Hbf", "Oerlikon", "Zürich HB"}},
		{"zurich", "", nil, []string{"Oerlikon", "Zürich HB"}}, // by name, though one has it in its address
		{"ZÜRICH", "", nil, []string{"Oerlikon", "Zürich HB"}},
		{"Zu\u0308rich hb", "", nil, []string{"Zürich HB"}},
		{"hb zürich", "", nil, []string{"Zürich HB"}},
		{"zür nor", "", nil, []string{"Oerlikon"}},
		{"ürich", "", nil, []string{}}, // words are found by their beginnings
		{"bern", "", nil, []string{"Bern", "Bernau"}},
		{"bern", "DE", nil, []string{"Bernau"}},
		{"saale", "", nil, []string{"Halle (Saale) Hbf"}},
		{"(saale)-hbf!", "", nil, []string{"Halle (Saale) Hbf"}},
		{"15", "", nil, []string{"Zürich HB"}},
		{"hb bahnhofplatz", "", nil, []string{"Zürich HB"}},
		{"hb bern", "", nil, []string{}},
		{"--", "", nil, []string{"Bern", "Bernau", "ǅakovo", "East", "Halle (Saale) Hbf", "Oerlikon", "Zürich HB"}},
		{"dzak", "", nil, []string{"ǅakovo"}},
		{"", "AT", nil, []string{}},
		{"", "", zurich, []string{"Zürich HB", "Oerlikon"}}, // nearest first
		{"oer", "CH", zurich, []string{"Oerlikon"}},
		{"", "", &Position{0, 180}, []string{"ǅakovo", "East"}}, // over the date line, at one distance
		{"", "", &Position{90, 0}, []string{}},
	} {
		if diff := cmp.Diff(c.want, sn.found(c.search, c.country, c.near)); diff != "" {
			t.Errorf("%q in %q near %v: -want +got\n%s", c.search, c.country, c.near, diff)
		}
	}
}

func TestBeginsWord(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, word string
		want       bool
	}{
		{"bern", "bern", true}, {"bern", "bernau", false}, {"oberbern bern", "bern", true}, {"oberbern", "bern", false},
		{"a-b", "b", true}, {"1b", "b", false}, {"ωa", "a", false}, {"ω a", "a", true}, {"aaa", "aa", true}, {"", "a", false},
		{"name\naddress", "address", true}, {"δδ δω", "δω", true},
	} {
		if got := beginsWord(c.text, c.word); got != c.want {
			t.Errorf("%q begins a word of %q: %t", c.word, c.text, got)
		}
	}
}

// Stations of one name order by ID, so that pages do not depend on the feed.
func TestStationsOrderDoesNotDependOnTheFeed(t *testing.T) {
	t.Parallel()
	a := Station{ID: stationNamed("a"), Name: "Neustadt", Zone: "UTC"}
	b := Station{ID: stationNamed("b"), Name: "NEUSTADT", Zone: "UTC"}
	c := Station{ID: stationNamed("c"), Name: "Néustadt", Zone: "UTC"}
	for _, order := range [][]Station{{a, b, c}, {c, b, a}, {b, a, c}} {
		sn := compiled(t, &Timetable{Stations: slices.Clone(order)})
		if got := sn.stations; got[0].ID != a.ID || got[1].ID != b.ID || got[2].ID != c.ID {
			t.Errorf("%v, %v, %v", got[0].Name, got[1].Name, got[2].Name)
		}
	}
}
