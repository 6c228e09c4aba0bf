package httpserver_test

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

// Query strings that real clients send, and that must work.
func TestQueryVariants(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const pair = "origin=" + berlin + "&destination=" + paris
	want := w.get(search).collection()
	if len(want.Data) < 3 {
		t.Fatalf("%d trips", len(want.Data))
	}
	for _, query := range []string{
		"&&" + pair + "&date=2024-02-01&&",
		"?" + "&" + pair + "&date=2024-02-01&utm_source=x&page[size]=3&%zz=%zz&=&=x&novalue",
		pair + "&date=2024-02-01T00:00:00Z",
		pair + "&date=2024-02-01T00:00:00.000Z",
		pair + "&date=2024-02-01T00:00:00.123456789Z",
		pair + "&date=2024-02-01T00:00:00",
		pair + "&date=2024-02-01T01:00:00%2B01:00",
		pair + "&date=2024-02-01T01:00:00+01:00", // a blank where a plus was
		strings.Replace(pair, berlin, strings.ToUpper(berlin), 1) + "&date=2024-02-01&bicycles=false&dogs=false",
		"%6frigin=" + berlin + "&destination=" + paris + "&date=2024-02-01",
	} {
		got := w.get("/trips?" + query).collection()
		if len(got.Data) != len(want.Data) || got.Data[0].ID != want.Data[0].ID {
			t.Errorf("%s: %d trips, want %d", query, len(got.Data), len(want.Data))
		}
	}
	if n := len(w.get("/trips?" + pair + "&date=2019-02-01").collection().Data); n != 0 {
		t.Errorf("%d trips on a day that is over", n)
	}
	all := w.get(search + "&bicycles=true").collection()
	if len(all.Data) == 0 || len(all.Data) == len(want.Data) {
		t.Errorf("%d of %d trips take bicycles", len(all.Data), len(want.Data))
	}
	near := w.get("/stations?coordinates=52.52,%2013.37").collection()
	if len(near.Data) == 0 || near.Data[0].ID != berlin {
		t.Errorf("near Berlin are %v", near.Data)
	}
	for _, query := range []string{"?search=", "?search=%20&country=de&limit=100", "?search=berlin&search2=x"} {
		if n := len(w.get("/stations" + query).collection().Data); n == 0 {
			t.Errorf("/stations%s finds none", query)
		}
	}
	if n := len(w.get("/stations?search=.%2C!").collection().Data); n != 0 {
		t.Errorf("signs alone find %d stations", n)
	}
}

