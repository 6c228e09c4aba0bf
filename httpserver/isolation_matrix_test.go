package httpserver_test

import (
	"encoding/json"
	"strings"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
)

// whose are the things that an operation is about.
type whose uint8

const (
	everyones whose = iota
	users           // a user's, through whichever client
	clients         // a user's through one client
)

// A row is what is asked of one operation, in this order.
type row struct {
	op    string // as the description writes it
	scope string // r, w or rw; empty is none
	whose whose
	asks  func(own *owned) []ask
}

// An ask is one request, and the status that it is answered with.
type ask struct {
	target string
	owner  int // to the owner, and to everybody if the operation needs no token
	other  int // to whoever else has the scope
	parts  []part
	kin    int // to the owner through another client, if the thing is a user's and it is not as to the owner
}

// Owned is what the owner has, by the ID of each.
type owned struct {
	held, paid, pending, lapsed, cancelled string // bookings
	trip                                   string // of them all
	price                                  json.Number
	hook, delivery                         string
	key                                    string            // of all that the owner has asked for
	pay                                    string            // the body that paid
	container                              string            // of the ticket
	after, tag                             map[string]string // cursors and tags, by list or booking
}

// bookings are all, in whichever state.
func (o *owned) bookings() []string {
	return []string{o.held, o.paid, o.pending, o.lapsed, o.cancelled}
}

// views are the addresses at which the owner sees what there is.
func (o *owned) views(webhooksAlone bool) []string {
	all := []string{"/webhooks", "/webhooks/" + o.hook, "/webhooks/" + o.hook + "/deliveries"}
	if webhooksAlone {
		return all
	}
	for _, b := range o.bookings() {
		all = append(all, "/bookings/"+b+"/payments")
	}
	return append(all, "/bookings", "/bookings?over=true", "/bookings/"+o.cancelled+"?over=true", "/bookings/"+o.held, "/bookings/"+o.paid, "/bookings/"+o.pending, "/bookings/"+o.paid+"/ticket")
}

// settle has the owner make what there is.
func (s *side) settle() *owned {
	s.t.Helper()
	o := &owned{key: "the-same", after: map[string]string{}, tag: map[string]string{}}
	do := func(method, target string, parts ...part) answer {
		s.t.Helper()
		a, _ := s.seen(method, target, theOwner+"/rw", parts)
		return a
	}
	trip := do("GET", search).collection().Data[0]
	o.trip, o.price = trip.ID, trip.Price
	book := func(parts ...part) string {
		s.t.Helper()
		return do("POST", "/bookings", append(parts, body(newBooking(o.trip)))...).want(201).resource().ID
	}
	var hook webhook
	do("POST", "/webhooks", key(o.key), body(ownHook)).want(201).into(&hook)
	o.hook = hook.ID

	o.lapsed = book()
	do("POST", "/bookings/"+o.lapsed+"/payment", body(payment(trip.Price, "4000000000000002"))).want(200)
	o.cancelled = book()
	o.pay = payment(trip.Price, goodCard)
	do("POST", "/bookings/"+o.cancelled+"/payment", body(o.pay)).want(200)
	do("DELETE", "/bookings/"+o.cancelled).want(204)
	s.pass()
	o.held = book(key(o.key))
	o.paid = book()
	do("POST", "/bookings/"+o.paid+"/payment", key(o.key), body(o.pay)).want(200)
	o.pending = book()
	do("POST", "/bookings/"+o.pending+"/payment", body(strings.Replace(payLater, "PRICE", trip.Price.String(), 1))).want(200)

	for list, target := range map[string]string{
		"bookings": "/bookings", "payments": "/bookings/" + o.cancelled + "/payments", "deliveries": "/webhooks/" + o.hook + "/deliveries",
	} {
		next := do("GET", target+"?limit=1").collection().Links["next"]
		_, after, _ := strings.Cut(next, "after=")
		if o.after[list], _, _ = strings.Cut(after, "&"); after == "" {
			s.t.Fatalf("the list of %s has one page: %s", list, next)
		}
		o.tag[list] = do("GET", target).header.Get("Etag")
	}
	o.tag["held"] = do("GET", "/bookings/"+o.held).want(200).header.Get("Etag")
	o.delivery = do("GET", "/webhooks/"+o.hook+"/deliveries").collection().Data[0].ID
	var t struct {
		Legs []struct{ Container []byte }
	}
	if err := json.Unmarshal([]byte(do("GET", "/bookings/"+o.paid+"/ticket", header("Accept", "application/json")).want(200).body), &t); err != nil {
		s.t.Fatal(err)
	}
	o.container = string(t.Legs[0].Container)
	return o
}

