package stations

import (
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/fold"
	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/rail"
)

func lookingFor(search string) Lookup {
	return Lookup{Words: fold.Words(fold.String(search)), After: -1, Enough: 1000}
}

// found are the names of the stations that a search lists, in its order.
func (d *Directory) found(q Lookup) []string {
	out := []string{}
	found, _ := d.Search(q)
	for _, i := range found {
		out = append(out, d.stations[i].Name)
	}
	return out
}

func TestStationSearch(t *testing.T) {
	t.Parallel()
	var stations []rail.Station
	for i, s := range []rail.Station{
		{Name: "Zürich HB", Address: "Bahnhofplatz 15", Country: "CH", Latitude: 47.378, Longitude: 8.540},
		{Name: "Oerlikon", Address: "Zürich-Nord", Country: "CH", Latitude: 47.411, Longitude: 8.544},
		{Name: "Bern", Country: "CH", Latitude: 46.949, Longitude: 7.439},
		{Name: "Bernau", Country: "DE", Latitude: 52.676, Longitude: 13.592},
		{Name: "Halle (Saale) Hbf", Country: "DE", Latitude: 51.477, Longitude: 11.987},
		{Name: "ǅakovo", Latitude: 0, Longitude: 179.9},
		{Name: "East", Latitude: 0, Longitude: -179.9},
	} {
		s.ID = railtest.StationNamed(string(rune('a' + i)))
		stations = append(stations, s)
	}
	d := directoryOf(stations, nil)
	zurich := &rail.Position{Latitude: 47.378, Longitude: 8.540}
	for _, c := range []struct {
		search, country string
		near            *rail.Position
		want            []string
	}{
		{"", "", nil, []string{"Bern", "Bernau", "ǅakovo", "East", "Halle (Saale) Hbf", "Oerlikon", "Zürich HB"}},
		{"zurich", "", nil, []string{"Zürich HB", "Oerlikon"}}, // by name, by address
		{"ZÜRICH", "", nil, []string{"Zürich HB", "Oerlikon"}},
		{"Zu\u0308rich hb", "", nil, []string{"Zürich HB"}},
		{"hb zürich", "", nil, []string{"Zürich HB"}},
		{"zür nor", "", nil, []string{"Oerlikon"}},
		{"rich", "", nil, []string{}}, // words are found by their beginnings
		{"bern", "", nil, []string{"Bern", "Bernau"}},
		{"bern", "DE", nil, []string{"Bernau"}},
		{"saale", "", nil, []string{"Halle (Saale) Hbf"}},
		{"(saale)-hbf!", "", nil, []string{"Halle (Saale) Hbf"}},
		{"15", "", nil, []string{"Zürich HB"}},
		{"hb bahnhofplatz", "", nil, []string{"Zürich HB"}},
		{"hb bern", "", nil, []string{"Bern", "Bernau"}}, // a common word in vain
		{"nord bern", "", nil, []string{}},
		{"--", "", nil, []string{"Bern", "Bernau", "ǅakovo", "East", "Halle (Saale) Hbf", "Oerlikon", "Zürich HB"}},
		{"dzak", "", nil, []string{"ǅakovo"}},
		{"", "AT", nil, []string{}},
		{"", "", zurich, []string{"Zürich HB", "Oerlikon"}}, // nearest first
		{"oer", "CH", zurich, []string{"Oerlikon"}},
		{"zurihc", "", &rail.Position{Latitude: 47.411, Longitude: 8.544}, []string{"Oerlikon", "Zürich HB"}},
		{"zurich gare", "", zurich, []string{"Zürich HB", "Oerlikon"}},
		{"bern", "", zurich, []string{}},
		{"brn", "", nil, []string{"Bern"}},
		{"eas", "", nil, []string{"East"}},
		{"hal", "", nil, []string{"Halle (Saale) Hbf"}},
		{"barnau", "DE", nil, []string{"Bernau"}},
		{"", "", &rail.Position{Latitude: 0, Longitude: 180}, []string{"ǅakovo", "East"}}, // over the date line, at one distance
		{"", "", &rail.Position{Latitude: 90, Longitude: 0}, []string{}},
	} {
		q := lookingFor(c.search)
		q.Country, q.Near = c.country, c.near
		if diff := cmp.Diff(c.want, d.found(q)); diff != "" {
			t.Errorf("%q in %q near %v: -want +got\n%s", c.search, c.country, c.near, diff)
		}
	}
}

