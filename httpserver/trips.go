package httpserver

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/traintravel/traintravel"
)

// A tripDoc is a trip as clients see it.
type tripDoc struct{ traintravel.Trip }

func (d *tripDoc) encode(e *encoder) {
	e.item("trip")
	e.id("id", d.ID)
	e.ride(d.Origin(), d.Destination(), operators(d.Legs))
	e.decimal("price", d.Price.Decimal())
	e.text("currency", d.Price.Currency)
	e.allowance("bicycles_allowed", d.Bicycles)
	e.allowance("dogs_allowed", d.Dogs)
	if d.Reserved {
		e.whole("seats_available", d.Seats)
	}
	e.list("legs", "legs")
	for _, leg := range d.Legs {
		e.item("leg")
		e.ride(leg.Origin, leg.Destination, leg.Operator)
		e.optional("train", leg.Number)
		e.close("leg")
	}
	e.endList("legs")
	var links [3]link
	e.links(d.links(links[:0]))
	e.close("trip")
}

// ride writes what trips and their legs have in common.
func (e *encoder) ride(origin, destination traintravel.Stop, operator string) {
	e.id("origin", origin.Station)
	e.id("destination", destination.Station)
	e.time("departure_time", origin.Time)
	e.time("arrival_time", destination.Time)
	e.text("operator", operator)
}

// allowance writes a member that is absent when nothing is known.
func (e *encoder) allowance(name string, a traintravel.Allowance) {
	if a != traintravel.Unknown {
		e.flag(name, a == traintravel.Allowed)
	}
}

// operators names each operator of a trip once, in the order of the legs.
func operators(legs []traintravel.Leg) string {
	if len(legs) == 1 {
		return legs[0].Operator
	}
	var names []string
	for _, leg := range legs {
		if !slices.Contains(names, leg.Operator) {
			names = append(names, leg.Operator)
		}
	}
	return strings.Join(names, ", ")
}

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
		q.wrong("date", "is no date or date-time of the form 2026-12-31 or 2026-12-31T09:00:00+01:00")
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
		docs[i] = tripDoc{t}
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
	return x.answer(http.StatusOK, &tripDoc{trip})
}
