package httpserver_test

import (
	"encoding/base64"
	"encoding/json"
	"image/png"
	"strconv"
	"strings"
	"testing"
	"time"
)

// pay pays for a booking of anna's.
func (w *world) pay(b resource) {
	w.t.Helper()
	price := w.get("/trips/" + b.TripID).resource().Price
	w.post("/bookings/"+b.ID+"/payment", payment(price, goodCard)).want(200)
}

// ticketOf asks for the ticket of a booking, which need not be JSON.
func (w *world) ticketOf(b resource, query string, parts ...part) answer {
	w.t.Helper()
	return w.serve("GET", "/bookings/"+b.ID+"/ticket"+query, append(parts, as("anna-r"))...)
}

// change finds a trip of two trains, from Berlin to Athens, and books it.
func (w *world) change() resource {
	w.t.Helper()
	var found struct {
		Data []struct {
			ID   string
			Legs []json.RawMessage
		}
	}
	const athens = "e74a7b4d-335c-48f9-a3e3-97841e3e8b13"
	w.get(strings.Replace(search, paris, athens, 1) + "&limit=100").want(200).into(&found)
	for _, trip := range found.Data {
		if len(trip.Legs) == 2 {
			return w.post("/bookings", newBooking(trip.ID)).want(201).resource()
		}
	}
	w.t.Fatal("no trip has a change")
	return resource{}
}

func TestTicketNegotiation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.book()
	w.pay(b)
	ends := map[string]string{
		"application/pdf": "pdf", "image/png": "png", "text/calendar; charset=utf-8": "ics",
		"application/ld+json": "jsonld", "application/json": "json", "application/octet-stream": "uic",
	}
	for accept, want := range map[string]string{
		"":                                       "application/pdf",
		"*/*":                                    "application/pdf",
		"application/*":                          "application/pdf",
		"application/problem+json":               "application/pdf",
		"application/problem+xml, text/html":     "application/pdf",
		"image/*":                                "image/png",
		"image/avif,image/webp,*/*;q=0.8":        "application/pdf",
		"image/png;q=0.5, application/pdf;q=0.4": "image/png",
		"text/calendar":                          "text/calendar; charset=utf-8",
		"text/*":                                 "text/calendar; charset=utf-8",
		"application/pdf;q=0, */*":               "image/png",
		"application/ld+json":                    "application/ld+json",
		"application/json, application/pdf;q=0.9":         "application/json",
		"APPLICATION/JSON":                                "application/json",
		"application/octet-stream":                        "application/octet-stream",
		"application/xml, application/octet-stream;q=0.1": "application/octet-stream",
	} {
		a := w.ticketOf(b, "", header("Accept", accept)).want(200)
		got := a.header.Get("Content-Type")
		file := `inline; filename="ticket-` + b.Reference + "." + ends[want] + `"`
		if got != want || a.header.Get("Content-Disposition") != file || a.header.Get("Cache-Control") != "no-store" ||
			a.header.Get("Vary") != "Accept, Authorization" {
			t.Errorf("Accept %q: %v, want %s", accept, a.header, want)
		}
	}
	w.ticketOf(b, "").want(200)
	for _, accept := range []string{"application/xml", "text/html", "nonsense", "*/*;q=0", "application/problem+json, application/json;q=0"} {
		for _, id := range []string{b.ID, nobody, "x"} { // 406 is told first
			w.ticketOf(resource{ID: id}, "?leg=x", header("Accept", accept)).problem(406, "not-acceptable")
		}
	}
}

