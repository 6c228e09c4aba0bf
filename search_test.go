package traintravel_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
)

func TestSearch(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		numbers := func(q traintravel.TripQuery) []string {
			t.Helper()
			found, err := o.SearchTrips(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			out := []string{}
			for _, trip := range found.Items {
				out = append(out, trip.Legs[0].Number)
			}
			return out
		}
		ab := traintravel.TripQuery{Origin: officetest.Station('A'), Destination: officetest.Station('B'), Depart: officetest.Opens}
		want := func(what string, q traintravel.TripQuery, want ...string) {
			t.Helper()
			if got := numbers(q); !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", what, got, want)
			}
		}
		eight := officetest.Opens.Add(2 * time.Hour)
		want("that day", ab, "R 1", "R 5")
		ab.Depart = eight
		want("from its departure", ab, "R 1", "R 5")
		ab.Depart = eight.Add(1)
		want("just missed", ab, "R 5")
		ab.Depart = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
		want("from before now", ab, "R 1", "R 5")
		ab.Depart = time.Date(2026, 3, 1, 23, 0, 0, 0, time.UTC) // midnight in Berlin
		want("by the origin's day", ab, "R 1", "R 5")
		ab.Depart = time.Date(2026, 3, 2, 23, 0, 0, 0, time.UTC)
		want("the next day", ab, "R 1", "R 5")
		ab.Depart = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		want("a day that is past", ab)
		ab.Depart = time.Date(2027, 1, 1, 12, 0, 0, 0, time.UTC)
		want("after the timetable's end", ab)
		ab.Depart = officetest.Opens
		o.Clock.Set(eight)
		want("when one has departed", ab, "R 5")
		o.Clock.Set(eight.Add(-1))
		want("when one is about to", ab, "R 1", "R 5")
		want("the other way", traintravel.TripQuery{Origin: officetest.Station('B'), Destination: officetest.Station('A'), Depart: officetest.Opens})

		o.Clock.Set(officetest.Opens)
		gh := traintravel.TripQuery{Origin: officetest.Station('G'), Destination: officetest.Station('H'), Depart: officetest.Opens}
		want("anybody", gh, "R 4")
		gh.Bicycles = true
		want("bicycles where it is unknown", gh)
		gh.Bicycles, gh.Dogs = false, true
		want("dogs where they may not", gh)
		ad := traintravel.TripQuery{Origin: officetest.Station('A'), Destination: officetest.Station('D'), Depart: officetest.Opens, Direct: true}
		_, err := o.CreateBooking(t.Context(), officetest.Anna, traintravel.NewBooking{TripID: o.TripID('A', 'D', "R 1"), PassengerName: "Anna", HasBicycle: true})
		o.Expect("the bicycle", err, nil)
		want("with seats", ad, "R 1")
		ad.Bicycles = true
		want("without hooks", ad)
		ad.Bicycles = false
		o.Book(officetest.Anna, o.TripID('B', 'C', "R 1"))
		want("sold out", ad)
		o.Clock.Set(officetest.Opens.Add(time.Hour))
		want("when the holds are over", ad, "R 1")

		for field, q := range map[string]traintravel.TripQuery{
			"origin":       {Origin: uuid.New(), Destination: officetest.Station('B'), Depart: officetest.Opens},
			"destination":  {Origin: officetest.Station('A'), Destination: uuid.New(), Depart: officetest.Opens},
			"date ":        {Origin: officetest.Station('A'), Destination: officetest.Station('B'), Depart: time.Unix(1<<62, 0)},
			"destination ": {Origin: officetest.Station('A'), Destination: officetest.Station('A'), Depart: officetest.Opens},
			"date":         {Origin: officetest.Station('A'), Destination: officetest.Station('B')},
		} {
			_, err := o.SearchTrips(t.Context(), q)
			var wrong *traintravel.InvalidError
			if !errors.As(err, &wrong) || wrong.Field != field[:len(wrong.Field)] {
				t.Errorf("%s: %v", field, err)
			}
		}
	})
}

// TestDemoNetwork goes to Paris, as the API's published examples do.
func TestDemoNetwork(t *testing.T) {
	t.Parallel()
	tt := officetest.DemoNetwork(t)
	onEvery := func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		o.Load(tt)
		o.Clock.Set(time.Date(2024, 2, 1, 8, 0, 0, 0, time.UTC))
		found, err := o.SearchTrips(t.Context(), traintravel.TripQuery{
			Origin: uuid.MustParse("efdbb9d1-02c2-4bc3-afb7-6788d8782b1e"), Destination: uuid.MustParse("b2e783e1-c824-4d63-b37a-d8d698862f1d"),
			Depart: time.Date(2024, 2, 2, 9, 0, 0, 0, time.UTC),
		})
		if err != nil || len(found.Items) == 0 {
			t.Fatalf("%+v, %v", found, err)
		}
		for i, trip := range found.Items {
			b := o.Book(traintravel.Caller{Subject: traintravel.Subject{ID: fmt.Sprint(i)}}, trip.ID)
			o.MustPay(b, traintravel.Succeeded)
		}
		o.Do()
	}
	t.Run("stores", func(t *testing.T) { officetest.OnEveryStore(t, onEvery) })
}
