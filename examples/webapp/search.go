package main

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A search is what somebody looks for. All of it is in the address, so that a page
// can be kept and sent on.
type search struct {
	From, FromID string // as it was typed, and the station that was chosen, if one was
	To, ToID     string
	Date         string // of the way there
	Return       string // the date of the way back; empty for a single trip
	Out          string // the trip that was chosen for the way there: the list is of the way back
	Time         string // by the clock, such as 09:30; empty for the whole day
	By           string // what Time is: byArrival, or else the earliest departure
	Sort         string // of sorts
	Show         string // the trip that the list begins with, or lastTrips
	Passengers   int
	Bicycles     bool
	Dogs         bool

	FirstDay, LastDay string // that can be chosen
	Problem           string // what is wrong with it
	Instead           *link  // a search that may find something
}

const (
	byArrival = "arrive"
	lastTrips = "last"
)

func (s *site) searchOf(r *http.Request) search {
	q := r.URL.Query()
	find := search{
		From: strings.TrimSpace(q.Get("from")), FromID: q.Get("from_id"), To: strings.TrimSpace(q.Get("to")), ToID: q.Get("to_id"),
		Date: q.Get("date"), Return: q.Get("return"), Time: q.Get("time"), By: q.Get("by"), Sort: q.Get("sort"), Show: q.Get("show"),
		Passengers: passengersOf(q), Bicycles: q.Has("bicycles"), Dogs: q.Has("dogs"),
	}
	if isID(q.Get("out")) && find.Return != "" {
		find.Out = q.Get("out")
	}
	if find.Sort = knownSort(find.Sort); find.By != byArrival || find.Time == "" {
		find.By = ""
	}
	return s.withDays(find)
}

// passengersOf reads how many travel: one unless it is a number. One more than can be booked
// together stands for all that are too many.
func passengersOf(q url.Values) int {
	n, err := strconv.Atoi(q.Get("passengers"))
	if err != nil {
		return 1
	}
	return min(max(n, 1), mostTogether+1)
}

// horizon is how many days ahead trains are sold, as the API has it by default.
const horizon = 365

// withDays fills in the days that can be chosen, and tomorrow for none.
func (s *site) withDays(find search) search {
	today := s.now()
	find.FirstDay, find.LastDay = today.Format(time.DateOnly), today.AddDate(0, 0, horizon).Format(time.DateOnly)
	find.Date = cmp.Or(find.Date, today.AddDate(0, 0, 1).Format(time.DateOnly))
	return find
}

