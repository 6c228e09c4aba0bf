package traintravel

import (
	"context"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/search"
	"github.com/traintravel/traintravel/rail"
)

// A StationQuery asks for stations. The zero query asks for all, by name.
type StationQuery struct {
	// Search leaves stations of whose names or address each word of Search begins a
	// word, in any order. Name and OtherNames count alike, and so do the other names
	// of the city that a station is in or named after: see Options.Cities.
	//
	// Letter case and accents do not matter, other scripts are found by Latin letters and
	// the other way round, and words that mean the same count as one: Hbf, hauptbahnhof and
	// central. If nothing is found, words that many stations have are left out, then
	// letters may be amiss. Names that are Search come first, then names that begin with
	// it, then those that have its words; among these, stations at which more trains call.
	// docs/station-search.md has all of it. As trains decide, Next is good until another
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
	// A Station is a place where trains call. Its platforms are not told apart.
	Station = rail.Station
)

// UnknownCountry is the code of stations of which no country is known, at sea for
// instance. ISO 3166-1 leaves it to its users, and no country ever has it.
const UnknownCountry = rail.UnknownCountry

// A Position is a place on earth in degrees north and east (WGS 84).
type Position = rail.Position
