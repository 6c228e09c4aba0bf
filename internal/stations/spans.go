package stations

import (
	"cmp"
	"slices"
	"sort"
	"strings"
)

// A span is a part of the directory's words, all of which a word of a search
// begins.
type span struct {
	from, to int32
	whole    bool  // the word is theirs in full
	amiss    uint8 // but for so many letters
}

// typed returns the words that begin with one.
func (d *Directory) typed(word string) []span {
	from, n := d.beginning(0, len(d.words), word)
	to := from + n
	var spans []span
	if n > 0 && d.words[from] == word {
		spans = append(spans, span{from: int32(from), to: int32(from + 1), whole: true})
		from++
	}
	if from < to {
		spans = append(spans, span{from: int32(from), to: int32(to)})
	}
	return spans
}

// has says whether a word is known in full.
func (d *Directory) has(word string) bool {
	_, ok := slices.BinarySearch(d.words, word)
	return ok
}

// beginning finds, in a range of the words, the n that begin with one.
func (d *Directory) beginning(from, to int, word string) (first, n int) {
	words := d.words[from:to]
	first = sort.SearchStrings(words, word)
	words = words[first:]
	n = sort.Search(len(words), func(i int) bool { return !strings.HasPrefix(words[i], word) })
	return from + first, n
}

// disjoint makes spans that do not overlap of those that may: words are in the
// best that they were in, with the fewest letters amiss, and in full.
func disjoint(spans []span) []span {
	var single []span
	for _, s := range spans {
		for i := s.from; i < s.to; i++ {
			single = append(single, span{i, i + 1, s.whole, s.amiss})
		}
	}
	slices.SortFunc(single, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	joined := single[:0]
	for _, s := range single {
		n := len(joined) - 1
		switch {
		case n >= 0 && joined[n].to == s.to:
			joined[n].whole, joined[n].amiss = joined[n].whole || s.whole, min(joined[n].amiss, s.amiss)
		default:
			joined = append(joined, s)
		}
	}
	return joined
}
