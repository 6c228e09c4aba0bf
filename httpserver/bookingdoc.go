package httpserver

import (
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// A bookingDoc is a booking as clients see it. What is published of a booking comes first
// and never changes; what was added since is left out where nothing is to be said.
type bookingDoc struct {
	traintravel.Booking
	trip   bool     // whether its trip can still be looked up
	ticket bool     // whether it has a ticket here once it is confirmed
	past   *pastDoc // how it ended, nil unless that is to be told
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
	e.optional("reference", d.Reference)
	if d.past != nil {
		d.past.member(e)
	}
	var links [5]link
	e.links(d.links(links[:0]))
}

// links tell the state of a booking: what can be done with it, and what there
// is to see.
func (d *bookingDoc) links(to []link) []link {
	self := link{"self", bookingsPath, d.ID, ""}
	if d.past != nil && d.past.elsewhere {
		self.part = "?over=true"
	}
	to = append(to, self)
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

// A pastDoc is how a booking that is over ended.
type pastDoc struct {
	traintravel.PastBooking
	elsewhere bool // whether the booking has left its own address
}

// member writes the member over.
func (d *pastDoc) member(e *encoder) {
	e.open("over")
	e.text("outcome", string(d.Outcome()))
	if at := d.Ended(); !at.IsZero() {
		if d.Status != traintravel.Confirmed { // else by the clock at the destination
			at = at.UTC()
		}
		e.time("at", at.Truncate(time.Second))
	}
	if d.Status == traintravel.Cancelled {
		by, why := "owner", "requested"
		if d.ByOperator {
			by, why = "operator", "train_cancelled"
		}
		e.text("cancelled_by", by)
		e.text("reason", why)
		if leg := d.CancelledTrain(); leg != nil {
			e.optional("train", leg.Number)
		}
	}
	e.list("legs", "legs")
	for _, leg := range d.Legs {
		e.item("leg")
		e.sold(leg)
		e.close("leg")
	}
	e.endList("legs")
	if len(d.Refunds) > 0 {
		e.list("refunds", "refunds")
		for _, p := range d.Refunds {
			e.refund(p)
		}
		e.endList("refunds")
	}
	e.close("over")
}

// refund writes how much comes back, and when.
func (e *encoder) refund(p traintravel.Payment) {
	back := p.Amount
	back.Amount = -back.Amount
	e.item("refund")
	e.decimal("amount", back.Decimal())
	e.text("currency", back.Currency)
	e.text("status", string(p.Status))
	e.time("requested_at", p.Created.UTC().Truncate(time.Second))
	if !p.Settled.IsZero() {
		e.time("settled_at", p.Settled.UTC().Truncate(time.Second))
	}
	e.close("refund")
}
