package httpserver_test

import (
	"net/http"
	"strings"
	"testing"
)

// Bodies that are read as they are meant.
func TestBodyVariants(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	trip := w.trip().ID
	for _, text := range []string{
		`{"trip_id":"` + trip + `","passenger_name":"Anna"}`,
		` { "passenger_name" : " Zoë 李 \u00fc " , "trip_id" : "` + strings.ToUpper(trip) + `" } ` + "\r\n",
		`{"id":7,"links":null,"unknown":{"a":[{}]},"trip_id":"` + trip + `","passenger_name":"Anna","has_bicycle":false}`,
		`{"trip_id":"` + trip + `","passenger_name":"نادر\u200cنیا क्\u200dष אב 👩🚀"}`,
		`{"Passenger_Name":1,"trip_id":"` + trip + `","passenger_name":"A"}`,
	} {
		w.post("/bookings", text).want(201)
	}
	chunked := func(r *http.Request) { r.ContentLength = -1 }
	w.do("POST", "/bookings", as("anna-w"), body(newBooking(trip)), chunked).want(201)

	const (
		bank = `"name":"Anna","number":"AT611904300234573201","account_type":"company","bank_name":"B","country":"AT"`
		card = `"name":"Anna","number":"4242-4242-4242-4242","exp_month":12,"exp_year":2025,"address_country":"de"`
	)
	for _, source := range []string{
		`{"object":"card",` + card + `,"cvc":"123"}`,
		`{"cvc":123,` + card + `}`,
		`{"cvc":"123",` + strings.NewReplacer("12,", "12.0,", "2025", "2.025e3").Replace(card) + `}`,
		`{"cvc":"123",` + strings.NewReplacer("12,", "120E-1,", "2025", "2025.000").Replace(card) + `}`,
		`{` + card + `,"cvc":"0123","address_line2":""}`,
		`{"object":"bank_account",` + bank + `}`,
		`{` + bank + `,"sort_code":"12-34-56"}`,
	} {
		b := w.book()
		text := `{"id":"x","status":"paid","amount":113.58,"currency":"eur","source":` + source + `}`
		if a := w.post("/bookings/"+b.ID+"/payment", text).want(200); a.resource().Status != "succeeded" {
			t.Errorf("%s: %s", source, a.body)
		}
	}
	for _, amount := range []string{"113.58", "113.580", "1.1358e2", "11358e-2"} {
		w.post("/bookings/"+w.book().ID+"/payment", strings.Replace(payment("1", goodCard), `"amount":1`, `"amount":`+amount, 1)).want(200)
	}
}

// Whatever is wrong in a body is a 400 that points at it.
func TestBadBodies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.book()
	trip := `"trip_id":"` + b.TripID + `"`
	deep := strings.Repeat("[", 40) + strings.Repeat("]", 40)
	for text, names := range map[string]string{
		``:                                      "",
		`   `:                                   "",
		`null`:                                  "",
		`[]`:                                    "",
		`"text"`:                                "",
		`0`:                                     "",
		`{`:                                     "",
		`{"trip_id`:                             "",
		`{}`:                                    "/trip_id /passenger_name",
		`{` + trip:                              "",
		`{` + trip + `,"passenger_name":"Anna"`: "",
		`{` + trip + `,"passenger_name":"Anna"}{}`:                            "",
		`{` + trip + `,"passenger_name":"Anna"},`:                             "",
		`{` + trip + `,"passenger_name":"Anna"} x`:                            "",
		`{` + trip + `,"passenger_name":"Anna",}`:                             "",
		`{` + trip + `,'passenger_name':'Anna'}`:                              "",
		`{` + trip + `,"passenger_name":"Anna","passenger_name":"Anna"}`:      "/passenger_name",
		`{` + trip + `,"passenger_name":"Anna","x":{"y":1,"y":2}}`:            "/x/y",
		`{` + trip + `,"passenger_name":"Anna","x":` + deep + `}`:             "",
		`{` + trip + `,"passenger_name":"\xff"}`:                              "/passenger_name",
		`{` + trip + `,"passenger_name":"` + "\xff" + `"}`:                    "/passenger_name",
		`{` + trip + `,"passenger_name":"\ud800"}`:                            "/passenger_name",
		`{` + trip + `,"passenger_name":"` + "\x01" + `"}`:                    "/passenger_name",
		`{` + trip + `,"passenger_name":"\u0000"}`:                            "/passenger_name",
		`{` + trip + `,"passenger_name":"   "}`:                               "/passenger_name",
		`{` + trip + `,"passenger_name":""}`:                                  "/passenger_name",
		`{` + trip + `,"passenger_name":"` + strings.Repeat("ä", 201) + `"}`:  "/passenger_name",
		`{` + trip + `,"passenger_name":null}`:                                "/passenger_name",
		`{` + trip + `,"passenger_name":7}`:                                   "/passenger_name",
		`{` + trip + `,"passenger_name":["Anna"]}`:                            "/passenger_name",
		`{` + trip + `,"passenger_name":"Anna","has_dog":"true"}`:             "/has_dog",
		`{` + trip + `,"passenger_name":"Anna","has_dog":1,"has_bicycle":[]}`: "/has_dog /has_bicycle",
		`{` + trip + `,"passenger_name":"Anna","has_dog":null}`:               "/has_dog",
		`{` + trip + `,"passenger_name":"Anna","has_bicycle":null}`:           "/has_bicycle",
		`{` + trip + `,"passenger_name":"A\ufffe"}`:                           "/passenger_name",
		`{` + trip + `,"passenger_name":"` + "\U0010ffff" + `A"}`:             "/passenger_name",
		`{` + trip + `,"passenger_name":"\u200b\u2060\ufeff"}`:                "/passenger_name",
		`{` + trip + `,"passenger_name":"\u0301"}`:                            "/passenger_name",
		`{"trip_id":7,"passenger_name":"Anna"}`:                               "/trip_id",
		`{"trip_id":null,"passenger_name":"Anna"}`:                            "/trip_id",
		`{"trip_id":null,"passenger_name":null}`:                              "/trip_id /passenger_name",
		`{"trip_id":"","passenger_name":"Anna"}`:                              "/trip_id",
		`{"trip_id":"trip","passenger_name":"Anna"}`:                          "/trip_id",
		`{"trip_id":"{` + b.TripID + `}","passenger_name":"A"}`:               "/trip_id",
		"\xef\xbb\xbf{}": "",
		`<booking/>`:     "",
	} {
		w.refused("/bookings", text, names)
	}
}

