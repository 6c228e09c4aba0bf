package gtfs

import (
	"fmt"
	"strings"

	"github.com/traintravel/traintravel"
)

// A Report describes what was read from a feed, and what was left out.
type Report struct {
	Stations, Trains, Calls int

	// Repeated is the number of trains made from frequencies.txt, and Headway how
	// many of these are only nominal departures (exact_times 0).
	Repeated, Headway int

	// First and Last are the first and the last day on which any train runs;
	// both are zero if no train runs.
	First, Last traintravel.Date

	// Publisher and Version are those in feed_info.txt, if any; Start and End are
	// the first and last day for which the feed is valid according to it, or zero.
	Publisher, Version string
	Start, End         traintravel.Date

	// Translated is the number of names from translations.txt, and Languages
	// their languages as the feed gives them, sorted: the first hundred.
	Translated int
	Languages  []string

	// Joined are the stations that the feed has as several stops without a
	// parent, by their names, and Renamed those with another name here.
	Joined  []Joined
	Renamed []Renamed

	// Twins are the trains that the feed has twice, in the order of the rows of Twin.Left.
	Twins []Twin

	// Prices and Seats describe how the trains are sold, those of most trains first.
	Prices []Pricing
	Seats  []Seating

	// LeftOut are the trips that were left out because of Options.Lenient, in the order
	// of trips.txt.
	LeftOut []FlawedTrip

	// Notes describe omissions and doubts, in the order of discovery.
	Notes []Note
}

// A Note is a remark about Count rows of a file, the first of which is at Line.
type Note struct {
	File   string
	Line   int
	Reason string
	Count  int
	// Wrong reports that something is wrong with the feed, not only omitted. With
	// Options.Strict this is a mistake instead of a note.
	Wrong bool
}

// String returns the note as one line: trips.txt:17: runs on no day (3 times).
func (n Note) String() string {
	s := fmt.Sprintf("%s:%d: %s", n.File, n.Line, n.Reason)
	if n.Count > 1 {
		s += fmt.Sprintf(" (%d times)", n.Count)
	}
	return s
}

// An Error is a mistake in a feed.
type Error struct {
	File   string
	Line   int // the first is 1; zero if the mistake is in no line
	Reason string
}

// Error returns the mistake as one line: stops.txt:17: stop_name is missing.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Reason
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason)
}

// Errors are the mistakes in a feed: the first hundred, and the number of all.
// Reading stops early if a table cannot be read at all.
type Errors struct {
	List  []*Error
	Total int
	// Lenient reports whether Options.Lenient would read the feed: without Trips of its
	// trips, and with the trains that it has besides.
	Lenient bool
	Trips   int
	// Strict reports whether the feed would be read without Options.Strict.
	Strict bool
}

const (
	maxErrors = 100
	// maxNotes limits the number of different notes, because a feed can cause one for each row.
	maxNotes = 500
	// furtherNotes replaces all further ones.
	furtherNotes = "more notes about the file are not listed"
)

// Error returns the mistakes that are listed, a line each.
func (e *Errors) Error() string {
	var b strings.Builder
	for i, one := range e.List {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(one.Error())
	}
	if more := e.Total - len(e.List); more > 0 {
		fmt.Fprintf(&b, "\nand %d more mistakes", more)
	}
	return b.String()
}

// Unwrap returns the mistakes that are listed, for errors.As.
func (e *Errors) Unwrap() []error {
	errs := make([]error, len(e.List))
	for i, one := range e.List {
		errs[i] = one
	}
	return errs
}

// A Joined is a station that combines several stops of a feed.
type Joined struct {
	Name   string
	Stops  []string // stop_id of each; the station's ID is that of the first
	Metres float64  // in a straight line from the first to the farthest
}

// A Renamed is a station whose name in the feed is only a common noun. It
// has the town from the names of its platforms.
type Renamed struct {
	Stop      string // stop_id
	Was, Name string
}

// A Twin is a train that a feed has twice: two trips of one operator, number and
// list of calls that run on the same days.
type Twin struct {
	Operator, Number string
	From, To         string // names of the first and the last station
	Departs          traintravel.ServiceTime
	Kept, Left       string // trip IDs
	// Days is the number of days on which both run, and First the first of them. On these
	// days only Kept is in the timetable, unless Options.KeepTwins is set.
	Days  int
	First traintravel.Date
}

// A Pricing is a source of prices for trains of a feed.
type Pricing struct {
	// File is the table with the price; empty for Options.Fare.
	File string
	// Currency is an ISO 4217 code in lower case; empty if the trains are not for sale.
	// OwnCurrency reports that File names it, and not Options.Fare.
	Currency    string
	OwnCurrency bool
	// Zones reports that each ride has its own price; then Base and PerKm are not used.
	Zones bool
	// Base and PerKm are the lowest and the highest amount, in minor units of Currency.
	Base, PerKm [2]int64
	Trains      int
}

// A Seating is a source of seats for trains of a feed.
type Seating struct {
	File string // the table that says so; empty for Options.Coaches
	// Seats are the lowest and the highest number of a train; zero if trains are unreserved, and
	// any number of passengers may travel.
	Seats  [2]int
	Trains int
}

// A FlawedTrip is a trip with a mistake in one of its rows or in a row that it refers to.
type FlawedTrip struct {
	Trip string // trip_id
	// Mistake is the first that was found.
	Mistake *Error
	line    int
}

// String returns the trip as one line: trip "t": stop_times.txt:17: ….
func (t FlawedTrip) String() string { return fmt.Sprintf("trip %.60q: %v", t.Trip, t.Mistake) }
