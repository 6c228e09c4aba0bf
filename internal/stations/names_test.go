package stations

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/rail"
)

func withCities(cities []rail.City) *Directory {
	var stations []rail.Station
	var trains []int
	for _, s := range []struct {
		name, country string
		lat, lon      float64
		trains        int
	}{
		{"Wien Hbf", "AT", 48.185, 16.376, 5},
		{"Wien Meidling", "AT", 48.174, 16.333, 9},
		{"Flughafen Wien", "AT", 48.121, 16.563, 1},
		{"Praterstern", "AT", 48.218, 16.392, 1},
		{"Vienna (Kr Wien)", "DE", 50.0, 8.0, 1},
		{"Wien", "SK", 48.2, 16.95, 1},    // not far away, in another country
		{"Wien Süd", "AT", 47.5, 13.4, 1}, // far away in the same country
		{"Dublin", "IE", 53.346, -6.292, 1},
		{"Dublin Cork Line", "IE", 53.2, -6.5, 9},
		{"Wiener Neustadt", "AT", 47.81, 16.24, 1},
		{"Den Haag Centraal", "NL", 52.08, 4.324, 3},
		{"Den Haag Laan van NOI", "NL", 52.079, 4.343, 9},
		{"Aachen Hbf", "DE", 50.767, 6.091, 1},
		{"Aachen West", "DE", 50.78, 6.07, 9},
		{"Aix-en-Provence TGV", "FR", 43.45, 5.31, 9},
		{"München Hbf", "DE", 48.14, 11.558, 5},
		{"Ostbahnhof", "DE", 48.127, 11.604, 2},
		{"Amsterdam Centraal", "NL", 52.378, 4.9, 5},
		{"Norden", "DE", 53.6, 7.2, 9},
		{"Bruxelles-Nord", "BE", 50.86, 4.36, 1},
		{"Genève", "CH", 46.21, 6.142, 1},
		{"Київ-Пасажирський", "UA", 50.44, 30.489, 1},
		{"Брно", "CZ", 49.19, 16.61, 1},
		{"Lviv", "UA", 49.84, 23.99, 1},
		{"Oslo S", "NO", 59.91, 10.75, 1},
	} {
		stations = append(stations, rail.Station{Name: s.name, Country: s.country, Latitude: s.lat, Longitude: s.lon})
		trains = append(trains, s.trains)
	}
	d := calledAt(stations, trains)
	return NewDirectory(d.stations, NewGazetteer(cities), d.traffic)
}

func TestStationsByTheNamesOfCities(t *testing.T) {
	t.Parallel()
	d := withCities(railtest.CitiesForTests())
	for search, want := range map[string]string{
		"vienna":                "Vienna (Kr Wien), Wien Hbf, Wien Meidling, Flughafen Wien, Praterstern",
		"wien":                  "Wien, Wien Hbf, Wien Meidling, Wien Süd, Wiener Neustadt, Flughafen Wien, Vienna (Kr Wien), Praterstern",
		"bécs":                  "Wien Hbf, Wien Meidling, Flughafen Wien, Praterstern",
		"вена":                  "Wien Hbf, Wien Meidling, Flughafen Wien, Praterstern",
		"vienna hbf":            "Wien Hbf",
		"vienna central":        "Wien Hbf",
		"vienna train station":  "Vienna (Kr Wien), Wien Hbf, Wien Meidling, Flughafen Wien, Praterstern",
		"vienna austria":        "Wien Hbf, Wien Meidling, Flughafen Wien, Praterstern",
		"vienna airport":        "Flughafen Wien",
		"vienna meidling":       "Wien Meidling",
		"vienna praterstern":    "Praterstern",
		"veinna hbf":            "Wien Hbf",
		"baile atha cliath":     "Dublin, Dublin Cork Line",
		"vindobona":             "",
		"the hague":             "Den Haag Centraal, Den Haag Laan van NOI",
		"the hague central":     "Den Haag Centraal",
		"la haye":               "Den Haag Centraal, Den Haag Laan van NOI",
		"aix":                   "Aix-en-Provence TGV, Aachen West, Aachen Hbf", // begins one's own name
		"aix la chapelle":       "Aachen Hbf, Aachen West",
		"aachen":                "Aachen Hbf, Aachen West",
		"munich ost":            "Ostbahnhof",
		"munich east":           "Ostbahnhof",
		"ostbahnhof":            "Ostbahnhof",
		"gent":                  "", // not Genf, nor Amsterdam Centraal
		"ghent station":         "",
		"genf":                  "Genève",
		"gens":                  "Genève",
		"gare du nord":          "Bruxelles-Nord",
		"nord":                  "Norden, Bruxelles-Nord",
		"kyiv":                  "Київ-Пасажирський",
		"kiev":                  "Київ-Пасажирський",
		"kyiv pasazhyrskyi":     "Київ-Пасажирський",
		"brno":                  "Брно",
		"львів":                 "Lviv",
		"osloo":                 "Oslo S",
		"oslo central":          "Oslo S",
		"aixenprovence":         "",
		"amsterdamcentraal":     "Amsterdam Centraal",
		"amsterdam hauptbanhof": "Amsterdam Centraal", // a common word, nearly
	} {
		if got := strings.Join(d.found(lookingFor(search)), ", "); got != want {
			t.Errorf("%q finds %s, want %s", search, got, want)
		}
	}
}

