package traintravel

import "github.com/google/uuid"

// A Station is a place where trains call. Its platforms are not told apart.
type Station struct {
	ID      uuid.UUID
	Name    string
	Address string
	// Country is an ISO 3166-1 alpha-2 code in upper case, or empty if unknown.
	Country string
	// Zone is the IANA name of the time zone in which the station's clocks run.
	Zone      string
	Latitude  float64 // degrees north, -90 to 90 (WGS 84)
	Longitude float64 // degrees east, -180 to 180
}
