// Package places tells the time zone and the country of stations by their
// coordinates, without asking anybody. GTFS feeds lack the one often and the
// other always. [Finder].Locate fits gtfs.Options.Locate.
//
// The borders of the time zones are OpenStreetMap's, simplified, under the Open
// Database License: see the file NOTICE, which whoever passes on a program with
// this package in it should heed. A program that imports it is 7 MB larger, and
// needs a second and 30 MB of memory for a [Finder]; nothing else in this module
// imports it but the command.
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

// doubt is how many metres from a border its simplified line may say that one is
// on the other side.
const doubt = 250

//go:embed zone.tab
var zoneTab string

// A Finder knows the time zones of the world and whose they are. It is safe for
// concurrent use.
type Finder struct {
	zones     tzf.F
	countries map[string]string // by zone
	loadable  map[string]bool   // zones that this machine knows
}

// Open makes a Finder.
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

// Countries returns the country of each time zone that lies in one, by the name of the
// zone: the one for which tzdata lists it, DE for Europe/Berlin. UTC and zones by older
// names have none. It needs no borders, and no [Finder].
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

// Locate fills in the Zone and the Country of a station if they are empty, or the
// Country is [traintravel.UnknownCountry]. They are empty then at sea, and the Zone if this machine does not know it, which is newer
// than its tzdata. What is given of the two decides within 250 metres of a
// border, where the station may lie on either side.
//
// The country is the one for which tzdata lists the zone. It takes no side in who
// owns what.
func (f *Finder) Locate(s *traintravel.Station) { f.locate(s, "") }

// LocateFrom returns a Locate for the stations of a railway at home in a time
// zone, such as its feed's agency_timezone. Within 250 metres of a border at which
// that zone ends, stations of which nothing else is known are in it.
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
