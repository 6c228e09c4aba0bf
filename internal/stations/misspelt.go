package stations

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// misspelt returns the words that begin with one, or would if a letter of it
// had not been left out, added, mistaken or swapped with the next. Where the
// last letter was added or mistaken only those count that are nothing more: all
// would that begin with the others.
//
// It goes along the word, keeps to the words that begin with what it has
// passed, and tries each letter with which they go on. A point of the compass is
// never another word misspelt.
func (d *Directory) misspelt(word string) []span {
	letters := utf8.RuneCountInString(word)
	if letters < lettersToMiss-1 || isDirection(word) || strings.ContainsFunc(word, unicode.IsDigit) {
		return d.typed(word)
	}
	spans := d.typed(word)
	short := letters < lettersToMiss
	try := func(word string, whole bool) {
		for _, s := range d.typed(word) {
			if s.amiss = 1; s.whole || !whole && letters > lettersToMiss {
				spans = append(spans, s)
			}
		}
	}
	from, to := 0, len(d.words)
	for i := 0; i < len(word) && from < to; {
		passed := word[:i]
		letter, rest := cutLetter(word[i:])
		next, after := cutLetter(rest)
		if !short {
			try(passed+rest, rest == "") // added
		}
		if !short && next != "" {
			try(passed+next+letter+after, false) // swapped
		}
		for other := range d.letters(from, to, i) {
			if !short && other != letter {
				try(passed+other+rest, rest == "") // mistaken
			}
			try(passed+other+word[i:], short) // left out
		}
		i += len(letter)
		begin, n := d.beginning(from, to, word[:i])
		from, to = begin, begin+n
	}
	return disjoint(spans)
}

// letters are those at a place in a range of words that agree before it.
func (d *Directory) letters(from, to, at int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for from < to {
			letter, _ := cutLetter(d.words[from][at:])
			if letter == "" {
				from++ // the word ends there
				continue
			}
			if !yield(letter) {
				return
			}
			_, n := d.beginning(from, to, d.words[from][:at+len(letter)])
			from += n
		}
	}
}

// cutLetter cuts a text after its first letter.
func cutLetter(text string) (letter, rest string) {
	_, n := utf8.DecodeRuneInString(text)
	return text[:n], text[n:]
}

// canMissTwo says whether two letters of a word can be amiss.
func canMissTwo(word string) bool {
	return utf8.RuneCountInString(word) >= lettersToMissTwo && !strings.ContainsFunc(word, unicode.IsDigit) && !isDirection(word)
}

// misspeltTwice returns what misspelt does, and the words that are one with two
// letters left out, added, mistaken or swapped.
//
// It goes along the directory with a row of the edit distances between what the
// words begin with and what the word does, one row for each letter, and passes over
// all words that begin with what is too far away already.
func (d *Directory) misspeltTwice(word string) []span {
	spans := d.misspelt(word)
	if !canMissTwo(word) {
		return spans
	}
	m := newEdits([]rune(word))
	for at := 0; at < len(d.words); {
		over := m.read(d.words[at])
		if over == "" {
			if m.distance() == maxEdits {
				spans = append(spans, span{from: int32(at), to: int32(at + 1), whole: true, amiss: maxEdits})
			}
			at++
			continue
		}
		_, n := d.beginning(at, len(d.words), over)
		at += n
	}
	return disjoint(spans)
}
