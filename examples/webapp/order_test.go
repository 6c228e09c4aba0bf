package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// returnTrip opens the page of a trip there and back, for some passengers.
func (v *visitor) returnTrip(rw *railway, passengers string) reply {
	v.t.Helper()
	there := v.get(tripsTomorrow(rw) + "&passengers=" + passengers + "&return=" + rw.now().AddDate(0, 0, 3).Format(time.DateOnly))
	there.want(v.t, 200, "Berlin Hauptbahnhof <span class=\"to\">to</span> Paris Gare du Nord")
	back := v.get(there.link(v.t, "Choose"))
	back.want(v.t, 200, "Return: Paris Gare du Nord <span class=\"to\">to</span> Berlin Hauptbahnhof", "Change the outward trip")
	return v.chooseTrip(back)
}

func names(form url.Values, all ...string) url.Values {
	form["passenger"] = all
	return form
}

// Several passengers there and back are as many bookings, which are held and paid together.
func TestSeveralPassengers(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v := newVisitor(t, site)
	v.signIn("anna", "/bookings")
	trip := v.returnTrip(rw, "2")
	trip.want(t, 200, "Hannover Hauptbahnhof", "You can cancel until departure", "Reserved: ", "2 passengers, outward and return", "Passenger 2")
	to, form := v.form(trip, "/bookings")

	form.Set("do", "add")
	more := v.post(to, names(form, "Anna Example", "Bert Example"))
	more.want(t, 200, `value="Anna Example"`, `value="Bert Example"`, "Passenger 3")
	_, form = v.form(more, "/bookings")
	form.Set("do", "remove")
	v.post(to, names(form, "Anna Example", "Bert Example", "x")).want(t, 200, `value="Bert Example"`, "2 passengers")

	form.Del("do")
	pay := v.post(to, names(form, "Anna Example", "Bert Example"))
	pay.want(t, 200, "Pay for your trip", "Anna Example", "Bert Example", "The seats are kept until", "Each ticket is charged separately: your statement will have 4 entries", "A seat is reserved for each passenger")
	if n := rw.count("POST /bookings"); n != 4 {
		t.Errorf("%d bookings were made", n)
	}
	again := v.post(to, form) // the same form again
	if pay.at.String() != again.at.String() {
		t.Errorf("sent twice it leads to %s and %s", pay.at, again.at)
	}
	v.get("/bookings").want(t, 200, "Pay for all unpaid bookings")
	v.pay(pay, "4000 0000 0000 0002").want(t, 200, "The payment was declined", "all seats are still kept")
	if n := len(rw.payments()); n != 1 {
		t.Errorf("after a decline %d payments were tried", n)
	}
	receipt := v.pay(v.get(v.get("/bookings").link(t, "Pay for all unpaid bookings")), "4242 4242 4242 4242")
	receipt.want(t, 200, "Your tickets and receipt", "Anna Example", "Bert Example", "************4242", "Total paid", "(UTC)")
	if n := strings.Count(receipt.text, ">Ticket<"); n != 4 {
		t.Errorf("the receipt leads to %d tickets", n)
	}
	v.get(receipt.link(t, "Ticket")).want(t, 200, "coach 1, seat")
	v.get(pay.at.RequestURI()).want(t, 200, "Your tickets and receipt") // it is paid already
}

// payments are the requests to pay.
func (rw *railway) payments() (paths []string) {
	rw.mu.Lock()
	defer rw.mu.Unlock()
	for _, c := range rw.calls {
		if strings.HasPrefix(c, "POST ") && strings.HasSuffix(c, "/payment") {
			paths = append(paths, c)
		}
	}
	return paths
}

