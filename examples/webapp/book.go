package main

import (
	"cmp"
	"crypto/rand"
	"net/http"
)

// An order is the page that books a trip.
type order struct {
	offer
	Form  newBooking
	Key   string // of this form: sent twice, it books once
	Fault *fault
	Back  string // to the list
}

func (s *site) tripPage(w http.ResponseWriter, r *http.Request, user *session) error {
	return s.showTrip(w, r, user, order{Form: newBooking{TripID: r.PathValue("id")}}, nil)
}

// showTrip shows a trip with its form, and what was wrong with the form. A page that
// cannot be had is no reason to hide that.
func (s *site) showTrip(w http.ResponseWriter, r *http.Request, user *session, o order, wrong error) error {
	if !isID(o.Form.TripID) {
		return errNoPage
	}
	ask := s.readerOf(user)
	t, err := ask.api.trip(r.Context(), o.Form.TripID)
	if err != nil {
		return cmp.Or(wrong, err)
	}
	j := journeyOf(t.Legs, t.price, ask.stationsOf(r.Context(), ridesOf(t.Legs)...))
	o.offer, o.Key = offer{trip: t, Journey: j}, rand.Text()
	o.Back = search{From: j.From, FromID: j.Origin, To: j.To, ToID: j.Destination, Date: j.Departure.Format("2006-01-02")}.Path()
	status := http.StatusOK
	if wrong != nil {
		f := faultOf(wrong)
		o.Fault, status = &f, f.Status
	}
	return s.show(w, status, "trip", user, page{Title: j.From + " to " + j.To, Body: o})
}

// Takes says whether an allowance is known to be given.
func (o order) TakesBicycles() bool { return o.Bicycles != nil && *o.Bicycles }
func (o order) TakesDogs() bool     { return o.Dogs != nil && *o.Dogs }
func (o order) SoldOut() bool       { return o.Seats != nil && *o.Seats == 0 }

func (s *site) book(w http.ResponseWriter, r *http.Request, user *session) error {
	o := order{Form: newBooking{
		TripID: r.PostFormValue("trip"), PassengerName: r.PostFormValue("passenger"),
		HasBicycle: r.PostFormValue("bicycle") != "", HasDog: r.PostFormValue("dog") != "",
	}}
	made, err := user.api.book(r.Context(), o.Form, r.PostFormValue("key"))
	if correctable(err) {
		return s.showTrip(w, r, user, o, err)
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/bookings/"+made.ID, http.StatusSeeOther)
	return nil
}
