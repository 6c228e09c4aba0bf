package httpserver

import (
	"errors"
	"net/http"

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

// show makes a booking the one that x.booking shows.
func (x *exchange) show(b traintravel.Booking) error {
	trip, err := x.s.service.HasTrip(x.ctx(), b.TripID)
	x.booking = bookingDoc{b, trip, x.s.tickets != nil}
	return err
}

// answerBooking answers with one booking and, while it is held, with the
// instant at which it ends (RFC 8594).
func (x *exchange) answerBooking(status int, b traintravel.Booking) error {
	if err := x.show(b); err != nil {
		return err
	}
	if sunset := sunsetOf(b); sunset != "" {
		x.set("Sunset", sunset)
	}
	if status == http.StatusCreated {
		x.set("Location", string(link{"self", bookingsPath, b.ID, ""}.append(nil, x.base)))
	}
	return x.answer(status, &x.booking)
}

var pageParams = []string{"page", "limit", "after"}

func (s *Server) listBookings(x *exchange) error {
	q := x.query(pageParams)
	page := q.page()
	if err := q.problem(); err != nil {
		return err
	}
	found, err := s.service.Bookings(x.ctx(), x.by, page)
	if err != nil {
		return err
	}
	docs := make([]bookingDoc, len(found.Items))
	for i, b := range found.Items {
		trip, err := s.service.HasTrip(x.ctx(), b.TripID)
		if err != nil {
			return err
		}
		docs[i] = bookingDoc{b, trip, s.tickets != nil}
	}
	return x.answer(http.StatusOK, listOf("bookings", docs, q.links(x, found.Next)))
}

// problemNoTrip says that it is the trip that is not there, and not the address.
var problemNoTrip = &problem{status: http.StatusNotFound, slug: "not-found", title: "There is nothing here",
	detail: "There is no such trip, or not any more: search again.",
	faults: faults{{pointer: "/trip_id", body: true, detail: "there is no such trip, or not any more"}}}

func (s *Server) createBooking(x *exchange) error {
	key, err := x.idempotencyKey()
	if err != nil {
		return err
	}
	var ask traintravel.NewBooking
	if x.sent == asXML {
		ask, err = x.newBookingXML()
	} else {
		err = x.decode(func(d *decoder) { ask = d.newBooking() })
	}
	if err != nil {
		return err
	}
	ask.IdempotencyKey = key
	b, err := s.service.CreateBooking(x.ctx(), x.by, ask)
	if errors.Is(err, traintravel.ErrNotFound) {
		return problemNoTrip.because(err)
	}
	if err != nil {
		return err
	}
	x.replayed(b.Replayed)
	return x.answerBooking(http.StatusCreated, b)
}

func (s *Server) oneBooking(x *exchange) error {
	id, err := x.id("bookingId")
	if err != nil {
		return err
	}
	b, err := s.service.Booking(x.ctx(), x.by, id)
	if err != nil {
		return err
	}
	return x.answerBooking(http.StatusOK, b)
}

func (s *Server) cancelBooking(x *exchange) error {
	id, err := x.id("bookingId")
	if err != nil {
		return err
	}
	was, err := x.unchanged(id)
	switch {
	case err != nil:
		return err
	case was == nil:
		err = s.service.CancelBooking(x.ctx(), x.by, id)
	default:
		err = s.service.CancelUnchanged(x.ctx(), x.by, *was)
	}
	if errors.Is(err, traintravel.ErrChanged) {
		return problemPrecondition
	}
	if err != nil {
		return err
	}
	return x.empty(http.StatusNoContent)
}

// newBooking reads the body of a request to book. The members id and links are
// the server's own: who sends them back is not held to them.
func (d *decoder) newBooking() traintravel.NewBooking {
	var n traintravel.NewBooking
	d.object([]string{"trip_id", "passenger_name"}, func(name string) bool {
		switch name {
		case "trip_id":
			n.TripID = d.id()
		case "passenger_name":
			n.PassengerName = d.text()
		case "has_bicycle":
			n.HasBicycle = d.flag()
		case "has_dog":
			n.HasDog = d.flag()
		default:
			return false
		}
		return true
	})
	return n
}
