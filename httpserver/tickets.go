package httpserver

import (
	"errors"
	"net/http"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/ticket"
)

// ticketKeys answers with the public keys that verify tickets.
func (s *Server) ticketKeys(x *exchange) error { return x.sendText(s.ticketKeySet) }

var jwkSet = []string{"application/jwk-set+json"} // RFC 7517, section 8.5

// A verdictDoc is what a container is worth and, if it is genuine, what it says.
type verdictDoc struct {
	status  string
	content ticket.Content
}

// invalid is the status of what is not signed with one of the keys.
const invalid = "invalid"

func (d *verdictDoc) encode(e *encoder) {
	e.item("verification")
	e.text("status", d.status)
	if c := &d.content; d.status != invalid {
		e.id("booking_id", c.Booking)
		e.whole("leg", c.Leg+1)
		e.whole("legs", c.Legs)
		e.time("issued", c.Issued)
		e.text("passenger_name", c.Passenger)
		e.flag("has_bicycle", c.HasBicycle)
		e.flag("has_dog", c.HasDog)
		e.text("origin", c.Origin)
		e.text("destination", c.Destination)
		e.time("departure_time", c.Departure)
		e.time("arrival_time", c.Arrival)
		e.text("operator", c.Operator)
		e.optional("train", c.Train)
		if c.Seat != 0 {
			e.text("coach", c.Coach)
			e.whole("seat", c.Seat)
		}
	}
	e.close("verification")
}

// verifyTicket tells whether a container is genuine and still good. It takes the
// container, and not the ID of a booking, so that only who has been shown a ticket
// learns of it.
func (s *Server) verifyTicket(x *exchange) error {
	content, err := s.ticketSet.Verify(x.in)
	switch {
	case errors.Is(err, ticket.ErrMalformed):
		return faults{{body: true, detail: "is not a ticket: want the bytes of its Aztec code (UIC 918.3)"}}.problem()
	case err != nil:
		return x.answer(http.StatusOK, &verdictDoc{status: invalid})
	}
	var status traintravel.TicketStatus
	if status, err = s.service.TicketStatus(x.ctx(), content.Booking); err != nil {
		return err
	}
	return x.answer(http.StatusOK, &verdictDoc{status.String(), content})
}