// Whatever is wrong in a query is a 400 that names the parameter.
func TestBadQueries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.book()
	const pair = "/trips?origin=" + berlin + "&destination=" + paris
	for target, names := range map[string]string{
		"/stations?page=0":                                         "page",
		"/stations?page=-1":                                        "page",
		"/stations?page=1.0":                                       "page",
		"/stations?page=1e2":                                       "page",
		"/stations?page=%2B1":                                      "page",
		"/stations?page=99999999999999999999":                      "page",
		"/stations?page=1000001":                                   "page",
		"/stations?page=1&page=1":                                  "page",
		"/stations?page":                                           "page",
		"/stations?page=&limit=":                                   "page limit",
		"/stations?limit=0":                                        "limit",
		"/stations?limit=101":                                      "limit",
		"/stations?limit=0x10":                                     "limit",
		"/stations?limit=%31%zz":                                   "limit",
		"/stations?search=%ff":                                     "search",
		"/stations?search=%00":                                     "search",
		"/stations?search=ber%00lin":                               "search",
		"/stations?search=%C2%85":                                  "search",
		"/stations?search=" + strings.Repeat("ab+", 67):            "search",
		"/stations?coordinates=52,%0A13":                           "coordinates",
		"/stations?search=a&search=":                               "search",
		"/stations?country=deu":                                    "country",
		"/stations?country=%F0%9F%9A%82":                           "country",
		"/stations?country=":                                       "country",
		"/stations?coordinates=1":                                  "coordinates",
		"/stations?coordinates=1,2,3":                              "coordinates",
		"/stations?coordinates=91,0":                               "coordinates",
		"/stations?coordinates=0,-181":                             "coordinates",
		"/stations?coordinates=NaN,0":                              "coordinates",
		"/stations?coordinates=0x1,0":                              "coordinates",
		"/stations?coordinates=Inf,0":                              "coordinates",
		"/stations?coordinates=1e400,0":                            "coordinates",
		"/stations?coordinates=,":                                  "coordinates",
		"/stations?after=x":                                        "after",
		"/stations?after=%00":                                      "after",
		"/stations?after=AAAAAAAAAAAAAAAAAAAAAA":                   "after",
		"/trips":                                                   "origin destination date",
		"/trips?origin=&destination=x&date=":                       "origin date destination",
		pair:                                                       "date",
		pair + "&date=":                                            "date",
		pair + "&date=2024-02-01T9:00:00Z":                         "date",
		pair + "&date=2024-02-01T9:00":                             "date",
		pair + "&date=2024-02-01T09:00:00,5Z":                      "date",
		pair + "&date=2024-02-01T09:00:00,5":                       "date",
		pair + "&date=2024-02-01T09:00:00%2B1:00":                  "date",
		pair + "&date=2024-02-01&direct=yes":                       "direct",
		pair + "&date=yesterday":                                   "date",
		pair + "&date=2024-02-30":                                  "date",
		pair + "&date=2024-02-01T25:00:00Z":                        "date",
		pair + "&date=9999999-01-01":                               "date",
		pair + "&date=0000-01-01":                                  "date",
		pair + "&date=2024-02-01&date=2024-02-01":                  "date",
		pair + "&date=2024-02-01&bicycles=1":                       "bicycles",
		pair + "&date=2024-02-01&dogs=TRUE&bicycles=":              "bicycles dogs",
		pair + "&date=2024-02-01&page=x&limit=y":                   "page limit",
		pair + "&date=2024-02-01&after=" + strings.Repeat("A", 43): "",
		"/trips?date=2024-02-01&origin=" + berlin + "&destination=" + berlin:              "destination",
		"/trips?date=2024-02-01&origin=" + nobody + "&destination=" + berlin:              "origin",
		"/trips?date=2024-02-01&origin=" + berlin + "&destination=" + nobody:              "destination",
		"/trips?date=2024-02-01&origin=berlin&destination=%7B" + paris + "%7D":            "origin destination",
		"/trips?date=2024-02-01&origin=urn:uuid:" + berlin + "&destination=" + paris[:35]: "origin destination",
		"/bookings?page=0":                               "page",
		"/bookings?limit=1000":                           "limit",
		"/bookings?after=AAAA":                           "after",
		"/bookings/" + b.ID + "/payments?after=AAAA":     "after",
		"/bookings/x/payments?page=0":                    "bookingId",
		"/bookings/x":                                    "bookingId",
		"/bookings/undefined/payment":                    "bookingId",
		"/bookings/" + strings.ReplaceAll(b.ID, "-", ""): "bookingId",
		"/bookings/%00":                                  "bookingId",
		"/trips/x":                                       "tripId",
		"/stations/%7B" + berlin + "%7D":                 "stationId",
		"/stations/" + berlin + "%20":                    "stationId",
		"/stations/g" + berlin[1:]:                       "stationId",
		"/trips/" + url.PathEscape("💥💥💥"):                "tripId",
	} {
		a := w.get(target)
		if names == "" {
			continue // may be fine, may be refused: only no failure
		}
		if a.status != 400 {
			t.Errorf("%s: status %d, want 400: %s", target, a.status, a.body)
			continue
		}
		if p := a.problem(400, "invalid-request"); p.names() != names || !utf8.ValidString(p.Detail) {
			t.Errorf("%s: the problem names %q, want %q", target, p.names(), names)
		}
	}
	if p := w.do("DELETE", "/bookings/x", as("anna-w")).problem(400, "invalid-request"); p.names() != "bookingId" {
		t.Errorf("DELETE names %q", p.names())
	}
	if p := w.post("/bookings/x/payment", payment("1", goodCard)).problem(400, "invalid-request"); p.names() != "bookingId" {
		t.Errorf("POST of a payment names %q", p.names())
	}
}

// The name and the detail of a fault form a sentence, of one form for the same mistake.
func TestDetailsAreSentences(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for query, want := range map[string]string{
		"/stations?limit=101":     "limit must be a whole number from 1 to 100.",
		"/stations?limit=x":       "limit must be a whole number from 1 to 100.",
		"/stations?limit=0&page=": "page must not be empty; limit must be a whole number from 1 to 100.",
	} {
		if p := w.get(query).problem(400, "invalid-request"); p.Detail != want {
			t.Errorf("%s: %q, want %q", query, p.Detail, want)
		}
	}
}

// A query of more pairs than any client needs is refused, and not read.
func TestTooManyParameters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, target := range []string{"/stations?", search + "&", "/bookings?"} {
		w.get(target + strings.Repeat("a=b&", 80) + "limit=1").want(200)
		for _, more := range []string{"a=b&", "&", "limit=1&", "%&"} {
			if got := w.get(target+strings.Repeat(more, 200)).problem(400, "invalid-request").names(); got != "query" {
				t.Errorf("%s with %q: fault is found with %s", target, more, got)
			}
		}
	}
}