// directoryOf is a directory of stations at which so many trains call, without cities.
func directoryOf(stations []rail.Station, trains map[uuid.UUID]int) *Directory {
	sorted := slices.Clone(stations)
	SortStations(sorted)
	return NewDirectory(sorted, nil, func(at int32) int { return trains[sorted[at].ID] })
}

// calledAt is directoryOf with IDs that it gives the stations.
func calledAt(stations []rail.Station, trains []int) *Directory {
	calls := map[uuid.UUID]int{}
	for i := range stations {
		stations[i].ID = railtest.StationNamed("s" + strconv.Itoa(i))
		calls[stations[i].ID] = trains[i]
	}
	return directoryOf(stations, calls)
}

func TestStationsAreRanked(t *testing.T) {
	t.Parallel()
	var stations []rail.Station
	var trains []int
	for _, s := range []struct {
		name, address string
		trains        int
	}{
		{"Berlin Hauptbahnhof", "Europaplatz", 2},
		{"Berlin Ostbahnhof", "", 9},
		{"Berliner Tor", "", 1},
		{"Bernau (bei Berlin)", "", 9},
		{"Potsdam", "Berliner Str. 3", 9},
		{"Paris Gare de l'Est", "", 3},
		{"Paris Gare de Lyon", "", 7},
		{"Paris Gare du Nord", "", 5},
		{"Lyon Part-Dieu", "", 2},
		{"Frankfurt (Main) Hbf", "", 5},
		{"Frankfurt (Oder)", "", 2},
		{"Frankfurt Flughafen Fernbf", "", 7},
		{"Saint-Étienne Châteaucreux", "", 1},
		{"St. Pölten Hbf", "", 1},
		{"Sankt Margrethen", "", 2},
		{"Zuerich Stadelhofen", "", 1},
		{"Zürich HB", "", 3},
		{"Köln Hbf", "Trankgasse", 1},
		{"Gießen", "", 1},
		{"München Ost", "", 3},
		{"München Hbf", "", 1},
		{"Baden", "", 3},
		{"Baden-Baden", "", 1},
		{"Stuttgart Nord", "", 1},
		{"Stuttgart Hbf", "", 1},
		{"Oslo S", "", 1},
		{"Gare", "", 0},
		{"(Depot)", "", 0},
		{"Wien Westbf", "", 0},
		{"Brno hl.n.", "", 1},
		{"Bern", "", 9},
	} {
		stations = append(stations, rail.Station{Name: s.name, Address: s.address})
		trains = append(trains, s.trains)
	}
	d := calledAt(stations, trains)
	for search, want := range map[string][]string{
		"Berlin":              {"Berlin Hauptbahnhof", "Berlin Ostbahnhof", "Berliner Tor", "Bernau (bei Berlin)", "Potsdam"},
		"berlin hbf":          {"Berlin Hauptbahnhof"},
		"hbf berlin":          {"Berlin Hauptbahnhof"},
		"berlin ostbf":        {"Berlin Ostbahnhof"},
		"berlin station":      {"Berlin Hauptbahnhof", "Berlin Ostbahnhof", "Berliner Tor", "Bernau (bei Berlin)", "Potsdam"},
		"berliner strasse":    {"Potsdam"},
		"Paris":               {"Paris Gare de Lyon", "Paris Gare du Nord", "Paris Gare de l'Est"},
		"gare de lyon":        {"Paris Gare de Lyon"},
		"lyon":                {"Lyon Part-Dieu", "Paris Gare de Lyon"},
		"Frankfurt":           {"Frankfurt (Main) Hbf", "Frankfurt (Oder)", "Frankfurt Flughafen Fernbf"},
		"frankfurt am main":   {"Frankfurt (Main) Hbf"},
		"frankfurt bahnhof":   {"Frankfurt (Main) Hbf", "Frankfurt (Oder)", "Frankfurt Flughafen Fernbf"},
		"st etienne":          {"Saint-Étienne Châteaucreux"},
		"etienne":             {"Saint-Étienne Châteaucreux"},
		"saint":               {"Sankt Margrethen", "Saint-Étienne Châteaucreux", "St. Pölten Hbf"},
		"sankt pölten":        {"St. Pölten Hbf"},
		"zurich":              {"Zürich HB", "Zuerich Stadelhofen"},
		"Zuerich":             {"Zürich HB", "Zuerich Stadelhofen"},
		"zürich hauptbahnhof": {"Zürich HB"},
		"koeln":               {"Köln Hbf"},
		"giessen":             {"Gießen"},
		"GIEẞEN":              {"Gießen"},
		"Muenchen":            {"München Hbf", "München Ost"},
		"baden":               {"Baden", "Baden-Baden"},
		"baden baden":         {"Baden-Baden", "Baden"},
		"oslo":                {"Oslo S"},
		"gare":                {"Gare", "Paris Gare de Lyon", "Paris Gare du Nord", "Paris Gare de l'Est"},
		"depot":               {"(Depot)"},
		"westbahnhof":         {"Wien Westbf"},
		"brn":                 {"Brno hl.n.", "Bern"}, // a beginning before what lacks a letter
		"barlin":              {"Berlin Hauptbahnhof", "Berlin Ostbahnhof", "Berliner Tor", "Bernau (bei Berlin)", "Potsdam"},
		"munchn":              {"München Hbf", "München Ost"},
		"munchnn":             {"München Hbf", "München Ost"},
		"Stutgart":            {"Stuttgart Hbf", "Stuttgart Nord"},
		"Zurihc":              {"Zürich HB", "Zuerich Stadelhofen"},
		"barlin hbf":          {"Berlin Hauptbahnhof"},
		"barlin tro":          {}, // too short to be amiss
		"paris gare du nrod":  {"Paris Gare du Nord"},
		"stutgat":             {"Stuttgart Hbf", "Stuttgart Nord"}, // two letters
		"sttgat":              {},
		"10557":               {},
	} {
		if diff := cmp.Diff(want, d.found(lookingFor(search))); diff != "" {
			t.Errorf("%q: -want +got\n%s", search, diff)
		}
	}
	ost := slices.IndexFunc(d.stations, func(s rail.Station) bool { return s.Name == "Berlin Ostbahnhof" })
	if n := d.traffic(int32(ost)); n != 9 {
		t.Errorf("%d trains call at Ostbahnhof", n)
	}
}

