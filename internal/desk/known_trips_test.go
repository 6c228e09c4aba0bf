package desk_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
	"github.com/traintravel/traintravel/store/memstore"
)

// knownTrips are in feeds that railways have published, by what they tell of
// themselves: the long-distance trains of Germany in December 2023, from gtfs.de,
// and the Intercités of SNCF in the winter of 2014.
var knownTrips = []struct {
	publisher        string
	first            traintravel.Date
	what             string
	from, to         string // as people type them
	departs, arrives string // RFC 3339
	trains           int
}{
	{"gtfs.de", traintravel.NewDate(2023, 12, 3), "abroad, with a change", "Berlin Hbf", "Paris Est", "2023-12-12T03:59:00+01:00", "2023-12-12T12:52:00+01:00", 2},
	{"gtfs.de", traintravel.NewDate(2023, 12, 3), "past midnight, with a change", "Berlin Hbf", "Paris Est", "2023-12-12T21:27:00+01:00", "2023-12-13T09:52:00+01:00", 2},
	{"gtfs.de", traintravel.NewDate(2023, 12, 3), "a night train, boarded after midnight", "Berlin Hbf", "Basel SBB", "2023-12-12T00:22:00+01:00", "2023-12-12T10:47:00+01:00", 1},
	{"", traintravel.NewDate(2013, 12, 4), "a night train", "Paris Austerlitz", "Toulouse Matabiau", "2014-01-15T22:52:00+01:00", "2014-01-16T06:45:00+01:00", 1},
	{"", traintravel.NewDate(2013, 12, 4), "a day train after a night train", "Paris Austerlitz", "Nice Ville", "2014-01-15T22:52:00+01:00", "2014-01-16T19:37:00+01:00", 2},
}

// TestKnownTrips finds the trips that are known of the feed that
// TRAINTRAVEL_TEST_FEED names.
func TestKnownTrips(t *testing.T) {
	path := os.Getenv("TRAINTRAVEL_TEST_FEED")
	if path == "" {
		t.Skip("TRAINTRAVEL_TEST_FEED names no feed: set it to a GTFS feed, zip or folder, of which trips are known here")
	}
	timetable, report, err := gtfs.ReadFile(t.Context(), path, gtfs.Options{Fare: traintravel.Fare{Currency: "eur", Base: 100}})
	if err != nil {
		t.Fatal(err)
	}
	known := 0
	var now time.Time
	service, err := traintravel.New(memstore.New(), traintravel.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range knownTrips {
		if !strings.HasPrefix(report.Publisher, k.publisher) || report.First != k.first {
			continue
		}
		departs, err := time.Parse(time.RFC3339, k.departs)
		if err != nil {
			t.Fatal(err)
		}
		now = departs.AddDate(0, 0, -2)
		if known++; known == 1 {
			if _, err := service.LoadTimetable(t.Context(), timetable); err != nil {
				t.Fatal(err)
			}
		}
		var ends [2]traintravel.Station
		for i, name := range []string{k.from, k.to} {
			found, err := service.Stations(t.Context(), traintravel.StationQuery{Search: name})
			if err != nil || len(found.Items) == 0 {
				t.Fatalf("%s: %d stations, %v", name, len(found.Items), err)
			}
			ends[i] = found.Items[0]
		}
		trips, err := service.SearchTrips(t.Context(), traintravel.TripQuery{
			Origin: ends[0].ID, Destination: ends[1].ID, Depart: departs.Add(-time.Minute), Page: traintravel.Page{Limit: 100},
		})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(trips.Items, func(trip traintravel.Trip) bool {
			return len(trip.Legs) == k.trains && trip.Origin().Time.Equal(departs) && trip.Destination().Time.Format(time.RFC3339) == k.arrives
		}) {
			t.Errorf("%s: no trip from %s at %s to %s at %s with %d trains", k.what, ends[0].Name, k.departs, ends[1].Name, k.arrives, k.trains)
		}
	}
	if known == 0 {
		t.Skipf("no trips of this feed are known (publisher %q, from %v): add some to knownTrips", report.Publisher, report.First)
	}
	t.Logf("%d trips are as they are known", known)
}
