package traintravel

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/traintravel/traintravel/internal/fold"
)

// A City is a place that people know by several names, such as its names in several
// languages. Package cities has those of Europe's larger railway cities.
type City struct {
	// Names are the names of the city, in any language, script and order. One that
	// its stations have in their names must be among them.
	Names []string
	// Country is an ISO 3166-1 alpha-2 code in upper case. Stations in another country
	// are not in the city, however near they are.
	Country string
	// Latitude and Longitude are where its centre is, in degrees north and east (WGS 84).
	Latitude, Longitude float64
	// Radius is how far from its centre the city reaches, in metres, at most 50,000.
	Radius float64
}

// Limits of Options.Cities.
const (
	maxCities    = 100_000
	maxCityNames = 100
)

// checkCities returns an [*InvalidError] for a city that is not well-formed.
func checkCities(cities []City) error {
	if len(cities) > maxCities {
		return invalid("Options.Cities", "has %d entries, more than %d", len(cities), maxCities)
	}
	for i, c := range cities {
		at := fmt.Sprintf("Options.Cities[%d]", i)
		switch {
		case len(c.Names) == 0 || len(c.Names) > maxCityNames:
			return invalid(at, "has %d names, want 1 to %d", len(c.Names), maxCityNames)
		case !isCountry(c.Country) || c.Country != strings.ToUpper(c.Country):
			return invalid(at, "country %.20q is not an ISO 3166-1 code of two upper-case letters", c.Country)
		case !(math.Abs(c.Latitude) <= 90 && math.Abs(c.Longitude) <= 180):
			return invalid(at, "%v, %v is not a place on earth", c.Latitude, c.Longitude)
		case !(c.Radius >= 0 && c.Radius <= nearby):
			return invalid(at, "radius %v is not between 0 and %d metres", c.Radius, nearby)
		}
		for _, name := range c.Names {
			if utf8.RuneCountInString(name) > MaxText || len(fold.Words(fold.String(name))) == 0 {
				return invalid(at, "name %.60q has no letter or digit, or more than %d characters", name, MaxText)
			}
		}
	}
	return nil
}
