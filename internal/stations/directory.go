package stations

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/fold"
	"github.com/traintravel/traintravel/rail"
)

// A Directory finds stations without looking at all of them. Like all that
// refers to stations, it has their index in the order in which they are listed.
type Directory struct {
	stations []rail.Station // in the order of SortStations
	cities   *Gazetteer
	traffic  func(station int32) int // how many trains call there

	words  []string  // of names and addresses, in every form of theirs, sorted
	starts []int32   // having[starts[i]:starts[i+1]] have words[i]
	having []int32   // stations
	ways   []twoWays // how they have it, if the word is all that is searched for
	tokens []token   // the words of all stations
	begins []int32   // tokens[begins[i]:begins[i+1]] are those of station i
	north  []int32   // all stations, from south to north
}

// SortStations puts stations in the order in which they are listed: by folded name, then ID.
func SortStations(stations []rail.Station) {
	names := make(map[uuid.UUID]string, len(stations))
	for _, s := range stations {
		names[s.ID] = fold.String(s.Name)
	}
	slices.SortFunc(stations, func(a, b rail.Station) int {
		return cmp.Or(cmp.Compare(names[a.ID], names[b.ID]), slices.Compare(a.ID[:], b.ID[:]))
	})
}

// NewDirectory makes the directory of stations that SortStations has put in order. It asks for
// traffic only in searches.
func NewDirectory(stations []rail.Station, cities *Gazetteer, traffic func(station int32) int) *Directory {
	d := &Directory{stations: stations, cities: cities, traffic: traffic}
	known := map[string]int32{}
	for i := range stations {
		d.north = append(d.north, int32(i))
		d.begins = append(d.begins, int32(len(d.tokens)))
		d.addStation(known, &stations[i])
	}
	d.begins = append(d.begins, int32(len(d.tokens)))
	d.sortWords(known)
	d.invert()
	d.tokens, d.begins, d.north = slices.Clip(d.tokens), slices.Clip(d.begins), slices.Clip(d.north)
	slices.SortFunc(d.north, func(a, b int32) int { return cmp.Compare(stations[a].Latitude, stations[b].Latitude) })
	return d
}

// addStation adds the words of a station: those of its names with the other names
// of cities in place of the one that is there, those of its address, and the names
// of cities that it lies in, if its names have none of them.
func (d *Directory) addStation(known map[string]int32, st *rail.Station) {
	mentioned := map[int32]bool{}
	n := uint8(0)
	for name := range namesOf(st) {
		words := wordsOf(name)
		places := placesOf(words)
		for i, w := range words {
			d.add(known, w, token{place: places.of[i], name: n, traits: places.traits(i, i+1)})
		}
		for _, m := range d.cities.mentions(st, words) {
			if mentioned[m.city] {
				continue
			}
			mentioned[m.city] = true
			for i, other := range d.cities.cities[m.city].names {
				if int32(i) != m.name {
					d.addAlias(known, other, places, m, n)
				}
			}
		}
		n++
	}
	elsewhere := token{place: [views]uint8{nowhere, nowhere}, name: n}
	for _, w := range wordsOf(st.Address) {
		d.add(known, w, elsewhere)
	}
	elsewhere.traits = alias
	for _, city := range d.cities.around(st) {
		if mentioned[city] {
			continue
		}
		for _, name := range d.cities.cities[city].names {
			for _, w := range name {
				d.add(known, w, elsewhere)
			}
		}
	}
}

// addAlias adds the words of a city's name in place of those in a station's name.
func (d *Directory) addAlias(known map[string]int32, words []nameWord, of places, m mention, n uint8) {
	own := placesOf(words)
	start := [views]int{m.from, of.before(m.from)}
	end := of.traits(m.from, m.to)
	for i, w := range words {
		t := token{name: n, traits: alias}
		for v := range views {
			t.place[v] = nowhere
			if own.of[i][v] != nowhere {
				t.place[v] = uint8(min(start[v]+int(own.of[i][v]), nowhere))
			}
			if own.last[v] == i {
				t.traits |= end & ends(v)
			}
		}
		d.add(known, w, t)
	}
}

// places are where the words of a name stand in its views.
type places struct {
	of   [][views]uint8
	last [views]int // the word that ends the name, or -1
}

func placesOf(words []nameWord) places {
	p := places{of: make([][views]uint8, len(words)), last: [views]int{-1, -1}}
	var count [views]int
	var in [views]bool // a word is not in parentheses
	for i, w := range words {
		for v := range views {
			if p.of[i][v] = nowhere; v == telling && w.common {
				continue
			}
			p.of[i][v] = uint8(min(count[v], nowhere))
			count[v]++
			if !w.aside || !in[v] {
				p.last[v] = i
			}
			in[v] = in[v] || !w.aside
		}
	}
	return p
}

// traits are those of a range of words in the name.
func (p *places) traits(from, to int) (t traits) {
	for v, last := range p.last {
		if from <= last && last < to {
			t |= ends(v)
		}
	}
	return t
}

// before counts the telling words before one.
func (p *places) before(word int) (n int) {
	for _, place := range p.of[:word] {
		if place[telling] != nowhere {
			n++
		}
	}
	return n
}

// add adds a word of a station, numbered as it comes.
func (d *Directory) add(known map[string]int32, w nameWord, t token) {
	for _, form := range w.forms {
		n, ok := known[form]
		if !ok {
			n = int32(len(known))
			known[strings.Clone(form)] = n // without the text that it is a part of
		}
		t := t
		if t.word = n; form[0] == notionMark {
			t.traits |= alias
		}
		d.tokens = append(d.tokens, t)
	}
}

// sortWords numbers the words anew, in their order.
func (d *Directory) sortWords(known map[string]int32) {
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
func (d *Directory) invert() {
	last := make([]int32, len(d.words)) // the station, and one, that had the word last
	each := func(fn func(t token, at int32, again bool)) {
		clear(last)
		for at := range int32(len(d.begins) - 1) {
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
	d.ways = make([]twoWays, len(d.having))
	next := slices.Clone(d.starts)
	each(func(t token, at int32, again bool) {
		ways, n := t.alone(), &next[t.word]
		if again {
			*n--
			ways = ways.best(d.ways[*n])
		}
		d.having[*n], d.ways[*n] = at, ways
		*n++
	})
}

// of returns the words of a station.
func (d *Directory) of(at int32) []token { return d.tokens[d.begins[at]:d.begins[at+1]] }

// near lists the stations within reach of a place, the nearest first.
func (d *Directory) near(p rail.Position, fits func(int32) bool) []int32 {
	const reach = Nearby / degreeNorth
	first := sort.Search(len(d.north), func(i int) bool { return d.stations[d.north[i]].Latitude >= p.Latitude-reach })
	type reached struct {
		at     int32
		metres float64
	}
	var found []reached
	for _, at := range d.north[first:] {
		st := &d.stations[at]
		if st.Latitude > p.Latitude+reach {
			break
		}
		if metres := p.Distance(rail.Position{Latitude: st.Latitude, Longitude: st.Longitude}); metres <= Nearby && fits(at) {
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

// Neighbours lists for each station those that are within so many metres.
func (d *Directory) Neighbours(metres float64) [][]int32 {
	near := make([][]int32, len(d.stations))
	reach := metres / degreeNorth
	for i, a := range d.north {
		for _, b := range d.north[i+1:] {
			if d.stations[b].Latitude > d.stations[a].Latitude+reach {
				break
			}
			if d.stations[a].Distance(d.stations[b]) <= metres {
				near[a], near[b] = append(near[a], b), append(near[b], a)
			}
		}
	}
	return near
}
