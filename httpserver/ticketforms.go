package httpserver

import (
	"encoding/base64"
	"net/http"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/ticket"
)

// A ticketForm is one way to show a ticket.
type ticketForm struct {
	mediaType string   // by which Accept asks for it
	sent      []string // Content-Type
	ending    string   // of a file of it
	// render writes the legs that are asked for, by index: none is all.
	render func(i *ticket.Issuer, t traintravel.Ticket, legs []int, base string) ([]byte, error)
}

// ticketForms are the representations of a ticket, the default first.
var ticketForms = []ticketForm{
	{"application/pdf", []string{"application/pdf"}, "pdf", several((*ticket.Issuer).PDF)},
	{"image/png", []string{"image/png"}, "png", single((*ticket.Issuer).PNG)},
	{"text/calendar", []string{"text/calendar; charset=utf-8"}, "ics", several((*ticket.Issuer).Calendar)},
	{"application/ld+json", []string{"application/ld+json"}, "jsonld", several((*ticket.Issuer).JSONLD)},
	{"application/json", []string{"application/json"}, "json", ticketJSON},
	{"application/octet-stream", []string{"application/octet-stream"}, "uic", single((*ticket.Issuer).Container)},
}

func several(render func(*ticket.Issuer, traintravel.Ticket, ...int) ([]byte, error)) func(*ticket.Issuer, traintravel.Ticket, []int, string) ([]byte, error) {
	return func(i *ticket.Issuer, t traintravel.Ticket, legs []int, _ string) ([]byte, error) {
		return render(i, t, legs...)
	}
}

// single renders one leg, the first if none is asked for: there is no picture of
// several.
func single(render func(*ticket.Issuer, traintravel.Ticket, int) ([]byte, error)) func(*ticket.Issuer, traintravel.Ticket, []int, string) ([]byte, error) {
	return func(i *ticket.Issuer, t traintravel.Ticket, legs []int, _ string) ([]byte, error) {
		return render(i, t, append(legs, 0)[0])
	}
}

var problemNoTicketForm = &problem{status: http.StatusNotAcceptable, slug: problemNotAcceptable.slug, title: problemNotAcceptable.title,
	detail: "The header Accept allows none of the media types of a ticket: application/pdf, image/png, text/calendar, application/ld+json, application/json and " +
		"application/octet-stream."}

// acceptedTicket chooses the form of a ticket by an Accept header, the first of
// those that are as welcome. A client that names problems alone has no wish.
func acceptedTicket(headers []string) (form *ticketForm, err error) {
	r, most := readAccept(headers), 0.0
	for _, f := range ticketForms {
		if q := r.quality(f.mediaType); q > most {
			form, most = &f, q
		}
	}
	if form == nil && max(r.instead("application/json", "application/problem+json"), r.instead("application/json", "application/problem+xml")) > 0 {
		first := ticketForms[0]
		form = &first
	}
	if form == nil {
		return nil, problemNoTicketForm
	}
	return form, nil
}

// A ticketDoc is a ticket as clients see it.
type ticketDoc struct {
	traintravel.Ticket
	legs       []int
	containers [][]byte // of legs
}

func (d *ticketDoc) encode(e *encoder) {
	b := &d.Booking
	e.item("ticket")
	e.id("booking_id", b.ID)
	e.text("reference", ticket.ReferenceOf(*b))
	e.text("passenger_name", b.PassengerName)
	e.flag("has_bicycle", b.HasBicycle)
	e.flag("has_dog", b.HasDog)
	e.decimal("price", b.Price.Decimal())
	e.text("currency", b.Price.Currency)
	e.time("paid_at", d.Paid.UTC().Truncate(time.Second))
	e.list("legs", "legs")
	for i, n := range d.legs {
		leg := b.Legs[n]
		e.item("leg")
		e.whole("leg", n+1)
		e.sold(leg)
		if leg.Seat > 0 {
			e.text("coach", leg.Coach)
			e.whole("seat", leg.Seat)
		}
		e.text("container", base64.StdEncoding.EncodeToString(d.containers[i]))
		e.close("leg")
	}
	e.endList("legs")
	e.links([]link{{"self", bookingsPath, b.ID, "/ticket"}, {"booking", bookingsPath, b.ID, ""}})
	e.close("ticket")
}

func ticketJSON(i *ticket.Issuer, t traintravel.Ticket, legs []int, base string) ([]byte, error) {
	d := &ticketDoc{Ticket: t, legs: legs}
	if legs == nil {
		for leg := range t.Booking.Legs {
			d.legs = append(d.legs, leg)
		}
	}
	for _, leg := range d.legs {
		c, err := i.Container(t, leg)
		if err != nil {
			return nil, err
		}
		d.containers = append(d.containers, c)
	}
	e := encoder{form: asJSON, base: base}
	e.write(d)
	return e.b, nil
}
