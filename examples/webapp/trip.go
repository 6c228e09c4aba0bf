package main

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/url"
	"slices"
	"strconv"
)

// An order is what is about to be booked: the trips there and back, for some passengers.
type order struct {
	Ways       []offer // one, or two
	Passengers []passenger
	Key        string // of this form: sent twice, it books once
	Fault      *fault
	Back       string // to the list
	Book       string // where to go on for who is not signed in
	Total      *price // nil if the trips are sold in different currencies
}

// A passenger is one of an order, as typed.
type passenger struct {
	N            int // counted from 1
	Name         string
	Bicycle, Dog bool
	Wrong        bool // the name has to be corrected
}

// ID is what the field is called in the page: the first has the plain name.
func (p passenger) ID() string {
	if p.N == 1 {
		return "passenger"
	}
	return "passenger-" + strconv.Itoa(p.N)
}

// party are so many passengers whose names are not known yet.
func party(n int, bicycle, dog bool) []passenger {
	all := make([]passenger, n)
	for i := range all {
		all[i] = passenger{N: i + 1, Bicycle: bicycle, Dog: dog}
	}
	return all
}

// tripsOf are the trips that an address names, one or two.
func tripsOf(first, second string) []string {
	if second == "" {
		return []string{first}
	}
	return []string{first, second}
}

func (s *site) tripPage(w http.ResponseWriter, r *http.Request, user *session) error {
	q := r.URL.Query()
	ids := tripsOf(r.PathValue("id"), q.Get("return"))
	var wrong *fault
	n := passengersOf(q)
	if text := tooMany(n, len(ids)); text != "" {
		n = mostTogether / len(ids)
		wrong = &fault{Status: http.StatusBadRequest, Title: "Too many passengers", Text: text + " This page is for " + strconv.Itoa(n) + ". Pay for them, then book for the others."}
	}
	return s.showTrip(w, r, user, ids, order{Passengers: party(n, q.Has("bicycles"), q.Has("dogs"))}, wrong)
}

// showTrip shows trips with their form, and what was wrong with the form. A page that
// cannot be had is no reason to hide that.
func (s *site) showTrip(w http.ResponseWriter, r *http.Request, user *session, ids []string, o order, wrong *fault) error {
	var err error
	if o.Ways, err = s.readerOf(user).offers(r.Context(), ids); err != nil {
		return err
	}
	first := o.Ways[0].Journey
	find := search{
		From: first.From, FromID: first.Origin, To: first.To, ToID: first.Destination, Date: first.Departure.Format("2006-01-02"),
		Passengers: len(o.Passengers),
	}
	q := url.Values{}
	find.along(q)
	if len(o.Ways) > 1 {
		find.Return, find.Out = o.Ways[1].Departure.Format("2006-01-02"), ids[0]
		q.Set("return", ids[1])
	}
	o.Key, o.Back, o.Book = rand.Text(), find.Path(), "/trips/"+ids[0]+"/book"
	if len(q) > 0 {
		o.Book += "?" + q.Encode()
	}
	var prices []price
	for _, way := range o.Ways {
		for range o.Passengers {
			prices = append(prices, way.price)
		}
	}
	o.Total = sum(prices)
	status := http.StatusOK
	if wrong != nil {
		o.Fault, status = wrong, wrong.Status
	}
	return s.show(w, status, "trip", user, page{
		Title: first.From + " to " + first.To, Body: o,
		About: "The train from " + first.From + " to " + first.To + " on " + day(first.Departure) + ": stops, price, and how much is refunded if you cancel.",
	})
}

// offers are trips by their IDs, with the names of their stations.
func (r reader) offers(ctx context.Context, ids []string) (all []offer, err error) {
	for _, id := range ids {
		if !isID(id) {
			return nil, errNoPage
		}
		t, err := r.api.trip(ctx, id)
		if err != nil {
			return nil, err
		}
		all = append(all, offer{trip: t, Journey: journeyOf(t.Legs, t.price, r.stationsOf(ctx, ridesOf(t.Legs)...))})
	}
	return all, nil
}

// Takes says whether all trips are known to take what comes along.
func (o order) TakesBicycles() bool {
	return o.all(func(t offer) bool { return t.Bicycles != nil && *t.Bicycles })
}
func (o order) TakesDogs() bool { return o.all(func(t offer) bool { return t.Dogs != nil && *t.Dogs }) }

// Fits says whether there are seats for all passengers.
func (o order) Fits() bool {
	find := search{Passengers: len(o.Passengers)}
	return o.all(func(t offer) bool { return find.fits(t.trip) })
}

// CanAdd says whether one more passenger may come along.
func (o order) CanAdd() bool { return (len(o.Passengers)+1)*len(o.Ways) <= mostTogether }

func (o order) all(is func(offer) bool) bool {
	return !slices.ContainsFunc(o.Ways, func(t offer) bool { return !is(t) })
}

// Overlap says that the way back leaves before the way there arrives.
func (o order) Overlap() bool {
	return len(o.Ways) == 2 && o.Ways[1].Departure.Before(o.Ways[0].Arrival)
}
