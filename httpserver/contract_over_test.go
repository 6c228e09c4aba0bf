package httpserver_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
)

// over looks at bookings that are over: one that its owner has cancelled, one whose train
// was, one that was travelled on, and a hold that ran out, which is not told of.
func (c *contract) over(t *testing.T) {
	w := newWorld(t)
	k := c.asker(t, w)
	paid := func() resource {
		t.Helper()
		b := w.book()
		w.post("/bookings/"+b.ID+"/payment", payment("113.58", goodCard)).want(200)
		return b
	}
	at := func(b resource) string { return "/bookings/" + b.ID }
	owners, operators := paid(), paid()
	k.ask(204, "delete-booking", at(owners), writing)
	id := uuid.MustParse(operators.ID)
	b, err := w.service.Booking(t.Context(), traintravel.Caller{Subject: traintravel.Subject{Issuer: "test", ID: "anna"}}, id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.service.CancelRun(t.Context(), b.Legs[0].Run, traintravel.CancelRunOptions{}); err != nil {
		t.Fatal(err)
	}
	w.deliver()
	if err := w.service.RunDue(t.Context()); err != nil {
		t.Fatal(err)
	}

	// What its owner has cancelled is over and nowhere else.
	k.ask(404, "get-booking", at(owners), reading)
	got := k.ask(200, "get-booking", at(owners)+"?over=true", reading).resource()
	if o := got.Over; o == nil || o.Outcome != "cancelled" || o.CancelledBy != "owner" || o.Reason != "requested" || o.Train != "" || o.At == "" ||
		len(o.Refunds) != 1 || o.Refunds[0].Amount != "113.58" || o.Refunds[0].Currency != "eur" {
		t.Errorf("%+v", o)
	}
	if self := got.Links["self"]; self != base+at(owners)+"?over=true" || got.Links["payments"] == "" || got.Reference == "" {
		t.Errorf("%+v", got)
	}

	// What the operator has cancelled is where it was too.
	shown := k.ask(200, "get-booking", at(operators), reading)
	got = shown.resource()
	if o := got.Over; o == nil || o.CancelledBy != "operator" || o.Reason != "train_cancelled" || o.Train != "LA 21" ||
		len(o.Refunds) != 1 || o.Refunds[0].Status != "succeeded" || o.Refunds[0].Settled == "" {
		t.Errorf("%+v", o)
	}
	if legs := got.Over.Legs; len(legs) != 1 || legs[0].Train != "LA 21" || legs[0].Origin != "Berlin Hauptbahnhof" || legs[0].Destination != "Paris Gare du Nord" || legs[0].Departure != b.Legs[0].Origin.Time.Format(time.RFC3339) {
		t.Errorf("%+v", legs)
	}
	k.ask(404, "get-trip", "/trips/"+b.TripID.String(), reading)
	if got.Links["trip"] != "" {
		t.Errorf("a trip of a cancelled train, which is not found, has the link %s", got.Links["trip"])
	}
	if shown.header.Get("Sunset") != "" || got.Links["self"] != base+at(operators) || got.Links["payment"]+got.Links["ticket"] != "" {
		t.Errorf("%v %+v", shown.header, got)
	}
	if again := k.ask(200, "get-booking", at(operators)+"?over=true", reading); again.body != shown.body {
		t.Errorf("%s and %s", shown.body, again.body)
	}
	// Nothing more can be done with it, and only its owner learns why.
	for _, refused := range []answer{
		k.ask(409, "get-booking-ticket", at(operators)+"/ticket", reading),
		k.ask(409, "delete-booking", at(operators), writing),
		k.ask(409, "create-booking-payment", at(operators)+"/payment", writing, body(payment("113.58", goodCard))),
	} {
		refused.problem(409, "cancelled-by-operator")
	}
	k.ask(404, "delete-booking", at(operators), as("berta-w"))
	k.ask(404, "create-booking-payment", at(operators)+"/payment", as("berta-w"), body(payment("113.58", goodCard)))
	k.ask(404, "delete-booking", at(owners), writing)
	k.ask(404, "create-booking-payment", at(owners)+"/payment", writing, body(payment("113.58", goodCard)))
	k.ask(304, "get-booking", at(operators), reading, header("If-None-Match", shown.header.Get("Etag")))
	k.ask(404, "get-booking", at(operators)+"?over=true", as("berta-r"))
	k.ask(400, "get-booking", at(operators)+"?over=yes", reading)
	k.ask(400, "get-bookings", "/bookings?over=yes", reading)

	// Another train of the day is travelled on, and the hold runs out.
	next := w.get(search).collection().Data[0]
	lapsed := w.post("/bookings", newBooking(next.ID)).want(201).resource()
	made := w.post("/bookings", newBooking(next.ID)).want(201).resource()
	w.post(at(made)+"/payment", payment(next.Price, goodCard)).want(200)
	ids := func(target string) string {
		t.Helper()
		var ids []string
		for {
			page := k.ask(200, "get-bookings", target, reading)
			for _, b := range page.collection().Data {
				ids = append(ids, b.ID)
			}
			next := page.collection().Links["next"]
			if next == "" {
				return strings.Join(ids, " ")
			}
			target = page.local(next)
		}
	}
	if got, want := ids("/bookings?over=true&limit=1"), operators.ID+" "+owners.ID; got != want {
		t.Errorf("over are %s, want %s", got, want)
	}
	if got, want := ids("/bookings"), made.ID+" "+lapsed.ID+" "+operators.ID; got != want {
		t.Errorf("there are %s, want %s", got, want)
	}
	w.later(48 * time.Hour)
	w.deliver()
	if got, want := ids("/bookings?over=true&limit=1"), made.ID+" "+operators.ID+" "+owners.ID; got != want {
		t.Errorf("over are %s, want %s", got, want)
	}
	if got, want := ids("/bookings?limit=1&over=false"), made.ID+" "+operators.ID; got != want {
		t.Errorf("there are %s, want %s", got, want)
	}
	got = k.ask(200, "get-booking", at(made)+"?over=true", reading).resource()
	if o := got.Over; o == nil || o.Outcome != "travelled" || o.CancelledBy != "" || len(o.Refunds) > 0 || got.Links["self"] != base+at(made) || got.Links["ticket"] == "" {
		t.Errorf("%+v", got)
	}
	if live := k.ask(200, "get-booking", at(made), reading).resource(); live.Over != nil {
		t.Errorf("a booking that is in its owner's list is told as over: %+v", live)
	}
	k.ask(404, "get-booking", at(lapsed)+"?over=true", reading)

	// After 30 days it has left its own address.
	w.later(30 * 24 * time.Hour)
	k.ask(404, "get-booking", at(operators), reading)
	k.ask(404, "delete-booking", at(operators), writing)
	if self := k.ask(200, "get-booking", at(operators)+"?over=true", reading).resource().Links["self"]; self != base+at(operators)+"?over=true" {
		t.Errorf("it is at %s", self)
	}
}
