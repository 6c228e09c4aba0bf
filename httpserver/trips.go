package httpserver

import (
	"net/http"
	"regexp"

	"github.com/traintravel/traintravel"
)

var tripParams = []string{"origin", "destination", "date", "bicycles", "dogs", "direct", "page", "limit", "after"}

// maxDate bounds a date and what stands around it, in bytes.
const maxDate = 100

// dateForm is what a date may look like, for reading it is more lenient than that.
// A blank is the plus sign that a form decoder made it from.
var dateForm = regexp.MustCompile(`^ *[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?([Zz]|[-+ ][0-9]{2}:[0-9]{2})?)?)? *$`)

func (s *Server) searchTrips(x *exchange) error {
	q := x.query(tripParams)
	ask := traintravel.TripQuery{
		Origin: q.id("origin"), Destination: q.id("destination"),
		Bicycles: q.flag("bicycles"), Dogs: q.flag("dogs"), Direct: q.flag("direct"), Page: q.page(),
	}
	date := q.required("date")
	if date != "" && (len(date) > maxDate || !dateForm.MatchString(date)) {
		q.wrong("date", "is not a date: want a form such as 2026-12-31 or 2026-12-31T09:00:00+01:00")
	}
	if err := q.problem(); err != nil {
		return err
	}
	loc, err := s.zone(x.ctx(), "origin", ask.Origin)
	if err != nil {
		return err
	}
	if ask.Depart, err = traintravel.ParseDeparture(date, loc); err != nil {
		return err
	}
	found, err := s.service.SearchTrips(x.ctx(), ask)
	if err != nil {
		return err
	}
	docs := make([]tripDoc, len(found.Items))
	for i, t := range found.Items {
		docs[i] = tripDoc{Trip: t}
	}
	return x.answer(http.StatusOK, listOf("trips", docs, q.links(x, found.Next)))
}

func (s *Server) oneTrip(x *exchange) error {
	id, err := x.id("tripId")
	if err != nil {
		return err
	}
	trip, err := s.service.Trip(x.ctx(), id)
	if err != nil {
		return err
	}
	calls, err := s.service.TripCalls(x.ctx(), id)
	if err != nil {
		return err
	}
	return x.answer(http.StatusOK, &tripDoc{trip, calls, s.service.RefundTerms()})
}
