package ticket

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/traintravel/traintravel"
)

// Calendar returns an iCalendar object (RFC 5545) with an event for each given leg, counted
// from zero, or for all legs if none is given. Times are local times at the stations. The
// identifier of an event is derived from the booking and the leg, so that importing the ticket
// again does not duplicate the ride. The property X-KDE-KITINERARY-RESERVATION contains the
// leg's reservation of [Issuer.JSONLD].
func (i *Issuer) Calendar(t traintravel.Ticket, legs ...int) ([]byte, error) {
	legs, err := chosen(t, legs)
	if err != nil {
		return nil, err
	}
	var events calendar
	var zones zones
	for _, leg := range legs {
		r, err := i.reservation(t, leg)
		if err != nil {
			return nil, err
		}
		ld, err := json.Marshal([]reservation{r})
		if err != nil {
			return nil, err
		}
		ride := t.Booking.Legs[leg]
		begin, end := ride.Origin, ride.Destination
		zones.add(begin.Time)
		zones.add(end.Time)
		events.line("BEGIN", "VEVENT")
		events.line("UID", fmt.Sprintf("%s-%d@traintravel", t.Booking.ID, leg+1))
		events.line("DTSTAMP", utc(t.Paid))
		events.time("DTSTART", begin.Time)
		events.time("DTEND", end.Time)
		events.text("SUMMARY", fmt.Sprintf("%s: %s – %s", trainName(ride), begin.Name, end.Name))
		where := begin.Name
		if s, ok := t.Stations[begin.Station]; ok {
			if s.Address != "" {
				where += ", " + s.Address
			}
			events.line("GEO", fmt.Sprintf("%.6f;%.6f", s.Latitude, s.Longitude))
		}
		events.text("LOCATION", where)
		events.text("DESCRIPTION", describe(t, ride))
		events.line("STATUS", "CONFIRMED")
		events.line("TRANSP", "OPAQUE")
		events.text("X-KDE-KITINERARY-RESERVATION", string(ld))
		events.line("END", "VEVENT")
	}
	var c calendar
	c.line("BEGIN", "VCALENDAR")
	c.line("VERSION", "2.0")
	c.line("PRODID", "-//traintravel//ticket//EN")
	c.line("CALSCALE", "GREGORIAN")
	zones.write(&c)
	c.b = append(c.b, events.b...)
	c.line("END", "VCALENDAR")
	return c.b, nil
}

// describe says in a few lines what a passenger needs on the day.
func describe(t traintravel.Ticket, ride traintravel.Leg) string {
	const at = "Mon 2 January 2006, 15:04"
	lines := []string{
		"From " + oneLine(ride.Origin.Name) + ": " + ride.Origin.Time.Format(at) + " (" + clock(ride.Origin.Time) + ")",
		"To " + oneLine(ride.Destination.Name) + ": " + ride.Destination.Time.Format(at) + " (" + clock(ride.Destination.Time) + ")",
	}
	if ride.Number != "" {
		lines = append(lines, "Train "+oneLine(ride.Number)+", "+oneLine(ride.Operator))
	} else {
		lines = append(lines, "Train of "+oneLine(ride.Operator))
	}
	if ride.Seat > 0 {
		lines = append(lines, fmt.Sprintf("Coach %s, seat %d", oneLine(ride.Coach), ride.Seat))
	} else {
		lines = append(lines, "Any free seat")
	}
	lines = append(lines, "Passenger: "+oneLine(t.Booking.PassengerName))
	if with := extras(t.Booking); with != "" {
		lines = append(lines, "With: "+with)
	}
	return strings.Join(append(lines, "Booking: "+ReferenceOf(t.Booking)), "\n")
}

// A calendar is content lines of iCalendar.
type calendar struct{ b []byte }

// line writes a property, folded so that no line has more than 75 bytes, and no
// character is cut.
func (c *calendar) line(name, value string) {
	const most = 75
	s := name + ":" + value
	for room := most; len(s) > room; room = most - 1 {
		n := room
		for !utf8.RuneStart(s[n]) {
			n--
		}
		c.b = append(append(c.b, s[:n]...), "\r\n "...)
		s = s[n:]
	}
	c.b = append(append(c.b, s...), "\r\n"...)
}

var escapes = strings.NewReplacer(`\`, `\\`, `;`, `\;`, `,`, `\,`)

// text writes a property whose value is text, in which a line feed begins a new
// line.
func (c *calendar) text(name, value string) {
	lines := strings.Split(value, "\n")
	for i, l := range lines {
		lines[i] = escapes.Replace(oneLine(l))
	}
	c.line(name, strings.Join(lines, `\n`))
}
