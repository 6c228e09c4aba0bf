package gtfs

import (
	"iter"
	"math/bits"

	"github.com/traintravel/traintravel"
)

// A daySet is a set of days as bits, 64 in a word, beginning with the word first.
type daySet struct {
	first int
	words []uint64
}

// fill adds the days of a period that are certain days of the week. Seven
// words are a whole number of weeks, so the pattern repeats after them.
func (s daySet) fill(from, to traintravel.Date, weekdays [7]bool) {
	if from > to || weekdays == [7]bool{} {
		return
	}
	var weeks [7]uint64 // by word, from that of from on
	start := from >> 6
	for i := range traintravel.Date(7 * 64) {
		if weekdays[(start<<6 + i).Weekday()] {
			weeks[i>>6] |= 1 << (i & 63)
		}
	}
	for n := start; n <= to>>6; n++ {
		word := weeks[(n-start)%7]
		if n == start {
			word &= ^uint64(0) << (from & 63)
		}
		if n == to>>6 {
			word &= ^uint64(0) >> (63 - to&63)
		}
		s.words[int(n)-s.first] |= word
	}
}

// word returns the word with the number n, zero if the set has none.
func (s daySet) word(n int) uint64 {
	if n -= s.first; n < 0 || n >= len(s.words) {
		return 0
	}
	return s.words[n]
}

// take removes the days of other from s, which is the rest of whole. It reports
// whether there were some, and whether they are all that whole and other share.
func (s daySet) take(whole, other daySet) (some, all bool) {
	all = true
	for n := max(s.first, other.first); n < min(s.first+len(s.words), other.first+len(other.words)); n++ {
		common := s.word(n) & other.word(n)
		some = some || common != 0
		all = all && common == whole.word(n)&other.word(n)
		s.words[n-s.first] &^= common
	}
	return some, some && all
}

func (s daySet) empty() bool {
	for _, w := range s.words {
		if w != 0 {
			return false
		}
	}
	return true
}

// meets reports whether a day of other is a given number of days after a day of s.
func (s daySet) meets(other daySet, later int) bool {
	if later < 0 {
		return other.meets(s, -later)
	}
	for i, w := range s.words {
		n := s.first + i + later/64
		if w&(other.word(n)>>(later%64)|other.word(n+1)<<(64-later%64)) != 0 {
			return true
		}
	}
	return false
}

// join returns a set made from the words of two sets.
func (s daySet) join(other daySet, of func(a, b uint64) uint64) daySet {
	if len(s.words) == 0 {
		s.first = other.first
	}
	if len(other.words) == 0 {
		other.first = s.first
	}
	first := min(s.first, other.first)
	out := daySet{first, make([]uint64, max(s.first+len(s.words), other.first+len(other.words))-first)}
	for i := range out.words {
		out.words[i] = of(s.word(first+i), other.word(first+i))
	}
	return out
}

func (s daySet) and(other daySet) daySet {
	return s.join(other, func(a, b uint64) uint64 { return a & b })
}
func (s daySet) or(other daySet) daySet {
	return s.join(other, func(a, b uint64) uint64 { return a | b })
}
func (s daySet) without(other daySet) daySet {
	return s.join(other, func(a, b uint64) uint64 { return a &^ b })
}

func (s daySet) count() (n int) {
	for _, w := range s.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// all are the days, in their order.
func (s daySet) all() iter.Seq[traintravel.Date] {
	return func(yield func(traintravel.Date) bool) {
		for i, w := range s.words {
			for ; w != 0; w &= w - 1 {
				if !yield(traintravel.Date((s.first+i)*64 + bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}

// firstDay is the first day of a set that is not empty.
func (s daySet) firstDay() (first traintravel.Date) {
	for first = range s.all() {
		break
	}
	return first
}
