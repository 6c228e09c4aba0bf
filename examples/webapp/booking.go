package main

import (
	"context"
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
	// Those that are over, as the API has them.
	travelled = "travelled"
	cancelled = "cancelled"
	tooLate   = "expired" // money came for it after its hold had ended
)

func (b booking) State() string {
	switch {
	case b.Over != nil:
		return b.Over.Outcome
	case b.Links.Ticket != "":
		return confirmed
	case b.Links.Payment != "":
		return held
	}
	return pending
}

type bookingList struct {
	Bookings    []summary
	Past        bool   // those that are over
	PayAll      string // where those that are held are paid together, if there are several
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
	for _, name := range []string{"page", "after", "over"} {
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
		if b.Links.Trip != "" && b.sold() == nil {
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
	body := bookingList{Past: q.Get("over") == "true", Newer: bookingsAt(found.Links.Prev), More: bookingsAt(found.Links.Next)}
	var due []string
	for _, b := range found.Data {
		if b.State() == held && len(due) < mostTogether {
			due = append(due, b.ID)
		}
		t := trips[b.TripID]
		if sold := b.sold(); sold != nil {
			t.Legs = sold
		}
		body.Bookings = append(body.Bookings, summary{b, journeyOf(t.Legs, t.price, names)})
	}
	if len(due) > 1 {
		body.PayAll = payPath(due...)
	}
	title := "My bookings"
	if body.Past {
		title = "Past trips and cancellations"
	}
	return s.show(w, http.StatusOK, "bookings", user, page{Title: title, Body: body})
}

// bookingsAt is our page for one of the API's.
func bookingsAt(link string) string {
	u, err := url.Parse(link)
	if link == "" || err != nil {
		return ""
	}
	q := url.Values{"page": {u.Query().Get("page")}}
	for _, name := range []string{"after", "over"} {
		if v := u.Query().Get(name); v != "" {
			q.Set(name, v)
		}
	}
	return "/bookings?" + q.Encode()
}

// A stub is one booking and what belongs to it.
type stub struct {
	booking
	State    string
	Journey  journey
	Reserved bool      // it has numbered seats
	Terms    string    // of refunds, as long as the timetable knows the trip
	Ticket   *ticket   // once it is confirmed
	Latest   *payment  // attempt, if there was one
	LastTry  bool      // one more declined payment may end the booking
	Charges  []payment // that went through, if the booking is over
}

// bookingPage shows a booking. One that is held is to be paid first.
func (s *site) bookingPage(w http.ResponseWriter, r *http.Request, user *session) error {
	b, err := s.told(r.Context(), user, r.PathValue("id"))
	if err != nil {
		return s.afterPaying(user, []string{r.PathValue("id")}, err)
	}
	title := "Your ticket"
	switch b.State {
	case held:
		s.redirect(w, r, payPath(b.ID))
		return nil
	case pending:
		title = "Your payment is in progress"
	case travelled:
		title = "Your past trip"
	case cancelled:
		title = "This booking is cancelled"
	case tooLate:
		title = "This booking has ended"
	}
	return s.show(w, http.StatusOK, "booking", user, page{Title: title, Body: b})
}

// load asks for a booking and what belongs to it: the ticket if there is one, which
// says what was sold, or else the trip.
func (s *session) load(ctx context.Context, id string) (b stub, err error) {
	if !isID(id) {
		return b, errNoPage
	}
	if b.booking, err = s.api.booking(ctx, id); missing(err) {
		return b, s.whyMissing(ctx, id, err)
	}
	if err != nil {
		return b, err
	}
	b.State = b.booking.State()
	if b.Over != nil && b.Links.Payments != "" {
		if b.Charges, err = s.api.charges(ctx, id); err != nil {
			return b, err
		}
	}
	if b.Over == nil && b.Links.Payments != "" {
		latest, err := s.api.payment(ctx, id)
		if err != nil {
			return b, err
		}
		b.Latest = &latest
		if b.State == held && latest.Status == "failed" {
			declined, err := s.api.attempts(ctx, id, "failed")
			if err != nil {
				return b, err
			}
			b.LastTry = len(declined) >= mostDeclines-1
		}
		if b.State == pending && latest.Status == "succeeded" {
			b.State = confirmed // where there are no tickets
		}
	}
	if sold := b.sold(); sold != nil {
		b.Journey = journeyOf(sold, b.paid(), nil)
	} else if b.Links.Trip != "" {
		t, err := s.api.trip(ctx, b.TripID)
		if err != nil && b.Links.Ticket == "" && b.Over == nil { // the ticket says what was sold
			return b, err
		}
		b.Journey = journeyOf(t.Legs, t.price, s.stationsOf(ctx, ridesOf(t.Legs)...))
		b.Reserved, b.Terms = t.Seats != nil, t.Terms
	}
	if b.Links.Ticket != "" {
		t, err := s.api.ticket(ctx, id)
		if err != nil {
			return b, err
		}
		b.Ticket, b.Journey = &t, journeyOf(t.Legs, t.price, nil)
	}
	return b, nil
}

// sold is what was sold, if the booking is over and says so: the timetable may not know it any more.
func (b booking) sold() []leg {
	if b.Over == nil {
		return nil
	}
	return b.Over.Legs
}

// paid is what was paid for a booking that is over, nothing of no currency if that is not one sum.
func (b stub) paid() price {
	if len(b.Charges) != 1 {
		return price{}
	}
	return b.Charges[0].Money()
}

// told loads a booking that is looked at by itself. One that was travelled on still stands where
// it was: the API says how it ended if it is asked for what is over.
func (s *site) told(ctx context.Context, user *session, id string) (stub, error) {
	b, err := user.load(ctx, id)
	if err != nil || b.State != confirmed || len(b.Journey.Stages) == 0 || b.Journey.Arrival.After(s.now()) {
		return b, err
	}
	past, err := user.api.pastBooking(ctx, id)
	if missing(err) { // by the clock of the railway it is not over
		return b, nil
	}
	b.booking, b.State = past, past.State()
	return b, err
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
	b, err := s.told(r.Context(), user, r.PathValue("id"))
	if err != nil {
		return err
	}
	if b.Over != nil {
		s.redirect(w, r, "/bookings/"+b.ID)
		return nil
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
		if b, e := user.api.booking(r.Context(), id); e != nil || b.Over == nil {
			return err
		}
		s.redirect(w, r, "/bookings/"+id) // it has ended meanwhile: its page says how
		return nil
	}
	user.tell(cancelNotice(user.api.booking(r.Context(), id)))
	s.redirect(w, r, "/bookings")
	return nil
}

// cancelNotice says that a booking is cancelled, and whether a refund follows. If the API
// no longer returns the booking, it was not paid.
func cancelNotice(b booking, err error) string {
	text := "The booking is cancelled."
	if err == nil && b.Over != nil && len(b.Over.Refunds) > 0 {
		text += " Your refund is on its way."
	}
	return text
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