// If one passenger cannot be booked nobody is, and if one payment is declined those before
// it stay paid.
func TestOrderInPart(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v := newVisitor(t, site)
	v.signIn("anna", "/bookings")
	trip := v.get(v.chooseTrip(v.get(tripsTomorrow(rw))).at.Path + "?passengers=3")
	to, form := v.form(trip, "/bookings")
	names(form, "Anna", "Bert", "Carl")
	var asked atomic.Int32
	third := func(slug string, status int) func(http.ResponseWriter, *http.Request) bool {
		asked.Store(0)
		return func(w http.ResponseWriter, r *http.Request) bool {
			return r.Method == http.MethodPost && r.URL.Path == "/bookings" && asked.Add(1) == 3 && refuse(w, status, slug, "")
		}
	}
	rw.answering(third("sold-out", 409))
	again := v.post(to, form)
	again.want(t, 409, "sold out", "Nothing was booked for anybody", `value="Carl"`)
	v.get("/bookings").want(t, 200, "Nothing booked yet")

	half := third("sold-out", 409)
	rw.answering(func(w http.ResponseWriter, r *http.Request) bool {
		return half(w, r) || r.Method == http.MethodDelete && refuse(w, 503, "unavailable", "")
	})
	_, form = v.form(again, "/bookings")
	v.post(to, names(form, "Anna", "Bert", "Carl")).want(t, 502, "Not everything could be booked", "My bookings")
	half = third("sold-out", 409)
	held := v.get(v.get("/bookings").link(t, "Pay for all unpaid bookings"))
	rw.answering(func(w http.ResponseWriter, r *http.Request) bool {
		return strings.HasSuffix(r.URL.Path, "/payment") && r.Method == http.MethodPost && asked.Add(1) == 2 && refuse(w, 409, "declines-limited", "")
	})
	v.pay(held, "4242 4242 4242 4242").want(t, 409, "Too many payments were declined", "Already paid", "Pay €113.58")
	rw.answering(func(http.ResponseWriter, *http.Request) bool { return false })
	v.pay(v.get(held.at.RequestURI()), "4242 4242 4242 4242").want(t, 200, "Your tickets and receipt")

	for path, says := range map[string]string{
		"/pay": "not found", "/pay?booking=x": "not found", "/receipt": "not found",
		payPath(strings.Split(strings.Repeat("01a22309-4633-7356-b883-e30e42d0c74b ", 10), " ")...): "not found",
		payPath("01a22309-4633-7356-b883-e30e42d0c74b"):                                             "We cannot find that",
	} {
		v.get(path).want(t, 404, says)
	}
	_, form = v.form(trip, "/bookings")
	v.post(to, names(form, strings.Split("abcdefghij", "")...)).want(t, 400, "At most 9 passengers", "Nothing was booked", `value="i"`)
}

// Trips that have not seats for all are not offered to all, and one cannot go back before
// one is there.
func TestPartyAndReturn(t *testing.T) {
	t.Parallel()
	rw := newRailway(t, time.Hour)
	site, _ := rw.open(t)
	v := newVisitor(t, site)
	trips := v.get(tripsTomorrow(rw))
	first := v.chooseTrip(trips).at.Path
	v.get(first+"?passengers=2").want(t, 200, "2 passengers", "€227.16", first+"/book?passengers=2")
	back := v.get(tripsTomorrow(rw) + "&return=" + tomorrow(rw) + "&out=" + strings.TrimPrefix(first, "/trips/"))
	back.want(t, 200, "Return: ")
	for _, leaves := range back.leaves() {
		if leaves < trips.leaves()[0] {
			t.Errorf("one can go back at %s", leaves)
		}
	}
	v.get(first+"?return="+strings.TrimPrefix(first, "/trips/")).want(t, 200, "leaves before the outward trip arrives")
	v.get(first+"?return=x").want(t, 404)

	const train = `{"id":%[1]q,"origin":"efdbb9d1-02c2-4bc3-afb7-6788d8782b1e","destination":"b2e783e1-c824-4d63-b37a-d8d698862f1d",` +
		`"departure_time":"%[2]sT0%[3]d:00:00+01:00","arrival_time":"%[2]sT12:00:00+01:00","operator":"X","price":10,"currency":"eur","seats_available":%[3]d,"legs":[` +
		`{"origin":"efdbb9d1-02c2-4bc3-afb7-6788d8782b1e","destination":"b2e783e1-c824-4d63-b37a-d8d698862f1d","departure_time":"%[2]sT0%[3]d:00:00+01:00","arrival_time":"%[2]sT12:00:00+01:00","operator":"X"}]}`
	two, five := "00000000-0000-8000-8000-000000000002", "00000000-0000-8000-8000-000000000005"
	rw.answering(func(w http.ResponseWriter, r *http.Request) bool {
		switch r.URL.Path {
		case "/trips":
			fmt.Fprintf(w, `{"data":[%s,%s],"links":{}}`, fmt.Sprintf(train, two, tomorrow(rw), 2), fmt.Sprintf(train, five, tomorrow(rw), 5))
		case "/trips/" + two:
			fmt.Fprintf(w, train, two, tomorrow(rw), 2)
		default:
			return false
		}
		return true
	})
	list := v.get(tripsTomorrow(rw) + "&passengers=3")
	list.want(t, 200, "5 seats left", "Trains with fewer than 3 seats left are not shown")
	if strings.Contains(list.text, "2 seats left") {
		t.Error("a train is offered to more passengers than it has seats for")
	}
	v.get("/trips/"+two+"?passengers=3").want(t, 200, "not enough seats left for 3 passengers", "Ask the railway how much is refunded")
	v.get("/trips/"+two+"?passengers=2").want(t, 200, "Sign in and book")
}
