// Package stations finds stations and cities by what a user types, with other spellings,
// abbreviations and mistakes. It must not know of trains or bookings.
package stations

import (
	"slices"

	"github.com/traintravel/traintravel/internal/fold"
	"github.com/traintravel/traintravel/rail"
)

// A Lookup asks a directory for stations.
type Lookup struct {
	Words   []string // folded
	Country string
	Near    *rail.Position
	After   int32 // the station that the answer begins after, or -1
	Enough  int
}

// Search lists stations that fit, in the order of the answer, and as many as
// are enough. It is false if the one to begin after is not among them.
func (d *Directory) Search(q Lookup) (found []int32, ok bool) {
	inCountry := func(at int32) bool { return q.Country == "" || d.stations[at].Country == q.Country }
	switch {
	case q.Near != nil:
		found = d.withWords(d.near(*q.Near, inCountry), q.Words)
		from := 0
		if q.After >= 0 {
			if from = slices.Index(found, q.After) + 1; from == 0 {
				return nil, false
			}
		}
		return found[from:][:min(q.Enough, len(found)-from)], true
	case len(q.Words) > 0:
		return d.ranked(q, inCountry)
	}
	for at := q.After + 1; int(at) < len(d.stations) && len(found) < q.Enough; at++ {
		if inCountry(at) {
			found = append(found, at)
		}
	}
	return found, true
}

// withWords leaves of some stations those that have the words.
func (d *Directory) withWords(stations []int32, words []string) []int32 {
	if len(words) == 0 {
		return stations
	}
	for p := range d.phrases(words) {
		var kept []int32
		for _, at := range stations {
			if p.country != "" && d.stations[at].Country != p.country {
				continue
			}
			if _, ok := d.rank(&p, at); ok {
				kept = append(kept, at)
			}
		}
		if len(kept) > 0 {
			return kept
		}
	}
	return nil
}

// ranked lists the stations that have the words, those first that are most
// likely meant. They are compared by one number: how they have the words, with
// those first whose name in full they are, how many trains do not call there, and
// their index, which is by name.
func (d *Directory) ranked(q Lookup, fits func(int32) bool) (found []int32, ok bool) {
	const (
		atBits      = 32
		trafficBits = 24
		most        = 1<<trafficBits - 1
	)
	var keys []uint64
	for p := range d.phrases(q.Words) {
		keys = make([]uint64, 0, p.apart[0].rare)
		for at, how := range d.find(&p) {
			if fits(at) && (p.country == "" || p.country == d.stations[at].Country) {
				if how > int(asItsName)+1 || !d.isName(at, q.Words) {
					how++
				}
				quiet := most - min(d.traffic(at), most)
				keys = append(keys, uint64(how)<<(trafficBits+atBits)|uint64(quiet)<<atBits|uint64(at))
			}
		}
		if len(keys) > 0 {
			break
		}
	}
	if q.After >= 0 {
		i := slices.IndexFunc(keys, func(k uint64) bool { return int32(k) == q.After })
		if i < 0 {
			return nil, false
		}
		last := keys[i]
		keys = slices.DeleteFunc(keys, func(k uint64) bool { return k <= last })
	}
	for _, k := range least(keys, q.Enough) {
		found = append(found, int32(k))
	}
	return found, true
}

// isName says whether words are all that a name of a station has.
func (d *Directory) isName(at int32, words []string) bool {
	for name := range namesOf(&d.stations[at]) {
		if slices.Equal(fold.Words(fold.String(name)), words) || slices.Equal(fold.Words(fold.Doubled(name)), words) {
			return true
		}
	}
	return false
}

// least returns the n least of some numbers, sorted. It puts others in their
// places.
func least(keys []uint64, n int) []uint64 {
	kept, full := keys[:0], false
	for _, k := range keys {
		if full && k > kept[n-1] {
			continue
		}
		if kept = append(kept, k); len(kept)/2 >= n {
			slices.Sort(kept)
			kept, full = kept[:n], true
		}
	}
	slices.Sort(kept)
	return kept[:min(n, len(kept))]
}
