package stations

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/traintravel/traintravel/internal/fold"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

// Limits of Options.Cities.
const (
	maxCities    = 100_000
	MaxCityNames = 100
)

// CheckCities returns an [*rail.InvalidError] for a city that is not well-formed.
func CheckCities(cities []rail.City) error {
	if len(cities) > maxCities {
		return rail.Invalid("Options.Cities", "has %d entries, more than %d", len(cities), maxCities)
	}
	for i, c := range cities {
		at := fmt.Sprintf("Options.Cities[%d]", i)
		switch {
		case len(c.Names) == 0 || len(c.Names) > MaxCityNames:
			return rail.Invalid(at, "has %d names, want 1 to %d", len(c.Names), MaxCityNames)
		case !schedule.IsCountry(c.Country) || c.Country != strings.ToUpper(c.Country):
			return rail.Invalid(at, "invalid country %.20q: want an ISO 3166-1 code of two upper-case letters", c.Country)
		case !(math.Abs(c.Latitude) <= 90 && math.Abs(c.Longitude) <= 180):
			return rail.Invalid(at, "invalid position %v, %v: want a latitude from -90 to 90 and a longitude from -180 to 180", c.Latitude, c.Longitude)
		case !(c.Radius >= 0 && c.Radius <= Nearby):
			return rail.Invalid(at, "radius %v is not between 0 and %d metres", c.Radius, Nearby)
		}
		for _, name := range c.Names {
			if utf8.RuneCountInString(name) > rail.MaxText || len(fold.Words(fold.String(name))) == 0 {
				return rail.Invalid(at, "name %.60q has no letter or digit, or more than %d characters", name, rail.MaxText)
			}
		}
	}
	return nil
}

// Nearby is how far from a Position a station may be, in metres.
const Nearby = 50_000

// degreeNorth is how many metres a degree of latitude has at least.
const degreeNorth = 111_000.0

// mentionedWithin is how many times its radius a station can be from a city that it
// is named after, as airports are. None is further than nearby.
const mentionedWithin = 10

// A Gazetteer finds the cities in which stations lie. Nil knows none.
type Gazetteer struct {
	cities []gazetteerCity
	byWord map[string][]cityName // by the first word of a name, in each form
	known  map[string]bool       // names in full, folded
	north  []int32               // cities by latitude
}

type gazetteerCity struct {
	rail.City
	names [][]nameWord
}

type cityName struct{ city, name int32 }

// NewGazetteer makes the gazetteer of cities that CheckCities has passed.
func NewGazetteer(cities []rail.City) *Gazetteer {
	g := &Gazetteer{byWord: map[string][]cityName{}, known: map[string]bool{}}
	for i, c := range cities {
		city := gazetteerCity{City: c}
		for n, name := range c.Names {
			words := wordsOf(name)
			// What they mean is not where a station lies in the city, and their
			// spellings in Latin letters are among the names as far as people use them.
			for i := range words {
				other := words[i].forms[0][0] >= utf8.RuneSelf
				words[i].forms = slices.DeleteFunc(words[i].forms, func(form string) bool {
					return form[0] == notionMark || other && form[0] < utf8.RuneSelf
				})
			}
			city.names = append(city.names, words)
			for _, form := range words[0].forms {
				g.byWord[form] = append(g.byWord[form], cityName{int32(i), int32(n)})
			}
			for _, folded := range []string{fold.String(name), fold.Doubled(name)} {
				g.known[strings.Join(fold.Words(folded), " ")] = true
			}
		}
		g.cities = append(g.cities, city)
		g.north = append(g.north, int32(i))
	}
	slices.SortFunc(g.north, func(a, b int32) int {
		return cmp.Compare(g.cities[a].Latitude, g.cities[b].Latitude)
	})
	return g
}

// distance is how far a station is from a city, and whether they can be one place:
// in one country, as far as that is known.
func (c *gazetteerCity) distance(st *rail.Station) (metres float64, ok bool) {
	if st.Country != c.Country && st.Country != rail.UnknownCountry && st.Country != "" {
		return 0, false
	}
	return rail.Position{Latitude: c.Latitude, Longitude: c.Longitude}.Distance(rail.Position{Latitude: st.Latitude, Longitude: st.Longitude}), true
}

// A mention is a city's name in that of a station.
type mention struct {
	city     int32
	name     int32 // which of the city's
	from, to int   // the words of the station's name
}

// mentions finds in a station's name the names of cities in or near which the
// station lies, the longest of them where they overlap.
func (g *Gazetteer) mentions(st *rail.Station, words []nameWord) []mention {
	if g == nil {
		return nil
	}
	var found []mention
	for i := 0; i < len(words); {
		longest := mention{to: i}
		for _, form := range words[i].forms {
			for _, c := range g.byWord[form] {
				city := &g.cities[c.city]
				name := city.names[c.name]
				if len(name) <= longest.to-i || len(name) > len(words)-i || !sameNames(name, words[i:]) {
					continue
				}
				if metres, ok := city.distance(st); ok && metres <= min(mentionedWithin*city.Radius, Nearby) {
					longest = mention{c.city, c.name, i, i + len(name)}
				}
			}
		}
		if longest.to == i {
			i++
			continue
		}
		found = append(found, longest)
		i = longest.to
	}
	return found
}

// sameNames says whether a text begins with the words of a name.
func sameNames(name, text []nameWord) bool {
	for i, w := range name {
		if !slices.ContainsFunc(w.forms, func(form string) bool { return slices.Contains(text[i].forms, form) }) {
			return false
		}
	}
	return true
}

// around returns the cities in which a station lies.
func (g *Gazetteer) around(st *rail.Station) (found []int32) {
	if g == nil {
		return nil
	}
	const reach = Nearby / degreeNorth
	first, _ := slices.BinarySearchFunc(g.north, st.Latitude-reach, func(c int32, lat float64) int {
		return cmp.Compare(g.cities[c].Latitude, lat)
	})
	for _, c := range g.north[first:] {
		city := &g.cities[c]
		if city.Latitude > st.Latitude+reach {
			break
		}
		if metres, ok := city.distance(st); ok && metres <= city.Radius {
			found = append(found, c)
		}
	}
	return found
}

// knows says whether words are all that the name of a city has.
func (g *Gazetteer) knows(words []string) bool {
	return g != nil && len(words) > 0 && g.known[strings.Join(words, " ")]
}
