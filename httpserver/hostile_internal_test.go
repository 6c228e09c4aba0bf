package httpserver

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
)

// A hostile is an input that is as large as it may be and made to cost as much as it can.
type hostile struct {
	kind, name string
	size       int
	read       func()
}

// filled repeats what each returns until a text of so many bytes is full.
func filled(size int, before, after string, each func(i int) string) string {
	var b strings.Builder
	b.WriteString(before)
	for i := 0; ; i++ {
		more := each(i)
		if b.Len()+len(more)+len(after) > size {
			break
		}
		b.WriteString(more)
	}
	b.WriteString(after)
	return b.String()
}

// many joins the first of what each returns.
func many(each func(i int) string, count int) (all string) {
	for i := range count {
		all += each(i)
	}
	return all
}

func always(s string) func(int) string { return func(int) string { return s } }

func numbered(format string) func(int) string {
	return func(i int) string { return fmt.Sprintf(format, i) }
}

const hostileTrip = "efdbb9d1-02c2-4bc3-afb7-6788d8782b1e"

// hostiles are all hostile inputs. The first of each kind is a plain one of its size.
func hostiles() (all []hostile) {
	body := func(kind, name, text string, read func(x *exchange)) {
		x := &exchange{in: []byte(text)}
		all = append(all, hostile{kind, name, len(text), func() { read(x) }})
	}
	const begin = `{"trip_id":"` + hostileTrip + `","passenger_name":"Anna Example"`
	readJSON := func(x *exchange) { _ = x.decode(func(d *decoder) { d.newBooking() }) }
	for _, c := range []struct{ name, text string }{
		{"plain", filled(maxBody, begin, "}", numbered(`,"member%d":"a value like others"`))},
		{"short members", filled(maxBody, begin, "}", numbered(`,"%x":1`))},
		{"items", filled(maxBody, begin+`,"a":[1`, "]}", always(`,1`))},
		{"empty objects", filled(maxBody, begin+`,"a":[{}`, "]}", always(`,{}`))},
		{"nested", filled(maxBody, begin+`,"a":[0`, "]}", always(","+strings.Repeat("[", 29)+strings.Repeat("]", 29)))},
		{"nested objects", filled(maxBody, begin+`,"a":[0`, "]}", always(","+strings.Repeat(`{"a":`, 29)+"1"+strings.Repeat("}", 29)))},
		{"too deep", strings.Repeat("[", maxBody)},
		{"one member twice", filled(maxBody, begin, "}", numbered(`,"member%d":1`))[:maxBody-40] + `,"member0":1}`},
		{"a member again and again", filled(maxBody, begin, "}", always(`,"has_dog":1`))},
		{"wrong members", filled(maxBody, "{", `"z":1}`, numbered(`"trip_id":%d,`))},
		{"one long name", filled(maxBody, begin+`,"`, `":1}`, always("a"))},
		{"long names", filled(maxBody, begin, "}", func(i int) string { return fmt.Sprintf(`,"%s%d":1`, strings.Repeat("a", 1000), i) })},
		{"one long number", filled(maxBody, begin+`,"has_dog":1`, "}", always("1"))},
		{"numbers", filled(maxBody, begin+`,"a":[1`, "]}", always(",1e-308"))},
		{"escapes", filled(maxBody, begin+`,"a":"`, `"}`, always(`\u00e9`))},
		{"escapes in the name", filled(maxBody, `{"trip_id":"`+hostileTrip+`","passenger_name":"`, `"}`, always(`\u00e9`))},
		{"pairs of escapes", filled(maxBody, begin+`,"a":"`, `"}`, always(`\ud83d\ude86`))},
		{"blanks", filled(maxBody, begin, "}", always(" "))},
		{"not UTF-8", filled(maxBody, begin+`,"a":"`, `"}`, always("é"))[:maxBody-4] + "\xff\"}"},
	} {
		body("JSON", c.name, c.text, readJSON)
	}
	const (
		open = "<booking><trip_id>" + hostileTrip + "</trip_id><passenger_name>Anna Example</passenger_name>"
		shut = "</booking>"
	)
	readXML := func(x *exchange) { _, _ = x.newBookingXML() }
	for _, c := range []struct{ name, text string }{
		{"plain", filled(maxBody, open, shut, numbered(`<member%[1]d>a value like others</member%[1]d>`))},
		{"empty elements", filled(maxBody, open, shut, always("<a/>"))},
		{"empty elements of two tags", filled(maxBody, open, shut, always("<a></a>"))},
		{"nested", filled(maxBody, open, shut, always(strings.Repeat("<a>", 30)+strings.Repeat("</a>", 30)))},
		{"too deep", filled(maxBody, open, "", always("<a>"))},
		{"attributes", filled(maxBody, open+"<a", "/>"+shut, numbered(` a%d=""`))},
		{"attributes of many elements", filled(maxBody, open, shut, always(`<a a="" b="" c="" d="" e="" f="" g="" h=""/>`))},
		{"more attributes of many elements", filled(maxBody, open, shut, always(`<a a="" b="" c="" d="" e="" f="" g="" h="" i=""/>`))},
		{"many attributes, then more", filled(maxBody, filled(maxBody/2, open+"<a", "/>", numbered(` a%d=""`)), shut, always(`<a a="" b="" c="" d="" e="" f="" g="" h="" i=""/>`))},
		{"namespaces", filled(maxBody, open+"<a", "/>"+shut, numbered(` xmlns:n%[1]d="u%[1]d"`))},
		{"namespaces of many elements", filled(maxBody, open, shut, always(`<a xmlns:a="a" xmlns:b="b" xmlns:c="c"/>`))},
		{"prefixes", filled(maxBody, open+"<a"+many(numbered(` xmlns:n%[1]x="%[1]x"`), 16)+">", "</a>"+shut, always("<n0:a/>"))},
		{"attributes with prefixes", filled(maxBody, open+"<a"+many(numbered(` xmlns:n%[1]x="%[1]x"`), 16)+">", "</a>"+shut, always(`<n0:a n0:a="" n1:a="" n2:a="" n3:a="" n4:a="" n5:a=""/>`))},
		{"prefixed attributes", filled(maxBody, open+`<a xmlns:x="u" xmlns:y="`+strings.Repeat("u", 10_000)+`"`, "/>"+shut, numbered(` y:a%d=""`))},
		{"long names", filled(maxBody, open, shut, always("<"+strings.Repeat("a", 1000)+"/>"))},
		{"one long name", filled(maxBody, open+"<", "/>"+shut, always("a"))},
		{"one long name of other letters", filled(maxBody, open+"<", "/>"+shut, always("é"))},
		{"names of other letters", filled(maxBody, open, shut, always("<é/>"))},
		{"references", filled(maxBody, open+"<a>", "</a>"+shut, always("&lt;"))},
		{"references in the name", filled(maxBody, "<booking><trip_id>"+hostileTrip+"</trip_id><passenger_name>", "</passenger_name></booking>", always("&#233;"))},
		{"long references", filled(maxBody, open+"<a>", "</a>"+shut, always("&#"+strings.Repeat("0", 1000)+"65;"))},
		{"references in an attribute", filled(maxBody, open+`<a a="`, `"/>`+shut, always("&lt;"))},
		{"an ampersand", filled(maxBody, open+"<a>", "", always("& "))},
		{"comments", filled(maxBody, open, shut, always("<!---->"))},
		{"one long comment", filled(maxBody, open+"<!--", "-->"+shut, always("- "))},
		{"instructions", filled(maxBody, open, shut, always("<?a?>"))},
		{"sections", filled(maxBody, open, shut, always("<![CDATA[]]>"))},
		{"sections in the name", filled(maxBody, "<booking><passenger_name>", "</passenger_name></booking>", always("<![CDATA[a]]>"))},
		{"brackets", filled(maxBody, open+"<a>", "</a>"+shut, always("]]"))},
		{"line ends", filled(maxBody, "<booking><passenger_name>", "</passenger_name></booking>", always("\r"))},
		{"blanks in a tag", filled(maxBody, open+"<a", "/>"+shut, always(" "))},
		{"blanks in the declaration", filled(maxBody, "<?xml", `version="1.0"?>`+open+shut, always(" "))},
		{"known elements", filled(maxBody, open, shut, always("<has_dog/>"))},
		{"a document type", filled(maxBody, "<!DOCTYPE a [", "]>"+open+shut, always("<!ENTITY a 'a'>"))},
	} {
		body("XML", c.name, c.text, readXML)
	}
	const line = 30 << 10 // of headers of at most 32 KiB
	header := func(name, text string) {
		all = append(all, hostile{"Accept", name, len(text), func() {
			_, _ = accepted([]string{text})
			_, _ = acceptedTicket([]string{text})
			acceptedProblem([]string{text})
		}})
	}
	header("plain", filled(line, "", "", numbered("application/vnd.example.type-%d+json;q=0.5, ")))
	header("ranges", filled(line, "", "", always("a,")))
	header("commas", filled(line, "", "", always(",")))
	header("wanted", filled(line, "", "", always("*/*,")))
	header("qualities", filled(line, "", "", always("*/*;q=1,")))
	header("parameters", filled(line, "*/*", "", always(";a=b")))
	header("one long quality", filled(line, "*/*;q=0.", "", always("1")))
	header("capitals", filled(line, "", "", always("A/B,")))
	query := func(name, text string) {
		r := httptest.NewRequest(http.MethodGet, "/stations", nil)
		r.URL.RawQuery = text
		x := &exchange{r: r}
		all = append(all, hostile{"query", name, len(text), func() { x.query(stationParams) }})
	}
	query("plain", filled(line, many(numbered("parameter%d="+strings.Repeat("a+value+like+others", 15)+"&"), 99), "", always("a")))
	query("known", filled(line, "country=", "", always("a+")))
	query("parameters", filled(line, "", "", always("a&")))
	query("ampersands", filled(line, "", "", always("&")))
	query("escaped", filled(line, "", "", always("%61=%61&")))
	query("one again and again", filled(line, "", "", always("page=1&")))
	query("one long value", filled(line, "search=", "", always("%C3%A9")))
	query("wrong", filled(line, "", "", always("%=%&")))
	media := func(name, text string) {
		h := http.Header{"Content-Type": {text}}
		all = append(all, hostile{"Content-Type", name, len(text), func() {
			_, _ = sent(h)
			sentPatch(h)
			sentBytes(h)
		}})
	}
	media("plain", filled(line, "application/json; charset=", "", always("a")))
	media("parameters", filled(line, "application/json", "", numbered(";a%d=b")))
	tags := func(name, text string) {
		r := httptest.NewRequest(http.MethodGet, "/stations", nil)
		r.Header["If-None-Match"], r.Header["If-Match"] = []string{text}, []string{text}
		x := &exchange{r: r}
		all = append(all, hostile{"tags", name, len(text), func() {
			x.matches(`"a tag"`)
			x.noneWanted(`"a tag"`)
		}})
	}
	tags("plain", filled(line, "", "", numbered(`"tag-of-a-body-%d", `)))
	tags("short", filled(line, "", "", always(`"",`)))
	tags("commas", filled(line, "", "", always(`,`)))
	tags("weak", filled(line, "", "", always(`W/"",`)))
	return all
}

