package main

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// tripAt is a trip of some legs that leaves on a Sunday at a time and takes some hours.
func tripAt(id, leaves string, hours int, amount string, legs int) trip {
	departure, err := time.Parse("2006-01-02 15:04", "2026-11-29 "+leaves)
	if err != nil {
		panic(err)
	}
	return trip{
		ride: ride{Departure: departure, Arrival: departure.Add(time.Duration(hours) * time.Hour)},
		ID:   fmt.Sprintf("00000000-0000-8000-8000-%012s", id), price: price{json.Number(amount), "eur"}, Legs: make([]leg, legs),
	}
}

func shortIDs(trips []trip) (ids []string) {
	for _, t := range trips {
		ids = append(ids, strings.TrimLeft(t.ID[24:], "0"))
	}
	return ids
}

// The best trips are marked, all that are as good, and none if most are.
func TestMarks(t *testing.T) {
	t.Parallel()
	a, b, c := tripAt("a", "08:00", 4, "9.5", 1), tripAt("b", "09:00", 3, "10", 2), tripAt("c", "10:00", 5, "100", 2)
	d := tripAt("d", "11:00", 3, "20", 2)
	want := map[string][]string{a.ID: {"Cheapest", "Fewest changes"}, b.ID: {"Fastest"}, d.ID: {"Fastest"}}
	if diff := cmp.Diff(want, mark([]trip{a, b, c, d})); diff != "" {
		t.Error(diff)
	}
	if marks := mark([]trip{b, c, d}); cmp.Diff(map[string][]string{b.ID: {"Cheapest"}}, marks) != "" {
		t.Errorf("what most trips are is a mark: %v", marks)
	}
	c.Currency = "chf"
	if marks := mark([]trip{a, b, c}); cmp.Diff([]string{"Fewest changes"}, marks[a.ID]) != "" {
		t.Errorf("prices in two currencies are compared: %v", marks)
	}
	if marks := mark([]trip{a, a}); len(marks) != 0 || len(mark(nil)) != 0 {
		t.Errorf("trips that are alike have marks: %v", marks)
	}
}

