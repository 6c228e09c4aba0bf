package httpserver_test

import (
	"bytes"
	"encoding/xml"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

var inXML = header("Accept", "application/xml")

func xmlBody(text string) part {
	return func(r *http.Request) {
		header("Content-Type", "application/xml")(r)
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
	}
}

// xmlOf writes in XML what a JSON text says: an object's members are elements,
// an array's items are elements of the name that goes with the array's.
func xmlOf(t *testing.T, text, root, plural string) string {
	t.Helper()
	items := map[string]string{
		"stations": "station", "trips": "trip", "bookings": "booking", "payments": "payment", "legs": "leg", "errors": "i",
	}
	d := jsontext.NewDecoder(strings.NewReader(text))
	var b bytes.Buffer
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>`)
	var value func(name, attrs string)
	value = func(name, attrs string) {
		token, err := d.ReadToken()
		if err != nil {
			t.Fatal(err)
		}
		if token.Kind() == '[' && name == "data" {
			name = plural
		}
		b.WriteString("<" + name + attrs + ">")
		switch token.Kind() {
		case '{':
			for d.PeekKind() != '}' {
				member, err := d.ReadToken()
				if err != nil {
					t.Fatal(err)
				}
				value(member.String(), "")
			}
		case '[':
			for d.PeekKind() != ']' {
				value(items[name], "")
			}
		default:
			if err := xml.EscapeText(&b, []byte(token.String())); err != nil {
				t.Fatal(err)
			}
		}
		if token.Kind() == '{' || token.Kind() == '[' {
			if _, err := d.ReadToken(); err != nil {
				t.Fatal(err)
			}
		}
		b.WriteString("</" + name + ">")
	}
	attrs := ""
	if root == "problem" {
		attrs = ` xmlns="urn:ietf:rfc:7807"`
	}
	value(root, attrs)
	return b.String()
}

// XML says what JSON says, of every resource.
func TestXML(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.book()
	w.post("/bookings/"+b.ID+"/payment", payment(w.get("/trips/"+b.TripID).resource().Price, "4000000000000002")).want(200)
	w.post("/bookings", strings.Replace(newBooking(b.TripID), "Anna Example", `<&>\"'\u2028\u0085 Ål`, 1)).problem(400, "invalid-request")
	w.post("/bookings", strings.Replace(newBooking(b.TripID), "Anna Example", `<&>]]>\"'\u2028 Ål 🚆`, 1)).want(201)
	for _, c := range []struct{ target, root, plural string }{
		{"/stations?limit=3&search=ber&country=de", "data", "stations"},
		{"/stations/" + berlin, "station", ""},
		{search, "data", "trips"},
		{"/trips/" + b.TripID, "trip", ""},
		{"/bookings", "data", "bookings"},
		{"/bookings?page=9", "data", "bookings"},
		{"/bookings/" + b.ID, "booking", ""},
		{"/bookings/" + b.ID + "/payment", "payment", ""},
		{"/bookings/" + b.ID + "/payments", "data", "payments"},
		{"/healthz", "health", ""},
	} {
		want := xmlOf(t, w.get(c.target).want(200).body, c.root, c.plural)
		got := w.do("GET", c.target, as("anna-r"), inXML).want(200)
		if got.header.Get("Content-Type") != "application/xml" || got.body != want {
			t.Errorf("%s: %s\n%s\nwant\n%s", c.target, got.header.Get("Content-Type"), got.body, want)
		}
	}
	bad := "/trips?origin=x&date=<&>&limit=0"
	a := w.do("GET", bad, as("anna-r"), inXML)
	p := a.problem(400, "invalid-request")
	json := w.get(bad)
	json.body = strings.Replace(json.body, json.problem(400, "invalid-request").Instance, p.Instance, 1)
	if want := xmlOf(t, json.body, "problem", ""); a.body != want {
		t.Errorf("%s\nwant\n%s", a.body, want)
	}
}

// A booking that was got in XML can be sent back to book the same again.
func TestBookingFromXML(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	trip := w.get(search + "&bicycles=true").collection().Data[0].ID
	const example = `<?xml version="1.0" encoding="utf-8"?>
<!-- as a client would write it -->
<booking>
  <trip_id> TRIP </trip_id>
  <passenger_name>Anna &amp; Ål &#x1F686; <![CDATA[<x>]]></passenger_name>
  <has_bicycle> true </has_bicycle>
  <has_dog>0</has_dog>
  <unknown><passenger_name>somebody</passenger_name></unknown>
</booking>
`
	made := w.do("POST", "/bookings", as("anna-w"), xmlBody(strings.Replace(example, "TRIP", trip, 1)), inXML).want(201)
	if made.header.Get("Content-Type") != "application/xml" || made.header.Get("Location") == "" {
		t.Errorf("%v", made.header)
	}
	var b struct {
		XMLName xml.Name `xml:"booking"`
		Name    string   `xml:"passenger_name"`
		Trip    string   `xml:"trip_id"`
		Bicycle bool     `xml:"has_bicycle"`
		Dog     bool     `xml:"has_dog"`
	}
	if err := xml.Unmarshal([]byte(made.body), &b); err != nil {
		t.Fatal(err)
	}
	if b.Name != "Anna & Ål 🚆 <x>" || b.Trip != trip || !b.Bicycle || b.Dog {
		t.Errorf("%+v", b)
	}
	again := w.do("POST", "/bookings", as("anna-w"), xmlBody("\ufeff"+made.body)).want(201)
	if again.header.Get("Content-Type") != "application/json" || !strings.Contains(again.body, `"passenger_name":"Anna & Ål 🚆 <x>"`) {
		t.Error(again.body)
	}
	nils := `<b:booking xmlns:b="urn:b" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><b:trip_id>` + trip +
		`</b:trip_id><b:passenger_name>A</b:passenger_name><has_dog i:nil="true"/></b:booking>`
	w.do("POST", "/bookings", as("anna-w"), xmlBody(nils)).want(201)
}

func TestBadXML(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	trip := w.trip().ID
	good := "<trip_id>" + trip + "</trip_id><passenger_name>A</passenger_name>"
	for _, c := range []struct{ body, names string }{
		{"", ""},
		{"  ", ""},
		{"{}", ""},
		{"<booking>", ""},
		{"<booking/>", "/trip_id /passenger_name"},
		{"<bookings>" + good + "</bookings>", ""},
		{"<booking>" + good + "</booking><booking/>", ""},
		{"<booking>" + good + "</booking>x", ""},
		{"x<booking>" + good + "</booking>", ""},
		{"<booking>" + good + "</bookin>", ""},
		{"<booking>" + good + "<has_dog>yes</has_dog></booking>", "/has_dog"},
		{"<booking>" + good + "<has_bicycle/></booking>", "/has_bicycle"},
		{"<booking>" + good + "<passenger_name>B</passenger_name></booking>", "/passenger_name"},
		{"<booking><trip_id>" + trip + "</trip_id><passenger_name><b>A</b></passenger_name></booking>", "/passenger_name"},
		{"<booking><trip_id>x</trip_id><passenger_name>A</passenger_name></booking>", "/trip_id"},
		{"<booking>" + strings.Replace(good, "A", "", 1) + "</booking>", "/passenger_name"},
		{"<booking>" + strings.Replace(good, "A", "&nbsp;", 1) + "</booking>", ""},
		{"<booking>" + strings.Replace(good, "A", "&#1;", 1) + "</booking>", ""},
		{"<booking>" + strings.Replace(good, "A", "\xff", 1) + "</booking>", ""},
		{`<!DOCTYPE booking [<!ENTITY a "AAAAAAAAAA">]><booking>` + strings.Replace(good, "A", "&a;", 1) + "</booking>", ""},
		{`<!DOCTYPE booking SYSTEM "file:///etc/passwd"><booking>` + good + "</booking>", ""},
		{`<?xml version="1.0" encoding="UTF-16"?><booking>` + good + "</booking>", ""},
		{`<?xml version="2.0"?><booking>` + good + "</booking>", ""},
		{"<booking>" + good + strings.Repeat("<a>", 40) + strings.Repeat("</a>", 40) + "</booking>", ""},
	} {
		p := w.do("POST", "/bookings", as("anna-w"), xmlBody(c.body), inXML).problem(400, "invalid-request")
		if len(p.Errors) == 0 || p.names() != c.names {
			t.Errorf("%.80q: wrong are %q, want %q: %s", c.body, p.names(), c.names, p.Detail)
		}
	}
	w.do("POST", "/bookings", as("anna-w"), xmlBody("<booking>"+strings.Repeat(" ", 64<<10)+"</booking>")).problem(413, "content-too-large")
	if n := len(w.get("/bookings").collection().Data); n != 0 {
		t.Errorf("%d bookings were made", n)
	}
}
