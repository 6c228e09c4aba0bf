package feeds

import (
	"cmp"
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/alike"
)

const (
	// nameReach is how many metres apart stations of one name look alike.
	// Farther, one thinks of two towns.
	nameReach = 10_000
	// maxAlike bounds what is compared with one station.
	maxAlike = 64
)

func pointOf(s *traintravel.Station) alike.Point { return alike.At(s.Latitude, s.Longitude) }

// A joiner takes one part after the other. What it has by then is called sites:
// the stations of the timetable to be, each with those that have become it.
type joiner struct {
	stations []traintravel.Station // of the sites
	sites    []site
	byID     map[uuid.UUID]int32
	byCode   map[string][]int32
	names    map[string]int32 // numbers of the names that sites have
	byName   alike.Grid       // by the number of the name
	byPlace  alike.Grid
	others   []otherID
	report   Report
}

// An otherID is a further ID of a site, which a part gives it.
type otherID struct {
	part int
	site int32
	id   uuid.UUID
}

// A site is one station of the timetable to be.
type site struct {
	feed  string
	part  int // the latest one that has a station here
	names []int32
}

func newJoiner() *joiner {
	return &joiner{
		byID: map[uuid.UUID]int32{}, byCode: map[string][]int32{}, names: map[string]int32{},
		byName: alike.NewGrid(nameReach), byPlace: alike.NewGrid(NameRadius),
	}
}

// A match is a station of a part, a site that it may be, and why.
type match struct {
	station, site int32
	why           Why
	metres        float64
	// gone says that one of the two has the ID only from a station that has become it.
	// Who has the site's own ID comes first, lest it be there twice.
	gone bool
}

