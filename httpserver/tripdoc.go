package httpserver

import (
	"slices"
	"strings"

	"github.com/traintravel/traintravel"
)

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

// A tripDoc is a trip as clients see it.
//
// Calls, by leg, and terms are nil and empty in a list.
type tripDoc struct {
	traintravel.Trip
	calls [][]traintravel.CallingPoint
	terms string
}

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
	for i, leg := range d.Legs {
		e.item("leg")
		e.ride(leg.Origin, leg.Destination, leg.Operator)
		e.optional("train", leg.Number)
		if d.calls != nil {
			e.calls(d.calls[i])
		}
		e.close("leg")
	}
	e.endList("legs")
	e.optional("refund_terms", d.terms)
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

// sold writes what a leg of a booking is of, as sold: later timetables do not change it.
func (e *encoder) sold(l traintravel.Leg) {
	e.ride(l.Origin, l.Destination, l.Operator)
	e.text("origin_name", l.Origin.Name)
	e.text("destination_name", l.Destination.Name)
	e.optional("train", l.Number)
}

// calls writes where a train stops.
func (e *encoder) calls(calls []traintravel.CallingPoint) {
	e.list("calls", "calls")
	for _, c := range calls {
		e.item("call")
		e.id("station", c.Station)
		e.text("name", c.Name)
		if !c.Arrival.IsZero() {
			e.time("arrival_time", c.Arrival)
		}
		if !c.Departure.IsZero() {
			e.time("departure_time", c.Departure)
		}
		e.close("call")
	}
	e.endList("calls")
}

// allowance writes a member that is absent when nothing is known.
func (e *encoder) allowance(name string, a traintravel.Allowance) {
	if a != traintravel.Unknown {
		e.flag(name, a == traintravel.Allowed)
	}
}

func (d *tripDoc) links(to []link) []link {
	return append(to, link{"self", tripsPath, d.ID, ""},
		link{"origin", stationsPath, d.Origin().Station, ""},
		link{"destination", stationsPath, d.Destination().Station, ""})
}
