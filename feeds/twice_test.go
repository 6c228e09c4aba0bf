package feeds_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/feeds"
)

// Trains that two feeds have are counted, for they are sold twice.
func TestTrainsOfTwoFeedsAreCounted(t *testing.T) {
	t.Parallel()
	basel, paris := uuid.UUID{15: 1}, uuid.UUID{15: 2}
	may := traintravel.Daily(traintravel.NewDate(2026, 5, 1), traintravel.NewDate(2026, 5, 31))
	part := func(feed string, change func(*traintravel.Train)) feeds.Part {
		train := traintravel.Train{
			Feed: feed, Operator: "Lyria", Number: "TGV 9203", Zone: "Europe/Paris", Days: may,
			Calls: []traintravel.Call{
				{Station: basel, Arrive: traintravel.Clock(8, 0), Depart: traintravel.Clock(8, 0)},
				{Station: paris, Arrive: traintravel.Clock(11, 0), Depart: traintravel.Clock(11, 0)},
			},
		}
		change(&train)
		return feeds.Part{Feed: feed, Timetable: &traintravel.Timetable{
			Stations: []traintravel.Station{{ID: basel, Name: "Basel", Zone: "Europe/Zurich"}, {ID: paris, Name: "Paris", Zone: "Europe/Paris", Latitude: 1}},
			Trains:   []traintravel.Train{train},
		}}
	}
	same := func(*traintravel.Train) {}
	for _, c := range []struct {
		what   string
		feed   string
		change func(*traintravel.Train)
		want   int
	}{
		{"the same", "fr", same, 1},
		{"in other letters", "fr", func(t *traintravel.Train) { t.Operator = "LYRIA" }, 1},
		{"of one feed", "ch", same, 0},
		{"another operator", "fr", func(t *traintravel.Train) { t.Operator = "SNCF" }, 0},
		{"another number", "fr", func(t *traintravel.Train) { t.Number = "TGV 9205" }, 0},
		{"later", "fr", func(t *traintravel.Train) { t.Calls[0].Depart += 60 }, 0},
		{"in June", "fr", func(t *traintravel.Train) {
			t.Days = traintravel.Daily(traintravel.NewDate(2026, 6, 1), traintravel.NewDate(2026, 6, 30))
		}, 0},
		{"until June", "fr", func(t *traintravel.Train) {
			t.Days = traintravel.Daily(traintravel.NewDate(2026, 5, 31), traintravel.NewDate(2026, 6, 30))
		}, 1},
	} {
		all, report := feeds.Join(part("ch", same), part(c.feed, c.change))
		if report.Twice != c.want || len(all.Trains) != 2 {
			t.Errorf("%s: %d of %d trains are there twice, want %d", c.what, report.Twice, len(all.Trains), c.want)
		}
	}
}
