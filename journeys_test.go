package traintravel_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/memstore"
)

// While trains fill up, a search offers the best of what is left. It can only
// offer what an ID can say: where to change follows from the trains, be there room
// or not, so one search in some thousands offers less.
func TestSearchOffersWhatIsLeft(t *testing.T) {
	t.Parallel()
	offered, full, searches, less := 0, 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		tt, first := traintravel.DrawTimetable(t)
		service, err := traintravel.New(memstore.New(), traintravel.Options{
			Now: func() time.Time { return first.Start(time.UTC).AddDate(0, 0, -2) }, HoldFor: 1000 * time.Hour,
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := service.LoadTimetable(t.Context(), tt); err != nil {
			t.Fatal(err)
		}
		type place struct {
			train, seat int
			date        traintravel.Date
		}
		taken := map[place][][2]int{}
		room := func(train int, d traintravel.Date, from, to int) bool {
			for seat := range tt.Trains[train].Coaches[0].Seats {
				if !slices.ContainsFunc(taken[place{train, seat + 1, d}], func(s [2]int) bool { return s[0] < to && from < s[1] }) {
					return true
				}
			}
			full++
			return false
		}
		station := rapid.SampledFrom(tt.Stations)
		for range rapid.IntRange(1, 15).Draw(t, "searches") {
			origin, destination := station.Draw(t, "origin"), station.Draw(t, "destination")
			if origin.ID == destination.ID {
				continue
			}
			loc, _ := time.LoadLocation(origin.Zone)
			day := first + traintravel.Date(rapid.IntRange(0, 3).Draw(t, "day"))
			from, to := day.Start(loc), (day + 1).Start(loc)
			found, err := service.SearchTrips(t.Context(), traintravel.TripQuery{
				Origin: origin.ID, Destination: destination.ID, Depart: from, Page: traintravel.Page{Limit: 100},
			})
			if err != nil {
				t.Fatal(err)
			}
			var got [][3]int64
			for _, trip := range found.Items {
				if len(trip.Legs) > 1 {
					got = append(got, [3]int64{trip.Origin().Time.Unix(), trip.Destination().Time.Unix(), int64(len(trip.Legs))})
				}
			}
			if want := traintravel.SlowTrips(tt, origin, destination, from, to, room); !slices.Equal(got, want) {
				t.Logf("%s to %s on %v: offered %v, want %v", origin.Name, destination.Name, day, got, want)
				less++
			}
			searches++
			offered += len(got)
			if len(found.Items) == 0 {
				continue
			}
			trip := rapid.SampledFrom(found.Items).Draw(t, "trip")
			b, err := service.CreateBooking(t.Context(), anna, traintravel.NewBooking{TripID: trip.ID, PassengerName: "Anna"})
			if err != nil {
				t.Fatalf("%v is offered: %v", trip, err)
			}
			for _, leg := range b.Legs {
				train, _ := strconv.Atoi(leg.Number)
				p := place{train, leg.Seat, leg.Run.Date}
				taken[p] = append(taken[p], [2]int{leg.Board, leg.Alight})
			}
		}
	})
	if offered == 0 || full == 0 || less*200 > searches {
		t.Errorf("%d trips with changes, %d full rides, %d of %d searches that offer less", offered, full, less, searches)
	}
}
