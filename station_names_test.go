package traintravel

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// citiesForTests are some cities. There is a village called Vienna in Germany.
var citiesForTests = []City{
	{Names: []string{"Wien", "Vienna", "Bécs", "Вена"}, Country: "AT", Latitude: 48.21, Longitude: 16.37, Radius: 11_000},
	{Names: []string{"Den Haag", "The Hague", "La Haye", "Haag"}, Country: "NL", Latitude: 52.08, Longitude: 4.31, Radius: 6_000},
	{Names: []string{"Aachen", "Aix-la-Chapelle"}, Country: "DE", Latitude: 50.78, Longitude: 6.08, Radius: 5_000},
	{Names: []string{"München", "Munich"}, Country: "DE", Latitude: 48.14, Longitude: 11.57, Radius: 10_000},
	{Names: []string{"Gent", "Ghent"}, Country: "BE", Latitude: 51.05, Longitude: 3.73, Radius: 6_000},
	{Names: []string{"Genève", "Genf"}, Country: "CH", Latitude: 46.20, Longitude: 6.15, Radius: 6_000},
	{Names: []string{"Dublin", "Baile Átha Cliath"}, Country: "IE", Latitude: 53.35, Longitude: -6.26, Radius: 8_000},
	{Names: []string{"Київ", "Kyiv", "Kiev"}, Country: "UA", Latitude: 50.45, Longitude: 30.52, Radius: 10_000},
}

func withCities(cities []City) *directory {
	var stations []Station
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
		stations = append(stations, Station{Name: s.name, Country: s.country, Latitude: s.lat, Longitude: s.lon})
		trains = append(trains, s.trains)
	}
	d := calledAt(stations, trains)
	return newDirectory(d.stations, newGazetteer(cities), d.traffic)
}

func TestStationsByTheNamesOfCities(t *testing.T) {
	t.Parallel()
	d := withCities(citiesForTests)
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
	stations := []Station{{Name: "Rom"}, {Name: "Romanshorn"}, {Name: "Roma Termini"}, {Name: "Romont Est"}, {Name: "Termini Romano"}}
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

func TestCitiesAreChecked(t *testing.T) {
	t.Parallel()
	good := citiesForTests[0]
	for name, change := range map[string]func(*City){
		"no names":         func(c *City) { c.Names = nil },
		"too many names":   func(c *City) { c.Names = make([]string, maxCityNames+1) },
		"no letter":        func(c *City) { c.Names = []string{"Wien", "-"} },
		"a long name":      func(c *City) { c.Names = []string{strings.Repeat("x", MaxText+1)} },
		"no country":       func(c *City) { c.Country = "" },
		"small letters":    func(c *City) { c.Country = "at" },
		"off the earth":    func(c *City) { c.Latitude = 91 },
		"beyond Greenwich": func(c *City) { c.Longitude = -181 },
		"negative":         func(c *City) { c.Radius = -1 },
		"too large":        func(c *City) { c.Radius = nearby + 1 },
	} {
		bad := good
		change(&bad)
		var invalid *InvalidError
		if _, err := New(nil, Options{Cities: []City{good, bad}}); !errors.As(err, &invalid) || invalid.Field != "Options.Cities[1]" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A station is found by each of its names as it would be if it had that name alone.
func TestStationsAreFoundByOtherNames(t *testing.T) {
	t.Parallel()
	d := calledAt([]Station{
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