func TestBadPayments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := "/bookings/" + w.book().ID + "/payment"
	card := func(change string, to ...string) string {
		return strings.Replace(payment("113.58", goodCard), change, strings.Join(to, ""), 1)
	}
	for text, names := range map[string]string{
		`{}`: "/amount /currency /source",
		`{"amount":null,"currency":null,"source":null}`:                               "/amount /currency /source",
		`{"amount":1,"currency":"eur","source":{}}`:                                   "/source",
		`{"amount":1,"currency":"eur","source":[]}`:                                   "/source",
		`{"amount":1,"currency":"eur","source":"tok_visa"}`:                           "/source",
		`{"amount":1,"currency":"eur","source":{"name":"Anna","number":"1"}}`:         "/source",
		`{"amount":1,"currency":"eur","source":{"cvc":"1","account_type":"company"}}`: "/source",
		card(`113.58`, `"113.58"`):                                                    "/amount",
		card(`113.58`, `113.581`):                                                     "/amount",
		card(`113.58`, `1e999`):                                                       "/amount",
		card(`113.58`, `0`):                                                           "/amount",
		card(`113.58`, `-113.58`):                                                     "/amount",
		card(`113.58`, `01`):                                                          "",
		card(`113.58`, `NaN`):                                                         "/amount",
		card(`113.58`, `999999999999999999999`):                                       "/amount",
		card(`"eur"`, `"EUR"`):                                                        "/currency",
		card(`"eur"`, `"euro"`):                                                       "/currency",
		card(`"eur"`, `""`):                                                           "/currency",
		card(`"eur"`, `978`):                                                          "/currency",
		card(`"card"`, `"cash"`):                                                      "/source/object",
		card(`"card"`, `1`):                                                           "/source/object",
		card(`"card"`, `"bank_account"`):                                              "/source/cvc /source/exp_month /source/exp_year /source/address_line1 /source/address_country /source/address_city /source/account_type /source/bank_name /source/country",
		`{"amount":1,"currency":"eur","source":{"object":"card"}}`:                    "/source/name /source/number /source/cvc /source/exp_month /source/exp_year /source/address_country",
		`{"amount":1,"currency":"eur","source":{"object":"card","name":" ","exp_month":"","number":"` + goodCard + `"}}`: "/source/name /source/cvc /source/exp_month /source/exp_year /source/address_country",
		`{"amount":1,"currency":"eur","source":{"object":"bank_account"}}`:                                               "/source/name /source/number /source/account_type /source/bank_name /source/country",
		`{"amount":1,"currency":"eur","source":{"exp_year":2030}}`:                                                       "/source/name /source/number /source/cvc /source/exp_month /source/address_country",
		card(`"cvc":`, `"cvv":"123","cvc":`):                                                                             "/source/cvv",
		card(`"cvc":`, `"a/b~":"123","cvc":`):                                                                            "/source/a~1b~0",
		card(`"cvc":"123",`):                                                                                             "/source/cvc",
		card(`"123"`, `true`):                                                                                            "/source/cvc",
		card(`"123"`, `123.0`):                                                                                           "/source/cvc",
		card(`"123"`, `1.23e2`):                                                                                          "/source/cvc",
		card(`"123"`, `1e2`):                                                                                             "/source/cvc",
		card(`"123"`, `-123`):                                                                                            "/source/cvc",
		card(`"123"`, `12`):                                                                                              "/source/cvc",
		card(`"`+goodCard+`"`, goodCard+".0"):                                                                            "/source/number",
		card(`"exp_month":12`, `"exp_month":12.5`):                                                                       "/source/exp_month",
		card(`"exp_month":12`, `"exp_month":1e1000000000`):                                                               "/source/exp_month",
		card(`"exp_month":12`, `"exp_month":4294967308`):                                                                 "/source/exp_month",
		card(`"exp_month":12`, `"exp_month":-0`):                                                                         "/source/exp_month",
		card(`"Anna Example"`, `"\ufffe"`):                                                                               "/source/name",
		card(`"Anna Example"`, `"\u200b"`):                                                                               "/source/name",
		card(`"123"`, `"12"`):                                                                                            "/source/cvc",
		card(`"123"`, `{}`):                                                                                              "/source/cvc",
		card(`"123"`, `"123","cvc":"124"`):                                                                               "/source/cvc",
		card(goodCard, "4242424242424241"):                                                                               "/source/number",
		card(goodCard, "4242"):                                                                                           "/source/number",
		card(`"`+goodCard+`"`, goodCard):                                                                                 "/source/number",
		card(`"exp_month":12`, `"exp_month":13`):                                                                         "/source/exp_month",
		card(`"exp_month":12`, `"exp_month":"12"`):                                                                       "/source/exp_month",
		card(`"exp_month":12`, `"exp_month":1.5`):                                                                        "/source/exp_month",
		card(`"exp_month":12,`):                                                                                          "/source/exp_month",
		card(`2025`, `25`):                                                                                               "/source/exp_year",
		card(`2025`, `1e400`):                                                                                            "/source/exp_year",
		card(`"de"`, `"Germany"`):                                                                                        "/source/address_country",
		card(`"de"`, `"xx"`):                                                                                             "/source/address_country",
		card(`"de"`, `"ZZ"`):                                                                                             "/source/address_country",
		card(`"Anna Example"`, `null`):                                                                                   "/source/name",
		card(`"123"`, `null`):                                                                                            "/source/cvc",
		card(`"card"`, `null`):                                                                                           "/source/object",
		card(`"cvc":`, `"address_line2":null,"cvc":`):                                                                    "/source/address_line2",
		card(`"Anna Example"`, `7`):                                                                                      "/source/name",
	} {
		w.refused(path, text, names)
	}
	if log := w.log.String(); strings.Contains(log, "42424242") || strings.Contains(log, "Secret") {
		t.Errorf("the log holds what it should not: %s", log)
	}
}