// pass lets what is due be done, and an hour go by, after which holds have lapsed.
func (s *side) pass() {
	s.deliver()
	synctest.Wait()
	s.later(time.Hour + time.Minute)
	s.deliver()
}

const (
	ownHook  = `{"url":"https://owner.example/","events":["newBooking","bookingConfirmed","bookingCancelled","bookingExpired","paymentFailed"]}`
	payLater = `{"amount":PRICE,"currency":"eur","source":{"object":"bank_account","name":"Anna","number":"AT32 1904 3002 3547 3204",` +
		`"account_type":"individual","bank_name":"Bank","country":"AT"}}`
)

// to asks each of some targets for the same.
func to(owner, other int, targets ...string) (asks []ask) {
	for _, target := range targets {
		asks = append(asks, ask{target: target, owner: owner, other: other})
	}
	return asks
}

// only makes the asks of a row, if they do not depend on what there is.
func only(owner, other int, targets ...string) func(*owned) []ask {
	return func(*owned) []ask { return to(owner, other, targets...) }
}

// each is a target for each of some bookings.
func each(ending string, bookings ...string) (targets []string) {
	for _, b := range bookings {
		targets = append(targets, "/bookings/"+b+ending)
	}
	return targets
}

// with adds parts to asks.
func with(asks []ask, parts ...part) []ask {
	for i := range asks {
		asks[i].parts = append(asks[i].parts, parts...)
	}
	return asks
}

func all(asks ...[]ask) (joined []ask) {
	for _, a := range asks {
		joined = append(joined, a...)
	}
	return joined
}

var (
	has    = func(tag string) part { return header("If-None-Match", tag) }
	wants  = func(tag string) part { return header("If-Match", tag) }
	forms  = []string{"application/pdf", "image/png", "text/calendar", "application/ld+json", "application/json", "application/octet-stream"}
	absent = uuid.MustParse(nobody).String()
)

