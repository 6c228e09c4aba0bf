package httpserver

import "github.com/google/uuid"

// A link is a relation to a resource: {base}/{collection}/{id}{part}.
type link struct {
	rel        string
	collection string
	id         uuid.UUID
	part       string
}

// append writes the address that the link leads to.
func (l link) append(b []byte, base string) []byte {
	b = append(b, base...)
	b = append(b, l.collection...)
	b = append(b, '/')
	b = appendID(b, l.id)
	return append(b, l.part...)
}

const (
	stationsPath = "/stations"
	tripsPath    = "/trips"
	bookingsPath = "/bookings"
	webhooksPath = "/webhooks"
)

// pageLinks are the links of a page of a list; those that are empty do not exist.
type pageLinks struct{ self, next, prev string }
