package traintravel

import (
	"errors"
	"strings"
	"testing"

	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/internal/stations"
)

func TestCitiesAreChecked(t *testing.T) {
	t.Parallel()
	good := railtest.CitiesForTests()[0]
	for name, change := range map[string]func(*City){
		"no names":         func(c *City) { c.Names = nil },
		"too many names":   func(c *City) { c.Names = make([]string, stations.MaxCityNames+1) },
		"no letter":        func(c *City) { c.Names = []string{"Wien", "-"} },
		"a long name":      func(c *City) { c.Names = []string{strings.Repeat("x", MaxText+1)} },
		"no country":       func(c *City) { c.Country = "" },
		"small letters":    func(c *City) { c.Country = "at" },
		"off the earth":    func(c *City) { c.Latitude = 91 },
		"beyond Greenwich": func(c *City) { c.Longitude = -181 },
		"negative":         func(c *City) { c.Radius = -1 },
		"too large":        func(c *City) { c.Radius = stations.Nearby + 1 },
	} {
		bad := good
		change(&bad)
		var invalid *InvalidError
		if _, err := New(nil, Options{Cities: []City{good, bad}}); !errors.As(err, &invalid) || invalid.Field != "Options.Cities[1]" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
