package loading_test

import (
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/memstore"
)

// twinNamed is R 1 from A to C on the first days of the week, with two places.
func twinNamed(id string, days int) traintravel.Train {
	t := withSeats(officetest.R1("ABC", []int{0, 1, 2, 3}[:days]...), 2)
	t.ID = id
	return t
}

// twinTrips are the trips from A to C on a day of the week that are for sale.
func twinTrips(o *officetest.Office, day int) []traintravel.Trip {
	o.T.Helper()
	var all []traintravel.Trip
	found, err := o.SearchTrips(o.T.Context(), traintravel.TripQuery{
		Origin: officetest.Station('A'), Destination: officetest.Station('C'), Depart: officetest.Opens.AddDate(0, 0, day), Page: traintravel.Page{Limit: 100},
	})
	if err != nil {
		o.T.Fatal(err)
	}
	for _, trip := range found.Items {
		if trip.Legs[0].Run.Date == officetest.Monday+traintravel.Date(day) {
			all = append(all, trip)
		}
	}
	return all
}

// An earlier import sold a train twice that its feed listed twice. When one of the two is
// left out, what was sold of either stays valid, and no place of the train is sold again.
// Those whose place had been sold to two passengers by then are told.
func TestNoPlaceOfATwinThatIsLeftOutIsSoldAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		sold       [2]int // of p and of q, on day 1
		after      []traintravel.Train
		left       int
		stranded   int // of those, whose place another passenger has
		otherTrain int // offers on day 3, on which p does not run
	}{
		{"nothing sold", [2]int{0, 0}, []traintravel.Train{twinNamed("p", 3)}, 2, 0, 0},
		{"sold of the one that stays", [2]int{1, 0}, []traintravel.Train{twinNamed("p", 3)}, 1, 0, 0},
		{"sold of the other", [2]int{0, 1}, []traintravel.Train{twinNamed("p", 3)}, 1, 0, 0},
		{"sold of the other, which stays", [2]int{0, 1}, []traintravel.Train{twinNamed("q", 4)}, 1, 0, 1},
		{"sold of both", [2]int{1, 1}, []traintravel.Train{twinNamed("p", 3)}, 1, 1, 0},
		{"sold out", [2]int{2, 2}, []traintravel.Train{twinNamed("p", 3)}, 0, 2, 0},
		{"sold out of the other", [2]int{0, 2}, []traintravel.Train{twinNamed("p", 3)}, 0, 0, 0},
		{"some days stay", [2]int{1, 2}, []traintravel.Train{twinNamed("p", 3), without(twinNamed("q", 4), 3)}, 0, 1, 1},
		{"under another ID", [2]int{0, 1}, []traintravel.Train{twinNamed("r", 4)}, 1, 0, 1},
	} {
		o := (&officetest.Office{T: t, Store: memstore.New(), Bank: &officetest.Bank{Gateway: sandbox.New()}, Post: &officetest.Post{}}).Another() // without an audit at the end
		o.Clock.Set(officetest.Opens)
		o.LoadAll(twinNamed("p", 3), twinNamed("q", 4))
		runs := map[string][]traintravel.Trip{}
		for _, trip := range twinTrips(o, 1) {
			// q alone runs on day 3.
			id := "p"
			if trip.Legs[0].Run.Train == twinTrips(o, 3)[0].Legs[0].Run.Train {
				id = "q"
			}
			runs[id] = append(runs[id], trip)
		}
		if len(runs["p"]) != 1 || len(runs["q"]) != 1 {
			t.Fatalf("%s: %+v", c.name, runs)
		}
		var booked []traintravel.Booking
		for i, id := range []string{"p", "q"} {
			for range c.sold[i] {
				b := o.Book(officetest.Anna, runs[id][0].ID)
				o.MustPay(b, traintravel.Succeeded)
				booked = append(booked, b)
			}
		}
		day3 := o.Book(officetest.Anna, twinTrips(o, 3)[0].ID)
		stranded := o.LoadAll(c.after...)
		stranded = slices.DeleteFunc(stranded, func(s traintravel.Stranded) bool { return s.Booking == day3.ID })
		if len(stranded) != c.stranded {
			t.Errorf("%s: %+v are stranded, want %d", c.name, stranded, c.stranded)
		}
		places := map[[2]any]uuid.UUID{}
		for _, b := range booked {
			now, err := o.Booking(t.Context(), officetest.Anna, b.ID)
			if err != nil || now.Status != traintravel.Confirmed {
				t.Errorf("%s: booking %v is %+v, %v", c.name, b.ID, now, err)
				continue
			}
			if !slices.ContainsFunc(stranded, func(s traintravel.Stranded) bool { return s.Booking == b.ID }) {
				places[[2]any{now.Legs[0].Run, now.Legs[0].Seat}] = b.ID
			}
		}
		if len(places) != len(booked)-c.stranded {
			t.Errorf("%s: the places are %v", c.name, places)
		}
		left := 0
		for trips := twinTrips(o, 1); len(trips) > 0 && left < 9; trips = twinTrips(o, 1) {
			if len(trips) > 1 {
				t.Fatalf("%s: there are still two: %+v", c.name, trips)
			}
			if trips[0].Seats == 0 {
				break
			}
			b := o.Book(officetest.Berta, trips[0].ID)
			if places[[2]any{b.Legs[0].Run, b.Legs[0].Seat}] != uuid.Nil {
				t.Errorf("%s: seat %d of %v is sold twice", c.name, b.Legs[0].Seat, b.Legs[0].Run)
			}
			left++
		}
		if left != c.left {
			t.Errorf("%s: %d places were for sale, want %d", c.name, left, c.left)
		}
		if got := len(twinTrips(o, 3)); got != c.otherTrain {
			t.Errorf("%s: %d offers on the day that q has alone, want %d", c.name, got, c.otherTrain)
		}
		report, err := traintravel.Check(t.Context(), o.Store, traintravel.CheckOptions{})
		if err != nil || report.Found != int64(c.stranded) {
			t.Errorf("%s: the check finds %+v, %v", c.name, report, err)
		}
		for _, fault := range report.Faults { // which the import before has made
			if fault.Kind != "place-sold-twice" {
				t.Errorf("%s: %+v", c.name, fault)
			}
		}
	}
}

// without is a train that does not run on the first days of the week.
func without(t traintravel.Train, days int) traintravel.Train {
	t.Days = &traintravel.Calendar{Added: t.Days.Added[days:]}
	return t
}

// If the one that stays was cancelled, the passengers of the other are not put on it.
func TestNobodyIsPutOnACancelledTwin(t *testing.T) {
	t.Parallel()
	o := officetest.New(t, memstore.New())
	o.LoadAll(twinNamed("p", 3), twinNamed("q", 3))
	trips := twinTrips(o, 1)
	b := o.Book(officetest.Anna, trips[0].ID)
	o.MustPay(b, traintravel.Succeeded)
	stays := trips[1].Legs[0].Run
	if _, err := o.CancelRun(t.Context(), stays, traintravel.CancelRunOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"p", "q"} { // of which one has the run that is cancelled
		stranded := o.LoadAll(twinNamed(id, 3))
		now, err := o.Booking(t.Context(), officetest.Anna, b.ID)
		if err != nil || now.Status != traintravel.Confirmed || now.Legs[0].Run == stays || len(stranded) > 1 {
			t.Errorf("%s stays: %+v, %v, and %+v are stranded", id, now, err, stranded)
		}
	}
}