// Without cities, stations have the names of the timetable only.
func TestStationsWithoutCities(t *testing.T) {
	t.Parallel()
	d := withCities(nil)
	for search, want := range map[string]string{
		"vienna":     "Vienna (Kr Wien)",
		"bécs":       "",
		"gens":       "",
		"munich ost": "",
	} {
		if got := strings.Join(d.found(lookingFor(search)), ", "); got != want {
			t.Errorf("%q finds %s, want %s", search, got, want)
		}
	}
}

// A right spelling is never below one that is guessed.
func TestRightSpellingComesFirst(t *testing.T) {
	t.Parallel()
	stations := []rail.Station{{Name: "Rom"}, {Name: "Romanshorn"}, {Name: "Roma Termini"}, {Name: "Romont Est"}, {Name: "Termini Romano"}}
	d := calledAt(stations, []int{0, 9, 1, 9, 9})
	if diff := cmp.Diff([]string{"Rom", "Romanshorn", "Romont Est", "Roma Termini", "Termini Romano"}, d.found(lookingFor("rom"))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"Roma Termini", "Romanshorn", "Termini Romano"}, d.found(lookingFor("roma"))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"Roma Termini", "Termini Romano"}, d.found(lookingFor("roma termini"))); diff != "" {
		t.Error(diff)
	}
}

// A station is found by each of its names as it would be if it had that name alone.
func TestStationsAreFoundByOtherNames(t *testing.T) {
	t.Parallel()
	d := calledAt([]rail.Station{
		{Name: "Köln Hbf", OtherNames: []string{"Cologne", "Colonia", "Dom/Hbf"}},
		{Name: "Hauptbahnhof", OtherNames: []string{"Stuttgart Hbf"}},
		{Name: "Colognes-les-Bains"},
		{Name: "Stuttgart Nord"},
		{Name: "Köln Deutz", OtherNames: []string{"Messe", "Trade Fair"}},
		{Name: "Messe Süd"},
	}, []int{0, 0, 5, 5, 0, 5})
	for search, want := range map[string]string{
		"cologne":             "Köln Hbf, Colognes-les-Bains",
		"colonia":             "Köln Hbf",
		"koeln":               "Köln Hbf, Köln Deutz",
		"messe":               "Köln Deutz, Messe Süd",
		"trade deutz":         "Köln Deutz",
		"dom koln":            "Köln Hbf",
		"stuttgart":           "Hauptbahnhof, Stuttgart Nord",
		"stuttgart hbf":       "Hauptbahnhof",
		"stutgart":            "Hauptbahnhof, Stuttgart Nord",
		"hauptbahnhof":        "Hauptbahnhof, Köln Hbf",
		"cologne colonia hbf": "Köln Hbf",
	} {
		if got := strings.Join(d.found(lookingFor(search)), ", "); got != want {
			t.Errorf("%s: %s, want %s", search, got, want)
		}
	}
}
