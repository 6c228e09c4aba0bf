package main

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

type tripList struct {
	Search         search
	Trips          []offer
	Earlier, Later *link // more of the list
	Week           []dayOffer
	Next           *link // a day on which there are trains, if there are none on this one
	Only           bool  // some trains were left out, which do not have enough seats
}

// An offer is a trip that can be booked.
type offer struct {
	trip
	Journey journey
	Marks   []string // what it is best at
	Path    string   // where it leads
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

// A sort is an order of trips: by what, least first, and what the first of them are
// called. Of one kind they are in the order of the day.
type sort struct {
	Name, Label, Mark string
	by                func(a, b trip) int
}

var sorts = []sort{
	{"", "Departure", "", inOrder},
	{"price", "Price", "Cheapest", func(a, b trip) int { return a.price.compare(b.price) }},
	{"duration", "Duration", "Fastest", func(a, b trip) int {
		return cmp.Compare(a.Arrival.Sub(a.Departure), b.Arrival.Sub(b.Departure))
	}},
	{"changes", "Changes", "Fewest changes", func(a, b trip) int { return cmp.Compare(len(a.Legs), len(b.Legs)) }},
}

func inOrder(a, b trip) int {
	return cmp.Or(a.Departure.Compare(b.Departure), a.Arrival.Compare(b.Arrival), strings.Compare(a.ID, b.ID))
}

// knownSort returns the name of an order, empty if there is none of the name.
func knownSort(name string) string {
	if !slices.ContainsFunc(sorts, func(s sort) bool { return s.Name == name }) {
		return ""
	}
	return name
}

// Sorts are the orders that can be chosen.
func (tripList) Sorts() []sort { return sorts }

// compare orders prices in one currency; those of others are apart.
func (p price) compare(q price) int {
	a, _ := p.Amount.Float64() // which is exact enough to tell which is more
	b, _ := q.Amount.Float64()
	return cmp.Or(strings.Compare(p.Currency, q.Currency), cmp.Compare(a, b))
}

// mark says of the best trips what they are best at, unless more than half are as good.
func mark(trips []trip) map[string][]string {
	marks := map[string][]string{}
	for _, s := range sorts {
		if s.Mark == "" || len(trips) == 0 {
			continue
		}
		if s.Name == "price" && slices.ContainsFunc(trips, func(t trip) bool { return t.Currency != trips[0].Currency }) {
			continue // which is cheapest depends on the day's rates
		}
		least := slices.MinFunc(trips, s.by)
		best := slices.DeleteFunc(slices.Clone(trips), func(t trip) bool { return s.by(t, least) != 0 })
		if 2*len(best) > len(trips) {
			continue // that tells nothing
		}
		for _, t := range best {
			marks[t.ID] = append(marks[t.ID], s.Mark)
		}
	}
	return marks
}

// perPage is how many trips are shown at a time, and mostPages how many pages of the API
// are read for the trips of a day, of a hundred trips each.
const (
	perPage   = 10
	mostPages = 10
)

// day returns the trips of a day that can be booked, in order.
func (r reader) day(ctx context.Context, find search, date string) (trips []trip, err error) {
	w := find.way()
	q := url.Values{"origin": {w.FromID}, "destination": {w.ToID}, "date": {date}, "limit": {"100"}}
	if find.Bicycles {
		q.Set("bicycles", "true")
	}
	if find.Dogs {
		q.Set("dogs", "true")
	}
	for range mostPages {
		found, err := r.api.trips(ctx, q)
		if err != nil {
			return nil, err
		}
		trips = append(trips, found.Data...)
		next, err := url.Parse(found.Links.Next)
		if found.Links.Next == "" || err != nil {
			break
		}
		q.Set("page", next.Query().Get("page"))
		q.Set("after", next.Query().Get("after"))
	}
	return trips, nil
}

// candidates are the trips that a search is about, in order: those of the day, or those
// that arrive on that day by a time, of which some may have left the day before.
func (r reader) candidates(ctx context.Context, find search) ([]trip, error) {
	date := find.way().Date
	trips, err := r.day(ctx, find, date)
	if err != nil || find.By != byArrival {
		return trips, err
	}
	if before := find.plus(-1); before != "" {
		night, err := r.day(ctx, find, before)
		if err != nil {
			return nil, err
		}
		trips = append(night, trips...)
	}
	return slices.DeleteFunc(trips, func(t trip) bool {
		return t.Arrival.Format(time.DateOnly) != date || clock(t.Arrival) > find.Time
	}), nil
}

// fits says whether a trip has seats for all.
func (f search) fits(t trip) bool { return t.Seats == nil || *t.Seats >= f.Passengers }

func (s *site) listTrips(w http.ResponseWriter, r *http.Request, user *session, ask reader, find search) error {
	all, err := ask.candidates(r.Context(), find)
	if correctable(err) {
		f := faultOf(err)
		find.Problem = cmp.Or(strings.Join(f.Fields, " "), f.Title+".")
		return s.searchAgain(w, user, find)
	}
	if err != nil {
		return err
	}
	if find.By == "" { // else they are of two days
		s.learn(find, find.Day(), all)
	}
	body := tripList{Search: find}
	trips := slices.DeleteFunc(slices.Clone(all), func(t trip) bool { return !find.fits(t) })
	body.Only = len(trips) < len(all)
	if find.Out != "" {
		out, err := ask.api.trip(r.Context(), find.Out)
		if err != nil {
			return err
		}
		trips = slices.DeleteFunc(trips, func(t trip) bool { return t.Departure.Before(out.Arrival) })
	}
	marks := mark(trips)
	shown := body.cut(find, trips)
	var rides []ride
	for _, t := range shown {
		rides = append(rides, ridesOf(t.Legs)...)
	}
	names := ask.stationsOf(r.Context(), rides...)
	for _, t := range shown {
		body.Trips = append(body.Trips, offer{t, journeyOf(t.Legs, t.price, names), marks[t.ID], find.then(t.ID)})
	}
	body.Week = s.week(r.Context(), ask, find)
	if len(trips) == 0 {
		body.Next = s.nextDay(r.Context(), ask, find)
	}
	title := find.Origin() + " to " + find.Destination()
	return s.show(w, http.StatusOK, "trips", user, page{
		Title: title, About: "Trains from " + title + " on " + longDay(find.Day()) + ": times, prices and free seats.", Body: body,
	})
}

// cut leaves of the trips those that are shown at a time, in the order that was asked for,
// and says where others are.
func (l *tripList) cut(find search, trips []trip) []trip {
	if find.Sort != "" {
		if find.Time != "" && find.By == "" {
			trips = slices.DeleteFunc(trips, func(t trip) bool { return clock(t.Departure) < find.Time })
		}
		i := slices.IndexFunc(sorts, func(s sort) bool { return s.Name == find.Sort })
		slices.SortStableFunc(trips, func(a, b trip) int { return cmp.Or(sorts[i].by(a, b), inOrder(a, b)) })
	}
	from := find.start(trips)
	to := min(from+perPage, len(trips))
	from2 := find
	switch {
	case from > 0:
		from2.Show = trips[max(0, from-perPage)].ID
		l.Earlier = &link{"Earlier trains", from2.Path()}
	case find.Sort == "" && find.plus(-1) != "":
		before := find.On(find.plus(-1))
		before.Show = lastTrips
		l.Earlier = &link{"Earlier: " + shortDay(before.Day()), before.Path()}
	}
	switch {
	case to < len(trips):
		from2.Show = trips[to].ID
		l.Later = &link{"Later trains", from2.Path()}
	case find.Sort != "":
	case find.By == byArrival && find.Time < endOfDay:
		from2.Time, from2.Show = endOfDay, ""
		l.Later = &link{"Trains that arrive later", from2.Path()}
	case find.plus(1) != "":
		l.Later = &link{"Later: " + shortDay(find.plus(1)), find.On(find.plus(1)).Path()}
	}
	if find.Sort != "" {
		l.Earlier.call("Back")
		l.Later.call("More trains")
	}
	return trips[from:to]
}

// call gives a link another text, if it is one.
func (l *link) call(text string) {
	if l != nil {
		l.Text = text
	}
}

// endOfDay is the last minute of a day by the clock.
const endOfDay = "23:59"

// start is the index of the first trip that is shown.
func (f search) start(trips []trip) int {
	last := max(0, len(trips)-perPage)
	if f.Show == lastTrips {
		return last
	}
	if i := slices.IndexFunc(trips, func(t trip) bool { return f.Show != "" && t.ID == f.Show }); i >= 0 {
		return i
	}
	switch {
	case f.Sort != "" || f.Time == "":
		return 0
	case f.By == byArrival:
		return last
	}
	i := slices.IndexFunc(trips, func(t trip) bool { return clock(t.Departure) >= f.Time })
	if i < 0 {
		return len(trips)
	}
	return i
}
