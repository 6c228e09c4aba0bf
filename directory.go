package traintravel

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/traintravel/traintravel/internal/fold"
)

// A directory finds stations without looking at all of them. Like all that
// refers to stations, it has their index in the order in which they are listed.
type directory struct {
	words []entry // of names and addresses, sorted
	north []int32 // all stations, from south to north
}

type entry struct {
	word string
	at   int32
}

func (sn *snapshot) makeDirectory() {
	d := &sn.directory
	for i := range sn.stations {
		d.north = append(d.north, int32(i))
		for _, w := range fold.Words(sn.folded[i]) {
			d.words = append(d.words, entry{w, int32(i)})
		}
	}
	slices.SortFunc(d.words, func(a, b entry) int { return cmp.Or(cmp.Compare(a.word, b.word), cmp.Compare(a.at, b.at)) })
	d.words = slices.Compact(d.words)
	slices.SortFunc(d.north, func(a, b int32) int { return cmp.Compare(sn.stations[a].Latitude, sn.stations[b].Latitude) })
}

// beginning returns the entries whose words begin with one.
func (d *directory) beginning(word string) []entry {
	from := sort.Search(len(d.words), func(i int) bool { return d.words[i].word >= word })
	n := sort.Search(len(d.words)-from, func(i int) bool { return !strings.HasPrefix(d.words[from+i].word, word) })
	return d.words[from : from+n]
}

// search lists stations that fit in the order of the answer, from the one with
// an index on, and as many as are enough. Those near a place are all listed:
// their order is another.
func (sn *snapshot) search(words []string, country string, near *Position, from, enough int) []int32 {
	fits := func(at int32) bool {
		return (country == "" || sn.stations[at].Country == country) && hasWords(sn.folded[at], words)
	}
	if near != nil {
		return sn.near(*near, fits)
	}
	var found []int32
	add := func(at int32) (more bool) {
		if int(at) >= from && fits(at) {
			found = append(found, at)
		}
		return len(found) < enough
	}
	if candidates, few := sn.directory.candidates(words, len(sn.stations)); few {
		for _, at := range candidates {
			if !add(at) {
				break
			}
		}
		return found
	}
	for at := from; at < len(sn.stations) && add(int32(at)); at++ {
	}
	return found
}

// candidates lists the stations that have the rarest of the words, unless that
// is so common that looking at all, until there are enough, is quicker.
func (d *directory) candidates(words []string, all int) (at []int32, few bool) {
	var rarest []entry
	for i, w := range words {
		if e := d.beginning(w); i == 0 || len(e) < len(rarest) {
			rarest = e
		}
	}
	if len(words) == 0 || len(rarest) > all/16 {
		return nil, false
	}
	for _, e := range rarest {
		at = append(at, e.at)
	}
	slices.Sort(at)
	return slices.Compact(at), true
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

// hasWords says whether each word begins a word of the folded text.
func hasWords(text string, words []string) bool {
	for _, w := range words {
		if !beginsWord(text, w) {
			return false
		}
	}
	return true
}