// refused posts a body that must be refused, with faults at these pointers, and
// without an echo of a card's number.
func (w *world) refused(target, text, names string) {
	w.t.Helper()
	a := w.post(target, text)
	if a.status != 400 {
		w.t.Errorf("%.200s: status %d, want 400: %s", text, a.status, a.body)
		return
	}
	p := a.problem(400, "invalid-request")
	if p.names() != names || len(p.Errors) == 0 {
		w.t.Errorf("%.200s: the problem points at %q, want %q: %s", text, p.names(), names, p.Detail)
	}
	if strings.Contains(a.body, "42424242") || strings.Contains(a.body, "Secret") {
		w.t.Errorf("the problem quotes the card: %s", a.body)
	}
}

// A body has a limit, whatever it says of its length.
func TestBodyLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	full := newBooking(w.trip().ID)
	full += strings.Repeat(" ", 64<<10-len(full))
	chunked := func(r *http.Request) { r.ContentLength = -1 }
	w.do("POST", "/bookings", as("anna-w"), body(full)).want(201)
	w.do("POST", "/bookings", as("anna-w"), body(full), chunked).want(201)
	w.do("POST", "/bookings", as("anna-w"), body(full+" ")).problem(413, "content-too-large")
	w.do("POST", "/bookings", as("anna-w"), body(full+" "), chunked).problem(413, "content-too-large")
	w.do("POST", "/bookings", as("anna-w"), body(full), func(r *http.Request) { r.Body = http.NoBody }).problem(400, "invalid-request")
}
