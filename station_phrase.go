package traintravel

import (
	"cmp"
	"iter"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// A phrase is a search as the directory knows its words.
type phrase struct {
	views [views][]*wanted // in the order of the search
	apart []*wanted        // each once, the rarest first
}

// wanted is a word of a search.
type wanted struct {
	spans []span // in the order of the directory
	rare  int    // the more of them, the more stations may have the word
}

// A span is a part of the directory's words, all of which a word of a search
// begins.
type span struct {
	from, to int32
	whole    bool // the word is theirs in full
	amiss    bool // but for one letter
}

// maxMisspelt is how many different words a search may have for letters to be
// amiss: each costs some hundred looks into the directory.
const maxMisspelt = 8

// phrases reads a search in every way it may be meant, one after the other for
// as long as nothing is found: as it is typed, without the common words, and
// both again with letters amiss. Three letters that are no word are as likely to
// lack one as to begin a longer word, so they are searched as both.
func (d *directory) phrases(words []string) iter.Seq[phrase] {
	return func(yield func(phrase) bool) {
		spells := []func(string) []span{d.typed, d.misspelt}
		if len(words) == 1 && utf8.RuneCountInString(words[0]) == lettersToMiss-1 && !d.has(words[0]) {
			spells = spells[1:]
		}
		for _, spell := range spells {
			all, few := d.phrase(words, spell)
			if all.found() && !yield(all) {
				return
			}
			if len(few.apart) < len(all.apart) && few.found() && !yield(few) {
				return
			}
			if len(all.apart) > maxMisspelt {
				return
			}
		}
	}
}

// phrase looks words up: all of them, and those that are not common.
func (d *directory) phrase(words []string, spell func(string) []span) (all, few phrase) {
	known := make(map[string]*wanted, len(words))
	for _, text := range words {
		w, again := known[text]
		if !again {
			w = &wanted{spans: spell(text)}
			for _, s := range w.spans {
				w.rare += int(d.starts[s.to] - d.starts[s.from])
			}
			known[text] = w
			all.apart = append(all.apart, w)
		}
		all.views[inFull] = append(all.views[inFull], w)
		if commonWords[text] {
			continue
		}
		all.views[telling] = append(all.views[telling], w)
		if !again {
			few.apart = append(few.apart, w)
		}
	}
	few.views = [views][]*wanted{all.views[telling], all.views[telling]}
	if len(few.apart) == 0 {
		all.views[telling] = all.views[inFull]
	}
	for _, p := range []phrase{all, few} {
		slices.SortStableFunc(p.apart, func(a, b *wanted) int { return cmp.Compare(a.rare, b.rare) })
	}
	return all, few
}

// found says whether there are words and every one is known to the directory.
func (p *phrase) found() bool { return len(p.apart) > 0 && p.apart[0].rare > 0 }

// typed returns the words that begin with one.
func (d *directory) typed(word string) []span {
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
func (d *directory) has(word string) bool {
	_, ok := slices.BinarySearch(d.words, word)
	return ok
}

// beginning finds, in a range of the words, the n that begin with one.
func (d *directory) beginning(from, to int, word string) (first, n int) {
	words := d.words[from:to]
	first = sort.SearchStrings(words, word)
	words = words[first:]
	n = sort.Search(len(words), func(i int) bool { return !strings.HasPrefix(words[i], word) })
	return from + first, n
}
