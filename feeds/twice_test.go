package feeds_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/feeds"
)

// Trains that two feeds have are counted, because they are sold twice.
func TestTrainsOfTwoFeedsAreCounted(t *testing.T) {
	t.Parallel()
	basel, paris := uuid.UUID{15: 1}, uuid.UUID{15: 2}
	may := traintravel.Daily(traintravel.NewDate(2026, 5, 1), traintravel.NewDate(2026, 5, 31))
	part := func(feed string, change func(*traintravel.Train)) feeds.Part {
		train := traintravel.Train{
			Feed: feed, ID: "1", Operator: "Lyria", Coaches: []traintravel.Coach{{Number: "1", Seats: 80}}, Number: "TGV 9203", Zone: "Europe/Paris", Days: may,
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
		left   int // days of it that are left by Once, of 31
	}{
		{"the same", "fr", same, 1, 0},
		{"in other letters", "fr", func(t *traintravel.Train) { t.Operator = "LYRIA" }, 1, 0},
		{"spaced otherwise", "fr", func(t *traintravel.Train) { t.Number = "tgv9203" }, 1, 0},
		{"of one feed", "ch", same, 0, 31},
		{"another operator", "fr", func(t *traintravel.Train) { t.Operator = "SNCF" }, 0, 31},
		{"another number", "fr", func(t *traintravel.Train) { t.Number = "TGV 9205" }, 0, 31},
		{"later", "fr", func(t *traintravel.Train) { t.Calls[0].Depart += 60 }, 0, 31},
		{"without boarding", "fr", func(t *traintravel.Train) { t.Calls[0].NoBoarding = true }, 1, 31},
		{"other coaches", "fr", func(t *traintravel.Train) { t.Coaches = []traintravel.Coach{{Number: "11", Seats: 80}} }, 1, 31},
		{"by dates alone", "fr", func(t *traintravel.Train) {
			t.Days = &traintravel.Calendar{Added: []traintravel.Date{traintravel.NewDate(2026, 5, 4), traintravel.NewDate(2026, 7, 4)}}
		}, 1, 1},
		{"in June", "fr", func(t *traintravel.Train) {
			t.Days = traintravel.Daily(traintravel.NewDate(2026, 6, 1), traintravel.NewDate(2026, 6, 30))
		}, 0, 30},
		{"until June", "fr", func(t *traintravel.Train) {
			t.Days = traintravel.Daily(traintravel.NewDate(2026, 5, 31), traintravel.NewDate(2026, 6, 30))
		}, 1, 30},
	} {
		all, report := feeds.Join(part("ch", same), part(c.feed, c.change))
		if report.Twice != c.want || len(all.Trains) != 2 {
			t.Errorf("%s: %d of %d trains are there twice, want %d", c.what, report.Twice, len(all.Trains), c.want)
		}
		was := all.Trains[1]
		twins := feeds.Once(all)
		left := 0
		for d := traintravel.NewDate(2026, 5, 1); d < traintravel.NewDate(2026, 8, 1) && len(all.Trains) == 2; d++ {
			if all.Trains[1].Days.Runs(d) {
				left++
			}
		}
		if left != c.left || (len(twins) > 0) != (c.want > 0 && c.left < 31) {
			t.Errorf("%s: %d days are left, want %d, and %v is told", c.what, left, c.left, twins)
		}
		if len(twins) > 0 && twins[0].String() != "Lyria TGV 9203 from Basel at 08:00:00 to Paris is trip \"1 of ch\" and trip \"1 of fr\" on "+days(twins[0].Days)+" from 2026-05-"+twins[0].First.String()[8:]+" on" && c.what != "in other letters" && c.what != "spaced otherwise" {
			t.Errorf("%s: %v", c.what, twins[0])
		}
		if was.Days == may && !may.Runs(traintravel.NewDate(2026, 5, 31)) {
			t.Errorf("%s: the calendar has changed", c.what)
		}
	}
}

func days(n int) string {
	if n == 1 {
		return "1 day"
	}
	return fmt.Sprint(n, " days")
}
