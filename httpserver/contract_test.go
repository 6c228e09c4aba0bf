package httpserver_test

import (
	"errors"
	"strings"
	"sync"
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
	t.Run("over", c.over)
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
	for id, target := range map[string]string{"get-stations": "/stations?limit=2&page=2", "get-station": "/stations/" + berlin} {
		tag := k.ask(200, id, target, reading).header.Get("Etag")
		k.ask(200, id, target, reading, header("If-Match", "*"))
		k.ask(304, id, target, reading, header("If-None-Match", tag))
		k.ask(412, id, target, reading, header("If-Match", `"x"`))
	}
	k.ask(200, "get-stations", "/stations?search=gare%20nord&country=fr&coordinates=48.88,2.35", reading)
	for _, q := range []string{"page=0", "limit=101", "country=deu", "coordinates=north", "after=!"} {
		k.ask(400, "get-stations", "/stations?"+q, reading)
	}
	k.ask(400, "get-station", "/stations/x", reading)
	k.ask(404, "get-station", "/stations/"+nobody, reading)

	// What is not known is left out.
	few := newWorld(t, withTiny)
	c.asker(t, few).ask(200, "get-stations", "/stations", reading)
}

func (c *contract) trips(t *testing.T) {
	w := newWorld(t)
	k := c.asker(t, w)
	for _, more := range []string{"", "&limit=1", "&limit=1&page=2", "&bicycles=true&dogs=true", "&direct=true"} {
		k.ask(200, "get-trips", search+more, reading)
	}
	for _, date := range []string{"2024-02-01T09:00:00Z", "2024-02-01T10:00"} {
		k.ask(200, "get-trips", strings.Replace(search, "2024-02-01", date, 1), reading)
	}
	for _, target := range []string{"/trips", search + "&limit=0", search + "&dogs=perhaps", search + "&direct=1", strings.Replace(search, "2024-02-01", "today", 1)} {
		k.ask(400, "get-trips", target, reading)
	}
	k.ask(200, "get-trip", "/trips/"+w.trip().ID, reading)
	k.ask(400, "get-trip", "/trips/x", reading)
	k.ask(404, "get-trip", "/trips/"+nobody, reading)

	few := newWorld(t, withTiny)
	k = c.asker(t, few)
	for _, id := range few.tinyTrips() {
		k.ask(200, "get-trip", "/trips/"+id, reading)
	}
}

func (c *contract) bookings(t *testing.T) {
	w := newWorld(t)
	k := c.asker(t, w)
	k.ask(200, "get-bookings", "/bookings", reading) // none
	wanted := newBooking(w.trip().ID)
	made := k.ask(201, "create-booking", "/bookings", writing, body(wanted), key("first"))
	if made.header.Get("Idempotency-Replayed") != "" {
		t.Error("the first answer says that it is not")
	}
	one := made.local(made.header.Get("Location"))
	if self := made.resource().Links["self"]; made.local(self) != one {
		t.Errorf("the booking is at %s, and Location leads to %s", self, one)
	}
	second := k.ask(201, "create-booking", "/bookings", writing, key("second"),
		xmlBody("<booking><trip_id>"+w.trip().ID+"</trip_id><passenger_name>Bert</passenger_name><has_dog>true</has_dog></booking>"))
	other := second.local(second.header.Get("Location"))
	k.ask(422, "create-booking", "/bookings", writing, body(strings.Replace(wanted, "Anna", "Berta", 1)), key("first"))
	for _, bad := range []string{"", "{}", "[]", `{"trip_id":"x"}`, newBooking("x")} {
		k.ask(400, "create-booking", "/bookings", writing, body(bad))
	}
	k.ask(400, "create-booking", "/bookings", writing, body(wanted), key(""))
	k.ask(404, "create-booking", "/bookings", writing, body(newBooking(nobody)))

	k.ask(200, "get-bookings", "/bookings?limit=1", reading)
	k.ask(200, "get-bookings", "/bookings?limit=1&page=2", reading)
	tag := k.ask(200, "get-bookings", "/bookings", reading).header.Get("Etag")
	k.ask(304, "get-bookings", "/bookings", reading, header("If-None-Match", tag))
	k.ask(412, "get-bookings", "/bookings", reading, header("If-Match", "W/"+tag))
	k.ask(400, "get-bookings", "/bookings?page=x", reading)

	got := k.ask(200, "get-booking", one, reading)
	if got.body != made.body || got.header.Get("Sunset") == "" || got.header.Get("Sunset") != made.header.Get("Sunset") {
		t.Errorf("%s, until %s\nwas\n%s, until %s", got.body, got.header.Get("Sunset"), made.body, made.header.Get("Sunset"))
	}
	k.ask(304, "get-booking", one, reading, header("If-None-Match", got.header.Get("Etag")))
	k.ask(412, "get-booking", one, reading, header("If-Match", tag))
	k.ask(400, "get-booking", "/bookings/x", reading)
	k.ask(404, "get-booking", "/bookings/"+nobody, reading)
	k.ask(404, "get-booking", one, as("berta-r"))

	k.ask(400, "delete-booking", "/bookings/x", writing)
	k.ask(404, "delete-booking", one, as("berta-w"))
	now := k.ask(200, "get-booking", other, reading).header.Get("Etag")
	k.ask(412, "delete-booking", other, writing, header("If-Match", tag))
	k.ask(412, "delete-booking", other, writing, header("If-None-Match", "*"))
	k.ask(204, "delete-booking", other, writing, header("If-Match", now))
	k.ask(404, "delete-booking", other, writing)
	k.ask(404, "get-booking", other, reading)
}

