package main

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// How a booking stands. The API says so by what can be done with it.
const (
	held      = "held"
	pending   = "pending"
	confirmed = "confirmed"
)

func (b booking) State() string {
	switch {
	case b.Links.Ticket != "":
		return confirmed
	case b.Links.Payment != "":
		return held
	}
	return pending
}

type bookingList struct {
	Bookings    []summary
	Newer, More string
}

// A summary is a booking in the list. Its journey is empty if the timetable does not
// know it any more.
type summary struct {
	booking
	Journey journey
}

func (s *site) bookingsPage(w http.ResponseWriter, r *http.Request, user *session) error {
	q := url.Values{}
	for _, name := range []string{"page", "after"} {
		if v := r.URL.Query().Get(name); v != "" {
			q.Set(name, v)
		}
	}
	found, err := user.api.bookings(r.Context(), q)
	if err != nil {
		return err
	}
	trips := map[string]trip{}
	var rides []ride
	for _, b := range found.Data {
		if b.Links.Trip != "" {
			trips[b.TripID] = trip{}
		}
	}
	var mu sync.Mutex
	each(trips, func(id string) {
		t, err := user.api.trip(r.Context(), id)
		if err != nil {
			return // the list is of use without it
		}
		mu.Lock()
		defer mu.Unlock()
		trips[id] = t
		rides = append(rides, ridesOf(t.Legs)...)
	})
	names := user.stationsOf(r.Context(), rides...)
	body := bookingList{Newer: bookingsAt(found.Links.Prev), More: bookingsAt(found.Links.Next)}
	for _, b := range found.Data {
		t := trips[b.TripID]
		body.Bookings = append(body.Bookings, summary{b, journeyOf(t.Legs, t.price, names)})
	}
	return s.show(w, http.StatusOK, "bookings", user, page{Title: "My bookings", Body: body})
}

// bookingsAt is our page for one of the API's.
func bookingsAt(link string) string {
	u, err := url.Parse(link)
	if link == "" || err != nil {
		return ""
	}
	q := url.Values{"page": {u.Query().Get("page")}}
	if after := u.Query().Get("after"); after != "" {
		q.Set("after", after)
	}
	return "/bookings?" + q.Encode()
}

// A stub is the page of one booking.
type stub struct {
	booking
	State   string
	Journey journey
	Ticket  *ticket  // once it is confirmed
	Latest  *payment // attempt, if there was one
	Left    int      // seconds until the hold ends
	HeldTo  string   // the same, by the clock at the origin
	Form    payForm
	Fault   *fault
}

var titles = map[string]string{held: "Pay for your trip", pending: "Your payment is under way", confirmed: "Your ticket"}

func (s *site) bookingPage(w http.ResponseWriter, r *http.Request, user *session) error {
	return s.showBooking(w, r, user, payForm{}, nil)
}

// showBooking shows a booking and, while it can be paid, the form for that, with what
// was wrong with it. A page that cannot be had is no reason to hide that.
func (s *site) showBooking(w http.ResponseWriter, r *http.Request, user *session, form payForm, wrong error) error {
	b, err := user.load(r)
	if err != nil {
		return cmp.Or(wrong, err)
	}
	if b.State == held {
		origin, _ := user.station(r.Context(), b.Journey.Origin) // else the zone is UTC
		b.Left, b.HeldTo = int(b.Until.Sub(s.now()).Seconds()), heldTo(b.Until, origin)
		b.Form = form.with(origin.Country)
	}
	status := http.StatusOK
	if wrong != nil {
		f := faultOf(wrong)
		b.Fault, status = &f, f.Status
	}
	return s.show(w, status, "booking", user, page{Title: titles[b.State], Body: b})
}

// load asks for a booking and what belongs to it: the ticket if there is one, which
// says what was sold, or else the trip.
func (s *session) load(r *http.Request) (b stub, err error) {
	ctx, id := r.Context(), r.PathValue("id")
	if !isID(id) {
		return b, errNoPage
	}
	if b.booking, err = s.api.booking(ctx, id); err != nil {
		return b, err
	}
	b.State = b.booking.State()
	if b.Links.Payments != "" {
		latest, err := s.api.payment(ctx, id)
		if err != nil {
			return b, err
		}
		b.Latest = &latest
		if b.State == pending && latest.Status == "succeeded" {
			b.State = confirmed // where there are no tickets
		}
	}
	switch {
	case b.Links.Ticket != "":
		t, err := s.api.ticket(ctx, id)
		if err != nil {
			return b, err
		}
		b.Ticket, b.Journey = &t, journeyOf(t.Legs, t.price, nil)
	case b.Links.Trip != "":
		t, err := s.api.trip(ctx, b.TripID)
		if err != nil {
			return b, err
		}
		b.Journey = journeyOf(t.Legs, t.price, s.stationsOf(ctx, ridesOf(t.Legs)...))
	}
	return b, nil
}

// heldTo says when a hold ends by the clock of a station. A browser's clock may be in
// another zone, and without scripts nobody here knows which.
func heldTo(until time.Time, at station) string {
	zone, err := time.LoadLocation(at.Timezone)
	if err != nil || at.Timezone == "" {
		return until.UTC().Format("15:04 on Mon 2 January") + " (UTC)"
	}
	return until.In(zone).Format("15:04 on Mon 2 January") + ", " + at.Name + " time"
}

func (s *site) cancelPage(w http.ResponseWriter, r *http.Request, user *session) error {
	b, err := user.load(r)
	if err != nil {
		return err
	}
	return s.show(w, http.StatusOK, "cancel", user, page{Title: "Cancel this booking?", Body: b})
}

// cancel cancels the booking that the user has seen: if it was paid meanwhile, it stays.
func (s *site) cancel(w http.ResponseWriter, r *http.Request, user *session) error {
	id := r.PathValue("id")
	if !isID(id) {
		return errNoPage
	}
	if err := user.api.cancel(r.Context(), id, r.PostFormValue("tag")); err != nil {
		return err
	}
	user.tell("The booking is cancelled. If you had paid, the money is on its way back.")
	http.Redirect(w, r, "/bookings", http.StatusSeeOther)
	return nil
}

// The forms of a ticket that people can have, by the names of our files.
var ticketForms = map[string]string{"ticket.pdf": "application/pdf", "ticket.png": "image/png", "ticket.ics": "text/calendar"}

func (s *site) ticketFile(w http.ResponseWriter, r *http.Request, user *session) error {
	id, name, leg := r.PathValue("id"), r.PathValue("file"), r.URL.Query().Get("leg")
	mediaType := ticketForms[name]
	if n, err := strconv.Atoi(leg); mediaType == "" || !isID(id) || leg != "" && (err != nil || n < 1) {
		return errNoPage
	}
	file, err := user.api.ticketFile(r.Context(), id, mediaType, leg)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Content-Disposition", `inline; filename="`+name+`"`)
	_, _ = w.Write(file)
	return nil
}
