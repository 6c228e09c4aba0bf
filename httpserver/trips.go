package httpserver

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/traintravel/traintravel"
)

// A tripDoc is a trip as clients see it.
type tripDoc struct{ traintravel.Trip }

func (d *tripDoc) appendJSON(b []byte, base string) []byte {
	b = append(b, `{"id":"`...)
	b = appendID(b, d.ID)
	b = append(b, `",`...)
	b = appendRide(b, d.Origin(), d.Destination(), operators(d.Legs))
	b = append(b, `,"price":`...)
	b = append(b, d.Price.Decimal()...)
	b = append(b, `,"currency":"`...)
	b = append(b, d.Price.Currency...)
	b = append(b, '"')
	b = appendAllowance(b, "bicycles_allowed", d.Bicycles)
	b = appendAllowance(b, "dogs_allowed", d.Dogs)
	if d.Reserved {
		b = append(b, `,"seats_available":`...)
		b = strconv.AppendInt(b, int64(d.Seats), 10)
	}
	b = append(b, `,"legs":[`...)
	for i, leg := range d.Legs {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		b = appendRide(b, leg.Origin, leg.Destination, leg.Operator)
		b = appendText(b, "train", leg.Number)
		b = append(b, '}')
	}
	b = append(b, ']')
	var links [3]link
	b = appendLinks(b, base, d.links(links[:0]))
	return append(b, '}')
}

// appendRide writes what trips and their legs have in common.
func appendRide(b []byte, origin, destination traintravel.Stop, operator string) []byte {
	b = append(b, `"origin":"`...)
	b = appendID(b, origin.Station)
	b = append(b, `","destination":"`...)
	b = appendID(b, destination.Station)
	b = append(b, `","departure_time":`...)
	b = appendTime(b, origin.Time)
	b = append(b, `,"arrival_time":`...)
	b = appendTime(b, destination.Time)
	b = append(b, `,"operator":`...)
	return appendString(b, operator)
}

// appendAllowance writes a member that is absent when nothing is known.
func appendAllowance(b []byte, name string, a traintravel.Allowance) []byte {
	if a == traintravel.Unknown {
		return b
	}
	b = append(b, `,"`...)
	b = append(b, name...)
	b = append(b, `":`...)
	return strconv.AppendBool(b, a == traintravel.Allowed)
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

var tripParams = []string{"origin", "destination", "date", "bicycles", "dogs", "page", "limit", "after"}

func (s *Server) searchTrips(x *exchange) error {
	q := x.query(tripParams)
	ask := traintravel.TripQuery{
		Origin: q.id("origin"), Destination: q.id("destination"),
		Bicycles: q.flag("bicycles"), Dogs: q.flag("dogs"), Page: q.page(),
	}
	date := q.required("date")
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
	docs := make([]*tripDoc, len(found.Items))
	for i, t := range found.Items {
		docs[i] = &tripDoc{t}
	}
	return x.answer(http.StatusOK, list[*tripDoc]{docs, q.links(x, found.Next)})
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
