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
	// Twice is how many trains are, by operator, number, ends and times, one of
	// another part that runs on the same date. Both are in the timetable, and sold.
	Twice int
}

// A Pair is two stations of different parts. Of joined ones, First stays.
type Pair struct {
	First, Second Origin
	Why           Why
	Metres        float64 // from one to the other
}

// An Origin is a station as a feed has it.
type Origin struct {
	Feed    string
	Station traintravel.Station
}

// Why says why stations are joined, or look alike.
type Why uint8

// The first three join stations, in this order if there is a choice.
const (
	SameID        Why = iota // of one ID
	SameCode                 // of one UIC code, within CodeRadius
	SameName                 // of one name, within NameRadius
	FarSameCode              // of one UIC code, farther apart
	FarSameName              // of one name, farther apart, up to ten kilometres
	NearOtherName            // of different names, within NameRadius
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
