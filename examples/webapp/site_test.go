package main

import (
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A user books, has a card declined, pays, reads the ticket in all forms, and cancels.
func TestBooking(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, log := rw.open(t)
	v := newVisitor(t, site)
	trips := v.signIn("anna", tripsTomorrow(rw))
	trips.want(t, 200, "07:00", "08:36", "+1 day", "€113.58", "460 seats left", "no bicycles")
	page := v.fill(v.chooseTrip(trips), "/bookings", "passenger", "Anna Example")
	page.want(t, 200, "Your seat is kept until", "Berlin Hauptbahnhof time", "Anna Example", "€113.58")
	booking := page.booking()

	v.pay(page, "4242 4242 4242 4243").want(t, 400, "The card number", `name="number" aria-invalid="true" aria-describedby="fault"`, `value="12/40"`, `value="Anna"`, `value="DE" selected`)
	v.pay(v.get(booking), "4000 0000 0000 0002").want(t, 200, "The payment was declined", "Nothing was charged")
	v.get(booking+"/ticket.pdf").want(t, 409, "The ticket is not available yet")
	v.get("/bookings").want(t, 200, "to be paid")
	v.pay(v.get(booking), "4242 4242 4242 4242").want(t, 200, "Your ticket", "coach 1, seat 1", "LA 21", "Receipt")
	for name, begins := range map[string]string{"ticket.pdf": "%PDF-", "ticket.ics": "BEGIN:VCALENDAR", "ticket.png?leg=1": "\x89PNG"} {
		file := v.get(booking + "/" + name)
		if file.status != 200 || !strings.HasPrefix(file.text, begins) {
			t.Errorf("%s: %d %.20q", name, file.status, file.text)
		}
	}
	for _, name := range []string{"ticket.exe", "ticket.png?leg=x", "ticket.png?leg=0"} {
		v.get(booking+"/"+name).want(t, 404, "not found")
	}
	v.get("/bookings").want(t, 200, "Anna Example", ">paid<")
	cancel := v.get(booking + "/cancel")
	cancel.want(t, 200, "You can cancel until departure and get the whole price back.")
	v.fill(cancel, "/cancel").want(t, 200, "is cancelled", "Nothing booked yet")
	if text := v.get("/bookings").text; strings.Contains(text, "is cancelled") {
		t.Error("a notice is shown twice")
	}
	v.get(booking).want(t, 200, "This booking is cancelled", "You have cancelled this booking", "€113.58", "Anna Example", "Reference")
	v.get(booking+"/cancel").want(t, 200, "This booking is cancelled")
	v.get("/bookings").want(t, 200, "Past trips and cancellations")
	v.get("/pay?booking="+strings.TrimPrefix(booking, "/bookings/")).want(t, 200, "This booking is cancelled")
	v.get("/bookings?over=true").want(t, 200, "Anna Example", ">cancelled<", "View<span class=\"unseen\"> booking of Anna Example")
	v.fill(cancel, "/cancel").want(t, 200, "This booking is cancelled", "You have cancelled this booking")

	for _, secret := range []string{"4242", "7391", "Anna Example"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log has %s:\n%s", secret, log)
		}
	}
}

// What cannot be looked for is asked again, and what may be several stations is chosen.
func TestSearching(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v := newVisitor(t, site)
	v.signIn("anna", "/bookings")
	const from, to = "from=Berlin+Hauptbahnhof", "&to=Paris+Gare+du+Nord"
	day := "&date=" + tomorrow(rw)
	for query, says := range map[string]string{
		"":                                            "where you start",
		from + day:                                    "where you want to go",
		from + to + "&date=soon":                      "choose a valid day",
		from + to + "&date=2030-02-30":                "choose a valid day",
		from + to + day + "&time=25:00":               "hours and minutes",
		from + to + day + "&return=x":                 "choose a valid day for the return trip",
		from + to + day + "&return=2020-01-01":        "is before the outward trip",
		from + to + "&date=2020-01-01":                "Wed 1 January 2020 has passed. <a href=",
		from + to + "&date=2090-01-01":                "Sun 1 January 2090 is too far ahead: trains are sold up to",
		"from=nowhere" + to + day:                     "did not find a station called “nowhere”",
		from + "&to=berlin+hauptbahnhof" + day:        "are the same station",
		"from=" + strings.Repeat("x", 200) + to + day: "did not find a station",
	} {
		v.get("/trips?"+query).want(t, 400, says, "Find trains")
	}
	v.get("/trips?from="+strings.Repeat("x", 3000)+to+day).want(t, 400, "has 3000 characters, more than 200", "Search for a train")
	choice := v.get("/trips?from=paris&to=berlin" + day)
	choice.want(t, 200, "Which station do you start at?", "Paris Gare de Lyon")
	link := regexp.MustCompile(`href="(/trips[^"]*)"><strong>Paris Gare du Nord`).FindStringSubmatch(choice.text)
	v.get(html.UnescapeString(link[1])).want(t, 200, "Paris Gare du Nord <span class=\"to\">to</span> Berlin Hauptbahnhof")
	v.get("/trips?from=berlin&to=sevilla"+day).want(t, 200, "2 changes", "Change at")
	// A name that was changed after the station was chosen counts, and not the station.
	v.get("/trips?from=Hamburg&from_id=efdbb9d1-02c2-4bc3-afb7-6788d8782b1e"+to+day).want(t, 200, "Hamburg Hauptbahnhof")
	v.get("/trips?"+from+to+day+"&bicycles=on&dogs=on").want(t, 200, "with a bicycle and a dog", "13:00")
	for _, path := range []string{"/trips/x", "/trips/..%2fstations", "/bookings/x", "/bookings/x/cancel", "/bookings/..%2f..%2fhealthz"} {
		v.get(path).want(t, 404)
	}
}