// BenchmarkHostile is a table of what hostile inputs cost, in nanoseconds for each byte
// and in how many times what a plain input of the size does; XML also in how many times
// what plain JSON does.
func BenchmarkHostile(b *testing.B) {
	plain := map[string]float64{}
	for _, h := range hostiles() {
		b.Run(h.kind+"/"+strings.ReplaceAll(h.name, " ", "-"), func(b *testing.B) {
			for b.Loop() {
				h.read()
			}
			each := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / float64(h.size)
			if h.name == "plain" {
				plain[h.kind] = each
			}
			b.ReportMetric(each, "ns/byte")
			b.ReportMetric(each/plain[h.kind], "plain")
			if h.kind == "XML" && plain["JSON"] > 0 {
				b.ReportMetric(each/plain["JSON"], "JSON")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// No input makes the server take many pieces of memory, or many times its size. What is
// read in one pass without that costs little time, too; how much, BenchmarkHostile tells.
func TestHostileInputs(t *testing.T) { // alone, since it counts what is allocated
	most := map[string]struct{ pieces, bytes int }{
		"JSON": {maxBody / 3, 32 * maxBody}, // one for each member
		"XML":  {200, 32 * maxBody}, "Accept": {400, maxBody}, "query": {400, maxBody}, "tags": {400, maxBody}, "Content-Type": {400, maxBody},
	}
	for _, h := range hostiles() {
		pieces, bytes := allocated(h.read)
		if m := most[h.kind]; pieces > m.pieces || bytes > m.bytes {
			t.Errorf("%s, %s: %d bytes take %d pieces of memory with %d bytes, more than %d with %d", h.kind, h.name, h.size, pieces, bytes, m.pieces, m.bytes)
		}
	}
}

// allocated is what a function allocates, in so many pieces and bytes. Of three times the
// least counts: the runtime has work of its own.
func allocated(f func()) (pieces, bytes int) {
	for i := range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		p, b := int(after.Mallocs-before.Mallocs), int(after.TotalAlloc-before.TotalAlloc)
		if i == 0 {
			pieces, bytes = p, b
		}
		pieces, bytes = min(pieces, p), min(bytes, b)
	}
	return pieces, bytes
}
