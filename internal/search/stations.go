package search

import (
	"context"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel/internal/fold"
	"github.com/traintravel/traintravel/internal/stations"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

// A StationQuery is the root's without its page.
type StationQuery struct {
	Search, Country string
	Near            *rail.Position
}

// rankedList is the list of the stations found by a search. Their order depends on the trains,
// so its cursors name the timetable besides the station.
const rankedList rail.ListKind = 'r'

func errBeginAgain() error {
	return rail.Invalid("after", "the timetable has changed: begin again at the first page")
}

// Find lists stations by name, those that fit a search best first, or the nearest first.
func (q StationQuery) Find(ctx context.Context, source *timetable.Source, p rail.Page) (_ rail.List[rail.Station], err error) {
	page, err := p.Normalize()
	if err != nil {
		return rail.List[rail.Station]{}, err
	}
	kind, size := rail.StationList, len(uuid.UUID{})
	if q.ranked() {
		kind, size = rankedList, 2*size
	}
	after, err := page.Cursor(kind, size)
	if err != nil {
		return rail.List[rail.Station]{}, err
	}
	if n := utf8.RuneCountInString(q.Search); n > rail.MaxText {
		return rail.List[rail.Station]{}, rail.Invalid("search", "has %d characters, more than %d", n, rail.MaxText)
	}
	country := strings.ToUpper(q.Country)
	if country != "" && !schedule.IsCountry(country) {
		return rail.List[rail.Station]{}, rail.Invalid("country", "invalid country %.20q: want an ISO 3166-1 code of two letters", q.Country)
	}
	if p := q.Near; p != nil && !(math.Abs(p.Latitude) <= 90 && math.Abs(p.Longitude) <= 180) {
		return rail.List[rail.Station]{}, rail.Invalid("coordinates", "invalid position %v, %v: want a latitude from -90 to 90 and a longitude from -180 to 180", p.Latitude, p.Longitude)
	}
	sn, err := source.Snapshot(ctx)
	if err != nil {
		return rail.List[rail.Station]{}, err
	}
	words := fold.Words(fold.String(q.Search))
	if len(words) == 0 && strings.TrimSpace(q.Search) != "" {
		return rail.List[rail.Station]{}, nil // nothing but signs
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
			return rail.List[rail.Station]{}, errBeginAgain()
		}
		ask.After = at
	}
	found, ok := sn.Directory.Search(ask)
	if !ok {
		return rail.List[rail.Station]{}, errBeginAgain()
	}
	list := rail.Cut(kind, found, page.Skip(), page.Limit, func(at int32) string { return string(sn.Stations[at].ID[:]) + order })
	stations := make([]rail.Station, len(list.Items))
	for i, at := range list.Items {
		stations[i] = sn.Stations[at]
	}
	return rail.List[rail.Station]{Items: stations, Next: list.Next}, nil
}

// ranked says whether the best answers come first, and not the nearest or all
// by name.
func (q StationQuery) ranked() bool { return q.Near == nil && strings.TrimSpace(q.Search) != "" }