func (c *contract) payments(t *testing.T) {
	w := newWorld(t)
	k := c.asker(t, w)
	b := w.book()
	price := w.get("/trips/" + b.TripID).resource().Price
	at := "/bookings/" + b.ID
	k.ask(404, "get-booking-payment", at+"/payment", reading) // none yet
	k.ask(200, "get-booking-payments", at+"/payments", reading)
	for _, bad := range []string{"", "{}", payment("1", "4242"), payment("1", goodCard)} {
		k.ask(400, "create-booking-payment", at+"/payment", writing, body(bad))
	}
	pay := func(word, text string) {
		t.Helper()
		k.ask(200, "create-booking-payment", at+"/payment", writing, body(text), key(word))
		k.ask(200, "get-booking-payment", at+"/payment", reading)
		k.ask(200, "get-bookings", "/bookings", reading)
	}
	full := strings.Replace(payment(price, "4000000000000002"), `"address_city"`, `"address_post_code":"10557","address_line2":"","address_city"`, 1)
	pay("declined", full)
	k.ask(422, "create-booking-payment", at+"/payment", writing, body(payment(price, goodCard)), key("declined"))
	pay("paid", `{"amount":`+string(price)+`,"currency":"eur","source":{"object":"bank_account","name":"A","number":"12345678",`+
		`"sort_code":"12-34-56","account_type":"individual","bank_name":"B","country":"GB"}}`)
	k.ask(409, "create-booking-payment", at+"/payment", writing, body(payment(price, goodCard)))
	k.ask(200, "get-booking", at, reading)
	k.ask(200, "get-booking-payments", at+"/payments?limit=1", reading)
	k.ask(204, "delete-booking", at, writing)
	k.ask(200, "get-booking-payment", at+"/payment", reading)
	if all := k.ask(200, "get-booking-payments", at+"/payments", reading); len(all.collection().Data) != 3 {
		t.Errorf("not two payments and a refund: %s", all.body)
	}

	b = w.book()
	at = "/bookings/" + b.ID
	pay("charged back", payment(price, "4000000000000259"))
	k.ask(204, "delete-booking", at, writing)
	w.runUntil(at+"/payments", `"resolution"`)
	k.ask(200, "get-booking-payments", at+"/payments", reading)

	b = w.book()
	at = "/bookings/" + b.ID
	pay("pending", `{"amount":`+string(price)+`,"currency":"eur","source":{"object":"bank_account","name":"A","number":"AT321904300235473204",`+
		`"account_type":"company","bank_name":"B","country":"AT"}}`)
	k.ask(409, "create-booking-payment", at+"/payment", writing, body(payment(price, goodCard)))
	k.ask(409, "delete-booking", at, writing)

	for _, id := range []string{"get-booking-payment", "get-booking-payments"} {
		end := strings.TrimPrefix(id, "get-booking-")
		k.ask(400, id, "/bookings/x/"+end, reading)
		k.ask(404, id, "/bookings/"+nobody+"/"+end, reading)
		k.ask(404, id, at+"/"+end, as("berta-r"))
	}
	k.ask(400, "get-booking-payments", at+"/payments?limit=0", reading)
	k.ask(404, "create-booking-payment", "/bookings/"+nobody+"/payment", writing, body(payment(price, goodCard)))
}

