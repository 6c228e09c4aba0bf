package gtfs

import (
	"errors"
	"fmt"
	"strings"

	"github.com/traintravel/traintravel"
)

// A Report says what was read from a feed, and what was left out.
type Report struct {
	Stations, Trains, Calls int

	// Repeated is how many of the trains frequencies.txt makes, and Headway how
	// many of these are only nominal departures (exact_times 0).
	Repeated, Headway int

	// First and Last are the first and the last day on which any train runs;
	// both zero if there is none.
	First, Last traintravel.Date

	// Publisher and Version are what feed_info.txt says, if anything, and Start
	// and End the days between which, by it, the feed is to be used, or zero.
	Publisher, Version string
	Start, End         traintravel.Date

	// Translated is how many names stations have from translations.txt, and Languages
	// their languages as the feed gives them, sorted: the first hundred.
	Translated int
	Languages  []string

	// Joined are the stations that the feed has as several stops without a
	// parent, by their names, and Renamed those that bear another name here.
	Joined  []Joined
	Renamed []Renamed

	// Twins are the trains that the feed has twice, in the order of the rows of Twin.Left.
	Twins []Twin

	// Prices and Seats are how the trains are sold, those of most trains first.
	Prices []Pricing
	Seats  []Seating

	// LeftOut are the trips that were left out because of Options.Lenient, in the order
	// of trips.txt.
	LeftOut []FlawedTrip

	// Notes tell what was left out or doubtful, in the order of discovery.
	Notes []Note
}

// A Note is what a reading has to say about Count rows of a file, of which the
// first is at Line.
type Note struct {
	File   string
	Line   int
	Reason string
	Count  int
	// Wrong says that something is wrong with the feed, and not only left
	// out. With Options.Strict there is no such note, but a mistake.
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

// An Error is one mistake in a feed.
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

// Errors are the mistakes in a feed: the first hundred, and how many there are.
// Reading ends early where a table cannot be made out at all.
type Errors struct {
	List  []*Error
	Total int
	// Lenient says whether Options.Lenient would read the feed: without Trips of its
	// trips, and with the trains that it has besides.
	Lenient bool
	Trips   int
	// Strict says whether the feed would be read without Options.Strict.
	Strict bool
}

const (
	maxErrors = 100
	// maxNotes bounds the notes that differ, since a feed can make as many as rows.
	maxNotes = 500
	// furtherNotes is said of all others.
	furtherNotes = "there is more to say of the file than is listed"
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

// errMistakes ends a reading whose mistakes are on record.
var errMistakes = errors.New("the feed has mistakes")

// ErrNoTrains: a feed without mistakes has no train that is read. To load its
// timetable would be to withdraw every train there is.
var ErrNoTrains = errors.New("no train is left of the feed")

// trainless returns an error that tells why there is no train, or nil if there
// is one.
func (f *feed) trainless() error {
	if f.report.Trains > 0 {
		return nil
	}
	const most = 5
	var why []string
	unread := ""
	for _, n := range f.report.Notes {
		if n.File == "trips.txt" {
			why = append(why, n.String())
			if strings.HasPrefix(n.Reason, "route_type ") {
				unread = "; rail is read, and other modes by programs that set Options.RouteType"
			}
		}
	}
	switch left := f.report.LeftOut; {
	case len(left) == 1:
		why = append(why, left[0].String())
	case len(left) > 1:
		why = append(why, fmt.Sprintf("%d trips have mistakes, first %v", len(left), left[0]))
	case len(why) == 0:
		why = []string{"trips.txt has no trips"}
	}
	if more := len(why) - most; more > 0 {
		why = append(why[:most], fmt.Sprintf("and %d more reasons", more))
	}
	return fmt.Errorf("gtfs: %w: %s%s", ErrNoTrains, strings.Join(why, ", "), unread)
}

// fail records a mistake.
func (f *feed) fail(file string, line int, format string, args ...any) {
	f.errs.Total++
	if len(f.errs.List) < maxErrors || f.first == nil {
		e := &Error{File: file, Line: line, Reason: fmt.Sprintf(format, args...)}
		if len(f.errs.List) < maxErrors {
			f.errs.List = append(f.errs.List, e)
		}
		if f.first == nil {
			f.first = e
		}
	}
}

// mistakes returns what fail recorded, or nil if there is nothing, or nothing that
// Options.Lenient does not leave out.
func (f *feed) mistakes() error {
	if f.errs.Total == 0 {
		return nil
	}
	f.errs.Strict = f.errs.Total == f.doubts
	left := f.flawedTrips()
	if f.errs.Total == f.blamed {
		if f.opts.Lenient {
			f.leaveOut(left)
			return nil
		}
		f.errs.Lenient, f.errs.Trips = f.report.Trains > 0, len(left)
	}
	return &f.errs
}

// doubt records that something is wrong with a row that does not keep the feed
// from being read, unless Options.Strict says so.
func (f *feed) doubt(file string, line int, reason string) {
	if f.opts.Strict {
		f.doubts++
		f.fail(file, line, "%s", reason)
		return
	}
	f.note(file, line, reason).Wrong = true
}

// note records that a row was left out, or is not quite what it seems.
func (f *feed) note(file string, line int, reason string) *Note {
	key := [2]string{file, reason}
	i, ok := f.notes[key]
	if !ok && len(f.report.Notes) >= maxNotes {
		key[1], reason = furtherNotes, furtherNotes
		i, ok = f.notes[key]
	}
	if !ok {
		i = len(f.report.Notes)
		f.notes[key] = i
		f.report.Notes = append(f.report.Notes, Note{File: file, Line: line, Reason: reason})
	}
	f.report.Notes[i].Count++
	return &f.report.Notes[i]
}
