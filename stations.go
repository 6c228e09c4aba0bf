package traintravel

import (
	"cmp"
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

// A Position is a place on earth in degrees north and east (WGS 84).
type Position struct{ Latitude, Longitude float64 }

func (p Position) distance(to Position) float64 {
	const earth, degree = 6_371_000, math.Pi / 180
	haversine := func(degrees float64) float64 { return math.Pow(math.Sin(degrees*degree/2), 2) }
	h := haversine(to.Latitude-p.Latitude) +
		math.Cos(p.Latitude*degree)*math.Cos(to.Latitude*degree)*haversine(to.Longitude-p.Longitude)
	return 2 * earth * math.Asin(math.Sqrt(min(h, 1)))
}

// A StationQuery asks for stations. The zero query asks for all, by name.
type StationQuery struct {
	// Search leaves stations of whose name or address each word of Search
	// begins a word; letter case and accents do not matter.
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

// Stations lists stations by name, or nearest first. It returns an
// [*InvalidError] naming country, coordinates or a member of the page.
func (s *Service) Stations(ctx context.Context, q StationQuery) (List[Station], error) {
	page, err := q.Page.normalize()
	if err != nil {
		return List[Station]{}, err
	}
	after, err := page.cursor(16)
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
	found := sn.search(fold.Words(fold.String(q.Search)), country, q.Near)
	if after != "" {
		i := slices.IndexFunc(found, func(at int32) bool { return string(sn.stations[at].ID[:]) == after })
		if i < 0 {
			return List[Station]{}, invalid("after", "the timetable has changed: begin again at the first page")
		}
		found = found[i+1:]
	}
	list := cut(found, page.skip(), page.Limit, func(at int32) string { return string(sn.stations[at].ID[:]) })
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

// search lists the stations that fit, in the order of the answer.
func (sn *snapshot) search(words []string, country string, near *Position) []int32 {
	var found []int32
	var metres []float64
	for i := range sn.stations {
		st := &sn.stations[i]
		if country != "" && st.Country != country || !hasWords(sn.folded[i], words) {
			continue
		}
		if near != nil {
			d := near.distance(Position{st.Latitude, st.Longitude})
			if d > nearby {
				continue
			}
			metres = append(metres, d)
		}
		found = append(found, int32(i))
	}
	if near != nil {
		order := make([]int, len(found))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(metres[a], metres[b]) })
		sorted := make([]int32, len(found))
		for i, at := range order {
			sorted[i] = found[at]
		}
		found = sorted
	}
	return found
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
