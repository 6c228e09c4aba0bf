package traintravel

import (
	"context"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/fold"
)

// A Station is a place where trains call. Its platforms are not told apart.
type Station struct {
	ID      uuid.UUID
	Name    string
	Address string
	// Country is an ISO 3166-1 alpha-2 code in upper case, or empty if unknown.
	Country string
	// Zone is the IANA name of the time zone in which the station's clocks run.
	Zone      string
	Latitude  float64 // degrees north, -90 to 90 (WGS 84)
	Longitude float64 // degrees east, -180 to 180
}

// Distance is the length of the great circle to another station, in metres.
func (s Station) Distance(to Station) float64 {
	return Position{s.Latitude, s.Longitude}.distance(Position{to.Latitude, to.Longitude})
}

const (
	earth  = 6_371_000 // its radius in metres
	degree = math.Pi / 180
)

// A Position is a place on earth in degrees north and east (WGS 84).
type Position struct{ Latitude, Longitude float64 }

func (p Position) distance(to Position) float64 {
	haversine := func(degrees float64) float64 {
		s := math.Sin(degrees * degree / 2)
		return s * s
	}
	h := haversine(to.Latitude-p.Latitude) +
		math.Cos(p.Latitude*degree)*math.Cos(to.Latitude*degree)*haversine(to.Longitude-p.Longitude)
	return 2 * earth * math.Asin(math.Sqrt(min(h, 1)))
}

// A StationQuery asks for stations. The zero query asks for all, by name.
type StationQuery struct {
	// Search leaves stations of whose name or address each word of Search
	// begins a word; letter case and accents do not matter. A text without a
	// letter or digit finds none, a blank one does not search.
	Search string
	// Country leaves the stations of a country, an ISO 3166-1 alpha-2 code in
	// either letter case.
	Country string
	// Near leaves the stations within 50 km of a place, nearest first.
	Near *Position
	Page Page
}

// nearby is how far from a Position a station may be, in metres.
const nearby = 50_000

func errBeginAgain() error {
	return invalid("after", "the timetable has changed: begin again at the first page")
}

// Stations lists stations by name, or nearest first. It returns an
// [*InvalidError] naming country, coordinates or a member of the page.
func (s *Service) Stations(ctx context.Context, q StationQuery) (List[Station], error) {
	page, err := q.Page.normalize()
	if err != nil {
		return List[Station]{}, err
	}
	after, err := page.cursor(stationList, 16)
	if err != nil {
		return List[Station]{}, err
	}
	country := strings.ToUpper(q.Country)
	if country != "" && !isCountry(country) {
		return List[Station]{}, invalid("country", "%.20q is no ISO 3166-1 code of two letters", q.Country)
	}
	if p := q.Near; p != nil && !(math.Abs(p.Latitude) <= 90 && math.Abs(p.Longitude) <= 180) {
		return List[Station]{}, invalid("coordinates", "%v, %v is no place on earth", p.Latitude, p.Longitude)
	}
	sn, err := s.snapshot(ctx)
	if err != nil {
		return List[Station]{}, err
	}
	from := 0
	if after != "" {
		at, ok := sn.stationAt[uuid.UUID([]byte(after))]
		if !ok {
			return List[Station]{}, errBeginAgain()
		}
		from = int(at) + 1
	}
	words := fold.Words(fold.String(q.Search))
	if len(words) == 0 && strings.TrimSpace(q.Search) != "" {
		return List[Station]{}, nil // nothing but signs
	}
	found := sn.search(words, country, q.Near, from, page.skip()+page.Limit+1)
	if after != "" && q.Near != nil {
		i := slices.Index(found, int32(from-1))
		if i < 0 {
			return List[Station]{}, errBeginAgain()
		}
		found = found[i+1:]
	}
	list := cut(stationList, found, page.skip(), page.Limit, func(at int32) string { return string(sn.stations[at].ID[:]) })
	stations := make([]Station, len(list.Items))
	for i, at := range list.Items {
		stations[i] = sn.stations[at]
	}
	return List[Station]{Items: stations, Next: list.Next}, nil
}

// Station returns a station by its ID, or ErrNotFound.
func (s *Service) Station(ctx context.Context, id uuid.UUID) (Station, error) {
	sn, err := s.snapshot(ctx)
	if err != nil {
		return Station{}, err
	}
	at, ok := sn.stationAt[id]
	if !ok {
		return Station{}, ErrNotFound
	}
	return sn.stations[at], nil
}

func beginsWord(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(text[:from+i])
		if from+i == 0 || !unicode.IsLetter(before) && !unicode.IsDigit(before) {
			return true
		}
		from += i + 1
	}
}
