package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/store/boltstore"
)

// look compares what the customers were answered with what a server that
// nobody else uses says.
func (o *office) look() {
	taken, owners := map[string]int{}, map[string]*customer{}
	for _, u := range o.users {
		for id, d := range u.look() {
			if other := owners[id]; other != nil {
				o.Errorf("booking %s is listed by %s and by %s", id, other.name, u.name)
			}
			owners[id] = u
			taken[d["trip_id"].(string)]++
		}
	}
	for _, r := range o.trips {
		var now ride
		o.users[0].read("/trips/"+r.ID, &now)
		if now.Seats+taken[r.ID] != killSeats {
			o.Errorf("trip %s has %d bookings and %d seats left of %d", r.ID, taken[r.ID], now.Seats, killSeats)
		}
	}
	o.complaints()
}

// look compares what one of them was answered, and does nothing else meanwhile, with
// what there is now, which it returns.
func (u *customer) look() map[string]document {
	listed := u.list()
	for id, d := range listed {
		if u.tickets[id] == nil {
			u.found(id, d)
		}
	}
	clear(u.asked) // what is not there now never comes
	for id, t := range u.tickets {
		u.check(t, listed[id])
		if t.seenOver == 2 {
			delete(u.tickets, id)
		}
	}
	return listed
}

// list reads all bookings of a customer.
func (u *customer) list() map[string]document {
	all := map[string]document{}
	for path := "/bookings?limit=7"; path != ""; {
		var p page[document]
		u.read(path, &p)
		for _, d := range p.Data {
			id := d["id"].(string)
			if all[id] != nil {
				u.Errorf("%s has booking %s twice", u.name, id)
			}
			all[id] = d
		}
		path = strings.TrimPrefix(p.Links["next"], shownBase)
	}
	return all
}

// found takes a booking that was never answered: it must have been asked for,
// once.
func (u *customer) found(id string, d document) {
	passenger, _ := d["passenger_name"].(string)
	if !u.asked[passenger] {
		u.Errorf("%s has booking %s, which is not what was asked for: %v", u.name, id, d)
	}
	delete(u.asked, passenger)
	u.tickets[id] = &purchase{id: id, booking: d}
	u.hearing.sold(u, id, passenger)
	u.counts("found unanswered")
}

// check compares a booking, and its document in the list of all, nil if it is
// not there, with what its owner knows.
func (u *customer) check(t *purchase, listed document) {
	path := "/bookings/" + t.id
	status, text := u.ask("GET", path, "")
	live := status == http.StatusOK
	switch {
	case !live && status != http.StatusNotFound:
		u.Errorf("%s: %d: %s", path, status, text)
	case live == (listed == nil):
		u.Errorf("%s: it is %d, and listed as %v", path, status, listed)
	case live && t.over:
		u.Errorf("%s: it was answered to be cancelled, and is there", path)
	case !live && !t.over && !t.ending:
		u.Errorf("%s: it was answered, nobody has cancelled it, and it is gone: %v", path, t.booking)
	}
	if t.ending && !live {
		t.over = true
		u.hearing.note(t.id, func(s *sale) { s.cancelled = true })
	}
	t.ending = false // what has not happened by now never does
	if t.over {
		t.seenOver++
	}
	now := decode(text)
	if live {
		u.same(path, t.booking, now)
		u.same(path+" in the list", now, listed)
	}
	u.checkPayments(t, live, now)

	other := u.users[rand.N(len(u.users))]
	for _, hidden := range []string{path, path + "/payments"} {
		if status, text := other.ask("GET", hidden, ""); other != u && status != http.StatusNotFound {
			u.Errorf("%s of %s is shown to %s: %d: %s", hidden, u.name, other.name, status, text)
		}
	}
}

// same compares documents but for their links, which tell a state.
func (u *customer) same(path string, want, got document) {
	if diff := cmp.Diff(want, got, cmp.FilterPath(func(p cmp.Path) bool { return fmt.Sprint(p.Last()) == `["links"]` }, cmp.Ignore())); diff != "" {
		u.Errorf("%s (-answered +now):\n%s", path, diff)
	}
}

