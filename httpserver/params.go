package httpserver

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// A query is the parameters of a request that its operation knows. Others, and
// empty pairs, are ignored. Methods that find fault return a zero value and
// keep the fault, so that one answer names all that is wrong.
type query struct {
	faults
	names  []string
	values []string // of names, one by one; empty if not sent
	sent   uint     // bit i: names[i] was sent
	number int      // the page's
}

// maxPairs is how many pairs a query may have, those that are ignored too.
const maxPairs = 100

// query reads the parameters of the request that the operation knows.
func (x *exchange) query(names []string) *query {
	q := &query{names: names, values: make([]string, len(names))}
	if strings.Count(x.r.URL.RawQuery, "&") >= maxPairs {
		q.wrong("query", "has more than "+strconv.Itoa(maxPairs)+" parameters")
		q.sent = math.MaxUint // they were not read: none of them is missing
		return q
	}
	for rest := x.r.URL.RawQuery; rest != ""; {
		var pair string
		pair, rest, _ = strings.Cut(rest, "&")
		name, value, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		i := slices.Index(names, name)
		if err != nil || i < 0 {
			continue
		}
		if q.sent&(1<<i) != 0 {
			q.wrong(name, "occurs more than once")
			continue
		}
		q.sent |= 1 << i
		switch value, err = url.QueryUnescape(value); {
		case err != nil || !utf8.ValidString(value):
			q.wrong(name, "is not percent-encoded UTF-8")
		case strings.ContainsFunc(value, unicode.IsControl):
			q.wrong(name, "has a control character")
		case value == "" && name != "search":
			q.wrong(name, "must not be empty")
		default:
			q.values[i] = value
		}
	}
	return q
}

func (q *query) wrong(name, detail string) { q.add(fault{parameter: name, detail: detail}) }

// text returns a parameter as it was sent, empty if it was not, or found wrong.
func (q *query) text(name string) string { return q.values[slices.Index(q.names, name)] }

// required is text that must be there.
func (q *query) required(name string) string {
	i := slices.Index(q.names, name)
	if q.sent&(1<<i) == 0 {
		q.wrong(name, "is required")
	}
	return q.values[i]
}

// id is a required UUID.
func (q *query) id(name string) uuid.UUID {
	text := q.required(name)
	if text == "" {
		return uuid.Nil
	}
	id, ok := parseID(text)
	if !ok {
		q.wrong(name, "is not a UUID")
	}
	return id
}

// flag is true or false, and false if absent.
func (q *query) flag(name string) bool {
	text := q.text(name)
	if text != "" && text != "true" && text != "false" {
		q.wrong(name, "must be true or false")
	}
	return text == "true"
}

// count is a number from 1 to most, or zero if absent. Of most, zero means no limit.
func (q *query) count(name string, most int) int {
	text := q.text(name)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || most > 0 && n > most || text[0] == '+' {
		detail := "must be a whole number from 1"
		if most > 0 {
			detail += fmt.Sprintf(" to %d", most)
		}
		q.wrong(name, detail)
		return 0
	}
	return n
}

// page is the part of a list that is asked for.
func (q *query) page() traintravel.Page {
	p := traintravel.Page{Number: q.count("page", lastPage), Limit: q.count("limit", traintravel.MaxLimit), After: q.text("after")}
	q.number = max(p.Number, 1)
	return p
}

// position is a pair of latitude and longitude, nil if absent.
func (q *query) position(name string) *traintravel.Position {
	text := q.text(name)
	if text == "" {
		return nil
	}
	lat, lon, ok := strings.Cut(text, ",")
	p := &traintravel.Position{}
	for _, part := range []struct {
		text string
		to   *float64
	}{{lat, &p.Latitude}, {lon, &p.Longitude}} {
		s := strings.TrimSpace(part.text)
		f, err := strconv.ParseFloat(s, 64)
		ok = ok && err == nil && strings.Trim(s, "+-.0123456789") == ""
		*part.to = f
	}
	if !ok {
		q.wrong(name, "is not of the form 52.52,13.37: degrees north, degrees east")
		return nil
	}
	return p
}

// lastPage is the highest number that a page may have.
const lastPage = 1_000_000

// links are the hypermedia controls of the page that was asked for: absolute,
// and with every parameter kept. next is the cursor of the page after, empty
// if there is none.
func (q *query) links(x *exchange, next string) pageLinks {
	at := x.base + x.r.URL.Path
	l := pageLinks{self: at + q.encode("", "")}
	if next != "" { // the cursor decides, so the number may stay what it is
		l.next = at + q.encode(strconv.Itoa(min(q.number+1, lastPage)), next)
	}
	if q.number > 1 {
		l.prev = at + q.encode(strconv.Itoa(q.number-1), "")
	}
	return l
}

// encode writes the parameters as they were sent or, if page is not empty, with
// another page.
func (q *query) encode(page, after string) string {
	var b []byte
	for i, name := range q.names {
		value, sent := q.values[i], q.sent&(1<<i) != 0
		if page != "" {
			switch name {
			case "page":
				value, sent = page, true
			case "after":
				value, sent = after, after != ""
			}
		}
		if sent {
			b = fmt.Appendf(b, "&%s=%s", name, url.QueryEscape(value))
		}
	}
	if len(b) > 0 {
		b[0] = '?'
	}
	return string(b)
}
