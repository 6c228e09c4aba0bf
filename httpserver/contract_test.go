package httpserver_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/traintravel/traintravel"
)

// The server answers as the description says: each operation was made to give
// each answer that is described, with each header, in each media type, and
// every member of a document was seen.
func TestContract(t *testing.T) {
	t.Parallel()
	c := newContract(t)
	t.Run("stations", c.stations)
	t.Run("trips", c.trips)
	t.Run("bookings", c.bookings)
	t.Run("payments", c.payments)
	t.Run("ticket", c.ticket)
	t.Run("tickets", c.tickets)
	t.Run("refusals", c.refusals)
	t.Run("common", c.common)
	t.Run("service", c.service)
	t.Run("methods", c.methods)
	t.Run("preflights", c.preflights)
	t.Run("bodies", c.bodies)
	t.Run("webhooks", c.webhooks)
	t.Run("events", c.events)
	if !t.Failed() {
		for _, name := range c.unmet() {
			t.Errorf("described and never answered: %s", name)
		}
	}
}

var (
	reading = as("anna-r")
	writing = as("anna-w")
)

func (c *contract) stations(t *testing.T) {
	k := c.asker(t, newWorld(t))
	for id, target := range map[string]string{"getStations": "/stations?limit=2&page=2", "getStation": "/stations/" + berlin} {
		tag := k.ask(200, id, target, reading).header.Get("Etag")
		k.ask(200, id, target, reading, header("If-Match", "*"))
		k.ask(304, id, target, reading, header("If-None-Match", tag))
		k.ask(412, id, target, reading, header("If-Match", `"x"`))
	}
	k.ask(200, "getStations", "/stations?search=gare%20nord&country=fr&coordinates=48.88,2.35", reading)
	for _, q := range []string{"page=0", "limit=101", "country=deu", "coordinates=north", "after=!"} {
		k.ask(400, "getStations", "/stations?"+q, reading)
	}
	k.ask(400, "getStation", "/stations/x", reading)
	k.ask(404, "getStation", "/stations/"+nobody, reading)

	// What is not known is left out.
	few := newWorld(t, withTiny)
	c.asker(t, few).ask(200, "getStations", "/stations", reading)
}

func (c *contract) trips(t *testing.T) {
	w := newWorld(t)
	k := c.asker(t, w)
	for _, more := range []string{"", "&limit=1", "&limit=1&page=2", "&bicycles=true&dogs=true", "&direct=true"} {
		k.ask(200, "getTrips", search+more, reading)
	}
	for _, date := range []string{"2024-02-01T09:00:00Z", "2024-02-01T10:00"} {
		k.ask(200, "getTrips", strings.Replace(search, "2024-02-01", date, 1), reading)
	}
	for _, target := range []string{"/trips", search + "&limit=0", search + "&dogs=perhaps", search + "&direct=1", strings.Replace(search, "2024-02-01", "today", 1)} {
		k.ask(400, "getTrips", target, reading)
	}
	k.ask(200, "getTrip", "/trips/"+w.trip().ID, reading)
	k.ask(400, "getTrip", "/trips/x", reading)
	k.ask(404, "getTrip", "/trips/"+nobody, reading)

	few := newWorld(t, withTiny)
	k = c.asker(t, few)
	for _, id := range few.tinyTrips() {
		k.ask(200, "getTrip", "/trips/"+id, reading)
	}
}

