package schedule

import (
	"fmt"
	"strings"

	"github.com/traintravel/traintravel/rail"
)

// An Edition compares a timetable with the current one that it is to replace.
type Edition struct {
	// Today is the date, in UTC, by the service's clock.
	Today rail.Date
	// Replaces reports whether the store has a timetable.
	Replaces bool
	// Before is the current timetable, After the one to replace it. Before is zero
	// if the store has none, or if it cannot be read.
	Before, After EditionSize
	// Stations are identified by their IDs, and trains as in every later timetable (see
	// [Train]); runs are those from Today on.
	Stations, Trains, Runs Difference
	// Feeds are those of both timetables, by name.
	Feeds []FeedEdition
	// Bookings is the number of bookings of future runs that fit the current timetable but not
	// the new one. It does not include unreadable runs and bookings.
	Bookings   int
	Unreadable int
}

// An EditionSize says how large a timetable is.
type EditionSize struct {
	Stations, Trains int
	// Runs are those from Edition.Today on.
	Runs int
	// First and Last are the first and the last date on which a train runs; both zero
	// if no train runs.
	First, Last rail.Date
	// Operators are the names of the trains' operators, in alphabetical order.
	Operators []string
}

// A Difference counts the items that only the new timetable has, that only the one before
// has, and that both have.
type Difference struct{ Added, Removed, Kept int }

// A FeedEdition compares the trains of one [Train.Feed] in both timetables.
type FeedEdition struct {
	Feed string
	// Before and After are the numbers of trains in each timetable. Running is the number of
	// those of After that still run today or later.
	Before, After, Running int
	// Last is the last date on which a train of After runs, and Left the number of days until
	// then, by the clock in the train's time zone: 0 for today, negative if it is past. Both
	// have no meaning if After is zero.
	Last rail.Date
	Left int
}

// A Doubt is a reason to think that a timetable is a mistake.
type Doubt struct {
	Kind DoubtKind
	Feed string // the feed that the doubt is about; may be empty
	// Text describes the doubt, with figures.
	Text string
}

// A DoubtKind is a reason why a timetable looks like a mistake.
type DoubtKind uint8

// The kinds of doubt.
const (
	DoubtExpired   DoubtKind = iota + 1 // no train runs any more
	DoubtEndsSoon                       // the last train runs today or tomorrow
	DoubtFewTrains                      // it has at most a twentieth of the trains of the one in force
)

// String returns expired, ends-soon or few-trains.
func (k DoubtKind) String() string {
	switch k {
	case DoubtExpired:
		return "expired"
	case DoubtEndsSoon:
		return "ends-soon"
	case DoubtFewTrains:
		return "few-trains"
	}
	return "unknown"
}

const (
	// fewTrains: a new edition that has one train for so many of the one before is
	// likely to be cut off.
	fewTrains = 20
	// soon is the number of days before its end from which a timetable is a poor replacement.
	soon = 1
)

// Doubts returns the reasons why the timetable looks like a mistake: a feed in it has expired
// or ends by tomorrow, or at most a twentieth of the trains of a feed, or of all trains, are
// left. It is empty if the store has no timetable.
func (e Edition) Doubts() []Doubt {
	if !e.Replaces {
		return nil
	}
	var all []Doubt
	few := false
	for _, f := range e.Feeds {
		for _, d := range f.doubts(len(e.Feeds) > 1) {
			all = append(all, d)
			few = few || d.Kind == DoubtExpired || d.Kind == DoubtFewTrains
		}
	}
	running := 0
	for _, f := range e.Feeds {
		running += f.Running
	}
	if !few && isFew(e.Before.Trains, running) {
		all = append(all, Doubt{Kind: DoubtFewTrains, Text: "it " + fewText(e.Before.Trains, running)})
	}
	return all
}

// Check returns nil, or an [*EditionError] if there are doubts.
func (e Edition) Check() error {
	if all := e.Doubts(); len(all) > 0 {
		return &EditionError{Doubts: all}
	}
	return nil
}

// doubts returns the doubts about a feed. It does not count trains if only one of the two
// timetables has the feed, or if the feed has expired.
func (f FeedEdition) doubts(named bool) []Doubt {
	if f.After == 0 {
		return nil
	}
	var all []Doubt
	say := func(kind DoubtKind, text string) {
		if named {
			text = fmt.Sprintf("feed %q %s", f.Feed, text)
		} else {
			text = "it " + text
		}
		all = append(all, Doubt{kind, f.Feed, text})
	}
	if f.Left >= 0 && isFew(f.Before, f.Running) {
		say(DoubtFewTrains, fewText(f.Before, f.Running))
	}
	switch {
	case f.Left < 0:
		say(DoubtExpired, fmt.Sprintf("has expired (its last train ran on %v)", f.Last))
	case f.Left == 0:
		say(DoubtEndsSoon, fmt.Sprintf("ends today, %v", f.Last))
	case f.Left <= soon:
		say(DoubtEndsSoon, fmt.Sprintf("ends tomorrow, %v", f.Last))
	}
	return all
}

func isFew(before, running int) bool { return before > 0 && running*fewTrains <= before }

func fewText(before, running int) string {
	return fmt.Sprintf("has %d trains that still run, but the timetable in force has %d", running, before)
}

// An EditionError refuses a timetable that looks like a mistake.
type EditionError struct{ Doubts []Doubt }

// Error lists the doubts in one line.
func (e *EditionError) Error() string {
	texts := make([]string, len(e.Doubts))
	for i, d := range e.Doubts {
		texts[i] = d.Text
	}
	return "the timetable looks like a mistake, because " + strings.Join(texts, ", and ")
}
