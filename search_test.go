package traintravel_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

func TestSearch(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
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
		ab := traintravel.TripQuery{Origin: station('A'), Destination: station('B'), Depart: opens}
		want := func(what string, q traintravel.TripQuery, want ...string) {
			t.Helper()
			if got := numbers(q); !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", what, got, want)
			}
		}
		eight := opens.Add(2 * time.Hour)
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
		ab.Depart = opens
		o.clock.set(eight)
		want("when one has departed", ab, "R 5")
		o.clock.set(eight.Add(-1))
		want("when one is about to", ab, "R 1", "R 5")
		want("the other way", traintravel.TripQuery{Origin: station('B'), Destination: station('A'), Depart: opens})

		o.clock.set(opens)
		gh := traintravel.TripQuery{Origin: station('G'), Destination: station('H'), Depart: opens}
		want("anybody", gh, "R 4")
		gh.Bicycles = true
		want("bicycles where it is unknown", gh)
		gh.Bicycles, gh.Dogs = false, true
		want("dogs where they may not", gh)
		ad := traintravel.TripQuery{Origin: station('A'), Destination: station('D'), Depart: opens, Direct: true}
		_, err := o.CreateBooking(t.Context(), anna, traintravel.NewBooking{TripID: o.trip('A', 'D', "R 1"), PassengerName: "Anna", HasBicycle: true})
		o.expect("the bicycle", err, nil)
		want("with seats", ad, "R 1")
		ad.Bicycles = true
		want("without hooks", ad)
		ad.Bicycles = false
		o.book(anna, o.trip('B', 'C', "R 1"))
		want("sold out", ad)
		o.clock.set(opens.Add(time.Hour))
		want("when the holds are over", ad, "R 1")

		for field, q := range map[string]traintravel.TripQuery{
			"origin":       {Origin: uuid.New(), Destination: station('B'), Depart: opens},
			"destination":  {Origin: station('A'), Destination: uuid.New(), Depart: opens},
			"date ":        {Origin: station('A'), Destination: station('B'), Depart: time.Unix(1<<62, 0)},
			"destination ": {Origin: station('A'), Destination: station('A'), Depart: opens},
			"date":         {Origin: station('A'), Destination: station('B')},
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
	tt := demoNetwork(t)
	onEvery := func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
		o.load(tt)
		o.clock.set(time.Date(2024, 2, 1, 8, 0, 0, 0, time.UTC))
		found, err := o.SearchTrips(t.Context(), traintravel.TripQuery{
			Origin: uuid.MustParse("efdbb9d1-02c2-4bc3-afb7-6788d8782b1e"), Destination: uuid.MustParse("b2e783e1-c824-4d63-b37a-d8d698862f1d"),
			Depart: time.Date(2024, 2, 2, 9, 0, 0, 0, time.UTC),
		})
		if err != nil || len(found.Items) == 0 {
			t.Fatalf("%+v, %v", found, err)
		}
		for i, trip := range found.Items {
			b := o.book(traintravel.Caller{Subject: traintravel.Subject{ID: fmt.Sprint(i)}}, trip.ID)
			o.mustPay(b, traintravel.Succeeded)
		}
		o.do()
	}
	t.Run("stores", func(t *testing.T) { onEveryStore(t, onEvery) })
}
