package search_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/store/memstore"
	"pgregory.net/rapid"
)

// While trains fill up, a search offers the best of what is left. It can only
// offer what an ID can say: where to change follows from the trains, be there room
// or not, so one search in some thousands offers less.
func TestSearchOffersWhatIsLeft(t *testing.T) {
	t.Parallel()
	offered, full, searches, less := 0, 0, 0, 0
	railtest.DrawUntil(t, func() bool { return offered > 0 && full > 0 && searches >= 300 }, func(t *rapid.T) {
		tt, first := railtest.DrawTimetable(t)
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
			if want := railtest.SlowTrips(tt, origin, destination, from, to, room); !slices.Equal(got, want) {
				t.Logf("%s to %s on %v: offered %v, want %v", origin.Name, destination.Name, day, got, want)
				less++
			}
			searches++
			offered += len(got)
			if len(found.Items) == 0 {
				continue
			}
			trip := rapid.SampledFrom(found.Items).Draw(t, "trip")
			b, err := service.CreateBooking(t.Context(), officetest.Anna, traintravel.NewBooking{TripID: trip.ID, PassengerName: "Anna"})
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
	if less*50 > searches {
		t.Errorf("%d trips with changes, %d full rides, %d of %d searches that offer less", offered, full, less, searches)
	}
}

// However many trains are full, what is left is offered.
func TestSearchPastFullTrains(t *testing.T) {
	t.Parallel()
	for _, n := range []int{20, 80} { // beyond what is searched for, too
		tt := &traintravel.Timetable{}
		for i, name := range []string{"A", "B", "C"} {
			tt.Stations = append(tt.Stations, traintravel.Station{ID: uuid.UUID{15: byte(i + 1)}, Name: name, Zone: "UTC", Latitude: float64(i)})
		}
		day := traintravel.NewDate(2026, 6, 1)
		add := func(number string, from int, depart, arrive int) {
			tt.Trains = append(tt.Trains, traintravel.Train{
				Number: number, Operator: "Rail", Zone: "UTC", Days: traintravel.Daily(day, day), Fare: traintravel.Fare{Currency: "eur", Base: 100},
				Coaches: []traintravel.Coach{{Number: "1", Seats: 1}},
				Calls: []traintravel.Call{
					{Station: tt.Stations[from].ID, Depart: traintravel.ServiceTime(depart * 60)},
					{Station: tt.Stations[from+1].ID, Arrive: traintravel.ServiceTime(arrive * 60)},
				},
			})
		}
		add("early", 0, 300, 360)
		add("late", 0, 1350, 1355)
		add("last", 1, 1400, 1410)
		for i := range n {
			add(strconv.Itoa(i), 1, 400+10*i, 430+10*i)
		}
		service, err := traintravel.New(memstore.New(), traintravel.Options{
			Now: func() time.Time { return day.Start(time.UTC).AddDate(0, 0, -1) }, HoldFor: 100 * time.Hour, Holds: officetest.ManyHolds,
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := service.LoadTimetable(t.Context(), tt); err != nil {
			t.Fatal(err)
		}
		search := func(from int) []traintravel.Trip {
			found, err := service.SearchTrips(t.Context(), traintravel.TripQuery{
				Origin: tt.Stations[from].ID, Destination: tt.Stations[2].ID, Depart: day.Start(time.UTC), Page: traintravel.Page{Limit: 100},
			})
			if err != nil {
				t.Fatal(err)
			}
			return found.Items
		}
		for _, trip := range search(1) {
			if number := trip.Legs[0].Number; number != "last" && number != strconv.Itoa(n-1) {
				if _, err := service.CreateBooking(t.Context(), officetest.Anna, traintravel.NewBooking{TripID: trip.ID, PassengerName: "Anna"}); err != nil {
					t.Fatal(err)
				}
			}
		}
		var got []string
		for _, trip := range search(0) {
			got = append(got, trip.Legs[0].Number+" "+trip.Legs[1].Number)
		}
		want := []string{"early " + strconv.Itoa(n-1), "late last"}
		if n > 50 {
			want = want[1:]
		}
		if !slices.Equal(got, want) {
			t.Errorf("with %d trains of which one has room: %q, want %q", n, got, want)
		}
	}
}
