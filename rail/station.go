package rail

import (
	"math"

	"github.com/google/uuid"
)

// A City is a place with several names, such as its names in several
// languages. Package cities has Europe's larger railway cities.
type City struct {
	// Names are the names of the city, in any language, script and order. They must include
	// one that occurs in the names of its stations.
	Names []string
	// Country is an ISO 3166-1 alpha-2 code in upper case. Stations in another country
	// are not in the city, however near they are.
	Country string
	// Latitude and Longitude are where its centre is, in degrees north and east (WGS 84).
	Latitude, Longitude float64
	// Radius is how far from its centre the city reaches, in metres, at most 50,000.
	Radius float64
}

// A Station is a place where trains stop. It includes all its platforms.
type Station struct {
	ID uuid.UUID
	// OtherIDs are further IDs of the station, such as those of its platforms, or
	// of stations that were merged into it. They are accepted wherever a station's
	// ID is, also in a Call and a Change. No two stations share an ID. OtherIDs may
	// be nil. The stations that a Service returns share the slice: do not change it.
	OtherIDs []uuid.UUID
	Name     string
	Address  string
	// OtherNames are further names of the station, at most MaxOtherNames: in other
	// languages, or of its platforms. StationQuery.Search matches them like Name;
	// lists are not ordered by them. OtherNames may be nil. The stations that a
	// Service returns share the slice: do not change it.
	OtherNames []string
	// Country is an ISO 3166-1 alpha-2 code in upper case. It may be empty in a
	// timetable to be loaded; then a station that a Service returns has
	// UnknownCountry. Package places looks up countries by coordinates.
	Country string
	// Zone is the IANA name of the station's time zone.
	Zone      string
	Latitude  float64 // degrees north, -90 to 90 (WGS 84)
	Longitude float64 // degrees east, -180 to 180
}

// UnknownCountry is the code of stations whose country is not known, for instance at sea.
// ISO 3166-1 reserves it for users, so it never belongs to a country.
const UnknownCountry = "ZZ"

// Distance is the length of the great circle to another station, in metres.
func (s Station) Distance(to Station) float64 {
	return Position{s.Latitude, s.Longitude}.Distance(Position{to.Latitude, to.Longitude})
}

const (
	earth  = 6_371_000 // its radius in metres
	degree = math.Pi / 180
)

// A Position is a place on earth in degrees north and east (WGS 84).
type Position struct{ Latitude, Longitude float64 }

// Distance is the length of the great circle to another position, in metres.
func (p Position) Distance(to Position) float64 {
	haversine := func(degrees float64) float64 {
		s := math.Sin(degrees * degree / 2)
		return s * s
	}
	h := haversine(to.Latitude-p.Latitude) +
		math.Cos(p.Latitude*degree)*math.Cos(to.Latitude*degree)*haversine(to.Longitude-p.Longitude)
	return 2 * earth * math.Asin(math.Sqrt(min(h, 1)))
}
