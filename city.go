package traintravel

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
