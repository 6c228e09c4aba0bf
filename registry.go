package traintravel

import (
	"cmp"
	"slices"

	"github.com/google/uuid"
)

// The registry gives trains the short numbers that trip IDs hold. A number
// stands for a train and its list of calls. It lives in the generation of the
// timetable it belongs to, together with the numbers of earlier timetables'
// trains that may still be in somebody's hands. Where a base has twins, a number has
// one entry for each of the feed's IDs, by which its variants are known again.
type registry struct {
	entries []registered
	high    uint32 // the highest number ever given
}

type registered struct {
	number   uint32
	base     uuid.UUID // see Train.base
	twin     int
	list     uint64 // see listMark
	terminus uint64 // stationMark of the last call
	source   uint64 // mark of the feed's own ID
	since    Date   // the number means this train from this date on
	last     Date   // the last date the train runs in any timetable so far
}

func (r registered) train() uuid.UUID { return twin(r.base, r.twin) }

// byNumber is the entries in the order of their numbers.
func (r registry) byNumber() []registered {
	byNumber := func(a, b registered) int { return cmp.Compare(a.number, b.number) }
	if slices.IsSortedFunc(r.entries, byNumber) {
		return r.entries
	}
	return slices.SortedFunc(slices.Values(r.entries), byNumber)
}

// numbered finds a number among entries in the order of their numbers. If it is
// unknown, it means nothing.
func numbered(entries []registered, number uint32) registered {
	i, ok := slices.BinarySearchFunc(entries, number, func(e registered, number uint32) int { return cmp.Compare(e.number, number) })
	if !ok {
		return registered{}
	}
	return entries[i]
}

// numbering is what register found for each train, by its index.
type numbering struct {
	train  uuid.UUID
	number uint32
	list   uint64 // listMark of its calls; zero if it was read from a record
}

// maxNumber is the highest that the ID of a trip can hold.
const maxNumber = 1<<21 - 1

// keepNumbers is how long after its last date a train keeps its number: longer
// than any train travels.
const keepNumbers = 16 // days
