package httpserver

import (
	"errors"
	"net/http"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// show makes a booking the one that x.booking shows.
func (x *exchange) show(b traintravel.Booking) (err error) {
	x.booking, err = x.docOf(b)
	return err
}

// docOf is a booking that stands at its own address.
func (x *exchange) docOf(b traintravel.Booking) (bookingDoc, error) {
	trip, err := x.hasTrip(b)
	d := bookingDoc{Booking: b, trip: trip, ticket: x.s.tickets != nil}
	if err != nil || b.Status != traintravel.Cancelled {
		return d, err
	}
	past, err := x.s.service.PastBooking(x.ctx(), x.by, b.ID)
	if errors.Is(err, traintravel.ErrNotFound) { // it has just been erased
		past, err = traintravel.PastBooking{Booking: b}, nil
	}
	d.past = &pastDoc{PastBooking: past}
	return d, err
}

// hasTrip says whether the trip of a booking can be looked up: not if its train is cancelled, which
// is so only where the booking has ended, and for which the inventory has to be read.
func (x *exchange) hasTrip(b traintravel.Booking) (bool, error) {
	found, err := x.s.service.HasTrip(x.ctx(), b.TripID)
	if !found || err != nil || b.Status.Live() {
		return found, err
	}
	if _, err = x.s.service.Trip(x.ctx(), b.TripID); errors.Is(err, traintravel.ErrUnavailable) {
		return false, err
	}
	return err == nil, nil // nor if its inventory cannot be read
}

// pastDocOf is a booking that is over, wherever it stands.
func (x *exchange) pastDocOf(b traintravel.PastBooking) (bookingDoc, error) {
	trip, err := x.hasTrip(b.Booking)
	past := &pastDoc{PastBooking: b, elsewhere: !b.Shown(x.s.now())}
	return bookingDoc{Booking: b.Booking, trip: trip, ticket: x.s.tickets != nil, past: past}, err
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

var (
	pageParams     = []string{"page", "limit", "after"}
	bookingParams  = []string{"over"}
	bookingsParams = append(bookingParams, pageParams...)
)

func (s *Server) listBookings(x *exchange) error {
	q := x.query(bookingsParams)
	page, over := q.page(), q.flag("over")
	if err := q.problem(); err != nil {
		return err
	}
	if over {
		found, err := s.service.PastBookings(x.ctx(), x.by, page)
		return answerBookings(x, q, found, err, x.pastDocOf)
	}
	found, err := s.service.Bookings(x.ctx(), x.by, page)
	return answerBookings(x, q, found, err, x.docOf)
}

// answerBookings answers with a page of bookings, unless it could not be read.
func answerBookings[B any](x *exchange, q *query, found traintravel.List[B], err error, docOf func(B) (bookingDoc, error)) error {
	if err != nil {
		return err
	}
	docs := make([]bookingDoc, len(found.Items))
	for i, b := range found.Items {
		if docs[i], err = docOf(b); err != nil {
			return err
		}
	}
	return x.answer(http.StatusOK, listOf("bookings", docs, q.links(x, found.Next)))
}

// problemNoTrip says that the trip does not exist, as opposed to the address.
var problemNoTrip = &problem{status: http.StatusNotFound, slug: "not-found", title: "Not found",
	detail: "The trip does not exist or is no longer offered. Search again.",
	faults: faults{{pointer: "/trip_id", body: true, detail: "names a trip that does not exist or is no longer offered"}}}

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
	q := x.query(bookingParams)
	over := q.flag("over")
	id, err := x.id("bookingId")
	if err = errors.Join(err, q.problem()); err != nil {
		return err
	}
	if over {
		b, err := s.service.PastBooking(x.ctx(), x.by, id)
		if err != nil {
			return err
		}
		if x.booking, err = x.pastDocOf(b); err != nil {
			return err
		}
		return x.answer(http.StatusOK, &x.booking)
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

// unchanged returns a problem unless the conditions of a request allow to change a
// booking as it is now. A tag counts in whichever form the client has read the
// booking: it says that the client knows how the booking stands.
//
// It returns the booking that it looked at, which is what may be changed: nil if
// there is no condition.
func (x *exchange) unchanged(id uuid.UUID) (*traintravel.Booking, error) {
	if x.r.Header["If-Match"] == nil && x.r.Header["If-None-Match"] == nil {
		return nil, nil
	}
	b, err := x.s.service.Booking(x.ctx(), x.by, id)
	if err != nil {
		return nil, err
	}
	if err := x.show(b); err != nil {
		return nil, err
	}
	var tags [2]string
	for f := range tags {
		x.encode(&x.booking, form(f))
		tags[f] = tagOf(x.out, sunsetOf(b))
	}
	if !x.matches(tags[:]...) || x.noneWanted(tags[:]...) {
		return nil, problemPrecondition
	}
	return &b, nil
}
