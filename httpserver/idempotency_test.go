package httpserver_test

import (
	"strings"
	"testing"
	"time"
)

func key(k string) part { return header("Idempotency-Key", k) }

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	trip := w.trip().ID
	ask := func(who, k, text string) answer {
		t.Helper()
		return w.do("POST", "/bookings", as(who), body(text), key(k))
	}
	first := ask("anna-w", "k1", newBooking(trip)).want(201)
	id := first.resource().ID
	if first.header.Get("Idempotency-Replayed") != "" {
		t.Error("the first answer says that it is not")
	}
	for _, k := range []string{"k1", `"k1"`} { // an IETF draft has keys in quotation marks
		again := ask("anna-w", k, newBooking(trip)).want(201)
		if again.header.Get("Idempotency-Replayed") != "true" || again.body != first.body ||
			again.header.Get("Location") != first.header.Get("Location") || again.header.Get("Sunset") != first.header.Get("Sunset") {
			t.Errorf("%s: %v\n%s, was\n%v\n%s", k, again.header, again.body, first.header, first.body)
		}
	}
	xml := w.do("POST", "/bookings", as("anna-w"), key("k1"),
		xmlBody("<booking><passenger_name>Anna Example</passenger_name><trip_id>"+trip+"</trip_id></booking>")).want(201)
	if xml.header.Get("Idempotency-Replayed") != "true" || xml.resource().ID != id {
		t.Errorf("the same in XML: %v", xml.header)
	}
	ask("anna-w", "k1", strings.Replace(newBooking(trip), "Anna", "Berta", 1)).problem(422, "key-reused")
	if other := ask("berta-w", "k1", newBooking(trip)).want(201); other.resource().ID == id || other.header.Get("Idempotency-Replayed") != "" {
		t.Error("another's key is hers")
	}
	if n := len(w.get("/bookings").collection().Data); n != 1 {
		t.Errorf("anna has %d bookings", n)
	}

	// The key of a payment is another, even if it is the same word.
	price := w.get("/trips/" + trip).resource().Price
	target := "/bookings/" + id + "/payment"
	w.do("POST", target, as("anna-w"), key("k1"), body(payment("1", goodCard))).problem(400, "amount-mismatch") // is not kept
	paid := w.do("POST", target, as("anna-w"), key("k1"), body(payment(price, goodCard))).want(200)
	again := w.do("POST", target, as("anna-w"), key("k1"), body(payment(price, goodCard))).want(200)
	if again.header.Get("Idempotency-Replayed") != "true" || again.body != paid.body {
		t.Errorf("%v\n%s, was\n%s", again.header, again.body, paid.body)
	}
	w.do("POST", target, as("anna-w"), key("k1"), body(payment(price, "4000000000000002"))).problem(422, "key-reused")
	w.do("POST", target, as("anna-w"), key("k2"), body(payment(price, goodCard))).problem(409, "already-paid")
	if n := len(w.get(target + "s").collection().Data); n != 1 {
		t.Errorf("%d payments", n)
	}
	w.later(24 * time.Hour)
	if later := ask("anna-w", "k1", newBooking(w.get(strings.Replace(search, "02-01", "02-05", 1)).collection().Data[0].ID)).want(201); later.resource().ID == id {
		t.Error("a key is kept for more than a day")
	}

	for _, bad := range []part{
		key(""), key(" "), key(`""`), key(`" "`), key("ü"), key(`"ü"`), key("a\tb"), key("\"a\tb\""), key("a\x7f"), key("a\x00"),
		key(strings.Repeat("k", 256)), key(`"` + strings.Repeat("k", 256) + `"`),
		header("Idempotency-Key", "a", "a"), header("Idempotency-Key", `"a"`, `"b"`), header("Idempotency-Key", "", ""),
		key(`"`), key(`"a`), key(`"a", "b"`), key(`"a" "b"`), key(`"a"b"`), key(`"a\"`), key(`"a\b"`), key(`"a";x=1`),
	} {
		for _, target := range []string{"/bookings", target} {
			p := w.do("POST", target, as("anna-w"), body("{}"), bad).problem(400, "invalid-request")
			if p.names() != "Idempotency-Key" {
				t.Errorf("wrong is %q", p.names())
			}
		}
	}

	// Whichever way a key is written, it is one.
	trip = w.get(strings.Replace(search, "02-01", "02-05", 1)).collection().Data[0].ID
	long := strings.Repeat("k", 255)
	for _, ways := range [][]string{
		{long, `"` + long + `"`}, {"abc", `"abc"`}, {`"x y"`, "x y"}, {`a\b"c`, `"a\\b\"c"`}, {`a"`, `"a\""`}, {`a\`, `"a\\"`}, {"a;x=1", `"a;x=1"`},
	} {
		first := ask("anna-w", ways[0], newBooking(trip)).want(201)
		again := ask("anna-w", ways[1], newBooking(trip)).want(201)
		if first.header.Get("Idempotency-Replayed") != "" || again.header.Get("Idempotency-Replayed") != "true" || again.body != first.body {
			t.Errorf("%s: %v\n%s\nthen %v\n%s", ways[1], first.header, first.body, again.header, again.body)
		}
	}
}

// A card's code is not part of what makes two requests the same: nothing of it
// is kept, not even in a fingerprint.
func TestIdempotentPaymentIgnoresCode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.book()
	target, text := "/bookings/"+b.ID+"/payment", payment(w.get("/trips/"+b.TripID).resource().Price, goodCard)
	first := w.do("POST", target, as("anna-w"), key("k"), body(text)).want(200)
	again := w.do("POST", target, as("anna-w"), key(`"k"`), body(strings.Replace(text, `"123"`, `"999"`, 1))).want(200)
	if again.header.Get("Idempotency-Replayed") != "true" || again.body != first.body {
		t.Errorf("%v\n%s, was\n%s", again.header, again.body, first.body)
	}
	w.do("POST", target, as("anna-w"), key("k"), body(strings.Replace(text, `"exp_month":12`, `"exp_month":11`, 1))).problem(422, "key-reused")
}
