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
	words  []string    // of names and addresses, in every form of theirs, sorted
	starts []int32     // having[starts[i]:starts[i+1]] have words[i]
	having []int32     // stations
	ways   []uint8     // how they have it, if the word is all that is searched for
	shapes []shape     // by station, and one after the last
	names  []wholeName // of all stations
	tokens []token     // the words of all stations
	north  []int32     // all stations, from south to north
}

// A shape is what the directory knows of a station.
type shape struct {
	names  int32 // where in directory.names its own begin
	tokens int32 // where in directory.tokens its own begin
}

// wholeName is how many words have to be given for the whole name, in each view of
// it: those in parentheses at its end need not be.
type wholeName [views]uint8

// A token is a word of a station in one of its forms, in which of its names it
// is, and where it stands in the views of that name.
type token struct {
	word  int32
	place [views]uint8
	name  uint8 // the first for words of the address
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
		d.shapes = append(d.shapes, shape{names: int32(len(d.names)), tokens: int32(len(d.tokens))})
		n := uint8(0)
		for name := range st.names() {
			d.addName(known, name, n)
			n++
		}
		for _, w := range wordsOf(st.Address) {
			d.add(known, w, token{place: [views]uint8{nowhere, nowhere}})
		}
	}
	d.shapes = append(d.shapes, shape{names: int32(len(d.names)), tokens: int32(len(d.tokens))})
	d.sortWords(known)
	d.invert()
	d.names, d.tokens, d.shapes, d.north = slices.Clip(d.names), slices.Clip(d.tokens), slices.Clip(d.shapes), slices.Clip(d.north)
	slices.SortFunc(d.north, func(a, b int32) int { return cmp.Compare(sn.stations[a].Latitude, sn.stations[b].Latitude) })
}

// addName adds the words of a station's name, which is its n-th.
func (d *directory) addName(known map[string]int32, name string, n uint8) {
	var words [views]int
	var whole wholeName
	for _, w := range wordsOf(name) {
		place := [views]uint8{nowhere, nowhere}
		for v := range views {
			if v == telling && w.common {
				continue
			}
			place[v] = uint8(min(words[v], nowhere))
			if words[v]++; !w.aside {
				whole[v] = uint8(min(words[v], nowhere))
			}
		}
		d.add(known, w, token{place: place, name: n})
	}
	for v, n := range whole {
		if n == 0 { // all is in parentheses
			whole[v] = uint8(min(words[v], nowhere))
		}
	}
	d.names = append(d.names, whole)
}

// add adds a word of a station, numbered as it comes.
func (d *directory) add(known map[string]int32, w nameWord, t token) {
	for _, form := range w.forms {
		n, ok := known[form]
		if !ok {
			n = int32(len(known))
			known[strings.Clone(form)] = n // without the text that it is a part of
		}
		t.word = n
		d.tokens = append(d.tokens, t)
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
	each := func(fn func(t token, at int32, again bool)) {
		clear(last)
		for at := range int32(len(d.shapes) - 1) {
			for _, t := range d.of(at) {
				fn(t, at, last[t.word] == at+1)
				last[t.word] = at + 1
			}
		}
	}
	d.starts = make([]int32, len(d.words)+1)
	each(func(t token, _ int32, again bool) {
		if !again {
			d.starts[t.word+1]++
		}
	})
	for i := range d.words {
		d.starts[i+1] += d.starts[i]
	}
	d.having = make([]int32, d.starts[len(d.words)])
	d.ways = make([]uint8, len(d.having))
	next := slices.Clone(d.starts)
	each(func(t token, at int32, again bool) {
		way, n := d.alone(at, t), &next[t.word]
		if again {
			*n--
			way = min(way, d.ways[*n])
		}
		d.having[*n], d.ways[*n] = at, way
		*n++
	})
}

// alone says how a station has a search for one word of its own.
func (d *directory) alone(at int32, t token) uint8 {
	if t.place[inFull] == nowhere {
		return inItsAddress
	}
	way, whole := uint8(inItsName), d.namesOf(at)[t.name]
	for v, n := range t.place {
		if n == 0 && whole[v] <= 1 {
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

// namesOf returns the names of a station.
func (d *directory) namesOf(at int32) []wholeName {
	return d.names[d.shapes[at].names:d.shapes[at+1].names]
}

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
