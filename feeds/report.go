package feeds

import (
	"fmt"

	"github.com/traintravel/traintravel"
)

// A Report says what [Join] did.
type Report struct {
	// Joined are the stations that have become others, in the order of the
	// parts.
	Joined []Pair
	// Alike are stations that may be one, but were not joined: for each the
	// nearest of each kind, in the order of the parts.
	Alike []Pair
	// Rules is for how many pairs of stations the parts' rules about all changes
	// differ, so that the strictest was taken.
	Rules int
	// Twice is the number of trains that another part has too: with the same operator,
	// number, first and last call and times, on the same date. Both are in the
	// timetable, and sold.
	Twice int
}

// A Pair is two stations of different parts. If they are joined, First is kept.
type Pair struct {
	First, Second Origin
	Why           Why
	Metres        float64 // from one to the other
}

// An Origin is a station with the name of the feed that it is from.
type Origin struct {
	Feed    string
	Station traintravel.Station
}

// Why is the reason why stations are joined, or look alike.
type Why uint8

// Stations are joined for the first three reasons, which are tried in this order.
const (
	SameID        Why = iota // the same ID
	SameCode                 // the same UIC code, within CodeRadius
	SameName                 // the same name, within NameRadius
	FarSameCode              // the same UIC code, farther apart
	FarSameName              // the same name, farther apart, up to ten kilometres
	NearOtherName            // different names, within NameRadius
)

func (w Why) joins() bool { return w <= SameName }

// String returns what it means, such as "the same name".
func (w Why) String() string {
	switch w {
	case SameID:
		return "the same ID"
	case SameCode:
		return "the same UIC code"
	case SameName:
		return "the same name"
	case FarSameCode:
		return "the same UIC code, but far apart"
	case FarSameName:
		return "the same name, but far apart"
	case NearOtherName:
		return "near, but with different names"
	}
	return "unknown"
}

// String returns the pair as one line: Basel SBB (ch) and Basel SBB (de), 45 m
// apart: the same name.
func (p Pair) String() string {
	return fmt.Sprintf("%v and %v, %.0f m apart: %v", p.First, p.Second, p.Metres, p.Why)
}

// String returns the station's name and its feed: Basel SBB (ch).
func (o Origin) String() string {
	if o.Feed == "" {
		return o.Station.Name
	}
	return fmt.Sprintf("%s (%s)", o.Station.Name, o.Feed)
}
