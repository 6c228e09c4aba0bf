package httpserver_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A traveller follows links from a search to a ticket and back.
func TestJourney(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	found := w.get(search)
	trip := found.collection().Data[0]
	if a := w.get(found.local(trip.Links["self"])).want(200); a.resource().ID != trip.ID {
		t.Errorf("links.self of a trip leads to %s", a.body)
	}
	for rel, station := range map[string]string{"origin": berlin, "destination": paris} {
		if a := w.get(found.local(trip.Links[rel])).want(200); a.resource().ID != station {
			t.Errorf("links.%s of a trip leads to %s", rel, a.body)
		}
	}

	made := w.post("/bookings", newBooking(trip.ID)).want(201)
	b := made.resource()
	self := base + "/bookings/" + b.ID
	held := map[string]string{"self": self, "trip": base + "/trips/" + trip.ID, "payment": self + "/payment"}
	if diff := cmp.Diff(held, b.Links); diff != "" {
		t.Errorf("links of a hold (-want +got):\n%s", diff)
	}
	if got := made.header.Get("Location"); got != self {
		t.Errorf("Location is %q", got)
	}
	one := w.get("/bookings/" + b.ID).want(200)
	if one.body != made.body {
		t.Errorf("the booking was made as %s and is %s", made.body, one.body)
	}
	for _, a := range []answer{made, one} {
		if got, want := a.header.Get("Sunset"), "Thu, 01 Feb 2024 01:00:00 GMT"; got != want {
			t.Errorf("Sunset is %q, want %q", got, want)
		}
	}
	w.get("/bookings/"+b.ID+"/payment").problem(404, "not-found")
	if n := len(w.get("/bookings/" + b.ID + "/payments").collection().Data); n != 0 {
		t.Errorf("%d payments before the first", n)
	}

	declined := w.post("/bookings/"+b.ID+"/payment", payment(trip.Price, "4000000000000002")).want(200)
	if !strings.Contains(declined.body, `"status":"failed","failure":{"code":"card_declined","message":"The card was declined."}`) {
		t.Errorf("a declined card: %s", declined.body)
	}
	held["payments"] = self + "/payments"
	if diff := cmp.Diff(held, w.get("/bookings/"+b.ID).resource().Links); diff != "" {
		t.Errorf("links after a decline (-want +got):\n%s", diff)
	}

	paid := w.post(one.local(held["payment"]), payment(trip.Price, goodCard)).want(200)
	if r := paid.resource(); r.Status != "succeeded" || r.Links["booking"] != self {
		t.Errorf("a good card: %s", paid.body)
	}
	delete(held, "payment")
	held["ticket"] = self + "/ticket"
	after := w.get("/bookings/" + b.ID)
	if diff := cmp.Diff(held, after.resource().Links); diff != "" {
		t.Errorf("links of a confirmed booking (-want +got):\n%s", diff)
	}
	if got := after.header.Get("Sunset"); got != "" {
		t.Errorf("a confirmed booking has the Sunset %q", got)
	}
	w.post("/bookings/"+b.ID+"/payment", payment(trip.Price, goodCard)).problem(409, "already-paid")
	if latest := w.get("/bookings/" + b.ID + "/payment"); latest.body != paid.body {
		t.Errorf("the latest payment is %s, was %s", latest.body, paid.body)
	}

	w.do("DELETE", "/bookings/"+b.ID, as("anna-w")).want(204)
	w.get("/bookings/"+b.ID).problem(404, "not-found")
	w.do("DELETE", "/bookings/"+b.ID, as("anna-w")).problem(404, "not-found")
	history := w.get("/bookings/" + b.ID + "/payments")
	if n := len(history.collection().Data); n != 3 {
		t.Fatalf("%d payments: %s", n, history.body)
	}
	if !strings.Contains(history.body, `"amount":-`+trip.Price.String()) || !strings.Contains(history.body, `"refund_of":"`+paid.resource().ID) {
		t.Errorf("no refund: %s", history.body)
	}
	if strings.Contains(history.body, `"booking":`) {
		t.Errorf("a payment links to a booking that is over: %s", history.body)
	}
	if strings.Contains(history.body, "null") {
		t.Errorf("a member is null: %s", history.body)
	}
}

