package main

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
)

var calendarDay = regexp.MustCompile(`<(a|strong)[^>]*><time datetime="([0-9-]+)">[^<]*</time> <span class="least">(?:<span[^>]*>[^<]*</span>)?([^<]*)<`)

// The calendar has the least price of each day of a week, without those that have passed,
// and asks for it once.
func TestCalendar(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v := newVisitor(t, site)
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	today := rw.now().In(zone)
	on := func(days int) string {
		return "/trips?from=Berlin+Hauptbahnhof&to=Paris+Gare+du+Nord&date=" + today.AddDate(0, 0, days).Format(time.DateOnly)
	}
	page := v.get(on(1))
	if n := rw.count("GET /trips"); n != 7 {
		t.Errorf("a week takes %d searches", n)
	}
	days := calendarDay.FindAllStringSubmatch(page.text, -1)
	if len(days) != 7 || days[0][2] != today.Format(time.DateOnly) || days[1][1] != "strong" || days[2][3] != "€94.19" {
		t.Errorf("the calendar has %q", days)
	}
	for i, d := range days {
		if d[2] != today.AddDate(0, 0, i).Format(time.DateOnly) {
			t.Errorf("the calendar has %q", days)
		}
	}
	asked := rw.count("GET /trips")
	v.get(on(2)).want(t, 200, `rel="prev"`, `rel="next"`)
	if more := rw.count("GET /trips") - asked; more != 1 {
		t.Errorf("the same days are asked for again: %d searches", more)
	}
	last := v.get(on(horizon))
	last.want(t, 200)
	if days := calendarDay.FindAllStringSubmatch(last.text, -1); len(days) != 4 {
		t.Errorf("at the horizon the calendar has %q", days)
	}
}

// Where nothing goes on a day the page leads to the next on which something does, and a
// calendar that cannot be had is in nobody's way.
func TestNextDay(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v := newVisitor(t, site)
	day := func(days int) string { return rw.now().AddDate(0, 0, days).Format(time.DateOnly) }
	from := day(11)
	rw.answering(func(w http.ResponseWriter, r *http.Request) bool { // nothing goes before
		if r.URL.Path != "/trips" || r.URL.Query().Get("date") >= from {
			return false
		}
		_, _ = w.Write([]byte(`{"data":[],"links":{}}`))
		return true
	})
	page := v.get(tripsTomorrow(rw))
	page.want(t, 200, "No trains found", "The next day with trains is", ">none<")
	v.get(page.link(t, longDay(from))).want(t, 200, "€113.58")

	first := day(2)
	rw.answering(func(w http.ResponseWriter, r *http.Request) bool {
		return r.URL.Path == "/trips" && r.URL.Query().Get("date") != first && refuse(w, 429, "rate-limited", "")
	})
	v.get("/trips?"+url.Values{"from": {"Roma Termini"}, "to": {"Milano Centrale"}, "date": {first}}.Encode()).want(t, 200, "price unknown", "Choose")
	rw.answering(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/trips" {
			_, _ = w.Write([]byte(`{"data":[],"links":{}}`))
		}
		return r.URL.Path == "/trips"
	})
	none := v.get("/trips?from=Roma+Termini&to=Milano+Centrale&date=" + day(40))
	none.want(t, 200, "No trains found")
	if strings.Contains(none.text, "The next day") {
		t.Error("a day is offered on which nothing goes")
	}
}

// Every page says what it is about.
func TestDescription(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v := newVisitor(t, site)
	v.get("/").want(t, 200, `<meta name="description" content="Find trains across Europe`)
	trips := v.get(tripsTomorrow(rw))
	trips.want(t, 200, `<meta name="description" content="Trains from Berlin Hauptbahnhof to Paris Gare du Nord on `)
	v.chooseTrip(trips).want(t, 200, `<meta name="description" content="The train from Berlin Hauptbahnhof to Paris Gare du Nord on `)
}