// All forms are of the same ticket, and the same whenever they are asked for.
func TestTicketForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.change()
	w.pay(b)
	form := func(accept, query string) string {
		t.Helper()
		first := w.ticketOf(b, query, header("Accept", accept)).want(200).body
		w.later(time.Second)
		if again := w.ticketOf(b, query, header("Accept", accept)).want(200).body; again != first {
			t.Errorf("%s%s is another the second time", accept, query)
		}
		return first
	}
	verify := func(container string, leg int) {
		t.Helper()
		if c, err := w.options.TicketKeys.Verify([]byte(container)); err != nil || c.Leg != leg || c.Legs != 2 || c.Booking.String() != b.ID {
			t.Errorf("leg %d: %+v, %v", leg, c, err)
		}
	}
	verify(form("application/octet-stream", ""), 0)
	verify(form("application/octet-stream", "?leg=1"), 0)
	verify(form("application/octet-stream", "?leg=2"), 1)

	var doc struct {
		BookingID string `json:"booking_id"`
		Legs      []struct {
			Leg           int
			DepartureTime time.Time `json:"departure_time"`
			Container     string
		}
	}
	for query, legs := range map[string][]int{"": {1, 2}, "?leg=1": {1}, "?leg=2": {2}} {
		doc.Legs = nil
		answer{t: t, body: form("application/json", query)}.into(&doc)
		if doc.BookingID != b.ID || len(doc.Legs) != len(legs) {
			t.Fatalf("%s: %+v", query, doc)
		}
		for i, leg := range legs {
			container, err := base64.StdEncoding.DecodeString(doc.Legs[i].Container)
			if err != nil || doc.Legs[i].Leg != leg {
				t.Errorf("%s: leg %d: %v", query, doc.Legs[i].Leg, err)
			}
			verify(string(container), leg-1)
			if _, seconds := doc.Legs[i].DepartureTime.Zone(); seconds != 3600 {
				t.Errorf("leg %d departs at %v", leg, doc.Legs[i].DepartureTime)
			}
		}
		if got := strings.Count(form("text/calendar", query), "BEGIN:VEVENT"); got != len(legs) {
			t.Errorf("%s: %d events", query, got)
		}
		if ld := form("application/ld+json", query); strings.Count(ld, `"TrainReservation"`) != len(legs) || (ld[0] == '[') != (len(legs) > 1) {
			t.Errorf("%s: %s", query, ld)
		}
		if pdf := form("application/pdf", query); !strings.Contains(pdf, "/Count "+strconv.Itoa(len(legs))+"\n") {
			t.Errorf("%s: the PDF has not %d pages", query, len(legs))
		}
		if _, err := png.Decode(strings.NewReader(form("image/png", query))); err != nil {
			t.Error(err)
		}
	}
	if form("image/png", "") != form("image/png", "?leg=1") || form("image/png", "") == form("image/png", "?leg=2") {
		t.Error("the picture without a leg is not of the first")
	}
	for _, leg := range []string{"3", "0", "-1", "1.0", "%31%00", "", "9999999999999999999"} {
		if got := w.ticketOf(b, "?leg="+leg).problem(400, "invalid-request").names(); got != "leg" {
			t.Errorf("leg=%s: fault is found with %s", leg, got)
		}
	}
	a := w.ticketOf(b, "?leg=002&colour=red", header("Accept", "image/png")).want(200)
	if want := `inline; filename="ticket-` + b.Reference + `-leg-2.png"`; a.header.Get("Content-Disposition") != want {
		t.Errorf("the file is %s", a.header.Get("Content-Disposition"))
	}
}

// Unpaid and cancelled bookings, and those of other users, have no ticket.
func TestTicketOnlyOfOwnPaidBookings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.book()
	link := func() string { return w.get("/bookings/" + b.ID).want(200).resource().Links["ticket"] }
	if a := w.ticketOf(b, ""); a.problem(409, "not-paid").Detail == "" || a.header.Get("Content-Disposition") != "" || link() != "" {
		t.Errorf("%v, the link is %q", a.header, link())
	}
	w.ticketOf(b, "?leg=7").problem(409, "not-paid")
	w.pay(b)
	if want := base + "/bookings/" + b.ID + "/ticket"; link() != want || w.get("/bookings").collection().Data[0].Links["ticket"] != want {
		t.Errorf("the link is %q, want %q", link(), want)
	}
	w.serve("GET", "/bookings/"+b.ID+"/ticket", as("berta-r")).problem(404, "not-found")
	w.serve("GET", "/bookings/"+b.ID+"/ticket", as("anna-w")).problem(403, "forbidden")
	w.serve("GET", "/bookings/"+b.ID+"/ticket").problem(401, "unauthorized")
	head := w.serve("HEAD", "/bookings/"+b.ID+"/ticket", as("anna-r")).want(200)
	if got := w.ticketOf(b, ""); head.body != "" || head.header.Get("Content-Length") != got.header.Get("Content-Length") {
		t.Errorf("HEAD: %v", head.header)
	}
	w.do("DELETE", "/bookings/"+b.ID, as("anna-w")).want(204)
	w.ticketOf(b, "").problem(404, "not-found")
}

// A server that issues none has neither tickets nor links to them.
func TestNoTickets(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) { w.options.Tickets = nil })
	b := w.book()
	w.pay(b)
	w.ticketOf(b, "").problem(404, "not-found")
	if l, ok := w.get("/bookings/" + b.ID).resource().Links["ticket"]; ok {
		t.Errorf("there is a link: %s", l)
	}
}