func compareMatches(a, b match) int {
	if a.gone != b.gone && a.why == b.why {
		if a.gone {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(a.why, b.why), cmp.Compare(a.metres, b.metres),
		cmp.Compare(a.station, b.station), cmp.Compare(a.site, b.site))
}

// add joins the stations of a part to the sites of the parts before, each to at
// most one and each site with at most one, the best matches first. It returns
// what the IDs of joined stations have become.
func (j *joiner) add(part int, p Part) map[uuid.UUID]uuid.UUID {
	stations := p.Timetable.Stations
	names := make([]string, len(stations))
	var matches []match
	for i := range stations {
		names[i] = alike.Name(stations[i].Name)
		matches = j.match(matches, int32(i), &stations[i], names[i], p.Codes)
	}
	slices.SortFunc(matches, compareMatches)
	chosen := make([]*match, len(stations))
	for i := range matches {
		m := &matches[i]
		if m.why.joins() && chosen[m.station] == nil && j.sites[m.site].part != part {
			chosen[m.station] = m
			j.sites[m.site].part = part
		}
	}
	j.doubt(part, p, matches, chosen)
	moved := map[uuid.UUID]uuid.UUID{}
	for i, s := range stations {
		at := int32(len(j.sites))
		if m := chosen[i]; m != nil {
			at = m.site
			j.report.Joined = append(j.report.Joined, j.pair(p.Feed, s, m))
			kept := &j.stations[at]
			kept.Address, kept.Country = cmp.Or(kept.Address, s.Address), cmp.Or(kept.Country, s.Country)
			addNames(kept, &s)
			if s.ID != kept.ID {
				moved[s.ID] = kept.ID
				j.others = append(j.others, otherID{part, at, s.ID})
			}
		} else {
			j.stations = append(j.stations, s)
			j.stations[at].OtherIDs = nil
			j.sites = append(j.sites, site{feed: p.Feed, part: part})
			j.byPlace.Put(0, pointOf(&s), at)
		}
		j.register(at, s.ID, names[i], codeOf(&s, p.Codes))
		for _, id := range s.OtherIDs {
			if _, ok := j.byID[id]; !ok {
				j.byID[id] = at
			}
			j.others = append(j.others, otherID{part, at, id})
		}
	}
	return moved
}

// addNames gives a station the names of another one that has become it.
func addNames(kept, s *traintravel.Station) {
	known := map[string]bool{alike.Name(kept.Name): true}
	for _, name := range kept.OtherNames {
		known[alike.Name(name)] = true
	}
	var more []string
	for _, name := range append([]string{s.Name}, s.OtherNames...) {
		if plain := alike.Name(name); !known[plain] && len(kept.OtherNames)+len(more) < traintravel.MaxOtherNames {
			known[plain] = true
			more = append(more, name)
		}
	}
	if len(more) > 0 { // the part keeps its own
		kept.OtherNames = slices.Concat(kept.OtherNames, more)
	}
}

// giveIDs gives the stations their further IDs. What is the ID of another station is
// none of them: the part that has it for one names the station by its own ID then.
func (j *joiner) giveIDs(moves []map[uuid.UUID]uuid.UUID) {
	owner := make(map[uuid.UUID]int32, len(j.stations)+len(j.others))
	for i := range j.stations {
		owner[j.stations[i].ID] = int32(i)
	}
	for _, o := range j.others {
		s := &j.stations[o.site]
		switch at, ok := owner[o.id]; {
		case !ok:
			owner[o.id] = o.site
			s.OtherIDs = append(s.OtherIDs, o.id)
		case at != o.site:
			moves[o.part][o.id] = s.ID
		}
	}
}

// register makes a site known by what one of its stations is known by.
func (j *joiner) register(at int32, id uuid.UUID, name, code string) {
	j.byID[id] = at
	if code != "" && len(j.byCode[code]) < maxAlike && !slices.Contains(j.byCode[code], at) {
		j.byCode[code] = append(j.byCode[code], at)
	}
	n, ok := j.names[name]
	if !ok {
		n = int32(len(j.names))
		j.names[name] = n
	}
	if !slices.Contains(j.sites[at].names, n) {
		j.sites[at].names = append(j.sites[at].names, n)
		j.byName.Put(n, pointOf(&j.stations[at]), at)
	}
}

// match appends what a station may be, and what it only looks like, other than
// by its place.
func (j *joiner) match(matches []match, i int32, s *traintravel.Station, name string, codes map[uuid.UUID]string) []match {
	for n, id := range append([]uuid.UUID{s.ID}, s.OtherIDs...) {
		if at, ok := j.byID[id]; ok {
			matches = append(matches, match{i, at, SameID, s.Distance(j.stations[at]), n > 0 || j.stations[at].ID != id})
		}
	}
	if code := codeOf(s, codes); code != "" {
		for _, at := range j.byCode[code] {
			m := match{station: i, site: at, why: SameCode, metres: s.Distance(j.stations[at])}
			if m.metres > CodeRadius {
				m.why = FarSameCode
			}
			matches = append(matches, m)
		}
	}
	if n, ok := j.names[name]; ok {
		j.byName.Near(n, pointOf(s), func(at int32) {
			m := match{station: i, site: at, why: SameName, metres: s.Distance(j.stations[at])}
			if m.metres > NameRadius {
				m.why = FarSameName
			}
			if m.metres <= nameReach {
				matches = append(matches, m)
			}
		})
	}
	return matches
}

// codeOf is the UIC code of a station, or of the first of its other IDs that has one.
func codeOf(s *traintravel.Station, codes map[uuid.UUID]string) string {
	code := codes[s.ID]
	for i := 0; code == "" && i < len(s.OtherIDs); i++ {
		code = codes[s.OtherIDs[i]]
	}
	return code
}

// doubt reports what is left of the matches when stations and sites have found
// each other, the nearest for each station, and which sites of other names are
// near stations that found none.
func (j *joiner) doubt(part int, p Part, matches []match, chosen []*match) {
	var doubts []match
	type about struct {
		station int32
		why     Why
	}
	told := map[about]bool{}
	for _, m := range matches { // the nearest first
		if m.why.joins() || chosen[m.station] != nil || j.sites[m.site].part == part || told[about{m.station, m.why}] {
			continue
		}
		told[about{m.station, m.why}] = true
		doubts = append(doubts, m)
	}
	for i := range p.Timetable.Stations {
		if chosen[i] != nil {
			continue
		}
		s := &p.Timetable.Stations[i]
		near := match{station: int32(i), site: -1, why: NearOtherName, metres: NameRadius}
		j.byPlace.Near(0, pointOf(s), func(at int32) {
			if d := s.Distance(j.stations[at]); j.sites[at].part != part && d <= near.metres && (near.site < 0 || d < near.metres) {
				near.site, near.metres = at, d
			}
		})
		if near.site >= 0 {
			doubts = append(doubts, near)
		}
	}
	slices.SortFunc(doubts, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.station, b.station), compareMatches(a, b))
	})
	for i := range doubts {
		j.report.Alike = append(j.report.Alike, j.pair(p.Feed, p.Timetable.Stations[doubts[i].station], &doubts[i]))
	}
}

func (j *joiner) pair(feed string, s traintravel.Station, m *match) Pair {
	return Pair{
		First: Origin{j.sites[m.site].feed, j.stations[m.site]}, Second: Origin{feed, s},
		Why: m.why, Metres: m.metres,
	}
}