// Lists that are long have pages, of the API's.
func TestPagesOfLists(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v := newVisitor(t, site)
	v.signIn("anna", "/bookings")
	trip := v.chooseTrip(v.get(tripsTomorrow(rw)))
	for i := range 12 {
		v.fill(v.get(trip.at.Path), "/bookings", "passenger", "Anna "+strconv.Itoa(i)).want(t, 200)
	}
	first := v.get("/bookings")
	first.want(t, 200, "Anna 11", "Anna 2", "Older")
	link := regexp.MustCompile(`href="(/bookings\?[^"]*)">Older`).FindStringSubmatch(first.text)
	second := v.get(html.UnescapeString(link[1]))
	second.want(t, 200, "Anna 1<", "Anna 0<", "Newer")
	if strings.Contains(second.text, "Older") || strings.Contains(first.text, "Newer") {
		t.Error("there are more pages than pages")
	}
}

// The number and the code of a card are in no page, even if they are wrong.
func TestCardIsForgotten(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, log := rw.open(t)
	v := newVisitor(t, site)
	v.signIn("anna", "/bookings")
	page := v.book(rw, "Anna")
	for _, number := range []string{"4111 1111 1111 1112", "4000 0000 0000 0127", "4111111111111111x"} {
		page = v.pay(page, number)
		for _, secret := range []string{number, "1111", "0127", "7391"} {
			if strings.Contains(page.text, secret) || strings.Contains(log.String(), secret) {
				t.Errorf("%s is shown or logged", secret)
			}
		}
	}
}

// The same form sent twice, even at the same time, books once; with something else in
// it, it is shown again.
func TestSentTwice(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v := newVisitor(t, site)
	trip := v.chooseTrip(v.signIn("anna", tripsTomorrow(rw)))
	var mu sync.Mutex
	var wg sync.WaitGroup
	pages := map[string]bool{}
	for range 5 {
		wg.Go(func() {
			page := v.fill(trip, "/bookings", "passenger", "Anna")
			mu.Lock()
			defer mu.Unlock()
			pages[page.at.RequestURI()] = true
		})
	}
	wg.Wait()
	if list := v.get("/bookings").text; len(pages) != 1 || strings.Count(list, "to be paid") != 1 {
		t.Errorf("five clicks led to %v and %s", pages, list)
	}
	v.fill(trip, "/bookings", "passenger", "Bert").want(t, 200, "Pay for your trip", "Bert", "You sent this form before")
}

// Nobody sees, pays or cancels what is another's.
func TestOthersBookings(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	anna, bob := newVisitor(t, site), newVisitor(t, site)
	anna.signIn("anna", "/bookings")
	hers := anna.book(rw, "Anna Example")
	bobs := bob.signIn("bob", "/bookings")
	_, form := bob.form(bobs, "/sign-out")
	for _, path := range []string{"", "/cancel", "/ticket.pdf"} {
		bob.get(hers.booking()+path).want(t, 404, "We cannot find that")
	}
	bob.post(hers.booking()+"/cancel", form).want(t, 404, "We cannot find that")
	form["booking"] = []string{hers.at.Query().Get("booking")}
	bob.post("/pay", form).want(t, 404, "We cannot find that")
	bob.get(hers.at.RequestURI()).want(t, 404, "We cannot find that")
	bob.get(receiptPath(form["booking"]...)).want(t, 404, "We cannot find that")
	if strings.Contains(bobs.text, "Anna") {
		t.Error("bob sees what anna booked")
	}
	anna.get(hers.booking()).want(t, 200, "Anna Example")
}