func (c *contract) ticket(t *testing.T) {
	w := newWorld(t)
	k := c.asker(t, w)
	trip := w.get(search + "&dogs=true").collection().Data[0].ID
	b := w.post("/bookings", strings.Replace(newBooking(trip), `"has_dog":false`, `"has_dog":true`, 1)).want(201).resource()
	at := "/bookings/" + b.ID + "/ticket"
	k.ask(409, "get-booking-ticket", at, reading)
	w.pay(b)
	paid := k.ask(200, "get-booking", "/bookings/"+b.ID, reading)
	if link := paid.resource().Links["ticket"]; paid.local(link) != at {
		t.Errorf("the ticket is at %s", link)
	}
	for _, form := range []string{"application/pdf", "image/png", "text/calendar", "application/ld+json", "application/json", "application/octet-stream"} {
		k.ask(200, "get-booking-ticket", at, reading, header("Accept", form))
		k.ask(200, "get-booking-ticket", at+"?leg=1", reading, header("Accept", form))
	}
	for _, leg := range []string{"0", "2", "x", "-1", ""} {
		k.ask(400, "get-booking-ticket", at+"?leg="+leg, reading)
	}
	several := w.change()
	w.pay(several)
	k.ask(200, "get-booking-ticket", "/bookings/"+several.ID+"/ticket", reading, header("Accept", "application/ld+json"))
	k.ask(400, "get-booking-ticket", "/bookings/x/ticket", reading)
	k.ask(404, "get-booking-ticket", "/bookings/"+nobody+"/ticket", reading)
	k.ask(404, "get-booking-ticket", at, as("berta-r"))
}

// refusals are the conflicts that are not met elsewhere.
func (c *contract) refusals(t *testing.T) {
	w := newWorld(t, withTiny)
	k := c.asker(t, w)
	trips := w.tinyTrips()
	ask := func(status int, train, more string, parts ...part) answer {
		t.Helper()
		parts = append(parts, writing, body(`{"trip_id":"`+trips[train]+`","passenger_name":"Anna"`+more+`}`))
		return k.ask(status, "create-booking", "/bookings", parts...)
	}
	seat := ask(201, "one-seat", "", key("seat")).resource()
	ask(409, "one-seat", "")
	ask(201, "one-hook", `,"has_bicycle":true`, key("hook"))
	ask(409, "one-hook", `,"has_bicycle":true`)
	ask(409, "neither", `,"has_bicycle":true`)
	ask(409, "neither", `,"has_dog":true`)
	held := ask(201, "neither", "", key("held")).resource()
	k.ask(200, "create-booking-payment", "/bookings/"+seat.ID+"/payment", writing, key("paid"), body(payment("49.9", goodCard)))
	w.later(8 * time.Hour)
	ask(409, "one-seat", "")
	k.ask(409, "delete-booking", "/bookings/"+seat.ID, writing)
	k.ask(409, "create-booking-payment", "/bookings/"+held.ID+"/payment", writing, body(payment("49.9", goodCard)))

	w = newWorld(t, func(w *world) { w.service_.Declines = traintravel.DeclineLimits{Booking: 1, Card: 2} })
	k = c.asker(t, w)
	for _, status := range []int{409, 409, 429} {
		at := "/bookings/" + w.book().ID + "/payment"
		if status == 409 {
			w.post(at, payment("113.58", declinedCard)).want(200)
		}
		k.ask(status, "create-booking-payment", at, writing, body(payment("113.58", declinedCard)))
	}

	w = newWorld(t, func(w *world) { w.service_.Holds.User = 1 })
	b := w.book()
	c.asker(t, w).ask(409, "create-booking", "/bookings", writing, body(newBooking(b.TripID)))

	w = newWorld(t, func(w *world) { w.service_.Gateway = nil })
	b = w.book()
	c.asker(t, w).ask(409, "create-booking-payment", "/bookings/"+b.ID+"/payment", writing, body(payment("113.58", goodCard)))
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
		{"get-stations", "/stations", "r", nil, timetable},
		{"get-station", "/stations/" + berlin, "r", nil, timetable},
		{"get-trips", search, "r", nil, timetable},
		{"get-trip", "/trips/" + b.TripID, "r", nil, timetable},
		{"get-bookings", "/bookings", "r", nil, storage},
		{"create-booking", "/bookings", "w", booking, timetable | storage},
		{"get-booking", at, "r", nil, storage},
		{"delete-booking", at, "w", nil, storage},
		{"get-booking-payment", at + "/payment", "r", nil, storage},
		{"create-booking-payment", at + "/payment", "w", pay, storage},
		{"get-booking-payments", at + "/payments", "r", nil, storage},
		{"get-booking-ticket", at + "/ticket", "r", nil, storage},
		{"get-webhooks", "/webhooks", "r", nil, storage},
		{"create-webhook", "/webhooks", "rw", body(`{"url":"https://shop.example/"}`), storage},
		{"get-webhook", hook, "r", nil, storage},
		{"update-webhook", hook, "rw", body("{}"), storage},
		{"delete-webhook", hook, "rw", nil, storage},
		{"create-webhook-secret", hook + "/secret", "rw", nil, storage},
		{"create-webhook-ping", hook + "/ping", "rw", nil, storage},
		{"get-webhook-deliveries", hook + "/deliveries", "r", nil, storage},
		{"retry-webhook-delivery", hook + "/deliveries/" + nobody + "/retry", "rw", nil, storage},
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
				ask(408, k, good, body("{}"), header(stalls, "yes"))
			}
		})
	}
}

