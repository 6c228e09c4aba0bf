package traintravel

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"strings"
)

// A directory finds stations without looking at all of them. Like all that
// refers to stations, it has their index in the order in which they are listed.
type directory struct {
	words  []string // of names and addresses, in every form of theirs, sorted
	starts []int32  // having[starts[i]:starts[i+1]] have words[i]
	having []int32  // stations
	ways   []uint8  // how they have it, if the word is all that is searched for
	shapes []shape  // by station, and one after the last
	tokens []token  // the words of all stations
	north  []int32  // all stations, from south to north
}

// A shape is what the directory knows of a station.
type shape struct {
	tokens int32 // where in directory.tokens its own begin
	// whole is how many words have to be given for the whole name, in each
	// view of it: those in parentheses at its end need not be.
	whole [views]uint8
}

// A token is a word of a station in one of its forms, and where it stands in
// the views of the name.
type token struct {
	word  int32
	place [views]uint8
}

// A name is seen in full, and without the words that are common to many.
const (
	inFull = iota
	telling
	views

	nowhere = 255 // the place of a word of the address, or beyond counting
)

// traffic is how many trains call at a station.
func (sn *snapshot) traffic(station int32) int { return sn.network.Calls(station) }

func (sn *snapshot) makeDirectory() {
	d := &sn.directory
	known := map[string]int32{}
	for i := range sn.stations {
		st := &sn.stations[i]
		d.north = append(d.north, int32(i))
		sh := shape{tokens: int32(len(d.tokens))}
		var words [views]int
		for _, w := range wordsOf(st.Name) {
			place := [views]uint8{nowhere, nowhere}
			for v := range views {
				if v == telling && w.common {
					continue
				}
				place[v] = uint8(min(words[v], nowhere))
				if words[v]++; !w.aside {
					sh.whole[v] = uint8(min(words[v], nowhere))
				}
			}
			d.add(known, w, place)
		}
		for v, n := range sh.whole {
			if n == 0 { // all is in parentheses
				sh.whole[v] = uint8(min(words[v], nowhere))
			}
		}
		for _, w := range wordsOf(st.Address) {
			d.add(known, w, [views]uint8{nowhere, nowhere})
		}
		d.shapes = append(d.shapes, sh)
	}
	d.shapes = append(d.shapes, shape{tokens: int32(len(d.tokens))})
	d.sortWords(known)
	d.invert()
	d.tokens, d.shapes, d.north = slices.Clip(d.tokens), slices.Clip(d.shapes), slices.Clip(d.north)
	slices.SortFunc(d.north, func(a, b int32) int { return cmp.Compare(sn.stations[a].Latitude, sn.stations[b].Latitude) })
}

// add adds a word of a station, numbered as it comes.
func (d *directory) add(known map[string]int32, w nameWord, place [views]uint8) {
	for _, form := range w.forms {
		n, ok := known[form]
		if !ok {
			n = int32(len(known))
			known[strings.Clone(form)] = n // without the text that it is a part of
		}
		d.tokens = append(d.tokens, token{n, place})
	}
}

// sortWords numbers the words anew, in their order.
func (d *directory) sortWords(known map[string]int32) {
	d.words = slices.AppendSeq(make([]string, 0, len(known)), maps.Keys(known))
	slices.Sort(d.words)
	sorted := make([]int32, len(d.words))
	for i, w := range d.words {
		sorted[known[w]] = int32(i)
	}
	for i := range d.tokens {
		d.tokens[i].word = sorted[d.tokens[i].word]
	}
}

// invert lists for each word the stations that have it.
func (d *directory) invert() {
	last := make([]int32, len(d.words)) // the station, and one, that had the word last
	each := func(fn func(word, at int32, again bool, place [views]uint8)) {
		clear(last)
		for at := range int32(len(d.shapes) - 1) {
			for _, t := range d.of(at) {
				fn(t.word, at, last[t.word] == at+1, t.place)
				last[t.word] = at + 1
			}
		}
	}
	d.starts = make([]int32, len(d.words)+1)
	each(func(word, _ int32, again bool, _ [views]uint8) {
		if !again {
			d.starts[word+1]++
		}
	})
	for i := range d.words {
		d.starts[i+1] += d.starts[i]
	}
	d.having = make([]int32, d.starts[len(d.words)])
	d.ways = make([]uint8, len(d.having))
	next := slices.Clone(d.starts)
	each(func(word, at int32, again bool, place [views]uint8) {
		way := d.alone(at, place)
		if again {
			way = min(way, d.ways[next[word]-1])
			next[word]--
		}
		d.having[next[word]], d.ways[next[word]] = at, way
		next[word]++
	})
}

// alone says how a station has a search for one word that it has at a place.
func (d *directory) alone(at int32, place [views]uint8) uint8 {
	if place[inFull] == nowhere {
		return inItsAddress
	}
	way := uint8(inItsName)
	for v, n := range place {
		if n == 0 && d.shapes[at].whole[v] <= 1 {
			return asItsName
		}
		if n == 0 {
			way = asItsBeginning
		}
	}
	return way
}

// of returns the words of a station.
func (d *directory) of(at int32) []token { return d.tokens[d.shapes[at].tokens:d.shapes[at+1].tokens] }

// near lists the stations within reach of a place, the nearest first.
func (sn *snapshot) near(p Position, fits func(int32) bool) []int32 {
	const reach = nearby / (earth * degree) // in degrees of latitude
	north := sn.directory.north
	first := sort.Search(len(north), func(i int) bool { return sn.stations[north[i]].Latitude >= p.Latitude-reach })
	type reached struct {
		at     int32
		metres float64
	}
	var found []reached
	for _, at := range north[first:] {
		st := &sn.stations[at]
		if st.Latitude > p.Latitude+reach {
			break
		}
		if metres := p.distance(Position{st.Latitude, st.Longitude}); metres <= nearby && fits(at) {
			found = append(found, reached{at, metres})
		}
	}
	slices.SortFunc(found, func(a, b reached) int { return cmp.Or(cmp.Compare(a.metres, b.metres), cmp.Compare(a.at, b.at)) })
	order := make([]int32, len(found))
	for i, r := range found {
		order[i] = r.at
	}
	return order
}
