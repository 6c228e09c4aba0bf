package httpserver

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// newBookingXML reads the body of a request to book, a booking as answers have
// it in XML. As in JSON, what is not known is ignored.
func (x *exchange) newBookingXML() (traintravel.NewBooking, error) {
	d := xmlReader{known: []string{"trip_id", "passenger_name", "has_bicycle", "has_dog"}, texts: map[string]string{}}
	d.read(x.in, "booking")
	n := traintravel.NewBooking{
		TripID: d.id("trip_id"), PassengerName: d.required("passenger_name"),
		HasBicycle: d.flag("has_bicycle"), HasDog: d.flag("has_dog"),
	}
	return n, d.problem()
}

// An xmlReader reads the elements of a root that hold nothing but text. It
// takes no document type, and so no entities but those that XML itself has.
type xmlReader struct {
	faults
	known  []string
	texts  map[string]string // of the known that are there
	broken bool              // no XML of ours: what is missing was not looked for
}

func (d *xmlReader) wrong(name, detail string) {
	d.add(fault{pointer: "/" + name, body: true, detail: detail})
}

// fail gives the body up.
func (d *xmlReader) fail(detail string) {
	d.broken = true
	d.faults = faults{{body: true, detail: detail}}
}

func (d *xmlReader) read(body []byte, root string) {
	tokens := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(body, []byte("\ufeff"))))
	var (
		depth int
		name  string // of the known element that is being read
		text  []byte
		ended bool
	)
	for {
		token, err := tokens.Token()
		switch {
		case err == io.EOF && ended:
			return
		case err == io.EOF:
			d.fail("is empty")
			return
		case err != nil:
			d.fail(xmlFault(err))
			return
		}
		switch t := token.(type) {
		case xml.Directive:
			d.fail("has a document type, which is not taken")
			return
		case xml.StartElement:
			depth++
			switch {
			case depth > maxDepth:
				d.fail("has more than " + strconv.Itoa(maxDepth) + " elements within each other")
				return
			case depth == 1 && (ended || t.Name.Local != root):
				d.fail("is not one element " + root)
				return
			case depth == 2 && slices.Contains(d.known, t.Name.Local):
				name, text = t.Name.Local, nil
				if isNil(t) {
					name = ""
				}
			case name != "":
				d.wrong(name, "is not a text")
				name = ""
			}
		case xml.CharData:
			switch {
			case name != "":
				text = append(text, t...)
			case depth == 0 && len(bytes.TrimSpace(t)) > 0:
				d.fail("is not XML: it has text outside its element")
				return
			}
		case xml.EndElement:
			if depth == 2 && name != "" {
				if _, twice := d.texts[name]; twice {
					d.wrong(name, "is there more than once")
				}
				d.texts[name], name = string(text), ""
			}
			depth--
			ended = depth == 0
		}
	}
}

// isNil says whether an element is what null is in JSON.
func isNil(t xml.StartElement) bool {
	return slices.ContainsFunc(t.Attr, func(a xml.Attr) bool {
		return a.Name.Space == "http://www.w3.org/2001/XMLSchema-instance" && a.Name.Local == "nil" && (a.Value == "true" || a.Value == "1")
	})
}

// xmlFault says what is wrong without quoting anything.
func xmlFault(err error) string {
	if e, ok := errors.AsType[*xml.SyntaxError](err); ok {
		if strings.Contains(e.Msg, "unexpected EOF") {
			return "ends before its XML does"
		}
		return "is not XML in UTF-8: see line " + strconv.Itoa(e.Line)
	}
	return "is not XML in UTF-8"
}

func (d *xmlReader) required(name string) string {
	text, ok := d.texts[name]
	if !ok && !d.broken && !d.found(name) {
		d.wrong(name, "is required")
	}
	return text
}

// found says whether something is wrong with an element already.
func (d *xmlReader) found(name string) bool {
	return slices.ContainsFunc(d.faults, func(f fault) bool { return f.pointer == "/"+name })
}

func (d *xmlReader) id(name string) uuid.UUID {
	text := d.required(name)
	id, ok := parseID(strings.TrimSpace(text))
	if !ok && !d.broken && !d.found(name) {
		d.wrong(name, "is not a UUID")
	}
	return id
}

// flag reads a boolean as XML Schema writes it, false if it is not there.
func (d *xmlReader) flag(name string) bool {
	switch text, ok := d.texts[name]; strings.TrimSpace(text) {
	case "true", "1":
		return true
	case "false", "0":
	default:
		if ok && !d.found(name) {
			d.wrong(name, "is neither true nor false")
		}
	}
	return false
}
