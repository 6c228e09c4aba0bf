package main

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/pflag"

	"github.com/traintravel/traintravel"
)

// Results as JSON, which all commands print with --json. Names are those of the API, and so
// are the forms of times; amounts have their currency.

// An object is a JSON object.
type object = map[string]any

// jsonFlag adds the flag --json.
func jsonFlag(f *pflag.FlagSet, asJSON *bool) {
	f.BoolVar(asJSON, "json", false, "print the result as JSON")
}

// printJSON prints a result as JSON.
func (p *program) printJSON(v any) error { return writeJSON(p.stdout, v) }

// sayJSON says a result as JSON.
func sayJSON(tell teller, v any) error {
	var text bytes.Buffer
	err := writeJSON(&text, v)
	tell.say(strings.TrimSpace(text.String()))
	return err
}

func writeJSON(w io.Writer, v any) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	return out.Encode(v)
}

// known sets a time unless it is zero.
func known(o object, name string, t time.Time) {
	if !t.IsZero() {
		o[name] = t.UTC()
	}
}

// listOf is a JSON list of what a function makes of each item, [] if there is none.
func listOf[T any](items []T, each func(T) any) []any {
	list := make([]any, 0, len(items))
	for _, item := range items {
		list = append(list, each(item))
	}
	return list
}

// bookingJSON is a booking with its payments.
func bookingJSON(h traintravel.BookingHistory) object {
	b := h.Booking
	o := object{
		"id": b.ID, "trip_id": b.TripID, "client_id": b.Client, "passenger_name": b.PassengerName, "has_bicycle": b.HasBicycle, "has_dog": b.HasDog,
		"status": b.Status.String(), "created_at": b.Created, "price": b.Price.String(),
		"legs": listOf(b.Legs, func(l traintravel.Leg) any {
			return object{
				"operator": l.Operator, "train": l.Number, "origin": l.Origin.Name, "destination": l.Destination.Name,
				"departure_time": l.Origin.Time, "arrival_time": l.Destination.Time, "coach": l.Coach, "seat": l.Seat,
			}
		}),
		"payments": listOf(h.Payments, func(p traintravel.Payment) any { return paymentJSON(p) }),
	}
	if b.Reference != "" {
		o["reference"] = b.Reference
	}
	known(o, "changed_at", b.Changed)
	known(o, "confirmed_at", b.Confirmed)
	return o
}

// ownedBookingJSON is a booking as an operator sees it.
func ownedBookingJSON(h traintravel.BookingHistory) object {
	o := bookingJSON(h)
	o["issuer"], o["user_id"] = h.Booking.Owner.Issuer, h.Booking.Owner.ID
	o["cancelled_by_operator"], o["unreadable_payments"] = h.Booking.ByOperator, h.Unreadable
	known(o, "held_until", h.Booking.Expires)
	return o
}

// paymentJSON is a payment or refund.
func paymentJSON(p traintravel.Payment) object {
	o := object{"id": p.ID, "amount": p.Amount.String(), "status": p.Status, "created_at": p.Created}
	known(o, "settled_at", p.Settled)
	if p.RefundOf != uuid.Nil {
		o["refund_of"] = p.RefundOf
	}
	if p.Resolution != "" {
		o["resolution"] = p.Resolution
	}
	if len(p.Settlements) > 0 {
		o["settled_by_operator"] = listOf(p.Settlements, func(d traintravel.Settlement) any {
			return object{"as": d.As, "reason": d.Reason, "at": d.At}
		})
	}
	switch s := p.Source; {
	case s.Card != nil:
		o["source"] = object{
			"object": "card", "name": s.Card.Name, "number": string(s.Card.Number), "exp_month": s.Card.ExpMonth, "exp_year": s.Card.ExpYear,
			"address_city": s.Card.City, "address_post_code": s.Card.PostCode, "address_country": s.Card.Country,
		}
	case s.Bank != nil:
		o["source"] = object{
			"object": "bank_account", "name": s.Bank.Name, "number": string(s.Bank.Number), "sort_code": s.Bank.SortCode, "bank_name": s.Bank.BankName, "country": s.Bank.Country,
		}
	}
	return o
}

// stuckJSON is a payment or refund with what the gateway says of it.
func stuckJSON(p traintravel.Payment) any {
	o := paymentJSON(p)
	o["booking_id"] = p.Booking
	for name, text := range map[string]string{"last_error": p.LastError, "failure_code": string(p.Failure.Code), "failure_message": p.Failure.Message} {
		if text != "" {
			o[name] = text
		}
	}
	return o
}

// runJSON names a run.
func runJSON(r traintravel.Run) object {
	return object{"train": r.Number, "operator": r.Operator, "date": r.ID.Date.String(), "cancelled": r.Cancelled}
}

// cancellationJSON is what the cancellation of a run has done.
func cancellationJSON(r traintravel.Run, done traintravel.RunCancellation) object {
	o := runJSON(r)
	var refunds []any
	for _, currency := range slices.Sorted(maps.Keys(done.Refunds)) {
		refunds = append(refunds, traintravel.Money{Amount: done.Refunds[currency], Currency: currency}.String())
	}
	o["bookings_cancelled"], o["refunds"], o["payments_in_progress"] = done.Bookings, listOf(refunds, func(r any) any { return r }), done.Paying
	o["unreadable"] = listOf(done.Unreadable, func(id uuid.UUID) any { return id })
	return o
}
