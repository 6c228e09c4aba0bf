package httpserver

import (
	"bytes"
	"encoding/hex"
	"encoding/xml"
	"math"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
)

// A document is what an answer says. It says it once, and the encoder writes it
// in the form that the client asked for.
type document interface{ encode(*encoder) }

// A form is how documents are written.
type form uint8

const (
	asJSON form = iota
	asXML
)

// An encoder writes a document. In JSON a value has the name of its member, and
// an item of an array has none; in XML both are elements with a name.
type encoder struct {
	b    []byte
	form form
	base string // begins the links
}

// write replaces what was written by a document.
func (e *encoder) write(d document) {
	e.b = e.b[:0]
	if e.form == asXML {
		e.b = append(e.b, xml.Header[:len(xml.Header)-1]...)
	}
	d.encode(e)
}

// item begins an object that is an item of an array, or all of the document.
func (e *encoder) item(name string) {
	switch n := len(e.b); {
	case e.form == asXML:
		e.tag(name)
		return
	case n > 0 && e.b[n-1] != '[':
		e.b = append(e.b, ',')
	}
	e.b = append(e.b, '{')
}

// again writes an item as it was written before, all but what item writes.
func (e *encoder) again(name string, text []byte) {
	e.item(name)
	e.b = append(e.b, text...)
}

// open begins an object that is a member; close ends any object.
func (e *encoder) open(name string) { e.begin(name, '{') }

func (e *encoder) close(name string) {
	if e.form == asXML {
		e.endTag(name)
		return
	}
	e.b = append(e.b, '}')
}

// list begins an array, whose name may be another in XML, and endList ends it.
func (e *encoder) list(name, element string) {
	if e.form == asXML {
		name = element
	}
	e.begin(name, '[')
}

func (e *encoder) endList(element string) {
	if e.form == asXML {
		e.endTag(element)
		return
	}
	e.b = append(e.b, ']')
}

// begin writes the name of a member, and what its value begins with in JSON,
// zero for nothing.
func (e *encoder) begin(name string, first byte) {
	if e.form == asXML {
		e.tag(name)
		return
	}
	b := e.b
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	b = append(b, '"')
	b = append(b, name...)
	b = append(b, '"', ':')
	if first != 0 {
		b = append(b, first)
	}
	e.b = b
}

// end ends the value of a member, which is last in JSON, zero for nothing.
func (e *encoder) end(name string, last byte) {
	switch {
	case e.form == asXML:
		e.endTag(name)
	case last != 0:
		e.b = append(e.b, last)
	}
}

func (e *encoder) tag(name string) {
	e.b = append(e.b, '<')
	e.b = append(e.b, name...)
	e.b = append(e.b, '>')
}

func (e *encoder) endTag(name string) {
	e.b = append(e.b, '<', '/')
	e.b = append(e.b, name...)
	e.b = append(e.b, '>')
}

// text writes a string. What is not UTF-8, or not a character of XML, becomes U+FFFD.
func (e *encoder) text(name, s string) {
	e.begin(name, 0)
	if e.form == asXML {
		_ = xml.EscapeText((*appender)(&e.b), []byte(s)) // an appender does not fail
	} else {
		e.b, _ = jsontext.AppendQuote(e.b, s)
	}
	e.end(name, 0)
}

// value writes a string that is an item of an array.
func (e *encoder) value(name, s string) {
	switch n := len(e.b); {
	case e.form == asXML:
		e.text(name, s)
		return
	case e.b[n-1] != '[':
		e.b = append(e.b, ',')
	}
	e.b, _ = jsontext.AppendQuote(e.b, s)
}

// optional writes a string unless it is empty.
func (e *encoder) optional(name, s string) {
	if s != "" {
		e.text(name, s)
	}
}

func (e *encoder) id(name string, id uuid.UUID) {
	e.begin(name, '"')
	e.b = appendID(e.b, id)
	e.end(name, '"')
}

// time writes an instant with the offset it was made with.
func (e *encoder) time(name string, t time.Time) {
	e.begin(name, '"')
	e.b = t.AppendFormat(e.b, time.RFC3339)
	e.end(name, '"')
}

func (e *encoder) flag(name string, v bool) {
	e.begin(name, 0)
	e.b = strconv.AppendBool(e.b, v)
	e.end(name, 0)
}

func (e *encoder) whole(name string, n int) {
	e.begin(name, 0)
	e.b = strconv.AppendInt(e.b, int64(n), 10)
	e.end(name, 0)
}

// decimal writes a number that is written already.
func (e *encoder) decimal(name, digits string) {
	e.begin(name, 0)
	e.b = append(e.b, digits...)
	e.end(name, 0)
}

func (e *encoder) degrees(name string, f float64) {
	e.begin(name, 0)
	e.b = appendDegrees(e.b, f)
	e.end(name, 0)
}

// appendDegrees writes the shortest decimal number that is read as f. Most have
// no more than six decimals, and for those there is a quicker way.
func appendDegrees(b []byte, f float64) []byte {
	const decimals, unit = 6, 1_000_000
	n := int64(math.Round(f * unit))
	if n == 0 || float64(n)/unit != f || n > 1000*unit || n < -1000*unit {
		return strconv.AppendFloat(b, f, 'f', -1, 64)
	}
	if n < 0 {
		b, n = append(b, '-'), -n
	}
	b = strconv.AppendInt(b, n/unit, 10)
	if n %= unit; n == 0 {
		return b
	}
	var digits [decimals]byte
	for i := range digits {
		digits[decimals-1-i] = byte('0' + n%10)
		n /= 10
	}
	return append(append(b, '.'), bytes.TrimRight(digits[:], "0")...)
}

// links write the member links, which is absent if there are none.
func (e *encoder) links(links []link) {
	if len(links) == 0 {
		return
	}
	e.open("links")
	for _, l := range links {
		e.begin(l.rel, '"')
		e.b = l.append(e.b, e.base) // needs no escaping: a base is checked for that
		e.end(l.rel, '"')
	}
	e.close("links")
}

// An appender is a slice as a writer.
type appender []byte

func (a *appender) Write(p []byte) (int, error) {
	*a = append(*a, p...)
	return len(p), nil
}

// appendID writes a UUID without quotation marks.
func appendID(b []byte, id uuid.UUID) []byte {
	b = hex.AppendEncode(b, id[:4])
	for _, part := range [...][]byte{id[4:6], id[6:8], id[8:10], id[10:]} {
		b = append(b, '-')
		b = hex.AppendEncode(b, part)
	}
	return b
}

// A list is a page of a collection.
type list[T any, D documentOf[T]] struct {
	element string // of all items, in XML
	items   []T
	links   pageLinks
}

// documentOf is a pointer to T that is a document.
type documentOf[T any] interface {
	*T
	document
}

func listOf[T any, D documentOf[T]](element string, items []T, links pageLinks) document {
	return &list[T, D]{element, items, links}
}

func (l *list[T, D]) encode(e *encoder) {
	e.item("data")
	e.list("data", l.element)
	for i := range l.items {
		D(&l.items[i]).encode(e)
	}
	e.endList(l.element)
	e.open("links")
	e.text("self", l.links.self)
	e.optional("next", l.links.next)
	e.optional("prev", l.links.prev)
	e.close("links")
	e.close("data")
}
