package cities_test

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"

	"os"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/cities"
	"github.com/traintravel/traintravel/store/memstore"
)

// Every line of the table has the form that it is read in, and is in Europe.
func TestTable(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[A-Z]{2} -?\d+\.\d+ -?\d+\.\d+ \d+(\.\d+)? [^| ][^|]*(\|[^| ][^|]*)*$`)
	text, err := os.ReadFile("europe.txt")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSuffix(line, "\n"); line[0] == '#' {
			continue
		}
		count++
		if !form.MatchString(line) {
			t.Errorf("%q has another form", line)
		}
	}
	all := cities.Europe()
	if len(all) != count || count < 400 {
		t.Errorf("%d cities of %d lines", len(all), count)
	}
	for _, c := range all {
		if c.Latitude < 34 || c.Latitude > 70 || c.Longitude < -10 || c.Longitude > 45 || c.Radius < 100 || c.Radius > 25_000 {
			t.Errorf("%s is at %v, %v, %v m wide", c.Names[0], c.Latitude, c.Longitude, c.Radius)
		}
		seen := map[string]bool{}
		for _, name := range c.Names {
			if seen[name] || strings.TrimSpace(name) != name {
				t.Errorf("%s has %q twice, or with blanks around it", c.Names[0], name)
			}
			seen[name] = true
		}
	}
	if _, err := traintravel.New(memstore.New(), traintravel.Options{Cities: all}); err != nil {
		t.Error(err)
	}
}

// No city is there twice: cities of one country with a name in common are far apart,
// unless they are an airport or a station of one.
func TestNoCityTwice(t *testing.T) {
	t.Parallel()
	all := cities.Europe()
	for i, a := range all {
		for _, b := range all[:i] {
			if a.Country != b.Country || a.Radius < 3000 || b.Radius < 3000 {
				continue
			}
			km := math.Hypot(a.Latitude-b.Latitude, (a.Longitude-b.Longitude)*math.Cos(a.Latitude*math.Pi/180)) * 111
			if km < 3 || km < 15 && slices.ContainsFunc(a.Names, func(name string) bool { return slices.Contains(b.Names, name) }) {
				t.Errorf("%s and %s are %.0f km apart", a.Names[0], b.Names[0], km)
			}
		}
	}
}

// Each name of each city finds the station that is called after the city by its
// first name. It is among the first three, for cities share names and beginnings.
func TestEachNameFindsItsCity(t *testing.T) {
	t.Parallel()
	all := cities.Europe()
	tt := &traintravel.Timetable{}
	for i, c := range all {
		if c.Radius < 3000 {
			continue
		}
		id := uuid.NewSHA1(uuid.NameSpaceOID, []byte(strconv.Itoa(i)))
		tt.Stations = append(tt.Stations, traintravel.Station{
			ID: id, Name: c.Names[0] + " Hbf", Address: strconv.Itoa(i), Country: c.Country, Zone: "UTC", Latitude: c.Latitude, Longitude: c.Longitude,
		})
	}
	tt.Trains = []traintravel.Train{{
		Operator: "Rail", Number: "1", Zone: "UTC", Fare: traintravel.Fare{Currency: "eur", Base: 100},
		Calls: []traintravel.Call{
			{Station: tt.Stations[0].ID, Depart: traintravel.Clock(8, 0)},
			{Station: tt.Stations[1].ID, Arrive: traintravel.Clock(9, 0), Depart: traintravel.Clock(9, 0)},
		},
	}}
	service := serving(t, tt)
	for i, c := range all {
		if c.Radius < 3000 {
			continue
		}
		for _, name := range c.Names {
			list, err := service.Stations(t.Context(), traintravel.StationQuery{Search: name, Page: traintravel.Page{Limit: 3}})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(list.Items, func(s traintravel.Station) bool { return s.Address == strconv.Itoa(i) }) {
				t.Errorf("%s, a name of %s, does not find it, but %v", name, c.Names[0], list.Items)
			}
		}
	}
}
