package traintravel

import (
	"context"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/search"
	"github.com/traintravel/traintravel/rail"
)

// A StationQuery asks for stations. The zero query asks for all, by name.
type StationQuery struct {
	// Search selects stations for which each word of Search is the beginning of a word in
	// their names or address, in any order. Name and OtherNames count alike, and so do the
	// other names of the city that a station is in or named after: see Options.Cities.
	//
	// Letter case and accents are ignored, Latin letters match other scripts and vice versa,
	// and synonyms match, such as Hbf, hauptbahnhof and central. If nothing matches, common
	// words are ignored, then misspellings are allowed. Exact names come first, then names that
	// begin with Search, then names with its words; within these, stations with more trains
	// come first. docs/station-search.md has the details. Because the order depends on the
	// trains, Next is valid until another timetable is loaded.
	//
	// A text without a letter or digit matches no station; a blank text does not search. Search
	// has at most MaxText characters.
	Search string
	// Country selects the stations of a country, an ISO 3166-1 alpha-2 code in either letter
	// case, or those whose country is not known (UnknownCountry).
	Country string
	// Near selects the stations within 50 km of a position, nearest first, also with Search.
	Near *Position
	Page Page
}

// Stations lists stations by name, those that fit a search best first, or the
// nearest first. It returns an [*InvalidError] naming search, country, coordinates
// or a member of the page.
func (s *Service) Stations(ctx context.Context, q StationQuery) (_ List[Station], err error) {
	ctx, end := s.begin(ctx, "Stations")
	defer end(&err)
	return search.StationQuery{Search: q.Search, Country: q.Country, Near: q.Near}.Find(ctx, s.timetable, q.Page)
}

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

type (
	// A Page asks for a part of a list. The zero Page is the first one.
	Page = rail.Page
	// A List is a page of a list.
	List[T any] = rail.List[T]
	// A Station is a place where trains stop. It includes all its platforms.
	Station = rail.Station
)

// UnknownCountry is the code of stations whose country is not known, for instance at sea.
// ISO 3166-1 reserves it for users, so it never belongs to a country.
const UnknownCountry = rail.UnknownCountry

// A Position is a place on earth in degrees north and east (WGS 84).
type Position = rail.Position
