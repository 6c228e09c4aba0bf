package httpserver

import (
	"bytes"
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
	if err := d.problem(); err != nil {
		return n, err
	}
	return n, x.parsed()
}

// An xmlReader reads the elements of a root that hold nothing but text, in
// whatever namespace they are. It takes no document type, and so no entities but
// those that XML itself has. An element that is nil, which is what null is in
// JSON, is an empty one.
type xmlReader struct {
	faults
	known  []string
	texts  map[string]string // of the known that are there
	broken bool              // no XML of ours: what is missing was not looked for
}

func (d *xmlReader) wrong(name, detail string) {
	if d.full() {
		return
	}
	d.add(fault{pointer: "/" + name, body: true, detail: detail})
}

// fail gives the body up.
func (d *xmlReader) fail(detail string) {
	d.broken = true
	d.faults = faults{{body: true, detail: detail}}
}

func (d *xmlReader) read(body []byte, root string) {
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	if reason := notText(body); reason != "" {
		d.fail(reason)
		return
	}
	var (
		scanner = newXMLScanner(string(body))
		depth   int
		name    string // of the known element that is being read
		text    []byte
		ended   bool
	)
	for {
		switch scanner.next() {
		case xmlBroken:
			d.fail(scanner.why())
			return
		case xmlDoctype:
			d.fail("has a document type declaration, which is not accepted")
			return
		case xmlDone:
			if !ended {
				d.fail("must not be empty")
			}
			return
		case xmlStart:
			depth++
			switch {
			case depth > maxDepth:
				d.fail("nests more than " + strconv.Itoa(maxDepth) + " elements")
				return
			case depth == 1 && (ended || scanner.local != root):
				d.fail("is not a document whose one root element is " + root)
				return
			case depth == 2 && slices.Contains(d.known, scanner.local):
				name, text = scanner.local, nil
			case name != "":
				d.wrong(name, "has elements inside: want text only")
				name = ""
			}
		case xmlText:
			if name != "" {
				text = scanner.appendTo(text)
			}
		case xmlEnd:
			if depth == 2 && name != "" {
				if _, twice := d.texts[name]; twice {
					d.wrong(name, "occurs more than once")
				}
				d.texts[name], name = string(text), ""
			}
			depth--
			ended = depth == 0
		}
	}
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
			d.wrong(name, "must be true or false")
		}
	}
	return false
}