// Compares documents byte for byte.
func TestShapes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	trip := w.trip().ID
	booked := w.book()
	b := booked.ID
	paid := w.post("/bookings/"+b+"/payment", payment("113.58", goodCard)).want(200)
	const (
		station = `{"id":"efdbb9d1-02c2-4bc3-afb7-6788d8782b1e","name":"Berlin Hauptbahnhof","address":"Europaplatz 1, 10557 Berlin",` +
			`"country_code":"DE","timezone":"Europe/Berlin","latitude":52.5251,"longitude":13.3694}`
		ride = `"origin":"` + berlin + `","destination":"` + paris + `","departure_time":"2024-02-01T07:00:00+01:00",` +
			`"arrival_time":"2024-02-01T14:46:00+01:00","operator":"Ligne Atlantique"`
	)
	at := func(station, name, times string) string {
		return `{"station":"` + station + `","name":"` + name + `",` + times + `}`
	}
	calls := `,"calls":[` + at(berlin, "Berlin Hauptbahnhof", `"departure_time":"2024-02-01T07:00:00+01:00"`) + "," +
		at("04383fb3-ff5d-4593-8a0c-fc28bafb3f09", "Hannover Hauptbahnhof", `"arrival_time":"2024-02-01T08:39:00+01:00","departure_time":"2024-02-01T08:42:00+01:00"`) + "," +
		at("e30b2b8e-2eb2-42b9-a1af-a66d458cc7ac", "Köln Hauptbahnhof", `"arrival_time":"2024-02-01T11:20:00+01:00","departure_time":"2024-02-01T11:28:00+01:00"`) + "," +
		at("643d1686-c6e0-4f10-9b58-ac92459eba84", "Bruxelles-Midi", `"arrival_time":"2024-02-01T13:15:00+01:00","departure_time":"2024-02-01T13:21:00+01:00"`) + "," +
		at(paris, "Paris Gare du Nord", `"arrival_time":"2024-02-01T14:46:00+01:00"`) + `]`
	const terms = `"refund_terms":"You can cancel until departure and get the whole price back.",`
	tripDoc := func(seats, calls, terms string) string {
		return `{"id":"` + trip + `",` + ride + `,"price":113.58,"currency":"eur","bicycles_allowed":false,"dogs_allowed":true,` +
			`"seats_available":` + seats + `,"legs":[{` + ride + `,"train":"LA 21"` + calls + `}],` + terms + `"links":{"self":"` + base + `/trips/` + trip +
			`","origin":"` + base + `/stations/` + berlin + `","destination":"` + base + `/stations/` + paris + `"}}`
	}
	bookingDoc := `{"id":"` + b + `","trip_id":"` + trip + `","passenger_name":"Anna Example","has_bicycle":false,"has_dog":false,"reference":"` + booked.Reference + `",` +
		`"links":{"self":"` + base + `/bookings/` + b + `","trip":"` + base + `/trips/` + trip + `","payments":"` + base + `/bookings/` + b + `/payments","ticket":"` + base + `/bookings/` + b + `/ticket"}}`
	paymentDoc := `{"id":"` + paid.resource().ID + `","amount":113.58,"currency":"eur","source":{"object":"card","name":"Anna Example",` +
		`"number":"************4242","exp_month":12,"exp_year":2025,"address_city":"Berlin","address_country":"DE"},"status":"succeeded",` +
		`"links":{"booking":"` + base + `/bookings/` + b + `"}}`
	for target, want := range map[string]string{
		"/stations/" + berlin:                    station,
		"/stations?search=berl%20eur&country=de": `{"data":[` + station + `],"links":{"self":"` + base + `/stations?search=berl+eur&country=de"}}`,
		"/trips/" + trip:                         tripDoc("459", calls, terms),
		"/bookings/" + b:                         bookingDoc,
		"/bookings":                              `{"data":[` + bookingDoc + `],"links":{"self":"` + base + `/bookings"}}`,
		"/bookings/" + b + "/payment":            paymentDoc,
		"/bookings/" + b + "/payments":           `{"data":[` + paymentDoc + `],"links":{"self":"` + base + `/bookings/` + b + `/payments"}}`,
		"/healthz":                               `{"status":"ok"}`,
		"/readyz":                                `{"status":"ready"}`,
	} {
		if diff := cmp.Diff(want, w.get(target).want(200).body); diff != "" {
			t.Errorf("%s (-want +got):\n%s", target, diff)
		}
	}
	list := w.get(search + "&limit=1")
	if want := `{"data":[` + tripDoc("459", "", "") + `],"links":{`; !strings.HasPrefix(list.body, want) {
		t.Errorf("%s, want %s", list.body, want)
	}
}

