package search_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/memstore"
)

// prices gives a train prices, by its calls, in place of its fare.
func prices(amounts ...[]int64) officetest.Change {
	return func(t *traintravel.Train) {
		t.Fare, t.Prices = traintravel.Fare{}, &traintravel.Prices{Currency: "eur", Amounts: amounts}
	}
}

// priced is an office that sells trains with prices.
func priced(t *testing.T, store traintravel.Store, trains []traintravel.Train, options ...func(*traintravel.Options)) *officetest.Office {
	o := officetest.New(t, store, options...)
	if _, err := o.LoadTimetable(t.Context(), officetest.Timetable(trains...)); err != nil {
		t.Fatal(err)
	}
	return o
}

// offers are the trips that a search finds, as their trains, where they change
// and their prices in cents.
func offers(o *officetest.Office, from, to rune) (found []string) {
	o.T.Helper()
	list, err := o.SearchTrips(o.T.Context(), traintravel.TripQuery{Origin: officetest.Station(from), Destination: officetest.Station(to), Depart: officetest.Opens})
	if err != nil {
		o.T.Fatal(err)
	}
	for _, trip := range list.Items {
		text := trip.Legs[0].Number
		for _, leg := range trip.Legs[1:] {
			text += " " + leg.Origin.Name[:1] + " " + leg.Number
		}
		found = append(found, text+" "+trip.Price.String())
		if again, err := o.Trip(o.T.Context(), trip.ID); err != nil || again.Price != trip.Price {
			o.T.Errorf("%s: again %v, %v", text, again.Price, err)
		}
	}
	return found
}

func expectOffers(o *officetest.Office, from, to rune, want ...string) {
	o.T.Helper()
	if got := offers(o, from, to); !slices.Equal(got, want) {
		o.T.Errorf("from %c to %c: %q, want %q", from, to, got, want)
	}
}

// A ride costs what its calls say, and one without a price is not sold.
func TestPricesByRide(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := priced(t, store, []traintravel.Train{
			officetest.Train("R 1", 8, "ABCD", officetest.Seats(1), prices([]int64{0, 250, 0, 700}, nil, []int64{0, 0, 0, 400})),
			officetest.Train("R 2", 12, "DEF", officetest.Seats(2)),
		})
		expectOffers(o, 'A', 'B', "R 1 2.50 eur")
		expectOffers(o, 'A', 'C')
		expectOffers(o, 'B', 'D')
		expectOffers(o, 'A', 'E', "R 1 D R 2 22.00 eur")
		expectOffers(o, 'B', 'E')
		unsold := o.TripID('A', 'C', "R 1")
		o.TryBook(officetest.Anna, unsold, traintravel.ErrNotFound)
		_, err := o.Trip(t.Context(), unsold)
		o.Expect("a trip without a price", err, traintravel.ErrNotFound)
		if found, err := o.HasTrip(t.Context(), unsold); found || err != nil {
			t.Errorf("a trip without a price is there: %t, %v", found, err)
		}

		b := o.Book(officetest.Anna, o.TripID('A', 'D', "R 1"))
		if b.Price != (traintravel.Money{Amount: 700, Currency: "eur"}) {
			t.Errorf("booked for %v", b.Price)
		}
		o.MustPay(b, traintravel.Succeeded)
		o.BankHolds(700)
		expectOffers(o, 'A', 'B')
		if err := o.CancelBooking(t.Context(), officetest.Anna, b.ID); err != nil {
			t.Fatal(err)
		}
		o.Do()
		o.BankHolds(0)
		expectOffers(o, 'A', 'B', "R 1 2.50 eur")
	})
}

