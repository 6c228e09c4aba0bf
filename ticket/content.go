package ticket

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	"golang.org/x/text/unicode/norm"

	"github.com/traintravel/traintravel"
)

// Content is the content of a container: the right of one passenger to one ride.
type Content struct {
	Booking    uuid.UUID
	Reference  string    // the name of the booking on the ticket: see ReferenceOf
	Leg, Legs  int       // which leg of how many, counted from 0
	Issued     time.Time // UTC, to the second
	Passenger  string    // at most 120 bytes of the name
	HasBicycle bool
	HasDog     bool

	Operator    string
	Train       string // its number as shown to travellers; may be empty
	Coach       string // empty on an unreserved train
	Seat        int    // 0 on an unreserved train
	Origin      string
	Departure   time.Time // with the offset at the station, to the second
	Destination string
	Arrival     time.Time
}

// How many bytes of a text a container has.
const (
	maxPassenger = 120
	maxStation   = 80
	maxOperator  = 48
	maxTrain     = 32
	maxCoach     = 16
)

func contentOf(t traintravel.Ticket, leg int) Content {
	l := t.Booking.Legs[leg]
	return Content{
		Booking: t.Booking.ID, Reference: ReferenceOf(t.Booking), Leg: leg, Legs: len(t.Booking.Legs), Issued: t.Paid.UTC().Truncate(time.Second),
		Passenger: line(t.Booking.PassengerName, maxPassenger), HasBicycle: t.Booking.HasBicycle, HasDog: t.Booking.HasDog,
		Operator: line(l.Operator, maxOperator), Train: line(l.Number, maxTrain), Coach: line(l.Coach, maxCoach), Seat: l.Seat,
		Origin: line(l.Origin.Name, maxStation), Departure: l.Origin.Time.Truncate(time.Second),
		Destination: line(l.Destination.Name, maxStation), Arrival: l.Destination.Time.Truncate(time.Second),
	}
}

// line makes text one line of at most so many bytes, with accents in one piece with
// their letters where there is such a character.
func line(text string, size int) string {
	text = norm.NFC.String(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?")))
	return cut(text, size, utf8.RuneLen)
}

// cut shortens text to a size, by whole characters: no letter loses its accent,
// unless it alone has too many.
func cut(text string, size int, runeSize func(rune) int) string {
	used := 0
	whole := 0 // where the last character ends that has all its marks and fits
	for at, r := range text {
		if !unicode.Is(unicode.M, r) {
			whole = at
		}
		if used += runeSize(r); used > size {
			if whole == 0 {
				whole = at
			}
			return strings.TrimRight(text[:whole], " ")
		}
	}
	return text
}

// The content is lines in the own block, in this order. Compressed they take few
// bytes, since the layout has most of them too.
const (
	atBooking = iota
	atLeg
	atIssued
	atPassenger
	atWith
	atOperator
	atTrain
	atCoach
	atSeat
	atOrigin
	atDeparture
	atDestination
	atArrival
	contentLines
)

// with is what travels along, as the content has it, by bicycle and dog.
var with = []string{"", "bicycle", "dog", "bicycle dog"}

func (c Content) encode() string {
	along := 0
	if c.HasBicycle {
		along |= 1
	}
	if c.HasDog {
		along |= 2
	}
	return strings.Join([]string{
		atBooking:     c.Booking.String(),
		atLeg:         fmt.Sprintf("%d/%d", c.Leg+1, c.Legs),
		atIssued:      c.Issued.Format(time.RFC3339),
		atPassenger:   c.Passenger,
		atWith:        with[along],
		atOperator:    c.Operator,
		atTrain:       c.Train,
		atCoach:       c.Coach,
		atSeat:        strconv.Itoa(c.Seat),
		atOrigin:      c.Origin,
		atDeparture:   c.Departure.Format(time.RFC3339),
		atDestination: c.Destination,
		atArrival:     c.Arrival.Format(time.RFC3339),
	}, "\n")
}

// decodeContent decodes the text of encode, and refuses any other.
func decodeContent(text string) (Content, error) {
	lines := strings.Split(text, "\n")
	control := strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && unicode.IsControl(r) })
	if len(lines) != contentLines || control || !utf8.ValidString(text) {
		return Content{}, errors.New("its own block does not have the expected lines of text")
	}
	c := Content{
		Passenger: lines[atPassenger], Operator: lines[atOperator], Train: lines[atTrain], Coach: lines[atCoach],
		Origin: lines[atOrigin], Destination: lines[atDestination],
	}
	var errs [7]error
	c.Booking, errs[0] = uuid.Parse(lines[atBooking])
	_, errs[1] = fmt.Sscanf(lines[atLeg], "%d/%d", &c.Leg, &c.Legs)
	c.Leg--
	c.Issued, errs[2] = time.Parse(time.RFC3339, lines[atIssued])
	c.Departure, errs[3] = parseTime(lines[atDeparture])
	c.Arrival, errs[4] = parseTime(lines[atArrival])
	c.Seat, errs[5] = strconv.Atoi(lines[atSeat])
	along := slices.Index(with, lines[atWith])
	c.HasBicycle, c.HasDog = along&1 != 0, along&2 != 0
	if along < 0 || c.Leg < 0 || c.Leg >= c.Legs {
		errs[6] = errors.New("out of range")
	}
	if errors.Join(errs[:]...) != nil || c.encode() != text {
		return Content{}, errors.New("its own block has an invalid line")
	}
	return c, nil
}

// parseTime reads a time with its own offset: [time.Parse] would give it the zone
// of this process if the offset happens to fit.
func parseTime(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.Location() == time.UTC {
		return t, err
	}
	_, offset := t.Zone()
	return t.In(time.FixedZone("", offset)), nil
}