// The matrix: every route, each with what can be asked of it that is the owner's.
// What ends something comes last.
var matrix = []row{
	{"GET /", "", everyones, only(303, 303, "/")},
	{"GET /healthz", "", everyones, only(200, 200, "/healthz")},
	{"GET /readyz", "", everyones, only(200, 200, "/readyz")},
	{"GET /openapi.yaml", "", everyones, only(200, 200, "/openapi.yaml")},
	{"GET /openapi.json", "", everyones, only(200, 200, "/openapi.json")},
	{"GET /docs", "", everyones, only(200, 200, "/docs")},
	{"GET /docs/{file}", "", everyones, only(200, 200, "/docs/docs.js")},
	{"GET /problems/{slug}", "", everyones, only(200, 200, "/problems/not-found")},
	{"GET /.well-known/oauth-protected-resource", "", everyones, only(200, 200, "/.well-known/oauth-protected-resource")},
	{"GET /.well-known/oauth-protected-resource/{path}", "", everyones, only(404, 404, "/.well-known/oauth-protected-resource/elsewhere")},
	{"GET /.well-known/ticket-keys", "", everyones, only(200, 200, "/.well-known/ticket-keys")},
	{"POST /tickets/verify", "", everyones, func(own *owned) []ask {
		// Who holds the ticket may know what is on it. Whoever cannot sign one learns nothing.
		forged := strings.Replace(own.container, "#UT", "#ut", 1)
		return all(with(to(400, 400, "/tickets/verify"), octets(own.paid)), with(to(400, 400, "/tickets/verify"), octets(forged)))
	}},
	{"GET /stations", "r", everyones, func(own *owned) []ask {
		return all(to(200, 200, "/stations", "/stations?search=Berlin"), to(400, 400, "/stations?after="+own.after["bookings"]))
	}},
	{"GET /stations/{stationId}", "r", everyones, only(200, 200, "/stations/"+berlin)},
	{"GET /trips", "r", everyones, only(200, 200, strings.Replace(search, "02-01", "02-02", 1))}, // how many places are left of a trip is not a secret
	{"GET /trips/{tripId}", "r", everyones, func(own *owned) []ask { return to(404, 404, "/trips/"+own.held) }},

	{"GET /bookings", "r", users, func(own *owned) []ask {
		return all(
			to(200, 200, "/bookings", "/bookings?limit=1", "/bookings?page=2", "/bookings?limit=1&page=2&after="+own.after["bookings"], "/bookings?after="+own.after["bookings"]),
			to(200, 200, "/bookings?over=true", "/bookings?over=true&limit=1", "/bookings?over=true&page=2", "/bookings?over=false"),
			to(400, 400, "/bookings?after="+own.after["deliveries"], "/bookings?over=true&after="+own.after["bookings"], "/bookings?over=1"),
			with(to(304, 200, "/bookings"), has(own.tag["bookings"])),
			with(to(200, 412, "/bookings"), wants(own.tag["bookings"])),
		)
	}},
	{"GET /bookings/{bookingId}", "r", users, func(own *owned) []ask {
		at := "/bookings/" + own.held
		return all(
			to(200, 404, each("", own.held, own.paid, own.pending)...),
			to(404, 404, each("", own.lapsed, own.cancelled, absent)...),
			to(200, 404, each("?over=true", own.cancelled)...),
			to(404, 404, each("?over=true", own.held, own.paid, own.pending, own.lapsed, absent)...),
			to(400, 400, at+"?over=1"),
			with(to(304, 404, at), has(own.tag["held"])), with(to(304, 404, at), has("W/"+own.tag["held"])), with(to(304, 404, at), has("*")),
			with(to(200, 404, at), wants(own.tag["held"])), with(to(200, 404, at), wants("*")), with(to(412, 404, at), wants(`"x"`)),
			to(400, 400, "/bookings/x"+own.held),
		)
	}},
	{"GET /bookings/{bookingId}/payment", "r", users, func(own *owned) []ask {
		return all(to(200, 404, each("/payment", own.paid, own.pending, own.lapsed, own.cancelled)...), to(404, 404, each("/payment", own.held, absent)...))
	}},
	{"GET /bookings/{bookingId}/payments", "r", users, func(own *owned) []ask {
		return all(
			to(200, 404, each("/payments", own.bookings()...)...), to(404, 404, each("/payments", absent)...),
			to(200, 404, each("/payments?limit=1", own.cancelled)...), to(200, 404, each("/payments?after="+own.after["payments"], own.cancelled)...),
			to(200, 404, each("/payments?page=2", own.paid)...), to(400, 400, each("/payments?page=0", own.paid)...),
		)
	}},
	{"GET /bookings/{bookingId}/ticket", "r", users, func(own *owned) []ask {
		asks := all(
			to(200, 404, each("/ticket", own.paid)...), to(200, 404, each("/ticket?leg=1", own.paid)...), to(400, 404, each("/ticket?leg=9", own.paid)...),
			to(409, 404, each("/ticket", own.held, own.pending)...), to(404, 404, each("/ticket", own.lapsed, own.cancelled, absent)...),
		)
		for _, form := range forms {
			asks = append(asks, with(to(200, 404, each("/ticket", own.paid)...), header("Accept", form))...)
			asks = append(asks, with(to(409, 404, each("/ticket", own.held)...), header("Accept", form))...)
		}
		return append(asks, with(to(406, 406, each("/ticket", own.paid)...), header("Accept", "text/html"))...)
	}},
	{"GET /webhooks", "r", clients, func(own *owned) []ask {
		return all(to(200, 200, "/webhooks", "/webhooks?limit=1", "/webhooks?page=2"), to(400, 400, "/webhooks?after="+own.after["deliveries"]))
	}},
	{"GET /webhooks/{webhookId}", "r", clients, func(own *owned) []ask {
		return all(to(200, 404, "/webhooks/"+own.hook), to(404, 404, "/webhooks/"+absent))
	}},
	{"GET /webhooks/{webhookId}/deliveries", "r", clients, func(own *owned) []ask {
		at := "/webhooks/" + own.hook + "/deliveries"
		return all(to(200, 404, at, at+"?limit=1", at+"?page=2", at+"?after="+own.after["deliveries"]), to(400, 400, at+"?limit=0"))
	}},

	{"POST /bookings", "w", users, func(own *owned) []ask {
		return all(
			with(to(201, 201, "/bookings"), body(newBooking(own.trip)), key(own.key)),
			with(to(422, 422, "/bookings"), body(strings.Replace(newBooking(own.trip), "Anna", "A", 1)), key(own.key)),
			with(to(201, 201, "/bookings"), body(`{"id":"`+own.held+`",`+newBooking(own.trip)[1:])),
		)
	}},
	{"POST /bookings/{bookingId}/payment", "w", users, func(own *owned) []ask {
		again := with(to(200, 404, each("/payment", own.paid)...), body(own.pay), key(own.key))
		reused := with(to(422, 404, each("/payment", own.paid)...), body(payment("1", goodCard)), key(own.key))
		again[0].kin, reused[0].kin = 409, 409 // a key is one client's
		return all(
			again, reused,
			with(to(409, 404, each("/payment", own.paid, own.pending, own.lapsed)...), body(own.pay)),
			with(to(404, 404, each("/payment", own.cancelled, absent)...), body(own.pay)),
			with(to(400, 404, each("/payment", own.held)...), body(payment("1", goodCard))), // is not the price
			with(to(200, 404, each("/payment", own.held)...), body(payment(own.price, "4000000000000002"))),
			with(to(400, 400, each("/payment", own.held)...), body("{}")),
		)
	}},
	{"POST /webhooks", "rw", clients, func(own *owned) []ask {
		return with(to(201, 201, "/webhooks"), body(ownHook), key(own.key))
	}},
	{"PATCH /webhooks/{webhookId}", "rw", clients, func(own *owned) []ask {
		return all(
			with(to(200, 404, "/webhooks/"+own.hook), body(`{"url":"https://owner.example/another"}`)),
			with(to(400, 400, "/webhooks/"+own.hook), body(`{"url":"https://127.0.0.1/"}`)),
			with(to(404, 404, "/webhooks/"+absent), body(`{"disabled":true}`)),
		)
	}},
	{"POST /webhooks/{webhookId}/secret", "rw", clients, func(own *owned) []ask {
		return with(to(200, 404, "/webhooks/"+own.hook+"/secret"), key(own.key))
	}},
	{"POST /webhooks/{webhookId}/ping", "rw", clients, func(own *owned) []ask {
		return with(to(202, 404, "/webhooks/"+own.hook+"/ping"), key(own.key))
	}},
	{"POST /webhooks/{webhookId}/deliveries/{deliveryId}/retry", "rw", clients, func(own *owned) []ask {
		at := "/webhooks/" + own.hook + "/deliveries/"
		return all(to(409, 404, at+own.delivery+"/retry"), to(404, 404, at+absent+"/retry"))
	}},
	{"DELETE /bookings/{bookingId}", "w", users, func(own *owned) []ask {
		return all(
			with(to(412, 404, each("", own.held)...), wants(`"x"`)), with(to(412, 404, each("", own.held)...), has("*")),
			to(409, 404, each("", own.pending)...), to(204, 404, each("", own.held, own.paid)...),
			to(404, 404, each("", own.held, own.lapsed, own.cancelled, absent)...),
		)
	}},
	{"DELETE /webhooks/{webhookId}", "rw", clients, func(own *owned) []ask {
		return all(to(204, 404, "/webhooks/"+own.hook), to(404, 404, "/webhooks/"+own.hook, "/webhooks/"+absent))
	}},
}
