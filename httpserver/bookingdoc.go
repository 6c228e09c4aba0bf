package httpserver

import (
	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// A bookingDoc is a booking as clients see it.
type bookingDoc struct {
	traintravel.Booking
	trip   bool // whether its trip can still be looked up
	ticket bool // whether it has a ticket here once it is confirmed
}

func (d *bookingDoc) encode(e *encoder) {
	e.item("booking")
	d.members(e)
	e.close("booking")
}

func (d *bookingDoc) members(e *encoder) {
	e.id("id", d.ID)
	e.id("trip_id", d.TripID)
	e.text("passenger_name", d.PassengerName)
	e.flag("has_bicycle", d.HasBicycle)
	e.flag("has_dog", d.HasDog)
	var links [5]link
	e.links(d.links(links[:0]))
}

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