// Forms of other sites are refused, and so are those without what ours carry.
func TestForgedForms(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v, bob := newVisitor(t, site), newVisitor(t, site)
	trip := v.chooseTrip(v.signIn("anna", tripsTomorrow(rw)))
	_, form := v.form(trip, "/bookings")
	form.Set("passenger", "Anna")
	_, bobs := bob.form(bob.signIn("bob", "/bookings"), "/sign-out")
	for name, csrf := range map[string][]string{"none": nil, "empty": {""}, "wrong": {"x"}, "another's": bobs["csrf"]} {
		forged := url.Values{}
		for k, values := range form {
			forged[k] = values
		}
		forged["csrf"] = csrf
		for _, path := range []string{"/bookings", "/pay", "/bookings/01a22309-4633-7356-b883-e30e42d0c74b/cancel", "/sign-out"} {
			if page := v.post(path, forged); page.status != 403 {
				t.Errorf("%s with %s: %d", path, name, page.status)
			}
		}
	}
	for _, from := range []string{"cross-site", "same-site"} { // even with the right one
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, site+"/bookings", strings.NewReader(form.Encode()))
		if err == nil {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			req.Header.Set("Sec-Fetch-Site", from)
		}
		v.send(req, err).want(t, 403, "That form did not come from this site")
	}
	if n := rw.count("POST /bookings"); n != 0 {
		t.Errorf("%d forged forms were sent on", n)
	}
	newVisitor(t, site).post("/bookings", form).want(t, 403, "You are signed out")
	large := url.Values{"csrf": form["csrf"], "passenger": {strings.Repeat("x", maxForm)}}
	v.post("/bookings", large).want(t, 413, "This form is too long")
}

// What people type is never markup.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v := newVisitor(t, site)
	v.signIn("anna", "/bookings")
	query := url.QueryEscape(hostile)
	for name, page := range map[string]reply{
		"start":       v.get("/trips?date=2030-01-01&to=paris&from=" + query),
		"destination": v.get("/trips?date=2030-01-01&from=berlin+hauptbahnhof&to=" + query),
		"date":        v.get("/trips?from=a&to=b&date=" + query),
		"ID":          v.get("/trips?from=a&to=b&date=2030-01-01&from_id=" + query),
		"booking":     v.book(rw, hostile),
		"list":        v.get("/bookings"),
		"callback":    v.get("/callback?error=" + query + "&state=" + query),
		"path":        v.get("/" + url.PathEscape(hostile)),
	} {
		if strings.Contains(page.text, "<img src=x") {
			t.Errorf("%s: %s", name, page.text)
		}
	}
	found := v.get("/stations?q=" + query)
	var answer struct{ Stations []station }
	if err := json.Unmarshal([]byte(found.text), &answer); err != nil || found.header.Get("Content-Type") != "application/json" || answer.Stations == nil {
		t.Errorf("suggestions are %s: %v", found.text, err)
	}
}

var inline = regexp.MustCompile(`(?i)<script(?:[^>]*)>[^<]|<style|\sstyle=|\son[a-z]+=|javascript:|https?://`)

// Pages have nothing inline and nothing from elsewhere, and their policy forbids it.
func TestPolicy(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v := newVisitor(t, site)
	home := v.get("/")
	home.want(t, 200, `value="Berlin Hauptbahnhof"`, `value="Paris Gare du Nord"`, `value="`+tomorrow(rw)+`"`, "Sign in")
	trips := v.signIn("anna", tripsTomorrow(rw))
	pages := []reply{home, trips, v.chooseTrip(trips), v.book(rw, "Anna"), v.get("/bookings"), v.get("/nowhere"),
		v.get("/trips?from=berlin&to=paris&date=2030-01-01"), v.get("/trips?from=&to=&date=")}
	for _, page := range pages {
		policy := page.header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'; ", "script-src 'self'; ", "frame-ancestors 'none'; ", "form-action 'self'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: the policy %q lacks %q", page.at, policy, part)
			}
		}
		if strings.Contains(policy, "unsafe") || page.header.Get("Cache-Control") != "no-store" || page.header.Get("X-Content-Type-Options") != "nosniff" ||
			page.header.Get("Cross-Origin-Opener-Policy") != "same-origin" || page.header.Get("Cross-Origin-Resource-Policy") != "same-origin" {
			t.Errorf("%s: %v", page.at, page.header)
		}
		if found := inline.FindString(page.text); found != "" {
			t.Errorf("%s has %q", page.at, found)
		}
		if len(page.text) > 30_000 {
			t.Errorf("%s has %d bytes", page.at, len(page.text))
		}
	}
}

func TestStaticFiles(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v := newVisitor(t, site)
	home := v.get("/")
	for name, mediaType := range map[string]string{"style.css": "text/css; charset=utf-8", "forms.js": "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml"} {
		path := assets.path(name)
		if !strings.Contains(home.text, path) {
			t.Errorf("the page does not use %s", path)
		}
		file := v.get(path)
		if file.status != 200 || file.header.Get("Content-Type") != mediaType || file.header.Get("Cache-Control") != "public, max-age=31536000, immutable" {
			t.Errorf("%s: %d %v", name, file.status, file.header)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, site+path, nil)
		if err == nil {
			req.Header.Set("If-None-Match", file.header.Get("ETag"))
		}
		v.send(req, err).want(t, http.StatusNotModified)
	}
	for _, path := range []string{"/static/", "/static/0/style.css", assets.path("nothing.css"), assets.path("../main.go")} {
		v.get(path).want(t, 404)
	}
}

// The site has one name: cookies and the way back from signing in are for that.
func TestOtherHost(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v := newVisitor(t, site)
	if at := v.get(strings.Replace(site, "127.0.0.1", "localhost", 1) + "/?a=b").at.String(); at != site+"/?a=b" {
		t.Errorf("it leads to %s", at)
	}
}
