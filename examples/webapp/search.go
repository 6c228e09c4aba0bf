package main

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A search is what somebody looks for. All of it is in the address, so that a page
// can be kept and sent on.
type search struct {
	From, FromID string // as it was typed, and the station that was chosen, if one was
	To, ToID     string
	Date         string
	Bicycles     bool
	Dogs         bool
	Page, After  string // of the list

	First, Last string // days that can be chosen
	Problem     string // what is wrong with it
}

func (s *site) searchOf(r *http.Request) search {
	q := r.URL.Query()
	return s.withDays(search{
		From: strings.TrimSpace(q.Get("from")), FromID: q.Get("from_id"), To: strings.TrimSpace(q.Get("to")), ToID: q.Get("to_id"),
		Date: q.Get("date"), Bicycles: q.Has("bicycles"), Dogs: q.Has("dogs"), Page: q.Get("page"), After: q.Get("after"),
	})
}

// withDays fills in the days that can be chosen, and tomorrow for none.
func (s *site) withDays(find search) search {
	today := s.now()
	find.First, find.Last = today.Format(time.DateOnly), today.AddDate(1, 0, 0).Format(time.DateOnly)
	find.Date = cmp.Or(find.Date, today.AddDate(0, 0, 1).Format(time.DateOnly))
	return find
}

// Path is the address of the list of what is looked for.
func (f search) Path() string {
	q := url.Values{}
	for name, value := range map[string]string{
		"from": f.From, "from_id": f.FromID, "to": f.To, "to_id": f.ToID, "date": f.Date, "page": f.Page, "after": f.After,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if f.Bicycles {
		q.Set("bicycles", "on")
	}
	if f.Dogs {
		q.Set("dogs", "on")
	}
	return "/trips?" + q.Encode()
}

// Day is the date as people read it, and ShortDay is shorter.
func (f search) Day() string      { return f.day("Mon 2 January 2006") }
func (f search) ShortDay() string { return f.day("Mon 2") }

func (f search) day(layout string) string {
	t, err := time.Parse(time.DateOnly, f.Date)
	if err != nil {
		return f.Date
	}
	return t.Format(layout)
}

// Move is the same search some days later.
func (f search) Move(days int) search {
	f.Page, f.After = "", ""
	t, err := time.Parse(time.DateOnly, f.Date)
	if err != nil {
		return f
	}
	f.Date = t.AddDate(0, 0, days).Format(time.DateOnly)
	return f
}

// CanMove says whether there is anything to be found then.
func (f search) CanMove(days int) bool {
	to := f.Move(days).Date
	return to != f.Date && f.First <= to && to <= f.Last
}

// onPage is the same search at another page, where a link of the API leads; empty if
// there is no link.
func (f search) onPage(link string) string {
	u, err := url.Parse(link)
	if link == "" || err != nil {
		return ""
	}
	f.Page, f.After = u.Query().Get("page"), u.Query().Get("after")
	return f.Path()
}

// The example that the first page is filled in with.
const (
	exampleFrom = "Berlin Hauptbahnhof"
	exampleTo   = "Paris Gare du Nord"
)

func (s *site) home(w http.ResponseWriter, r *http.Request) error {
	find := s.withDays(search{From: exampleFrom, To: exampleTo})
	return s.show(w, http.StatusOK, "home", s.sessionOf(r), page{Title: "Trains across Europe", Body: find})
}

func (s *site) tripsPage(w http.ResponseWriter, r *http.Request, user *session) error {
	find, ask := s.searchOf(r), s.readerOf(user)
	again := func(problem string) error { return s.searchAgain(w, user, find, problem) }
	if find.From == "" || find.To == "" {
		return again("Please say where you start and where you want to go.")
	}
	if _, err := time.Parse(time.DateOnly, find.Date); err != nil {
		return again("Please choose a day.")
	}
	for _, end := range []struct {
		purpose   string
		typed, id *string
	}{{"start", &find.From, &find.FromID}, {"destination", &find.To, &find.ToID}} {
		found, err := ask.find(r.Context(), *end.typed, *end.id)
		if err != nil {
			return err
		}
		switch len(found) {
		case 0:
			return again("We know no station “" + *end.typed + "”.")
		case 1:
			*end.typed, *end.id = found[0].Name, found[0].ID
		default:
			c := choice{Search: find, Typed: *end.typed, Purpose: end.purpose}
			for _, st := range found {
				*end.typed, *end.id = st.Name, st.ID
				c.Options = append(c.Options, option{st, find.Path()})
			}
			return s.show(w, http.StatusOK, "choice", user, page{Title: "Which station?", Body: c})
		}
	}
	if find.FromID == find.ToID {
		return again("You are there already: start and destination are the same station.")
	}
	return s.listTrips(w, r, user, ask, find)
}

// searchAgain shows what was looked for, and what is wrong with it.
func (s *site) searchAgain(w http.ResponseWriter, user *session, find search, problem string) error {
	find.Problem = problem
	return s.show(w, http.StatusBadRequest, "home", user, page{Title: "Search again", Body: find})
}

type tripList struct {
	Search        search
	Trips         []offer
	Earlier, More string // pages of the list
}

// An offer is a trip that can be booked.
type offer struct {
	trip
	Journey journey
}

// Few is how many seats make a trip nearly full.
const few = 10

// SeatsLeft says how many there are, empty if that is not limited.
func (o offer) SeatsLeft() string {
	switch {
	case o.Seats == nil:
		return "no reservation"
	case *o.Seats == 0:
		return "sold out"
	case *o.Seats == 1:
		return "the last seat"
	}
	return strconv.Itoa(*o.Seats) + " seats left"
}

// An allowance is whether bicycles, or dogs, may come along.
type allowance struct {
	Who     string
	Allowed bool
}

// Allowances are those that are known.
func (o offer) Allowances() (known []allowance) {
	if o.Bicycles != nil {
		known = append(known, allowance{"bicycles", *o.Bicycles})
	}
	if o.Dogs != nil {
		known = append(known, allowance{"dogs", *o.Dogs})
	}
	return known
}

func (o offer) NearlyFull() bool { return o.Seats != nil && *o.Seats <= few }

func (s *site) listTrips(w http.ResponseWriter, r *http.Request, user *session, ask reader, find search) error {
	q := url.Values{"origin": {find.FromID}, "destination": {find.ToID}, "date": {find.Date}}
	if find.Bicycles {
		q.Set("bicycles", "true")
	}
	if find.Dogs {
		q.Set("dogs", "true")
	}
	if find.Page != "" {
		q.Set("page", find.Page)
	}
	if find.After != "" {
		q.Set("after", find.After)
	}
	found, err := ask.api.trips(r.Context(), q)
	if correctable(err) { // a day too far off, a page of an old list
		f := faultOf(err)
		return s.searchAgain(w, user, find, cmp.Or(strings.Join(f.Fields, " "), f.Title+"."))
	}
	if err != nil {
		return err
	}
	var rides []ride
	for _, t := range found.Data {
		rides = append(rides, ridesOf(t.Legs)...)
	}
	names := ask.stationsOf(r.Context(), rides...)
	body := tripList{Search: find, Earlier: find.onPage(found.Links.Prev), More: find.onPage(found.Links.Next)}
	for _, t := range found.Data {
		body.Trips = append(body.Trips, offer{t, journeyOf(t.Legs, t.price, names)})
	}
	return s.show(w, http.StatusOK, "trips", user, page{Title: find.From + " to " + find.To, Body: body})
}
