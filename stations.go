package traintravel

import (
	"context"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/fold"
	"github.com/traintravel/traintravel/internal/stations"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

// A StationQuery asks for stations. The zero query asks for all, by name.
type StationQuery struct {
	// Search leaves stations of whose names or address each word of Search begins a
	// word, in any order. Name and OtherNames count alike, and so do the other names
	// of the city that a station is in or named after: see Options.Cities.
	//
	// Letter case and accents do not matter; ä, ö, ü, å and ø can be spelled ae, oe,
	// ue, aa and oe, and ß ss. Words in other letters than Latin ones are found by
	// Latin letters, in the ways in which Greek and Cyrillic names are usually
	// spelled with them, and the other way round: "kyiv" finds Київ and "брно" Brno.
	// Hbf, hb and hauptbahnhof are one word, as are bf, bhf and bahnhof, also at the
	// end of others, str and strasse likewise, st, saint and sankt, and ste and
	// sainte. Words that mean a main station, an airport or a point of the compass in
	// one language find those of others: "central" finds Hbf and hl.n., also the S of
	// Oslo S.
	//
	// If that finds none, words that many stations have, such as "gare", "hbf" or
	// "station", are left out of Search, and then words that people add: the name of
	// a country, in which the stations have to be then, and "train" or "main". Points
	// of the compass have to be complete then: "gare du nord" does not mean Norden.
	// Next, a word may be two written together.
	//
	// If that finds none either, words of four letters or more may have one letter
	// missing, too many, wrong or swapped with the next, and words of three letters
	// may lack one of a word of four, unless there are more than eight words. A word
	// of four letters is not the beginning of another that is misspelt. If three
	// letters are all of Search, and no word by themselves, such words follow those
	// that they begin: "brn" finds Brno, and then Bern. At last two letters may be
	// amiss in words of seven letters or more, unless there are more than four words.
	// None of this is done if Search is the name of one of Options.Cities.
	//
	// The stations come in this order: those with a name that is Search to the last
	// word; those with the fewest letters amiss; those of which Search is a name; those
	// with a name that begins with the words of Search; those with a name that begins
	// with it, its last word incomplete; those with all words in their names; those
	// with all words in their names, of which one is incomplete; and those with a word
	// in the address. Of several words, those that are complete in any order come
	// before a beginning. In each of these, stations found by their own names and
	// words come before those found by a city's other name or another language's word;
	// then those at which more trains call; those first by name. For the name, but not
	// to the last word, words that many stations have and what is in parentheses at
	// its end do not count: Berlin Hauptbahnhof is "berlin", and Frankfurt (Main)
	// Hauptbahnhof is "frankfurt". As trains decide, Next is good until another
	// timetable is loaded.
	//
	// A text without a letter or digit finds none, a blank one does not search. It has at
	// most MaxText characters: each word costs.
	Search string
	// Country leaves the stations of a country, an ISO 3166-1 alpha-2 code in
	// either letter case, or those of no country that is known (UnknownCountry).
	Country string
	// Near leaves the stations within 50 km of a place, nearest first whatever
	// Search says.
	Near *Position
	Page Page
}

// rankedList is the list of the stations found by a search. Their order is that
// of the trains, so its cursors tell the timetable beside the station.
const rankedList rail.ListKind = 'r'

func errBeginAgain() error {
	return rail.Invalid("after", "the timetable has changed: begin again at the first page")
}

// Stations lists stations by name, those that fit a search best first, or the
// nearest first. It returns an [*InvalidError] naming search, country, coordinates
// or a member of the page.
func (s *Service) Stations(ctx context.Context, q StationQuery) (_ List[Station], err error) {
	ctx, end := s.begin(ctx, "Stations")
	defer end(&err)
	page, err := q.Page.Normalize()
	if err != nil {
		return List[Station]{}, err
	}
	kind, size := rail.StationList, len(uuid.UUID{})
	if q.ranked() {
		kind, size = rankedList, 2*size
	}
	after, err := page.Cursor(kind, size)
	if err != nil {
		return List[Station]{}, err
	}
	if n := utf8.RuneCountInString(q.Search); n > rail.MaxText {
		return List[Station]{}, rail.Invalid("search", "has %d characters, more than %d", n, rail.MaxText)
	}
	country := strings.ToUpper(q.Country)
	if country != "" && !schedule.IsCountry(country) {
		return List[Station]{}, rail.Invalid("country", "%.20q is no ISO 3166-1 code of two letters", q.Country)
	}
	if p := q.Near; p != nil && !(math.Abs(p.Latitude) <= 90 && math.Abs(p.Longitude) <= 180) {
		return List[Station]{}, rail.Invalid("coordinates", "%v, %v is no place on earth", p.Latitude, p.Longitude)
	}
	sn, err := s.timetable.Snapshot(ctx)
	if err != nil {
		return List[Station]{}, err
	}
	words := fold.Words(fold.String(q.Search))
	if len(words) == 0 && strings.TrimSpace(q.Search) != "" {
		return List[Station]{}, nil // nothing but signs
	}
	order := ""
	if q.ranked() {
		order = string(sn.Generation[:])
	}
	ask := stations.Lookup{Words: words, Country: country, Near: q.Near, After: -1, Enough: page.Skip() + page.Limit + 1}
	if after != "" {
		id, of := uuid.UUID([]byte(after[:16])), after[16:]
		at, ok := sn.StationAt[id]
		if !ok || of != order {
			return List[Station]{}, errBeginAgain()
		}
		ask.After = at
	}
	found, ok := sn.Directory.Search(ask)
	if !ok {
		return List[Station]{}, errBeginAgain()
	}
	list := rail.Cut(kind, found, page.Skip(), page.Limit, func(at int32) string { return string(sn.Stations[at].ID[:]) + order })
	stations := make([]Station, len(list.Items))
	for i, at := range list.Items {
		stations[i] = sn.Stations[at]
	}
	return List[Station]{Items: stations, Next: list.Next}, nil
}

// ranked says whether the best answers come first, and not the nearest or all
// by name.
func (q *StationQuery) ranked() bool { return q.Near == nil && strings.TrimSpace(q.Search) != "" }

// Station returns a station by its ID, or ErrNotFound.
func (s *Service) Station(ctx context.Context, id uuid.UUID) (_ Station, err error) {
	ctx, end := s.begin(ctx, "Station")
	defer end(&err)
	sn, err := s.timetable.Snapshot(ctx)
	if err != nil {
		return Station{}, err
	}
	at, ok := sn.StationAt[id]
	if !ok {
		return Station{}, ErrNotFound
	}
	return sn.Stations[at], nil
}

// Bounds of a page.
const (
	DefaultLimit = rail.DefaultLimit
	MaxLimit     = rail.MaxLimit
)

// A Page asks for a part of a list. The zero Page is the first one.
type Page = rail.Page

// A List is a page of a list.
type List[T any] = rail.List[T]

// A Station is a place where trains call. Its platforms are not told apart.
type Station = rail.Station

// UnknownCountry is the code of stations of which no country is known, at sea for
// instance. ISO 3166-1 leaves it to its users, and no country ever has it.
const UnknownCountry = rail.UnknownCountry

// A Position is a place on earth in degrees north and east (WGS 84).
type Position = rail.Position