// A bank account may settle later: the payment is pending until then, and
// nothing else can be paid or cancelled meanwhile.
func TestPending(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.book()
	paid := w.post("/bookings/"+b.ID+"/payment", `{"amount":113.58,"currency":"eur","source":{"name":"Anna","number":"AT32 1904 3002 3547 3204",`+
		`"account_type":"individual","bank_name":"A Bank","country":"at"}}`).want(200)
	if want := `"source":{"object":"bank_account","name":"Anna","number":"****************3204","account_type":"individual","bank_name":"A Bank","country":"AT"},"status":"pending"`; !strings.Contains(paid.body, want) {
		t.Errorf("%s, want %s", paid.body, want)
	}
	w.post("/bookings/"+b.ID+"/payment", payment("113.58", goodCard)).problem(409, "payment-in-progress")
	w.do("DELETE", "/bookings/"+b.ID, as("anna-w")).problem(409, "payment-in-progress")
	a := w.get("/bookings/" + b.ID)
	if links := a.resource().Links; links["payment"] != "" || links["payments"] == "" {
		t.Errorf("links while a payment is open: %v", links)
	}
	if got, want := a.header.Get("Sunset"), morning.Add(6*time.Hour).Format(time.RFC1123); got != strings.Replace(want, "UTC", "GMT", 1) {
		t.Errorf("Sunset is %s: an open payment keeps the hold until departure", got)
	}
}

// A hold ends by itself, and its owner is told so when paying late.
func TestExpired(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.book()
	w.later(time.Hour)
	w.get("/bookings/"+b.ID).problem(404, "not-found")
	w.do("DELETE", "/bookings/"+b.ID, as("anna-w")).problem(404, "not-found")
	w.post("/bookings/"+b.ID+"/payment", payment("113.58", goodCard)).problem(409, "hold-expired")
	w.get("/bookings/"+b.ID+"/payment").problem(404, "not-found")
	if n := len(w.get("/bookings/"+b.ID+"/payments").collection().Data) + len(w.get("/bookings").collection().Data); n != 0 {
		t.Errorf("%d payments and bookings are left", n)
	}
}

// Two users never meet: what is another's is not there.
func TestTwoUsers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.book()
	path := "/bookings/" + b.ID
	w.do("GET", path, as("bert-rw")).problem(404, "not-found")
	w.do("DELETE", path, as("bert-rw")).problem(404, "not-found")
	w.do("GET", path+"/payment", as("bert-rw")).problem(404, "not-found")
	w.do("GET", path+"/payments", as("bert-rw")).problem(404, "not-found")
	w.do("POST", path+"/payment", as("bert-rw"), body(payment("113.58", goodCard))).problem(404, "not-found")
	if n := len(w.do("GET", "/bookings", as("bert-rw")).collection().Data); n != 0 {
		t.Errorf("bert sees %d bookings", n)
	}
	w.get(path).want(200)
}
