package schedule_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/internal/stations"
)

func TestCitiesAreChecked(t *testing.T) {
	t.Parallel()
	good := railtest.CitiesForTests()[0]
	for name, change := range map[string]func(*traintravel.City){
		"no names":         func(c *traintravel.City) { c.Names = nil },
		"too many names":   func(c *traintravel.City) { c.Names = make([]string, stations.MaxCityNames+1) },
		"no letter":        func(c *traintravel.City) { c.Names = []string{"Wien", "-"} },
		"a long name":      func(c *traintravel.City) { c.Names = []string{strings.Repeat("x", traintravel.MaxText+1)} },
		"no country":       func(c *traintravel.City) { c.Country = "" },
		"small letters":    func(c *traintravel.City) { c.Country = "at" },
		"off the earth":    func(c *traintravel.City) { c.Latitude = 91 },
		"beyond Greenwich": func(c *traintravel.City) { c.Longitude = -181 },
		"negative":         func(c *traintravel.City) { c.Radius = -1 },
		"too large":        func(c *traintravel.City) { c.Radius = stations.Nearby + 1 },
	} {
		bad := good
		change(&bad)
		var invalid *traintravel.InvalidError
		if _, err := traintravel.New(nil, traintravel.Options{Cities: []traintravel.City{good, bad}}); !errors.As(err, &invalid) || invalid.Field != "Options.Cities[1]" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
