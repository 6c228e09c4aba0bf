package httpserver_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
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
		"stations": "station", "trips": "trip", "bookings": "booking", "payments": "payment", "legs": "leg", "calls": "call", "errors": "i",
		"webhooks": "webhook", "events": "event", "deliveries": "delivery", "refusing": "refusal", "refunds": "refund",
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
	w.post("/bookings", strings.Replace(newBooking(b.TripID), "Anna Example", `<&>]]>\"' Ål 🚆`, 1)).want(201)
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

// numbered repeats a text so many times, with the number of each in it.
func numbered(format string, count int) string {
	var b strings.Builder
	for i := range count {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
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
}

// All forms that XML allows are accepted, although clients use few of them.
func TestXMLVariants(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	trip := w.trip().ID
	for _, text := range []string{
		"<?xml version='1.0'?>BOOKING",
		"\ufeff<?xml version = \"1.0\"\n\tencoding='Utf-8' standalone=\"no\" ?>\r\nBOOKING\r\n",
		`<?xml version="1.0" standalone='yes'?>BOOKING`,
		"\n\t BOOKING <!-- and --> <?php echo ?> <!-- more -->\n",
		`<?xml-stylesheet href="a"?><?a?><!---->BOOKING`,
		`<!-- & < ]]> <?xml? -->BOOKING`,
		`<booking xmlns="urn:b">CONTENT</booking>`,
		`<booking xmlns="urn:b" xmlns:c="urn:b" a="1" c:a="2">CONTENT</booking>`,
		`<b:booking xmlns:b="urn:b" b:x='"' x="'">CONTENT</b:booking>`,
		`<b:booking xmlns:b="urn:b"><b:trip_id>TRIP</b:trip_id><b:passenger_name xml:lang="de" xml:space='preserve'>A</b:passenger_name></b:booking >`,
		`<booking><x xmlns:b="urn:b"><b:x xmlns:b="urn:c" b:y="1"/><b:x/></x><x xmlns=""/>CONTENT</booking>`,
		`<booking xmlns:xml="http://www.w3.org/XML/1998/namespace" a='&lt;&#xA;&quot;' é.1-·="]]>"  b = "2"	>CONTENT<Ω/></booking>`,
		`<booking a="&#x1F686;" >CONTENT<![CDATA[ &#xD800; &none; <a b=c> ]]]]><![CDATA[>]]>&#10;&#x9;&#13;</booking>`,
		"<booking" + numbered(` a%d=""`, 2000) + ">CONTENT</booking>",
		"<booking" + numbered(` xmlns:p%[1]d="%[1]d" p%[1]d:a=""`, 16) + ">CONTENT<x" + numbered(` p%d:b=""`, 16) + ` b=""/></booking>`,
		"<booking>CONTENT<x>\ufdd0\U0001ffff&#xFDD0;&#000000065;&#xfffd;</x></booking>",
	} {
		text = strings.Replace(text, "BOOKING", "<booking>CONTENT</booking>", 1)
		text = strings.Replace(text, "CONTENT", "<trip_id>TRIP</trip_id><passenger_name>A</passenger_name>", 1)
		if a := w.do("POST", "/bookings", as("anna-w"), xmlBody(strings.Replace(text, "TRIP", trip, 1))); a.status != 201 {
			t.Errorf("%q: %s", text, a.body)
		}
	}
}

// Malformed XML is refused, even where it could be read somehow, because other readers would
// refuse it or read it differently.
func TestMalformedXML(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	trip := w.trip().ID
	inName := func(s string) string {
		return "<booking><trip_id>TRIP</trip_id><passenger_name>A" + s + "</passenger_name></booking>"
	}
	in := func(attributes string) string {
		return "<booking" + attributes + ">CONTENT</booking>"
	}
	for _, c := range []struct {
		text, says string
	}{
		// references
		{inName("&#xD800;"), "U+D800"}, {inName("&#57343;"), "U+DFFF"}, {inName("&#xFFFE;"), "U+FFFE"}, {inName("&#x0000ffff;"), "U+FFFF"},
		{inName("&#0;"), "U+0000"}, {inName("&#x1F;"), "U+001F"}, {inName("&#x110000;"), ""}, {inName("&#99999999999999999999;"), ""},
		{inName("&#X41;"), ""}, {inName("&#;"), ""}, {inName("&#x;"), ""}, {inName("&#65 ;"), ""}, {inName("&amp"), ""}, {inName("& "), ""},
		{inName("&nbsp;"), ""}, {inName("&#x4G;"), ""}, {in(` a="&#xD800;"`), "U+D800"}, {in(` a="&none;"`), ""}, {in(` a="&"`), ""},
		{"<booking>CONTENT<x>&#xFFFF;</x></booking>", "U+FFFF"},
		// characters
		{inName("\ufffe"), "U+FFFE"}, {inName("\uffff"), "U+FFFF"}, {inName("\x00"), "U+0000"}, {inName("\x1b"), "U+001B"}, {inName("\xed\xa0\x80"), "UTF-8"},
		{"<booking>CONTENT<!-- \uffff --></booking>", "U+FFFF"}, {"<booking>CONTENT<!-- \x01 --></booking>", "U+0001"}, {"<?a \x02?>BOOKING", "U+0002"},
		{"<booking>CONTENT<!-- \xff --></booking>", "UTF-8"}, {in(" a=\"\x0c\""), "U+000C"}, {"<booking>CONTENT<![CDATA[\ufffe]]></booking>", "U+FFFE"},
		// attributes
		{in(` a="1" a="2"`), "twice"}, {in(` a="1" b="" a='1'`), "twice"}, {in(` xmlns:p="u" xmlns:q="u" p:a="1" q:a="1"`), "twice"},
		{in(` xmlns="u" xmlns="u"`), "twice"}, {in(` xmlns:p="u" xmlns:p="v"`), "twice"}, {in(` xml:lang="de" xml:lang="en"`), "twice"},
		{in(numbered(` a%d=""`, 2000) + ` a7="1"`), "twice"}, {in(` b=""` + numbered(` a%d=""`, 9) + ` b=""`), "twice"},
		{in(numbered(` a%d=""`, 9) + ` xmlns:p="u" xmlns:q="u" p:a="1" q:a="1"`), "twice"}, {in(` xmlns:p="u&#x76;" xmlns:q="uv" p:a="1" q:a="1"`), "twice"},
		{in(numbered(` xmlns:p%[1]d="%[1]d"`, 17)), "too many nested namespaces"},
		{in(`a="1"b="2"`), ""}, {in(` a="1"b="2"`), ""}, {in(` a='1'b='2'`), ""}, {in(` a`), ""}, {in(` a=1`), ""}, {in(` a="<"`), ""}, {in(` a="1`), ""},
		{in(` a=="1"`), ""}, {in(` 1a="1"`), ""}, {in(` ="1"`), ""}, {in(` a="1" /`), ""}, {in("\u00a0a='1'"), ""}, {in("\u2003"), ""},
		{"<booking>CONTENT<x a='1' a='1'/></booking>", "twice"}, {"<booking>CONTENT<x a='1'b='1'/></booking>", ""},
		// names and namespaces
		{"<b:booking>CONTENT</b:booking>", "namespace"}, {in(` b:a="1"`), "namespace"}, {"<booking>CONTENT<x:y/></booking>", "namespace"},
		{"<booking><x xmlns:b='u'/><b:x/>CONTENT</booking>", "namespace"}, {in(` xmlns:b=""`), "namespace"}, {in(` xmlns:xmlns="u"`), "namespace"},
		{in(` xmlns:xml="u"`), "namespace"}, {in(` xmlns:b="http://www.w3.org/XML/1998/namespace"`), "namespace"},
		{in(` xmlns="http://www.w3.org/XML/1998/namespace"`), "namespace"}, {in(` xmlns:b="http://www.w3.org/2000/xmlns/"`), "namespace"},
		{in(` xmlns="http://www.w3.org/2000/xmlns/"`), "namespace"}, {"<xmlns:booking>CONTENT</xmlns:booking>", "namespace"},
		{in(` xmlns:a:b="u"`), ""}, {in(` xmlns:="u"`), ""}, {in(` :a="u"`), ""}, {in(` xmlns:1="u"`), ""},
		{"<:booking>CONTENT</:booking>", ""}, {"<a:b:booking xmlns:a='u'>CONTENT</a:b:booking>", ""}, {"<booking>CONTENT<b:/></booking>", ""},
		{"<booking xmlns:b='u'>CONTENT<b:1/></booking>", ""}, {"<b:booking xmlns:b='u' xmlns:c='u'>CONTENT</c:booking>", ""}, {"<booking>CONTENT<-x/></booking>", ""},
		{"<b:booking xmlns:b='u'>CONTENT</booking>", ""}, {"<booking>CONTENT</booking a='1'>", ""}, {"< booking>CONTENT</booking>", ""}, {"<booking>CONTENT<x / ></booking>", ""},
		// declarations and instructions
		{`<?xml version="1.0"?><?xml version="1.0"?>BOOKING`, "declaration"}, {` <?xml version="1.0"?>BOOKING`, "declaration"},
		{`<!-- --><?xml version="1.0"?>BOOKING`, "declaration"}, {`BOOKING<?xml version="1.0"?>`, "declaration"}, {"<booking><?xml version='1.0'?>CONTENT</booking>", "declaration"},
		{`<?XML version="1.0"?>BOOKING`, "declaration"}, {`<booking>CONTENT<?xMl?></booking>`, "declaration"}, {`<?xml?>BOOKING`, "declaration"}, {`<?xml ?>BOOKING`, "declaration"},
		{`<?xml version=1.0?>BOOKING`, ""}, {`<?xml version="1.1"?>BOOKING`, ""}, {`<?xml version = "2.0"?>BOOKING`, "declaration"}, {`<?xml version="1"?>BOOKING`, ""},
		{`<?xml version=""?>BOOKING`, ""}, {`<?xml encoding="UTF-8"?>BOOKING`, "declaration"}, {`<?xml encoding="UTF-8" version="1.0"?>BOOKING`, "declaration"},
		{`<?xml version="1.0" encoding="latin1"?>BOOKING`, ""}, {`<?xml version="1.0" encoding = "UTF-16"?>BOOKING`, "declaration"}, {`<?xml version="1.0" encoding=""?>BOOKING`, "declaration"},
		{`<?xml version="1.0" standalone="maybe"?>BOOKING`, "declaration"}, {`<?xml version="1.0" standalone="yes" encoding="UTF-8"?>BOOKING`, "declaration"},
		{`<?xml version="1.0"encoding="UTF-8"?>BOOKING`, "declaration"}, {`<?xml version="1.0" more="1"?>BOOKING`, "declaration"}, {`<?xml version="1.0" version="1.0"?>BOOKING`, "declaration"},
		{`<?xml version='1.0"?>BOOKING`, ""}, {`<?xml version="1.0">BOOKING`, ""}, {"\ufeff\ufeffBOOKING", ""}, {"<? a?>BOOKING", ""}, {"<?a:b c?>BOOKING", "instruction"}, {"<?1?>BOOKING", ""}, {`<?a"b"?>BOOKING`, "instruction"},
		// beside the element
		{"BOOKING&#32;", "outside"}, {"&#x20;BOOKING", "outside"}, {"BOOKING<![CDATA[]]>", "outside"}, {"<![CDATA[ ]]>BOOKING", "outside"},
		{"BOOKING\u00a0", "outside"}, {"\u0085BOOKING", "outside"}, {"BOOKING\ufeff", "outside"}, {"BOOKING&amp;", "outside"}, {"BOOKING</booking>", ""}, {"BOOKING<", ""},
		// comments and sections
		{"<!-- -- -->BOOKING", ""}, {"<!-- --->BOOKING", ""}, {"<!-->BOOKING", ""}, {"<booking>CONTENT]]></booking>", ""}, {"<booking>CONTENT<![CDATA[</booking>", ""},
		{"<booking>CONTENT<![cdata[x]]></booking>", ""},
	} {
		text := strings.Replace(c.text, "BOOKING", "<booking>CONTENT</booking>", 1)
		text = strings.Replace(text, "CONTENT", "<trip_id>TRIP</trip_id><passenger_name>A</passenger_name>", 1)
		a := w.do("POST", "/bookings", as("anna-w"), xmlBody(strings.Replace(text, "TRIP", trip, 1)))
		if a.status != 400 {
			t.Errorf("%q: %d %s", c.text, a.status, a.body)
			continue
		}
		if p := a.problem(400, "invalid-request"); p.names() != "" || !strings.Contains(p.Errors[0].Detail, c.says) {
			t.Errorf("%q: %+v, want it to say %q", c.text, p.Errors, c.says)
		}
	}
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
