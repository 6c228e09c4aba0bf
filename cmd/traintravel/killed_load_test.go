package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
)

// A customer makes bookings, one after another, and knows what came of them.
type customer struct {
	*office
	name, token string
	tickets     map[string]*purchase
	rounds      int             // of work in a soak
	asked       map[string]bool // passengers for whom a booking was asked, without an answer
}

// A purchase is a booking as its owner knows it.
type purchase struct {
	id       string
	booking  document // as it was answered first
	payment  document // that was answered to have succeeded, if one was
	paying   bool     // a payment was asked, without an answer
	ending   bool     // its end was asked, without an answer
	over     bool     // the end was answered
	seenOver int      // how often it was found so
}

// A document is what an answer holds.
type document map[string]any

type page[T any] struct {
	Data  []T
	Links map[string]string
}

// What ask returns for a status if there is none.
const (
	unanswered = 0
	notAsked   = -1
)

// ask makes a request, unless the server is known to be gone. That there is no
// answer is no fault of a server that was killed.
func (u *customer) ask(method, path, body string) (status int, text []byte) {
	if u.killed.Load() {
		return notAsked, nil
	}
	req, err := http.NewRequest(method, u.server.base+path, strings.NewReader(body))
	if err != nil {
		u.Error(err)
		return notAsked, nil
	}
	req.Header.Set("Authorization", "Bearer "+u.token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := u.client.Do(req)
	if err == nil {
		defer resp.Body.Close()
		status = resp.StatusCode
		text, err = io.ReadAll(resp.Body)
	}
	switch {
	case err != nil && !u.killed.Load():
		u.Errorf("%s %s: %v", method, path, err)
		return unanswered, nil
	case err != nil:
		return unanswered, nil
	case status >= 500 || status < 200 || status == http.StatusUnauthorized || status == http.StatusBadRequest:
		u.Errorf("%s %s: %d: %s", method, path, status, text)
	}
	return status, text
}

// read gets a document that must be there.
func (u *customer) read(path string, to any) {
	u.Helper()
	status, text := u.ask("GET", path, "")
	if status != http.StatusOK {
		u.Fatalf("%s gets %d for %s: %s", u.name, status, path, text)
	}
	if err := json.Unmarshal(text, to); err != nil {
		u.Fatalf("%s: %v: %s", path, err, text)
	}
}

func decode(text []byte) document {
	var d document
	_ = json.Unmarshal(text, &d) // what is no document has none of the members that are looked for
	return d
}

// work books, pays and cancels until the server is gone.
func (u *customer) work(ctx context.Context, round int) {
	for n := 0; ctx.Err() == nil && !u.killed.Load(); n++ {
		t := u.book(fmt.Sprintf("%s round %d booking %d", u.name, round, n))
		if t == nil {
			u.free(0)
			continue
		}
		u.see(t)
		switch rand.N(8) {
		case 0: // it stays a hold
		case 1:
			u.cancel(t)
		case 2:
			u.pay(t)
			u.cancel(t)
		case 3: // in the same moment
			var both sync.WaitGroup
			u.hearing.note(t.id, func(s *sale) { s.raced = true })
			both.Go(func() { u.pay(t) })
			u.cancel(t)
			both.Wait()
		default:
			u.pay(t)
		}
		u.free(killBookings - 1)
	}
}

// free cancels until there are no more than so many bookings.
func (u *customer) free(most int) {
	var live []*purchase
	for _, t := range u.tickets {
		if !t.over && !t.ending {
			live = append(live, t)
		}
	}
	for _, t := range live[:max(0, len(live)-most)] {
		u.cancel(t)
	}
}

func (u *customer) book(passenger string) *purchase {
	trip := u.trips[rand.N(len(u.trips))]
	status, text := u.ask("POST", "/bookings", fmt.Sprintf(`{"trip_id": %q, "passenger_name": %q}`, trip.ID, passenger))
	switch status {
	case notAsked:
	case unanswered:
		u.asked[passenger] = true
		u.counts("unanswered")
	case http.StatusCreated:
		d := decode(text)
		id, _ := d["id"].(string)
		t := &purchase{id: id, booking: d}
		if d["passenger_name"] != passenger || d["trip_id"] != trip.ID || u.tickets[id] != nil {
			u.Errorf("booking for %s: %s", passenger, text)
		}
		u.tickets[id] = t
		u.hearing.sold(u, id, passenger)
		u.counts("booked")
		u.at(whenBooked)
		return t
	case http.StatusConflict:
		u.counts("sold out")
	default:
		u.Errorf("booking: %d: %s", status, text)
	}
	return nil
}

// see reads a booking right after it was made.
func (u *customer) see(t *purchase) {
	switch status, text := u.ask("GET", "/bookings/"+t.id, ""); status {
	case notAsked, unanswered:
	case http.StatusOK:
		u.same("/bookings/"+t.id, t.booking, decode(text))
	default:
		u.Errorf("a new booking is %d: %s", status, text)
	}
}

func (u *customer) pay(t *purchase) {
	price := ride{}
	for _, r := range u.trips {
		if r.ID == t.booking["trip_id"] {
			price = r
		}
	}
	status, text := u.ask("POST", "/bookings/"+t.id+"/payment", fmt.Sprintf(`{"amount": %s, "currency": %q, "source": {"object": "card",
		"name": "J. Doe", "number": "4242424242424242", "cvc": "123", "exp_month": 12, "exp_year": 2099, "address_country": "gb"}}`, price.Price, price.Currency))
	switch d := decode(text); {
	case status == unanswered:
		t.paying = true
		u.counts("unanswered")
	case status == http.StatusOK && d["status"] == "succeeded":
		t.payment = d
		u.hearing.note(t.id, func(s *sale) { s.paid = true })
		u.counts("paid")
	case status == http.StatusOK:
		t.paying = true
	}
}

func (u *customer) cancel(t *purchase) {
	switch status, _ := u.ask("DELETE", "/bookings/"+t.id, ""); status {
	case unanswered:
		t.ending = true
		u.counts("unanswered")
	case http.StatusNoContent:
		t.over = true
		u.hearing.note(t.id, func(s *sale) { s.cancelled = true })
		u.counts("cancelled")
	}
}
