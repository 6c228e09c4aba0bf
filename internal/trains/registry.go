package trains

import (
	"cmp"
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/rail"
)

// The Registry gives trains the short numbers that trip IDs hold. A number
// stands for a train and its list of calls. It lives in the generation of the
// timetable it belongs to, together with the numbers of earlier timetables'
// trains that may still be in somebody's hands. Where a base has twins, a number has
// one entry for each of the feed's IDs, by which its variants are known again.
type Registry struct {
	Entries []Registered
	High    uint32 // the highest number ever given
}

// Registered is what one number means.
type Registered struct {
	Number   uint32
	Base     uuid.UUID // see BaseOf
	Twin     int
	List     uint64    // see ListMark
	Terminus uint64    // StationMark of the last call
	Source   uint64    // mark of the feed's own ID
	Since    rail.Date // the number means this train from this date on
	Last     rail.Date // the last date the train runs in any timetable so far
}

// Train is the ID of the train.
func (r Registered) Train() uuid.UUID { return Twin(r.Base, r.Twin) }

// ByNumber is the entries in the order of their numbers.
func (r Registry) ByNumber() []Registered {
	byNumber := func(a, b Registered) int { return cmp.Compare(a.Number, b.Number) }
	if slices.IsSortedFunc(r.Entries, byNumber) {
		return r.Entries
	}
	return slices.SortedFunc(slices.Values(r.Entries), byNumber)
}

// Numbered finds a number among entries in the order of their numbers. If it is
// unknown, it means nothing.
func Numbered(entries []Registered, number uint32) Registered {
	i, ok := slices.BinarySearchFunc(entries, number, func(e Registered, number uint32) int { return cmp.Compare(e.Number, number) })
	if !ok {
		return Registered{}
	}
	return entries[i]
}

// Numbering is what register found for each train, by its index.
type Numbering struct {
	Train  uuid.UUID
	Number uint32
	List   uint64 // ListMark of its calls; zero if it was read from a record
}

// MaxNumber is the highest that the ID of a trip can hold.
const MaxNumber = 1<<21 - 1

// KeepNumbers is how long after its last date a train keeps its number: longer
// than any train travels.
const KeepNumbers = 16 // days
