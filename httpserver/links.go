package httpserver

import (
	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

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

// links tell the state of a booking: what can be done with it, and what there
// is to see.
func (d *bookingDoc) links(to []link) []link {
	to = append(to, link{"self", bookingsPath, d.ID, ""})
	if d.trip {
		to = append(to, link{"trip", tripsPath, d.TripID, ""})
	}
	if d.Status == traintravel.Held && d.OpenPayment == uuid.Nil {
		to = append(to, link{"payment", bookingsPath, d.ID, "/payment"})
	}
	if d.LatestPayment != uuid.Nil {
		to = append(to, link{"payments", bookingsPath, d.ID, "/payments"})
	}
	if d.ticket && d.Status == traintravel.Confirmed {
		to = append(to, link{"ticket", bookingsPath, d.ID, "/ticket"})
	}
	return to
}

func (d *tripDoc) links(to []link) []link {
	return append(to, link{"self", tripsPath, d.ID, ""},
		link{"origin", stationsPath, d.Origin().Station, ""},
		link{"destination", stationsPath, d.Destination().Station, ""})
}

// links of a payment lead to its booking, unless that is over.
func (d *paymentDoc) links(to []link) []link {
	if d.live {
		to = append(to, link{"booking", bookingsPath, d.Booking, ""})
	}
	return to
}

// pageLinks are the links of a page of a list; those that are empty do not exist.
type pageLinks struct{ self, next, prev string }
