package stations

import (
	"cmp"
	"iter"
	"slices"
	"unicode/utf8"

	"github.com/traintravel/traintravel/internal/fold"
)

// A phrase is a search as the directory knows its words.
type phrase struct {
	views   [views][]*wanted // in the order of the search
	apart   []*wanted        // each once, the rarest first
	country string           // in which the stations are, or empty
}

// wanted is a word of a search.
type wanted struct {
	spans []span // in the order of the directory
	rare  int    // the more of them, the more stations may have the word
	// Of the station that is looked at, the spans in which its tokens are, and the
	// fewest letters amiss.
	at    []*span
	least uint8
}

// maxMisspelt is how many different words a search may have for letters to be
// amiss: each costs some hundred looks into the directory.
const maxMisspelt = 8

// maxMisspeltTwice is how many words a search may have for two letters of one to be
// amiss: that costs as much as a search for all stations that begin with a letter.
const maxMisspeltTwice = 4

// phrases reads a search in every way it may be meant, one after the other for
// as long as nothing is found: as it is typed, without words that say little, with
// two words for one, and then with a letter amiss in a word, and with two. Three
// letters that are no word are as likely to lack one as to begin a longer word, so
// they are searched as both. What is the name of a city that is known is not
// another's misspelt.
func (d *Directory) phrases(words []string) iter.Seq[phrase] {
	return func(yield func(phrase) bool) {
		short := len(words) == 1 && utf8.RuneCountInString(words[0]) == lettersToMiss-1 && !d.has(words[0])
		if !short && !d.read(words, d.typed, isCommon, yield) {
			return
		}
		if parted := d.parted(words); parted != nil && !d.read(parted, d.typed, isCommon, yield) {
			return
		}
		if d.cities.knows(words) || d.cities.knows(slices.DeleteFunc(slices.Clone(words), isVain)) {
			if short {
				d.read(words, d.typed, isCommon, yield)
			}
			return
		}
		if !d.read(words, d.misspelt, isCommon, yield) {
			return
		}
		var nearly []string
		for _, w := range words {
			if nearlyCommon(w) {
				nearly = append(nearly, w)
			}
		}
		common := func(w string) bool { return slices.Contains(nearly, w) }
		if slices.ContainsFunc(nearly, func(w string) bool { return !isCommon(w) }) && !d.read(words, d.misspelt, common, yield) {
			return
		}
		if len(words) <= maxMisspeltTwice && slices.ContainsFunc(words, canMissTwo) {
			d.read(words, d.misspeltTwice, common, yield)
		}
	}
}

// read looks words up: all of them, those that are not common, and those that are
// not vain either. It is false if that is enough.
func (d *Directory) read(words []string, spell func(string) []span, common func(string) bool, yield func(phrase) bool) bool {
	known := make(map[string]*wanted, len(words))
	for _, text := range words {
		if known[text] == nil {
			known[text] = d.wanted(d.meant(text, spell))
		}
	}
	kept := len(words) + 1
	for _, without := range []func(string) bool{
		func(string) bool { return false },
		common,
		func(w string) bool { return common(w) || isVain(w) },
	} {
		p := d.phrase(words, known, without)
		if n := len(p.views[inFull]); n == kept {
			continue
		} else {
			kept = n
		}
		if p.found() && !yield(p) {
			return false
		}
	}
	return len(known) <= maxMisspelt
}

// phrase is a search without some of its words. If words are left out, points of
// the compass among the others are complete: "gare du nord" does not mean Norden.
func (d *Directory) phrase(words []string, known map[string]*wanted, without func(string) bool) (p phrase) {
	left := slices.DeleteFunc(slices.Clone(words), without)
	if len(left) < len(words) {
		for _, text := range words {
			if country, ok := countryWords[text]; ok && !slices.Contains(left, text) {
				p.country = country
			}
		}
	}
	for i, text := range left {
		w := known[text]
		if len(left) < len(words) && isDirection(text) {
			w = d.wanted(slices.DeleteFunc(slices.Clone(w.spans), func(s span) bool { return !s.whole }))
		}
		p.views[inFull] = append(p.views[inFull], w)
		if !isCommon(text) {
			p.views[telling] = append(p.views[telling], w)
		}
		if !slices.Contains(left[:i], text) {
			p.apart = append(p.apart, w)
		}
	}
	if len(p.views[telling]) == 0 {
		p.views[telling] = p.views[inFull]
	}
	slices.SortStableFunc(p.apart, func(a, b *wanted) int { return cmp.Compare(a.rare, b.rare) })
	return p
}

// wanted is a word that the directory has in some spans.
func (d *Directory) wanted(spans []span) *wanted {
	w := &wanted{spans: spans}
	for _, s := range spans {
		w.rare += int(d.starts[s.to] - d.starts[s.from])
	}
	return w
}

// meant looks up a word, its spellings with Latin letters, and the notion that it
// means.
func (d *Directory) meant(word string, spell func(string) []span) []span {
	spans := spell(word)
	if latin := fold.Latin(word); latin != nil {
		for _, form := range latin[0] {
			spans = append(spans, spell(form)...)
		}
		spans = disjoint(spans)
	}
	if n, ok := notions[word]; ok {
		if i, ok := slices.BinarySearch(d.words, string(n)); ok { // before all that can be typed
			spans = slices.Insert(spans, 0, span{from: int32(i), to: int32(i + 1), whole: true})
		}
	}
	return spans
}

// parted parts the first word that is not known, but is two known words.
func (d *Directory) parted(words []string) []string {
	for i, w := range words {
		if _, n := d.beginning(0, len(d.words), w); n > 0 {
			continue
		}
		for at := range w {
			if at >= 3 && len(w)-at >= 3 && d.has(w[:at]) && d.has(w[at:]) {
				return slices.Concat(words[:i], []string{w[:at], w[at:]}, words[i+1:])
			}
		}
	}
	return nil
}

// found says whether there are words and every one is known to the directory.
func (p *phrase) found() bool { return len(p.apart) > 0 && p.apart[0].rare > 0 }