// Rides that are not sold hide none that are, sold out or not.
func TestSearchPastRidesWithoutPrices(t *testing.T) {
	t.Parallel()
	o := priced(t, memstore.New(), []traintravel.Train{
		officetest.Train("fast", 8, "ABCD", prices([]int64{0, 100, 200})), // to B and C only
		officetest.Train("next", 8, "AD", officetest.Seats(1)),
		officetest.Train("last", 8, "AD", officetest.Seats(1), func(t *traintravel.Train) { t.Calls[1].Arrive += 600; t.Calls[1].Depart += 600 }),
		officetest.Train("on", 12, "BCDE", prices(nil, []int64{0, 0, 0, 300})), // from C to E only
		officetest.Train("far", 12, "DE"),
		officetest.Train("round", 20, "ABCD", prices([]int64{0, 0, 0, 900}), func(t *traintravel.Train) { t.Calls[2].Station = officetest.Station('A') }),
	})
	expectOffers(o, 'A', 'D', "next 25.00 eur", "last 25.00 eur", "round 9.00 eur")
	expectOffers(o, 'A', 'E', "next D far 40.00 eur", "round D far 24.00 eur")
	o.Book(officetest.Anna, o.TripID('A', 'D', "next"))
	expectOffers(o, 'A', 'E', "last D far 40.00 eur", "round D far 24.00 eur")
	o.Book(officetest.Anna, o.TripID('A', 'D', "last"))
	expectOffers(o, 'A', 'E', "fast C on 5.00 eur", "round D far 24.00 eur")
	expectOffers(o, 'B', 'E')
}

// However many trains do not sell a ride, the one that does is found at once.
func TestSearchPastManyRidesWithoutPrices(t *testing.T) {
	t.Parallel()
	trains := []traintravel.Train{officetest.Train("first", 6, "AB")}
	for i := range 200 {
		unsold := officetest.Train("unsold", 8, "BCD", prices(nil, []int64{0, 0, 1}))
		for j := range unsold.Calls {
			unsold.Calls[j].Arrive += traintravel.ServiceTime(60 * i)
			unsold.Calls[j].Depart += traintravel.ServiceTime(60 * i)
		}
		unsold.ID += time.Duration(i).String()
		trains = append(trains, unsold)
	}
	o := priced(t, memstore.New(), append(trains, officetest.Train("sold", 20, "BD")))
	o.Clock.Add(-time.Hour)
	expectOffers(o, 'A', 'D', "first B sold 35.00 eur")
}

// Options.Price may sell a ride that has no price, and sees zero for it.
func TestOwnPricesOfRidesWithoutPrices(t *testing.T) {
	t.Parallel()
	o := priced(t, memstore.New(), []traintravel.Train{officetest.Train("R 1", 8, "ABC", prices([]int64{0, 0, 700})), officetest.Train("R 2", 10, "BD")}, func(o *traintravel.Options) {
		o.Price = func(trip traintravel.Trip) (traintravel.Money, bool) {
			return traintravel.Money{Amount: trip.Price.Amount + 50, Currency: "eur"}, true
		}
	})
	expectOffers(o, 'A', 'B', "R 1 0.50 eur")
	expectOffers(o, 'A', 'C', "R 1 7.50 eur")
	expectOffers(o, 'A', 'D', "R 1 B R 2 0.50 eur")
}

// Trips keep their IDs when what they cost changes.
func TestTripIDsDoNotDependOnPrices(t *testing.T) {
	t.Parallel()
	o := priced(t, memstore.New(), []traintravel.Train{officetest.Train("R 1", 8, "ABC", prices([]int64{0, 100, 700}))})
	ids := []uuid.UUID{o.TripID('A', 'B', "R 1"), o.TripID('A', 'C', "R 1")}
	for _, change := range []officetest.Change{prices([]int64{0, 0, 800}), prices([]int64{0, 800, 0}), func(*traintravel.Train) {}} {
		if _, err := o.LoadTimetable(t.Context(), officetest.Timetable(officetest.Train("R 1", 8, "ABC", change))); err != nil {
			t.Fatal(err)
		}
		if again := []uuid.UUID{o.TripID('A', 'B', "R 1"), o.TripID('A', 'C', "R 1")}; !slices.Equal(ids, again) {
			t.Errorf("the IDs are %v, were %v", again, ids)
		}
	}
}
