package httpserver_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestNegotiation(t *testing.T) {
	t.Parallel()
	const j, x, none = "json", "xml", ""
	w := newWorld(t)
	for accept, want := range map[string]string{
		"":                                  j,
		" , ":                               j,
		"*/*":                               j,
		"application/*":                     j,
		"APPLICATION/JSON":                  j,
		"application/json; charset=utf-8":   j,
		"text/html, application/json;q=0.1": j,
		"text/html,*/*;q=0.01":              j,
		"*/*;q=0, application/json":         j,
		"application/xml, application/json": j,
		"application/json, application/xml": j,
		"application/xml;q=0.5, */*;q=0.5":  j,
		"application/xml;q=9, */*":          j,
		"application/xml;q=-1, */*":         j,
		"application/xml":                   x,
		"Application/XML; q=0.001":          x,
		"application/xml, */*;q=0.9":        x,
		"application/json;q=0.8, application/xml;q=0.9":                   x,
		"application/json;q=0":                                            none,
		"application/json;q=0, */*":                                       x,
		"*/*, application/json;q=0":                                       x,
		"application/json;q=0.0, application/*;q=0.1":                     x,
		"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": x, // a browser's
		"text/*":                   none,
		"application/jsonp":        none,
		"application/problem+json": j,
		"application/problem+xml":  x,
		"application/problem+json;q=0.1, application/problem+xml": x,
		"application/problem+json, application/xml":               x,
		"application/problem+json, application/json;q=0":          none,
		"application/problem+json;q=0":                            none,
		"application/xml;q=0, text/xml":                           none,
		"nonsense":                                                none,
	} {
		a := w.do("GET", "/stations?limit=1", as("anna-r"), header("Accept", accept))
		if want == none {
			a.problem(406, "not-acceptable")
		} else if got := a.header.Get("Content-Type"); a.status != 200 || got != "application/"+want {
			t.Errorf("Accept %q: %d %s, want %s", accept, a.status, got, want)
		}
	}
	w.do("GET", "/stations?limit=1", as("anna-r"), header("Accept", "text/html", "application/json")).want(200)

	for accept, want := range map[string]string{
		"":                          j,
		"text/html":                 j,
		"application/json":          j,
		"application/xml":           x,
		"application/problem+xml":   x,
		"application/problem+json":  j,
		"application/json, */*":     j,
		"text/html, application/*":  j,
		"application/xml, */*;q=.1": x,
		"application/json;q=0.5, application/problem+xml":                 x,
		"application/xml, application/problem+json":                       j,
		"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": j, // a browser's
		"application/xml, TEXT/HTML;q=0.1":                                j,
		"application/xml, text/html;q=0":                                  x,
		"application/xml, text/*":                                         x,
		"text/html, application/problem+xml":                              x,
		"application/problem+xml;q=0, application/xml, text/html":         j,
	} {
		for _, target := range []string{"/nothing", "/stations/x", "/bookings/" + nobody} {
			a := w.do("GET", target, as("anna-r"), header("Accept", accept))
			if got := a.header.Get("Content-Type"); got != "application/problem+"+want {
				t.Errorf("Accept %q: a problem as %s, want %s", accept, got, want)
			}
		}
	}
}

// Responses without a body ignore the Accept header: generated clients name the media types of
// problems, because the description lists no others, or unknown ones.
func TestNoBodyNoNegotiation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, accept := range []string{"application/problem+json", "application/problem+json, application/problem+xml", "application/problem+xml", "text/html", "*/*;q=0", "nonsense"} {
		for _, target := range []string{"/bookings/" + w.book().ID, "/webhooks/" + w.subscribe("anna-rw", "https://example.com/hook").ID} {
			a := w.do("DELETE", target, as("anna-rw"), header("Accept", accept)).want(204)
			if a.body != "" || a.header.Get("Content-Type") != "" {
				t.Errorf("%s, Accept %q: %v %s", target, accept, a.header, a.body)
			}
			w.do("DELETE", target, as("anna-rw"), header("Accept", accept)).problem(404, "not-found")
		}
	}
}

// Forms of problems are forms that every other operation has too.
func TestProblemsAreForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.book()
	w.pay(b)
	for _, accept := range []string{"application/problem+json", "application/problem+xml;q=0.5, application/problem+json"} {
		for _, target := range []string{"/stations", "/stations/" + berlin, search, "/trips/" + b.TripID, "/bookings", "/bookings/" + b.ID, "/bookings/" + b.ID + "/payment", "/bookings/" + b.ID + "/payments", "/webhooks"} {
			if a := w.do("GET", target, as("anna-rw"), header("Accept", accept)).want(200); a.header.Get("Content-Type") != "application/json" {
				t.Errorf("%s: %v", target, a.header)
			}
		}
		w.ticketOf(b, "", header("Accept", accept)).want(200)
		w.do("POST", "/bookings", as("anna-w"), body(newBooking(b.TripID)), header("Accept", accept)).want(201)
	}
}

func TestMediaTypes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const json, xml, none = 1, 2, 0
	for contentType, kind := range map[string]int{
		"application/json":                     json,
		"Application/JSON":                     json,
		"application/json; charset=utf-8":      json,
		`application/json;charset="UTF-8";v=1`: json,
		"application/json; charset=latin1":     none,
		"application/xml":                      xml,
		"application/xml; charset=UTF-8":       xml,
		"text/xml":                             xml,
		"application/xml; charset=utf-16":      none,
		"application/problem+json":             none,
		"application/soap+xml":                 none,
		"text/json":                            none,
		"application/x-www-form-urlencoded":    none,
		"application/json; charset":            none,
		"":                                     none,
	} {
		a := w.do("POST", "/bookings", as("anna-w"), body(`{}`), header("Content-Type", contentType))
		if got := a.status != 415; got != (kind != none) {
			t.Errorf("a booking as %q: status %d", contentType, a.status)
		}
		a = w.do("POST", "/bookings/"+nobody+"/payment", as("anna-w"), body(`{}`), header("Content-Type", contentType))
		if got := a.status != 415; got != (kind == json) {
			t.Errorf("a payment as %q: status %d", contentType, a.status)
		}
	}
	none_ := func(r *http.Request) { r.Header.Del("Content-Type") }
	for _, wrong := range []part{none_, header("Content-Type", "application/json", "application/json"), header("Content-Encoding", "gzip")} {
		p := w.do("POST", "/bookings", as("anna-w"), body(`{}`), wrong).problem(415, "unsupported-media-type")
		if !strings.Contains(p.Detail, "application/json or application/xml") {
			t.Errorf("the detail is %q", p.Detail)
		}
	}
}

// Of a list in Accept, what comes after the first hundred elements does not count.
func TestLongAccept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do("GET", "/stations", as("anna-r"), header("Accept", strings.Repeat("text/x,", 99)+"application/xml")).want(200)
	w.do("GET", "/stations", as("anna-r"), header("Accept", strings.Repeat("text/x,", 100)+"application/xml")).problem(406, "not-acceptable")
	w.do("GET", "/stations", as("anna-r"), header("Accept", strings.Repeat(",", 4000)+"application/xml")).want(200)
}
