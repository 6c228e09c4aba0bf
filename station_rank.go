package traintravel

import (
	"bytes"
	"iter"
	"slices"
)

// How a station has the words of a search, the best way first. To each comes
// the number of words with a letter amiss, times ways.
const (
	asItsName = iota
	asItsBeginning
	inItsName
	inItsAddress
	ways
)

// find returns the stations that have the words of a phrase, each once, and how.
func (d *directory) find(p *phrase) iter.Seq2[int32, int] {
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
func (d *directory) findWord(w *wanted) iter.Seq2[int32, int] {
	return func(yield func(int32, int) bool) {
		var best []uint8 // how each station has it
		if few := len(d.shapes) / 64; w.rare > few {
			best = bytes.Repeat([]byte{2 * ways}, len(d.shapes))
		}
		found := make([]int64, 0, w.rare) // stations and, if there is no best, how they have it
		for _, s := range w.spans {
			for i := d.starts[s.from]; i < d.starts[s.to]; i++ {
				at, how := d.having[i], d.ways[i]
				if how == asItsName && !s.whole {
					how = asItsBeginning
				}
				if s.amiss {
					how += ways
				}
				if best == nil {
					found = append(found, int64(at)<<8|int64(how))
					continue
				}
				if best[at] == 2*ways {
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
func (d *directory) rank(p *phrase, at int32) (how int, ok bool) {
	tokens := d.of(at)
	way, amiss := inItsName, 0
	for i := range p.apart {
		w := p.apart[(i+1)%len(p.apart)] // the first brought the station here
		has, typed, named := false, false, false
		for _, t := range tokens {
			if s := w.fits(t.word); s != nil {
				has, typed, named = true, typed || !s.amiss, named || t.place[inFull] != nowhere
			}
		}
		if !has {
			return 0, false
		}
		if !named {
			way = inItsAddress
		}
		if !typed {
			amiss++
		}
	}
	if way == inItsName {
		for name, whole := range d.namesOf(at) {
			for v, words := range p.views {
				way = min(way, beginning(tokens, name, v, words, int(whole[v])))
			}
		}
	}
	return amiss*ways + way, true
}

// beginning says whether words begin a name in a view, or are that name.
func beginning(tokens []token, name, view int, words []*wanted, whole int) (way int) {
	if len(words) == 0 || len(words) > nowhere {
		return inItsName
	}
	way = asItsBeginning
	for i, w := range words {
		begins, all := false, false
		for _, t := range tokens {
			if int(t.name) != name || int(t.place[view]) != i {
				continue
			}
			if s := w.fits(t.word); s != nil {
				begins, all = true, all || s.whole
			}
		}
		last := i == len(words)-1
		if !begins || !all && !last {
			return inItsName
		}
		if last && all && len(words) >= whole {
			way = asItsName
		}
	}
	return way
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