func (c *contract) bookings(t *testing.T) {
	w := newWorld(t)
	k := c.asker(t, w)
	k.ask(200, "getBookings", "/bookings", reading) // none
	wanted := newBooking(w.trip().ID)
	made := k.ask(201, "createBooking", "/bookings", writing, body(wanted), key("first"))
	if made.header.Get("Idempotency-Replayed") != "" {
		t.Error("the first answer says that it is not")
	}
	one := made.local(made.header.Get("Location"))
	if self := made.resource().Links["self"]; made.local(self) != one {
		t.Errorf("the booking is at %s, and Location leads to %s", self, one)
	}
	second := k.ask(201, "createBooking", "/bookings", writing, key("second"),
		xmlBody("<booking><trip_id>"+w.trip().ID+"</trip_id><passenger_name>Bert</passenger_name><has_dog>true</has_dog></booking>"))
	other := second.local(second.header.Get("Location"))
	k.ask(422, "createBooking", "/bookings", writing, body(strings.Replace(wanted, "Anna", "Berta", 1)), key("first"))
	for _, bad := range []string{"", "{}", "[]", `{"trip_id":"x"}`, newBooking("x")} {
		k.ask(400, "createBooking", "/bookings", writing, body(bad))
	}
	k.ask(400, "createBooking", "/bookings", writing, body(wanted), key(""))
	k.ask(404, "createBooking", "/bookings", writing, body(newBooking(nobody)))

	k.ask(200, "getBookings", "/bookings?limit=1", reading)
	k.ask(200, "getBookings", "/bookings?limit=1&page=2", reading)
	tag := k.ask(200, "getBookings", "/bookings", reading).header.Get("Etag")
	k.ask(304, "getBookings", "/bookings", reading, header("If-None-Match", tag))
	k.ask(412, "getBookings", "/bookings", reading, header("If-Match", "W/"+tag))
	k.ask(400, "getBookings", "/bookings?page=x", reading)

	got := k.ask(200, "getBooking", one, reading)
	if got.body != made.body || got.header.Get("Sunset") == "" || got.header.Get("Sunset") != made.header.Get("Sunset") {
		t.Errorf("%s, until %s\nwas\n%s, until %s", got.body, got.header.Get("Sunset"), made.body, made.header.Get("Sunset"))
	}
	k.ask(304, "getBooking", one, reading, header("If-None-Match", got.header.Get("Etag")))
	k.ask(412, "getBooking", one, reading, header("If-Match", tag))
	k.ask(400, "getBooking", "/bookings/x", reading)
	k.ask(404, "getBooking", "/bookings/"+nobody, reading)
	k.ask(404, "getBooking", one, as("berta-r"))

	k.ask(400, "deleteBooking", "/bookings/x", writing)
	k.ask(404, "deleteBooking", one, as("berta-w"))
	now := k.ask(200, "getBooking", other, reading).header.Get("Etag")
	k.ask(412, "deleteBooking", other, writing, header("If-Match", tag))
	k.ask(412, "deleteBooking", other, writing, header("If-None-Match", "*"))
	k.ask(204, "deleteBooking", other, writing, header("If-Match", now))
	k.ask(404, "deleteBooking", other, writing)
	k.ask(404, "getBooking", other, reading)
}

func (c *contract) payments(t *testing.T) {
	w := newWorld(t)
	k := c.asker(t, w)
	b := w.book()
	price := w.get("/trips/" + b.TripID).resource().Price
	at := "/bookings/" + b.ID
	k.ask(404, "getBookingPayment", at+"/payment", reading) // none yet
	k.ask(200, "getBookingPayments", at+"/payments", reading)
	for _, bad := range []string{"", "{}", payment("1", "4242"), payment("1", goodCard)} {
		k.ask(400, "createBookingPayment", at+"/payment", writing, body(bad))
	}
	pay := func(word, text string) {
		t.Helper()
		k.ask(200, "createBookingPayment", at+"/payment", writing, body(text), key(word))
		k.ask(200, "getBookingPayment", at+"/payment", reading)
		k.ask(200, "getBookings", "/bookings", reading)
	}
	full := strings.Replace(payment(price, "4000000000000002"), `"address_city"`, `"address_post_code":"10557","address_line2":"","address_city"`, 1)
	pay("declined", full)
	k.ask(422, "createBookingPayment", at+"/payment", writing, body(payment(price, goodCard)), key("declined"))
	pay("paid", `{"amount":`+string(price)+`,"currency":"eur","source":{"object":"bank_account","name":"A","number":"12345678",`+
		`"sort_code":"12-34-56","account_type":"individual","bank_name":"B","country":"GB"}}`)
	k.ask(409, "createBookingPayment", at+"/payment", writing, body(payment(price, goodCard)))
	k.ask(200, "getBooking", at, reading)
	k.ask(200, "getBookingPayments", at+"/payments?limit=1", reading)
	k.ask(204, "deleteBooking", at, writing)
	k.ask(200, "getBookingPayment", at+"/payment", reading)
	if all := k.ask(200, "getBookingPayments", at+"/payments", reading); len(all.collection().Data) != 3 {
		t.Errorf("not two payments and a refund: %s", all.body)
	}

	b = w.book()
	at = "/bookings/" + b.ID
	pay("pending", `{"amount":`+string(price)+`,"currency":"eur","source":{"object":"bank_account","name":"A","number":"AT321904300235473204",`+
		`"account_type":"company","bank_name":"B","country":"AT"}}`)
	k.ask(409, "createBookingPayment", at+"/payment", writing, body(payment(price, goodCard)))
	k.ask(409, "deleteBooking", at, writing)

	for _, id := range []string{"getBookingPayment", "getBookingPayments"} {
		end := strings.ToLower(strings.TrimPrefix(id, "getBooking"))
		k.ask(400, id, "/bookings/x/"+end, reading)
		k.ask(404, id, "/bookings/"+nobody+"/"+end, reading)
		k.ask(404, id, at+"/"+end, as("berta-r"))
	}
	k.ask(400, "getBookingPayments", at+"/payments?limit=0", reading)
	k.ask(404, "createBookingPayment", "/bookings/"+nobody+"/payment", writing, body(payment(price, goodCard)))
}