// pairs are the names and values of a search in an address.
func (f search) pairs() url.Values {
	q := url.Values{}
	for name, value := range map[string]string{
		"from": f.From, "from_id": f.FromID, "to": f.To, "to_id": f.ToID, "date": f.Date, "return": f.Return, "out": f.Out,
		"time": f.Time, "by": f.By, "sort": f.Sort, "show": f.Show,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	f.along(q)
	return q
}

// along adds who and what travels.
func (f search) along(q url.Values) {
	if f.Passengers > 1 {
		q.Set("passengers", strconv.Itoa(f.Passengers))
	}
	if f.Bicycles {
		q.Set("bicycles", "on")
	}
	if f.Dogs {
		q.Set("dogs", "on")
	}
}

// Path is the address of the list of what is looked for.
func (f search) Path() string { return "/trips?" + f.pairs().Encode() }

// FormPath is the address of the form with this search.
func (f search) FormPath() string { return "/?" + f.pairs().Encode() }

// A field is one of a form that nobody sees.
type field struct{ Name, Value string }

// Kept is what a form that asks for the time alone sends along.
func (f search) Kept() (fields []field) {
	f.Time, f.By, f.Show = "", "", ""
	q := f.pairs()
	for name := range q {
		fields = append(fields, field{name, q.Get(name)})
	}
	slices.SortFunc(fields, func(a, b field) int { return strings.Compare(a.Name, b.Name) })
	return fields
}

// Counts are the numbers of passengers that can be chosen.
func (f search) Counts() []int {
	var counts []int
	for n := range mostTogether {
		counts = append(counts, n+1)
	}
	return counts
}

// A way is one direction of a search.
type way struct {
	From, FromID, To, ToID string
	Date                   string
}

// way is the direction that the list is of.
func (f search) way() way {
	if f.Out != "" {
		return way{f.To, f.ToID, f.From, f.FromID, f.Return}
	}
	return way{f.From, f.FromID, f.To, f.ToID, f.Date}
}

// Origin, Destination and Day are of the direction that the list is of.
func (f search) Origin() string      { return f.way().From }
func (f search) Destination() string { return f.way().To }
func (f search) Day() string         { return f.way().Date }

// On is the same search on another day, from the first train on.
func (f search) On(day string) search {
	f.Time, f.By, f.Show = "", "", ""
	if f.Out != "" {
		f.Return = day
	} else {
		f.Date = day
	}
	return f
}

// plus is a day some days later, empty if that cannot be searched.
func (f search) plus(days int) string {
	t, err := time.Parse(time.DateOnly, f.way().Date)
	if err != nil {
		return ""
	}
	first, to := f.FirstDay, t.AddDate(0, 0, days).Format(time.DateOnly)
	if f.Out != "" {
		first = max(first, f.Date)
	}
	if to < first || f.LastDay < to {
		return ""
	}
	return to
}

// Before is the search for the way there, when that has been chosen.
func (f search) Before() search {
	f.Out, f.Time, f.By, f.Show = "", "", "", ""
	return f
}

// Along says who and what travels, empty for one passenger with nothing.
func (f search) Along() string {
	var parts []string
	if f.Passengers > 1 {
		parts = append(parts, strconv.Itoa(f.Passengers)+" passengers")
	}
	if luggage := f.Luggage(); luggage != "" {
		parts = append(parts, "with "+luggage)
	}
	return strings.Join(parts, " ")
}

// Luggage names what the passengers take with them, empty for nothing.
func (f search) Luggage() string {
	switch {
	case f.Bicycles && f.Dogs:
		return "a bicycle and a dog"
	case f.Bicycles:
		return "a bicycle"
	case f.Dogs:
		return "a dog"
	}
	return ""
}

// SortedBy is the same search in another order.
func (f search) SortedBy(sort string) search {
	f.Sort, f.Show = sort, ""
	return f
}

// then is where a trip of the list leads: to those of the way back, or to the trip.
func (f search) then(trip string) string {
	if f.Return != "" && f.Out == "" {
		f.Out, f.Time, f.By, f.Show = trip, "", "", ""
		return f.Path()
	}
	ids := []string{trip}
	if f.Out != "" {
		ids = []string{f.Out, trip}
	}
	q := url.Values{}
	f.along(q)
	return journeyPath(ids, q)
}

// journeyPath is the address of the page of one trip, or of two.
func journeyPath(ids []string, q url.Values) string {
	if len(ids) > 1 {
		q.Set("return", ids[1])
	}
	path := "/trips/" + ids[0]
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	return path
}

// The example that the first page is filled in with.
const (
	exampleFrom = "Berlin Hauptbahnhof"
	exampleTo   = "Paris Gare du Nord"
)

func (s *site) home(w http.ResponseWriter, r *http.Request) error {
	find := s.searchOf(r)
	find.From, find.To = cmp.Or(find.From, exampleFrom), cmp.Or(find.To, exampleTo)
	return s.show(w, http.StatusOK, "home", s.sessionOf(r), page{Title: "Trains across Europe", Body: find})
}

func (s *site) tripsPage(w http.ResponseWriter, r *http.Request, user *session) error {
	find, ask := s.searchOf(r), s.readerOf(user)
	if find.Problem = find.unclear(); find.Problem != "" {
		return s.searchAgain(w, user, find)
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
			find.Problem = "We did not find a station called “" + *end.typed + "”."
			return s.searchAgain(w, user, find)
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
		find.Problem = "The start and the destination are the same station. Choose two different stations."
		return s.searchAgain(w, user, find)
	}
	if find = s.onSale(r, ask, find); find.Problem != "" {
		return s.searchAgain(w, user, find)
	}
	return s.listTrips(w, r, user, ask, find)
}

// tooMany says how many passengers can be booked together, if these are more: each has a
// booking for every way.
func tooMany(passengers, ways int) string {
	most := mostTogether / ways
	switch {
	case passengers <= most:
		return ""
	case ways > 1:
		return "At most " + strconv.Itoa(most) + " passengers can be booked together for the outward and the return trip."
	}
	return "At most " + strconv.Itoa(most) + " passengers can be booked together."
}

// unclear says what has to be said before anything can be looked for.
func (f search) unclear() string {
	if f.From == "" || f.To == "" {
		return "Please say where you start and where you want to go."
	}
	if _, err := time.Parse(time.DateOnly, f.Date); err != nil {
		return "Please choose a valid day."
	}
	if _, err := time.Parse(time.DateOnly, f.Return); err != nil && f.Return != "" {
		return "Please choose a valid day for the return trip, or leave it empty."
	}
	if _, err := time.Parse(clockForm, f.Time); err != nil && f.Time != "" {
		return "Please give the time as hours and minutes, such as 09:30, or leave it empty."
	}
	if f.Return != "" && f.Return < f.Date {
		return "The return trip, on " + longDay(f.Return) + ", is before the outward trip, on " + longDay(f.Date) + "."
	}
	return tooMany(f.Passengers, len(tripsOf("", f.Return)))
}

// onSale says what is wrong with a day that has passed, or is further ahead than trains
// are sold, by the calendar of the station where the way begins.
func (s *site) onSale(r *http.Request, ask reader, find search) search {
	today := s.now()
	if origin, err := ask.station(r.Context(), find.way().FromID); err == nil {
		if zone, err := time.LoadLocation(origin.Timezone); err == nil {
			today = today.In(zone)
		}
	}
	find.FirstDay, find.LastDay = today.Format(time.DateOnly), today.AddDate(0, 0, horizon).Format(time.DateOnly)
	instead := ""
	switch d := find.way().Date; {
	case d < find.FirstDay:
		find.Problem = longDay(d) + " has passed."
		instead = find.FirstDay
	case find.LastDay < d:
		find.Problem = longDay(d) + " is too far ahead: trains are sold up to " + longDay(find.LastDay) + "."
		instead = find.LastDay
	default:
		return find
	}
	find.Instead = &link{"Search on " + longDay(instead), find.On(instead).Path()}
	return find
}

// searchAgain shows what was looked for, and what is wrong with it.
func (s *site) searchAgain(w http.ResponseWriter, user *session, find search) error {
	return s.show(w, http.StatusBadRequest, "home", user, page{Title: "Search again", Body: find})
}
