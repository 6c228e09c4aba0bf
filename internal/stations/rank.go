package stations

import (
	"bytes"
	"iter"
	"slices"
)

// find returns the stations that have the words of a phrase, each once, and how.
func (d *Directory) find(p *phrase) iter.Seq2[int32, int] {
	word := d.findWord(p.apart[0])
	if len(p.views[inFull]) == 1 {
		return word
	}
	return func(yield func(int32, int) bool) {
		for at := range word {
			if how, ok := d.rank(p, at); ok && !yield(at, how) {
				return
			}
		}
	}
}

// findWord is find for a word that is all there is.
func (d *Directory) findWord(w *wanted) iter.Seq2[int32, int] {
	const none = 255
	return func(yield func(int32, int) bool) {
		var best []uint8 // how each station has it
		if few := len(d.begins) / 64; w.rare > few {
			best = bytes.Repeat([]byte{none}, len(d.begins))
		}
		found := make([]int64, 0, w.rare) // stations and, if there is no best, how they have it
		for _, s := range w.spans {
			more := s.amiss * uint8(ways)
			for i := d.starts[s.from]; i < d.starts[s.to]; i++ {
				at, how := d.having[i], uint8(d.ways[i].begun())
				if s.whole {
					how = uint8(d.ways[i].whole())
				}
				how += more
				if best == nil {
					found = append(found, int64(at)<<8|int64(how))
					continue
				}
				if best[at] == none {
					found = append(found, int64(at)<<8)
				}
				best[at] = min(best[at], how)
			}
		}
		if best == nil {
			slices.Sort(found)
			found = slices.CompactFunc(found, func(a, b int64) bool { return a>>8 == b>>8 })
		}
		for _, f := range found {
			at, how := int32(f>>8), int(uint8(f))
			if best != nil {
				how = int(best[at])
			}
			if !yield(at, how) {
				return
			}
		}
	}
}

// rank says how a station has the words of a phrase, and whether.
func (d *Directory) rank(p *phrase, at int32) (how int, ok bool) {
	tokens := d.of(at)
	all, amiss := asItsName, 0
	for i := range p.apart {
		w := p.apart[(i+1)%len(p.apart)] // the first brought the station here
		best := ways
		w.least, w.at = 255, w.at[:0]
		for _, t := range tokens {
			s := w.fits(t.word)
			w.at = append(w.at, s)
			if s == nil || s.amiss > w.least {
				continue
			}
			if s.amiss < w.least {
				best, w.least = ways, s.amiss
			}
			one := inItsAddress
			switch {
			case t.place[inFull] == nowhere:
			case s.whole:
				one = inItsName
			default:
				one = inItsNameBegun
			}
			best = min(best, one.by(t.traits))
		}
		if best >= ways {
			return 0, false
		}
		all = worse(all, best)
		amiss += int(w.least)
	}
	if all < inItsAddress {
		for from, to := 0, 0; to < len(tokens) && tokens[to].place[inFull] != nowhere; from = to {
			for to++; to < len(tokens) && tokens[to].name == tokens[from].name; {
				to++
			}
			for v, words := range p.views {
				all = min(all, beginning(tokens, from, to, v, words))
			}
		}
	}
	switch all &^ 1 { // who types more words has completed all but the last
	case asItsBeginning:
		all += inItsName - asItsBeginning
	case inItsName:
		all -= inItsName - asItsBeginning
	}
	return amiss*int(ways) + int(all), true
}

// worse is the worse of two ways to have two words, by another name of a city if
// one of them is.
func worse(a, b way) way { return max(a&^1, b&^1) | (a|b)&1 }

// beginning says whether words begin a name, which some of a station's tokens are,
// in a view, or are that name.
func beginning(tokens []token, from, to, view int, words []*wanted) way {
	if len(words) == 0 || len(words) > nowhere {
		return ways
	}
	whole, begun, ended := asItsFirstWords, asItsBeginning, false
	for i, w := range words {
		here, there := ways, ways // complete and not
		for n := from; n < to; n++ {
			t, s := &tokens[n], w.at[n]
			if s == nil || int(t.place[view]) != i || s.amiss > w.least {
				continue
			}
			if there = min(there, begun.by(t.traits)); s.whole {
				here = min(here, whole.by(t.traits))
				ended = ended || t.traits&ends(view) != 0
			}
		}
		if last := i == len(words)-1; there == ways || here == ways && !last {
			return ways
		}
		if here == ways {
			return worse(begun, there)
		}
		whole, begun = worse(whole, here), worse(begun, here+asItsBeginning-asItsFirstWords)
	}
	if ended {
		whole -= asItsFirstWords - asItsName
	}
	return whole
}

// fits returns the span that a word of the directory is in, or nil.
func (w *wanted) fits(word int32) *span {
	from, to := 0, len(w.spans)
	for from < to {
		if middle := (from + to) / 2; w.spans[middle].to <= word {
			from = middle + 1
		} else {
			to = middle
		}
	}
	if from < len(w.spans) && w.spans[from].from <= word {
		return &w.spans[from]
	}
	return nil
}