func (c *contract) ticket(t *testing.T) {
	w := newWorld(t)
	k := c.asker(t, w)
	trip := w.get(search + "&dogs=true").collection().Data[0].ID
	b := w.post("/bookings", strings.Replace(newBooking(trip), `"has_dog":false`, `"has_dog":true`, 1)).want(201).resource()
	at := "/bookings/" + b.ID + "/ticket"
	k.ask(409, "getBookingTicket", at, reading)
	w.pay(b)
	paid := k.ask(200, "getBooking", "/bookings/"+b.ID, reading)
	if link := paid.resource().Links["ticket"]; paid.local(link) != at {
		t.Errorf("the ticket is at %s", link)
	}
	for _, form := range []string{"application/pdf", "image/png", "text/calendar", "application/ld+json", "application/json", "application/octet-stream"} {
		k.ask(200, "getBookingTicket", at, reading, header("Accept", form))
		k.ask(200, "getBookingTicket", at+"?leg=1", reading, header("Accept", form))
	}
	for _, leg := range []string{"0", "2", "x", "-1", ""} {
		k.ask(400, "getBookingTicket", at+"?leg="+leg, reading)
	}
	several := w.change()
	w.pay(several)
	k.ask(200, "getBookingTicket", "/bookings/"+several.ID+"/ticket", reading, header("Accept", "application/ld+json"))
	k.ask(400, "getBookingTicket", "/bookings/x/ticket", reading)
	k.ask(404, "getBookingTicket", "/bookings/"+nobody+"/ticket", reading)
	k.ask(404, "getBookingTicket", at, as("berta-r"))
}

// refusals are the conflicts that are not met elsewhere.
func (c *contract) refusals(t *testing.T) {
	w := newWorld(t, withTiny)
	k := c.asker(t, w)
	trips := w.tinyTrips()
	ask := func(status int, train, more string, parts ...part) answer {
		t.Helper()
		parts = append(parts, writing, body(`{"trip_id":"`+trips[train]+`","passenger_name":"Anna"`+more+`}`))
		return k.ask(status, "createBooking", "/bookings", parts...)
	}
	seat := ask(201, "one-seat", "", key("seat")).resource()
	ask(409, "one-seat", "")
	ask(201, "one-hook", `,"has_bicycle":true`, key("hook"))
	ask(409, "one-hook", `,"has_bicycle":true`)
	ask(409, "neither", `,"has_bicycle":true`)
	ask(409, "neither", `,"has_dog":true`)
	held := ask(201, "neither", "", key("held")).resource()
	k.ask(200, "createBookingPayment", "/bookings/"+seat.ID+"/payment", writing, key("paid"), body(payment("49.9", goodCard)))
	w.later(8 * time.Hour)
	ask(409, "one-seat", "")
	k.ask(409, "deleteBooking", "/bookings/"+seat.ID, writing)
	k.ask(409, "createBookingPayment", "/bookings/"+held.ID+"/payment", writing, body(payment("49.9", goodCard)))

	w = newWorld(t, func(w *world) { w.service_.Gateway = nil })
	b := w.book()
	c.asker(t, w).ask(409, "createBookingPayment", "/bookings/"+b.ID+"/payment", writing, body(payment("113.58", goodCard)))
}

