// Package places finds the time zone and the country of stations by their
// coordinates, offline. GTFS feeds often lack time zones, and always lack
// countries. [Finder].Locate fits gtfs.Options.Locate.
//
// The borders of the time zones are simplified from OpenStreetMap, under the Open
// Database License: if you distribute a program with this package, follow the file
// NOTICE. A program that imports the package is 7 MB larger, and a [Finder] takes a
// second to load and 30 MB of memory. In this module only the command imports it.
package places

import (
	_ "embed"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/ringsaturn/tzf"

	"github.com/traintravel/traintravel"
)

// doubt is the distance from a border, in metres, within which its simplified line may
// be wrong about the side.
const doubt = 250

//go:embed zone.tab
var zoneTab string

// A Finder finds time zones and their countries by coordinates. It is safe for
// concurrent use.
type Finder struct {
	zones     tzf.F
	countries map[string]string // by zone
	loadable  map[string]bool   // zones that this machine knows
}

// Open loads the borders and returns a Finder.
func Open() (*Finder, error) {
	zones, err := tzf.NewDefaultFinder()
	if err != nil {
		return nil, fmt.Errorf("places: the borders of time zones: %w", err)
	}
	f := &Finder{zones, Countries(), map[string]bool{}}
	for zone := range f.countries {
		_, err := time.LoadLocation(zone)
		f.loadable[zone] = err == nil
	}
	return f, nil
}

// Countries returns the countries of time zones by the names of the zones, as tzdata lists
// them: DE for Europe/Berlin. UTC and old names of zones have none. It needs no [Finder],
// and loads no borders.
func Countries() map[string]string {
	countries := map[string]string{}
	for line := range strings.Lines(zoneTab) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) >= 3 && line[0] != '#' {
			countries[fields[2]] = fields[0]
		}
	}
	return countries
}

// Locate fills in the Zone of a station if it is empty, and the Country if that is empty or
// [traintravel.UnknownCountry]. Both stay empty at sea. The Zone stays empty if it is newer
// than this machine's tzdata. Within 250 metres of a border, where the station may lie on
// either side, a Zone or Country that is set decides.
//
// The country is the one for which tzdata lists the zone. That takes no position in
// territorial disputes.
func (f *Finder) Locate(s *traintravel.Station) { f.locate(s, "") }

// LocateFrom returns a Locate for the stations of a railway from a time zone, such as
// the agency_timezone of its feed. Within 250 metres of a border of that zone, a station
// without a Zone and a Country is taken to be in it.
func (f *Finder) LocateFrom(home string) func(*traintravel.Station) {
	return func(s *traintravel.Station) { f.locate(s, home) }
}

func (f *Finder) locate(s *traintravel.Station, home string) {
	if s.Country == traintravel.UnknownCountry {
		s.Country = ""
	}
	if s.Zone != "" && s.Country != "" {
		return
	}
	zone := f.zone(s, home)
	if s.Country == "" {
		s.Country = f.countries[zone]
	}
	if s.Zone == "" && f.loadable[zone] {
		s.Zone = zone
	}
}

// zone returns the zone in which a station lies, or seems to.
func (f *Finder) zone(s *traintravel.Station, home string) string {
	at := f.zones.GetTimezoneName(s.Longitude, s.Latitude)
	if s.Zone == "" && s.Country == "" && home == "" {
		return at
	}
	best, bestRank := at, f.rank(at, s, home)
	for i := range 8 {
		north, east := math.Sincos(float64(i) * math.Pi / 4)
		near := f.zones.GetTimezoneName(move(s, north*doubt, east*doubt))
		if rank := f.rank(near, s, home); rank > bestRank {
			best, bestRank = near, rank
		}
	}
	return best
}

// rank says how well a zone agrees with what is known of a station.
func (f *Finder) rank(zone string, s *traintravel.Station, home string) int {
	switch {
	case s.Country != "" && f.countries[zone] == s.Country:
		return 3
	case s.Zone != "" && zone == s.Zone:
		return 2
	case s.Zone == "" && s.Country == "" && home != "" && zone == home:
		return 1
	}
	return 0
}

// move returns the longitude and the latitude some metres away.
func move(s *traintravel.Station, north, east float64) (longitude, latitude float64) {
	const degree = 6_371_000 * math.Pi / 180 // in metres
	latitude = max(-90, min(90, s.Latitude+north/degree))
	longitude = s.Longitude + east/degree/max(0.001, math.Cos(latitude*math.Pi/180))
	return math.Remainder(longitude, 360), latitude
}