// The list begins at the time that was asked for, and its links lead to all other trips.
func TestCut(t *testing.T) {
	t.Parallel()
	var all []trip
	for i := range 25 { // every half hour from 6 on, the later the cheaper
		all = append(all, tripAt(fmt.Sprint(i+1), fmt.Sprintf("%02d:%02d", 6+i/2, i%2*30), 2, fmt.Sprint(100-i), 1))
	}
	base := search{Date: "2026-11-29", FirstDay: "2026-11-29", LastDay: "2027-11-29", Passengers: 1}
	for name, tt := range map[string]struct {
		change         func(*search)
		first, last    string
		earlier, later string
	}{
		"a day":         {func(*search) {}, "1", "10", "", "Later trains"},
		"a time":        {func(f *search) { f.Time = "09:10" }, "8", "17", "Earlier trains", "Later trains"},
		"late":          {func(f *search) { f.Time = "17:00" }, "23", "25", "Earlier trains", "Later: Mon 30"},
		"too late":      {func(f *search) { f.Time = "23:00" }, "", "", "Earlier trains", "Later: Mon 30"},
		"the last":      {func(f *search) { f.Show = lastTrips }, "16", "25", "Earlier trains", "Later: Mon 30"},
		"from one on":   {func(f *search) { f.Show = all[20].ID }, "21", "25", "Earlier trains", "Later: Mon 30"},
		"from one gone": {func(f *search) { f.Show = "x" }, "1", "10", "", "Later trains"},
		"arriving":      {func(f *search) { f.By, f.Time = byArrival, "19:59" }, "16", "25", "Earlier trains", "Trains that arrive later"},
		"at midnight":   {func(f *search) { f.By, f.Time = byArrival, endOfDay }, "16", "25", "Earlier trains", "Later: Mon 30"},
		"cheapest":      {func(f *search) { f.Sort = "price" }, "25", "16", "", "More trains"},
		"cheapest of":   {func(f *search) { f.Sort, f.Time = "price", "16:00" }, "25", "21", "", ""},
		"tomorrow":      {func(f *search) { f.FirstDay = "2026-11-28" }, "1", "10", "Earlier: Sat 28", "Later trains"},
	} {
		find := base
		tt.change(&find)
		var list tripList
		shown := shortIDs(list.cut(find, append([]trip(nil), all...)))
		first, last := "", ""
		if len(shown) > 0 {
			first, last = shown[0], shown[len(shown)-1]
		}
		text := func(l *link) string {
			if l == nil {
				return ""
			}
			return l.Text
		}
		got := []string{first, last, text(list.Earlier), text(list.Later)}
		if d := cmp.Diff([]string{tt.first, tt.last, tt.earlier, tt.later}, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestSearchAddress(t *testing.T) {
	t.Parallel()
	f := search{From: "A & B", To: "C", Date: "2026-12-31", Return: "2027-01-02", Time: "09:30", By: byArrival, Passengers: 2, Bicycles: true,
		Show: "x", FirstDay: "2026-12-31", LastDay: "2027-12-31"}
	if got := f.Path(); got != "/trips?bicycles=on&by=arrive&date=2026-12-31&from=A+%26+B&passengers=2&return=2027-01-02&show=x&time=09%3A30&to=C" {
		t.Errorf("the path is %s", got)
	}
	if next := f.On(f.plus(1)); next.Date != "2027-01-01" || next.Time+next.By+next.Show != "" {
		t.Errorf("the next day is %+v", next)
	}
	if f.plus(-1) != "" || (search{Date: "x"}).plus(1) != "" {
		t.Error("days can be chosen that have passed, or are none")
	}
	if got := f.then("1"); got != "/trips?bicycles=on&date=2026-12-31&from=A+%26+B&out=1&passengers=2&return=2027-01-02&to=C" {
		t.Errorf("the way back is chosen at %s", got)
	}
	f.Out = "1"
	if got := f.then("2"); got != "/trips/1?bicycles=on&passengers=2&return=2" {
		t.Errorf("both ways lead to %s", got)
	}
	if got := f.On("2027-01-03"); got.Return != "2027-01-03" || got.Date != "2026-12-31" || got.Origin() != "C" || f.plus(-1) != "2027-01-01" {
		t.Errorf("another day of the way back is %+v", got)
	}
	f.Return, f.Out, f.Passengers, f.Bicycles = "", "", 1, false
	if got := f.then("1"); got != "/trips/1" {
		t.Errorf("one way leads to %s", got)
	}
	for given, want := range map[string]int{"": 1, "x": 1, "0": 1, "-3": 1, "4": 4, "9": 9, "99": mostTogether + 1} {
		if got := passengersOf(url.Values{"passengers": {given}}); got != want {
			t.Errorf("%q are %d passengers", given, got)
		}
	}
}

// links are the addresses in a page whose text begins with some words.
func (r reply) link(t *testing.T, text string) string {
	t.Helper()
	m := regexp.MustCompile(`<a[^>]* href="([^"]*)"[^>]*>(?:<[^>]*>|\s)*` + regexp.QuoteMeta(text)).FindStringSubmatch(r.text)
	if m == nil {
		t.Fatalf("no link %q at %s, %d", text, r.at, r.status)
	}
	return html.UnescapeString(m[1])
}

var departures = regexp.MustCompile(`<p class="end"><time datetime="([^"]*)">[^<]*</time> `)

// leaves are the times at which the trips of a list leave.
func (r reply) leaves() (times []string) {
	for _, m := range departures.FindAllStringSubmatch(r.text, -1) {
		times = append(times, html.UnescapeString(m[1])[5:16])
	}
	return times
}

// People look for a time of the day, by departure or arrival, go on to earlier and later
// trains, and see the list in the order they like.
func TestTimeOfDay(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v := newVisitor(t, site)
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	day := rw.now().In(zone).AddDate(0, 0, 2)
	on := func(clock string) string { return day.Format("01-02") + "T" + clock }
	at := func(query string) reply {
		t.Helper()
		page := v.get("/trips?from=Berlin+Hauptbahnhof&to=Paris+Gare+du+Nord&date=" + day.Format(time.DateOnly) + query)
		page.want(t, 200)
		return page
	}
	all := at("")
	all.want(t, 200, ">Cheapest<", "Earlier: ", "Later: ")
	if got := all.leaves(); len(got) < 3 || got[0] != on("07:00") {
		t.Errorf("the day has %v", got)
	}
	if got := at("&time=13:01").leaves(); got[0] < on("13:01") {
		t.Errorf("after 13:01 there are %v", got)
	}
	night := at("&time=12:00&by=arrive") // the night train left on the day before
	before := day.AddDate(0, 0, -1).Format("01-02") + "T20:18"
	if got := night.leaves(); got[0] != before {
		t.Errorf("by noon there arrive %v, want first %s", got, before)
	}
	night.want(t, 200, "Leaves on <strong>"+day.AddDate(0, 0, -1).Format(dayForm))
	if strings.Contains(all.text, "Leaves on ") {
		t.Error("trains of the day that the list is of have a date")
	}
	at("&time=03:00").want(t, 200, "Later")
	at("&time=23:50").want(t, 200, "No train leaves after 23:50", "Earlier trains")
	next := v.get(v.get(all.link(t, "Later: ")).link(t, "Earlier: "))
	if d := cmp.Diff(all.leaves(), next.leaves()); d != "" {
		t.Errorf("later and then earlier leads elsewhere: %s", d)
	}
	cheap := v.get(all.link(t, "Price"))
	cheap.want(t, 200, `aria-current="true">Price`)
	_, list, _ := strings.Cut(cheap.text, `class="trips"`)
	if first, _, _ := strings.Cut(list, "€"); !strings.Contains(first, "Cheapest") {
		t.Error("by price, the first is not the cheapest")
	}
	zurich := v.get("/trips?from=Z%C3%BCrich+HB&to=Basel+SBB&date=" + tomorrow(rw))
	later := v.get(zurich.link(t, "Later trains"))
	later.want(t, 200, "Zürich HB")
	if d := cmp.Diff(zurich.leaves(), v.get(later.link(t, "Earlier trains")).leaves()); d != "" {
		t.Error(d)
	}
	v.get(v.get("/trips?from=Berlin+Hauptbahnhof&to=Paris+Gare+du+Nord&date=2020-01-01").link(t, "Search on ")).want(t, 200, "Paris Gare du Nord")
}
