package main

import (
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// Forms that were changed, or that lack something, are answered with what to correct.
func TestIncompleteForms(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v := newVisitor(t, site)
	to, form := v.form(v.chooseTrip(v.signIn("anna", tripsTomorrow(rw))), "/bookings")
	trip := form["trip"]
	for _, do := range []string{"", "add", "remove"} {
		form["do"] = []string{do}
		form["passenger"] = nil
		v.post(to, form).want(t, 400, "No passenger", "Enter the name of at least one passenger", `name="passenger" aria-invalid="true"`)
	}
	form["do"] = []string{"add"}
	v.post(to, names(form, slices.Repeat([]string{"Anna"}, 9)...)).want(t, 400, "At most 9 passengers can be booked together.", "Nothing was booked")
	form.Del("do")
	form["trip"] = []string{trip[0], trip[0]}
	v.post(to, names(form, slices.Repeat([]string{"Anna"}, 5)...)).want(t, 400, "At most 4 passengers can be booked together")
	for _, trips := range [][]string{nil, {trip[0], trip[0], trip[0]}} {
		form["trip"] = trips
		v.post(to, names(form, "Anna")).want(t, 400, "This form is incomplete", "Nothing was changed")
	}
	v.post("/pay", url.Values{"csrf": form["csrf"]}).want(t, 400, "This form is incomplete")
	var many []string
	for _, n := range strings.Split("0123456789", "") {
		many = append(many, "01a22309-4633-7356-b883-e30e42d0c74"+n)
	}
	v.post("/pay", url.Values{"csrf": form["csrf"], "booking": many}).want(t, 400, "At most 9 bookings can be paid together")
	v.get(payPath(many...)).want(t, 400, "At most 9 bookings can be paid together")
	if n := rw.count("POST /bookings"); n != 0 {
		t.Errorf("%d bookings were requested", n)
	}
	form["trip"] = trip // The longest names of the most passengers fit into a form.
	v.post(to, names(form, slices.Repeat([]string{strings.Repeat("\U00020000", 200)}, 9)...)).want(t, 200, "Pay for your trip")
}

// The payment that ends a booking because it is declined says so, before and after.
func TestLastDecline(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v := newVisitor(t, site)
	v.signIn("anna", "/bookings")
	page := v.book(rw, "Anna")
	again := page.at.RequestURI()
	for n := range 4 {
		page = v.pay(page, "4000 0000 0000 0002")
		page.want(t, 200, "The payment was declined")
		if warned := strings.Contains(page.text, "If another payment is declined, your seat may be released."); warned != (n == 3) {
			t.Errorf("after %d declined payments the page warns: %t", n+1, warned)
		}
	}
	says := []string{"Your seat was released", "Too many payments for the booking were declined", "Nothing was charged"}
	v.pay(page, "4000 0000 0000 0002").want(t, 409, says...)
	v.get(again).want(t, 409, says...)
	v.get("/bookings/"+strings.TrimPrefix(again, "/pay?booking=")).want(t, 409, says...)
}

// If declined payments end one of several bookings, the page says so and shows the others.
func TestLastDeclineOfSeveral(t *testing.T) {
	t.Parallel()
	_, v, to, form := newGroup(t, "2")
	page := v.post(to, names(form, "Ann", "Bob"))
	for range 4 {
		page = v.pay(page, "4000 0000 0000 0002")
	}
	page.want(t, 200, "If another payment is declined, a seat may be released.")
	page = v.pay(page, "4000 0000 0000 0002")
	page.want(t, 409, "Your seat was released", "Too many payments for the booking were declined", "Bob")
	v.pay(page, "4242 4242 4242 4242").want(t, 200, "Your ticket", "Bob")
}

// The site shows what is wrong with the country of a card.
func TestCountryOfCard(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v := newVisitor(t, site)
	v.signIn("anna", "/bookings")
	page := v.book(rw, "Anna")
	for _, code := range []string{"XX", "ZZ"} {
		v.fill(page, "/pay", "number", "4242 4242 4242 4242", "expiry", "12/40", "cvc", "123", "name", "Anna", "country", code).
			want(t, 400, "The country must be a country code that ISO 3166-1 has assigned", `name="country" aria-invalid="true"`)
	}
	if len(rw.payments()) != 2 {
		t.Error("the payments were not requested")
	}
	for _, c := range countries {
		if len(c.Code) != 2 || c.Name == "" {
			t.Errorf("%+v", c)
		}
	}
}

// The notice after a cancellation mentions a refund only if the booking was paid.
func TestNoticeOfCancellation(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v := newVisitor(t, site)
	v.signIn("anna", "/bookings")
	held := v.book(rw, "Anna").booking()
	unpaid := v.fill(v.get(held+"/cancel"), "/cancel")
	unpaid.want(t, 200, "The booking is cancelled.")
	if strings.Contains(unpaid.text, "refund") {
		t.Error("the notice promises a refund of an unpaid booking")
	}
	paid := v.book(rw, "Bert").booking()
	v.pay(v.get(paid), "4242 4242 4242 4242").want(t, 200, "Your ticket")
	v.fill(v.get(paid+"/cancel"), "/cancel").want(t, 200, "The booking is cancelled. Your refund is on its way.")
}

// The page about a booking that is not found mentions unpaid bookings; that about a trip
// does not.
func TestNotFound(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v := newVisitor(t, site)
	v.signIn("anna", "/bookings")
	const id, unpaid = "01a22309-4633-7356-b883-e30e42d0c74b", "A booking that was not paid in time has ended."
	v.get("/bookings/"+id).want(t, 404, "We cannot find that", unpaid)
	v.get(payPath(id)).want(t, 404, "We cannot find that", unpaid)
	trip := v.get("/trips/" + id)
	trip.want(t, 404, "We cannot find that", "It does not exist, no longer exists, or belongs to another user.")
	if strings.Contains(trip.text, unpaid) {
		t.Error("the page about an unknown trip mentions unpaid bookings")
	}
}

var choices = regexp.MustCompile(`>Choose<span class="unseen">([^<]*)</span>`)

// Each choice of a list has a text of its own, also if trips leave at the same time for the
// same price.
func TestChoicesDiffer(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v := newVisitor(t, site)
	price := regexp.MustCompile(` for [^ ]*$`)
	for _, to := range []string{"Paris+Gare+du+Nord", "sevilla", "Roma+Termini"} {
		seen := map[string]bool{}
		list := v.get("/trips?from=Berlin+Hauptbahnhof&to=" + to + "&date=" + tomorrow(rw) + "&sort=price")
		found := choices.FindAllStringSubmatch(list.text, -1)
		if len(found) == 0 {
			t.Fatalf("no trips to %s", to)
		}
		for _, choice := range found {
			text := price.ReplaceAllString(html.UnescapeString(choice[1]), "")
			if seen[text] || !strings.Contains(text, ", arrival ") {
				t.Errorf("%q is there twice", text)
			}
			seen[text] = true
		}
	}
}

// Times after the day of departure say how many days later they are.
func TestDaysLater(t *testing.T) {
	t.Parallel()
	pages, err := parsePages("")
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 11, 29, 15, 4, 0, 0, time.UTC)
	for days, want := range map[int]string{0: "", -1: "-1 day<", 1: "+1 day<", 2: "+2 days<", 3: "+3 days<"} {
		rides := ride{Departure: start, Arrival: start.AddDate(0, 0, days)}
		j := journey{ride: rides, Stages: []stage{{leg: leg{ride: rides}}}}
		for _, name := range []string{"times", "stages"} {
			var b strings.Builder
			if err := pages.ExecuteTemplate(&b, name, j); err != nil {
				t.Fatal(err)
			}
			if text := html.UnescapeString(b.String()); !strings.Contains(text, want) || want == "" && strings.Contains(text, " day") {
				t.Errorf("%s, %d days: %s", name, days, text)
			}
		}
	}
}