// common provokes what all operations answer alike.
func (c *contract) common(t *testing.T) {
	w, store := newFailingWorld(t)
	k := c.asker(t, w)
	empty := c.asker(t, newWorld(t, func(w *world) { w.timetable = &traintravel.Timetable{} }))
	limited := c.asker(t, newWorld(t, withLimit(1)))
	b := w.book()
	at := "/bookings/" + b.ID
	hook := "/webhooks/" + w.do("POST", "/webhooks", as("anna-rw"), body(`{"url":"https://shop.example/"}`)).want(201).resource().ID
	booking, pay := body(newBooking(b.TripID)), body(payment("113.58", goodCard))
	type fails uint8
	const (
		timetable fails = 1 << iota // without one
		storage                     // that is broken
	)
	for _, o := range []struct {
		id, target, needs string
		sent              part
		fails             fails
	}{
		{"getStations", "/stations", "r", nil, timetable},
		{"getStation", "/stations/" + berlin, "r", nil, timetable},
		{"getTrips", search, "r", nil, timetable},
		{"getTrip", "/trips/" + b.TripID, "r", nil, timetable},
		{"getBookings", "/bookings", "r", nil, storage},
		{"createBooking", "/bookings", "w", booking, timetable | storage},
		{"getBooking", at, "r", nil, storage},
		{"deleteBooking", at, "w", nil, storage},
		{"getBookingPayment", at + "/payment", "r", nil, storage},
		{"createBookingPayment", at + "/payment", "w", pay, storage},
		{"getBookingPayments", at + "/payments", "r", nil, storage},
		{"getBookingTicket", at + "/ticket", "r", nil, storage},
		{"getWebhooks", "/webhooks", "r", nil, storage},
		{"createWebhook", "/webhooks", "rw", body(`{"url":"https://shop.example/"}`), storage},
		{"getWebhook", hook, "r", nil, storage},
		{"changeWebhook", hook, "rw", body("{}"), storage},
		{"deleteWebhook", hook, "rw", nil, storage},
		{"newWebhookSecret", hook + "/secret", "rw", nil, storage},
		{"pingWebhook", hook + "/ping", "rw", nil, storage},
		{"getWebhookDeliveries", hook + "/deliveries", "r", nil, storage},
		{"retryWebhookDelivery", hook + "/deliveries/" + nobody + "/retry", "rw", nil, storage},
	} {
		t.Run(o.id, func(t *testing.T) {
			k, empty, limited := k.as(t), empty.as(t), limited.as(t)
			ask := func(status int, k asker, who string, parts ...part) {
				t.Helper()
				if who != "" {
					parts = append(parts, as(who))
				}
				if o.sent != nil {
					parts = append([]part{o.sent}, parts...)
				}
				k.ask(status, o.id, o.target, parts...)
			}
			good, lacking := "anna-"+o.needs, "anna-"+strings.Trim("rw", o.needs)
			ask(401, k, "")
			ask(401, k, "forged")
			ask(403, k, lacking)
			if c.operations[o.id].Responses.Codes.GetOrZero("204") == nil { // or else there is no form to wish for
				ask(406, k, good, header("Accept", "text/html"))
			}
			ask(500, k, "fault")
			ask(503, k, "down")
			if o.fails&timetable != 0 {
				ask(503, empty, good)
			}
			if o.fails&storage != 0 {
				store.fail = func() error { return errors.New("the store is broken") }
				ask(500, k, good)
				store.fail = func() error { panic("a fault of the store's") }
				ask(500, k, good)
				store.fail = nil
			}
			limited.send("GET", "/bookings", []part{as(o.id + "-rw")})
			ask(429, limited, o.id+"-rw")
			if o.sent != nil {
				ask(415, k, good, header("Content-Type", "text/plain"))
				ask(413, k, good, body(strings.Repeat(" ", 64<<10+1)))
			}
		})
	}
}

func (c *contract) service(t *testing.T) {
	k := c.asker(t, newWorld(t))
	for id, target := range map[string]string{
		"getHealth": "/healthz", "getReadiness": "/readyz", "getOpenApiYaml": "/openapi.yaml", "getOpenApiJson": "/openapi.json",
		"getDocs": "/docs", "getProblem": "/problems/sold-out",
	} {
		k.ask(200, id, target)
	}
	for _, issuer := range []string{"", "https://issuer.example"} {
		k := c.asker(t, newWorld(t, func(w *world) { w.options.Issuer = issuer }))
		const at = "/.well-known/oauth-protected-resource"
		told := k.ask(200, "getProtectedResource", at)
		k.ask(304, "getProtectedResource", at, header("If-None-Match", told.header.Get("Etag")))
		k.ask(412, "getProtectedResource", at, header("If-Match", `"x"`))
	}
	k.ask(303, "getFront", "/")
	k.ask(404, "getProblem", "/problems/no-such-problem")
	none := func(w *world) { w.timetable = &traintravel.Timetable{} }
	broken := &failingStore{Store: newWorld(t).store, fail: func() error { return errors.New("the store is broken") }}
	for _, change := range []func(*world){
		none,
		func(w *world) { w.options.Auth = unready{} },
		func(w *world) { none(w); w.store = broken }, // in which there is one
	} {
		k = c.asker(t, newWorld(t, change))
		k.ask(200, "getHealth", "/healthz")
		k.ask(503, "getReadiness", "/readyz")
	}
	broken.fail = nil
	k.ask(200, "getReadiness", "/readyz")
}