// The fewer words are amiss, the likelier a station is meant.
func TestStationsWithFewestWordsAmiss(t *testing.T) {
	t.Parallel()
	d := calledAt([]rail.Station{{Name: "Homburg Altena"}, {Name: "Hamburg Altona Nord"}}, []int{5, 1})
	if diff := cmp.Diff([]string{"Hamburg Altona Nord", "Homburg Altena"}, d.found(lookingFor("hamburg altina"))); diff != "" {
		t.Error(diff)
	}
	many := lookingFor("hamburg altona nord hbf gare central saint station hambrug") // one too many
	if got := d.found(many); len(got) != 0 {
		t.Errorf("%q", got)
	}
	many.Words = many.Words[1:]
	if got := d.found(many); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// Stations of one name order by ID, so that pages do not depend on the feed.
func TestStationsOrderDoesNotDependOnTheFeed(t *testing.T) {
	t.Parallel()
	a := rail.Station{ID: railtest.StationNamed("a"), Name: "Neustadt", Zone: "UTC"}
	b := rail.Station{ID: railtest.StationNamed("b"), Name: "NEUSTADT", Zone: "UTC"}
	c := rail.Station{ID: railtest.StationNamed("c"), Name: "Néustadt", Zone: "UTC"}
	for _, order := range [][]rail.Station{{a, b, c}, {c, b, a}, {b, a, c}} {
		got := slices.Clone(order)
		if SortStations(got); got[0].ID != a.ID || got[1].ID != b.ID || got[2].ID != c.ID {
			t.Errorf("%v, %v, %v", got[0].Name, got[1].Name, got[2].Name)
		}
	}
}

// A name typed in full comes first, however many trains call elsewhere.
func TestStationNamedInFull(t *testing.T) {
	t.Parallel()
	names := []string{"Ostbahnhof", "S Ostbahnhof (Berlin)", "Hegyeshalom(Gr)", "Hegyeshalom", "Bern", "Bern Bümpliz Nord"}
	var stations []rail.Station
	var trains []int
	for i, name := range names {
		stations, trains = append(stations, rail.Station{Name: name}), append(trains, 1+i%2*5)
	}
	trains[2] = 9
	d := calledAt(stations, trains)
	for _, name := range names {
		q := lookingFor(name)
		q.Enough = 1
		got, ok := d.Search(q)
		if !ok || len(got) != 1 || d.stations[got[0]].Name != name {
			t.Errorf("%s: %v", name, got)
		}
	}
}