// checkPayments: what was answered to be paid is, once; a hold waits for its
// payment; and money goes back if the booking is over, and not before.
func (u *customer) checkPayments(t *purchase, live bool, booking document) {
	path := "/bookings/" + t.id + "/payments"
	var list page[document]
	status, text := u.ask("GET", path, "")
	if err := json.Unmarshal(text, &list); status != http.StatusOK || err != nil {
		u.Errorf("%s: %d, %v: %s", path, status, err, text)
		return
	}
	var paid, back []document
	for _, p := range list.Data {
		switch {
		case p["refund_of"] != nil:
			back = append(back, p)
		case p["status"] == "succeeded":
			paid = append(paid, p)
		}
	}
	if len(paid) > 0 && t.payment == nil && t.paying { // it was, and nobody had the answer
		t.payment = paid[0]
		if live {
			u.hearing.note(t.id, func(s *sale) { s.paid = true })
		}
		u.counts("found paid")
	}
	t.paying = t.paying && len(paid) == 0
	switch {
	case t.payment == nil && len(paid) == 0:
		if len(back) > 0 {
			u.Errorf("%s: nothing was paid, and %v goes back", path, back)
		}
		return
	case t.payment == nil || len(paid) != 1:
		u.Errorf("%s: it was answered that %v pays, and these are there: %v", path, t.payment, paid)
		return
	}
	u.same(path, t.payment, paid[0])
	links, _ := booking["links"].(map[string]any)
	switch {
	case live && (links["payment"] != nil || links["payments"] == nil || len(back) > 0):
		u.Errorf("%s: it is paid, the booking's links are %v, and this goes back: %v", path, links, back)
	case !live && (len(back) != 1 || back[0]["refund_of"] != t.payment["id"] || back[0]["amount"] != -t.payment["amount"].(float64)):
		u.Errorf("%s: it was paid and cancelled, and this goes back: %v", path, back)
	}
}

// audit looks into the file: no place is sold twice, and it holds the bookings
// that the customers have.
func (o *office) audit() {
	says(o.T, 0, "all pages of the file: no faults found", "check", "--data", o.data())
	store, err := boltstore.Open(o.data(), nil)
	if err != nil {
		o.Fatal(err)
	}
	defer store.Close()
	service, err := traintravel.New(store, traintravel.Options{})
	if err != nil {
		o.Fatal(err)
	}
	type place struct {
		run   traintravel.RunID
		coach string
		seat  int
	}
	sold := map[place]traintravel.Booking{}
	for _, u := range o.users {
		by := traintravel.Caller{Subject: traintravel.Subject{Issuer: httpserver.BuiltinIssuer, ID: u.name}}
		list, err := service.Bookings(context.Background(), by, traintravel.Page{Limit: traintravel.MaxLimit})
		if err != nil {
			o.Fatal(err)
		}
		for _, b := range list.Items {
			at := place{b.Legs[0].Run, b.Legs[0].Coach, b.Legs[0].Seat}
			if other, ok := sold[at]; ok || at.seat == 0 || len(b.Legs) != 1 {
				o.Errorf("place %v is sold to %v and to %v", at, other.ID, b.ID)
			}
			sold[at] = b
			if t := u.tickets[b.ID.String()]; t == nil || t.over || b.HeldUntil().Before(time.Now()) && b.Status == traintravel.Held ||
				t.payment != nil && (b.Status != traintravel.Confirmed || b.PaidBy.String() != t.payment["id"]) {
				o.Errorf("booking %v of %s is %v, which is not what it was answered: %+v", b.ID, u.name, b.Status, t)
			}
		}
		for id, t := range u.tickets {
			if !t.over {
				o.counts("left")
				delete(u.tickets, id)
			}
		}
	}
	if len(sold) != o.count["left"] {
		o.Errorf("the customers have %d bookings, and the file %d", o.count["left"], len(sold))
	}
}