func (c *contract) service(t *testing.T) {
	k := c.asker(t, newWorld(t))
	for id, target := range map[string]string{
		"get-health": "/healthz", "get-readiness": "/readyz", "get-openapi-yaml": "/openapi.yaml", "get-openapi-json": "/openapi.json",
		"get-docs": "/docs", "get-problem": "/problems/sold-out",
	} {
		plain := header("Accept-Encoding", "identity") // Go asks for gzip by itself, but not with HEAD
		told := k.ask(200, id, target, plain)
		if id == "get-health" || id == "get-readiness" {
			continue
		}
		k.ask(304, id, target, plain, header("If-None-Match", told.header.Get("Etag")))
		k.ask(412, id, target, plain, header("If-Match", `"x"`))
	}
	for _, issuer := range []string{"", "https://issuer.example"} {
		k := c.asker(t, newWorld(t, func(w *world) { w.options.Issuer = issuer }))
		const at = "/.well-known/oauth-protected-resource"
		told := k.ask(200, "get-protected-resource", at)
		k.ask(304, "get-protected-resource", at, header("If-None-Match", told.header.Get("Etag")))
		k.ask(412, "get-protected-resource", at, header("If-Match", `"x"`))
	}
	k.ask(303, "get-front", "/")
	k.ask(200, "get-front", "/", header("Accept", "text/html"))
	k.ask(404, "get-problem", "/problems/no-such-problem")
	none := func(w *world) { w.timetable = &traintravel.Timetable{} }
	broken := &failingStore{Store: newWorld(t).store, fail: func() error { return errors.New("the store is broken") }}
	for _, change := range []func(*world){
		none,
		func(w *world) { w.options.Auth = unready{} },
		func(w *world) { none(w); w.store = broken }, // in which there is one
	} {
		k = c.asker(t, newWorld(t, change))
		k.ask(200, "get-health", "/healthz")
		k.ask(503, "get-readiness", "/readyz")
	}
	broken.fail = nil
	k.ask(200, "get-readiness", "/readyz")

	// What is public has a quota too.
	w := newWorld(t, withLimit(1))
	k = c.asker(t, w)
	w.server.LimitPages(1)
	w.serve("GET", "/", from("127.0.0.1:1"))
	for id, target := range map[string]string{
		"get-openapi-yaml": "/openapi.yaml", "get-openapi-json": "/openapi.json", "get-docs": "/docs", "get-problem": "/problems/sold-out",
		"get-front": "/", "get-protected-resource": "/.well-known/oauth-protected-resource", "get-ticket-keys": "/.well-known/ticket-keys",
	} {
		k.ask(429, id, target)
	}

	// While one request is worked on and there may be no more, others are refused.
	slow := &failingStore{}
	w = newWorld(t, func(w *world) {
		slow.Store, w.options.MaxRequests = w.store, 1
		w.store = slow
	})
	k = c.asker(t, w)
	asked, answer := make(chan struct{}), make(chan struct{})
	slow.fail = func() error {
		close(asked)
		<-answer
		return nil
	}
	var working sync.WaitGroup
	working.Go(func() { w.do("GET", "/bookings", as("anna-r")).want(200) })
	<-asked
	slow.fail = nil
	w.do("GET", "/bookings", as("bert-r"), from("198.51.100.7:1")).want(503)
	k.ask(200, "get-readiness", "/readyz")
	close(answer)
	working.Wait()
}
