package traintravel_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
)

func TestConnection(t *testing.T) {
	for legs := 2; legs <= 4; legs++ {
		officetest.OnEveryStoreCase(t, string(rune('0'+legs))+" legs", func(t *testing.T, store traintravel.Store) {
			ctx, o := t.Context(), officetest.New(t, store)
			id := o.Joined(legs)
			trip, err := o.Trip(ctx, id)
			if err != nil || len(trip.Legs) != legs || trip.ID != id || trip.Seats != 1 {
				t.Fatalf("%+v, %v", trip, err)
			}
			if want := []int64{0, 0, 2500 + 2000, 6000, 7500}[legs]; trip.Price.Amount != want {
				t.Errorf("costs %v, want %d", trip.Price, want)
			}
			b := o.Book(officetest.Anna, id)
			for i, leg := range b.Legs {
				if want := []int{1, 1, 0, 1}[i]; leg.Seat != want || leg.Number != trip.Legs[i].Number {
					t.Errorf("leg %d: %+v", i, leg)
				}
			}
			o.TryBook(officetest.Berta, id, traintravel.ErrSoldOut) // R 2 has one place
			o.TryBook(officetest.Berta, o.TripID('E', 'F', "R 2"), traintravel.ErrSoldOut)
			if seen, err := o.Trip(ctx, o.TripID('A', 'D', "R 1")); err != nil || seen.Seats != 1 {
				t.Errorf("a refused trip has left %d seats on its first leg, %v", seen.Seats, err)
			}

			// Paid and cancelled as one.
			o.MustPay(b, traintravel.Succeeded)
			o.BankHolds(trip.Price.Amount)
			o.Clock.Set(b.Expires)
			o.Do()
			o.TryBook(officetest.Berta, id, traintravel.ErrSoldOut)
			o.Expect("cancelling", o.CancelBooking(ctx, officetest.Anna, b.ID), nil)
			o.Do()
			o.BankHolds(0)

			// Expired as one, by somebody who takes one leg of it.
			o.Clock.Set(officetest.Opens)
			b = o.Book(officetest.Anna, id)
			o.Clock.Set(b.Expires.Add(-1))
			o.TryBook(officetest.Berta, o.TripID('D', 'E', "R 2"), traintravel.ErrSoldOut)
			o.Clock.Add(1)
			o.Book(officetest.Berta, o.TripID('D', 'E', "R 2"))
			o.Stands(b.ID, traintravel.Expired)
			if seen, err := o.Trip(ctx, o.TripID('A', 'D', "R 1")); err != nil || seen.Seats != 2 {
				t.Errorf("%d seats are left on the first leg, %v", seen.Seats, err)
			}
			o.TryBook(officetest.Anna, id, traintravel.ErrSoldOut)
			_, err = o.Pay(b)
			o.Expect("paying late", err, traintravel.ErrHoldExpired)
		})
	}
}

// TestConnectionsThatCannotBeRidden are not found, whoever makes their IDs.
func TestConnectionsThatCannotBeRidden(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		r1, r2, s3, r4 := o.TripID('A', 'D', "R 1"), o.TripID('D', 'F', "R 2"), o.TripID('F', 'G', "S 3"), o.TripID('G', 'H', "R 4")
		for name, id := range map[string]uuid.UUID{
			"no station in common": officetest.JoinTrips(r1, s3),
			"against the line":     officetest.JoinTrips(r4, s3),
			"a gap in the middle":  officetest.JoinTrips(r1, r2, r4),
		} {
			if trip, err := o.Trip(t.Context(), id); err == nil {
				t.Errorf("%s: %+v", name, trip)
			}
			o.TryBook(officetest.Anna, id, traintravel.ErrNotFound)
		}
		// Backwards in the day, one waits for tomorrow's train.
		late := o.Book(officetest.Anna, officetest.JoinTrips(o.TripID('A', 'B', "R 5"), o.TripID('B', 'C', "R 1")))
		if wait := late.Legs[1].Origin.Time.Sub(late.Legs[0].Destination.Time); wait != 12*time.Hour {
			t.Errorf("one waits %v", wait)
		}
	})
}

// TestConnectionRefusals: one leg's refusal is the trip's.
func TestConnectionRefusals(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		ask := func(n traintravel.NewBooking) error {
			n.PassengerName = "Anna"
			_, err := o.CreateBooking(t.Context(), officetest.Anna, n)
			return err
		}
		o.Expect("a bicycle", ask(traintravel.NewBooking{TripID: o.Joined(4), HasBicycle: true}), traintravel.ErrBicyclesNotAllowed)
		o.Expect("a dog", ask(traintravel.NewBooking{TripID: o.Joined(4), HasDog: true}), traintravel.ErrDogsNotAllowed)
		o.Expect("a bicycle to G", ask(traintravel.NewBooking{TripID: o.Joined(3), HasBicycle: true}), nil)
		o.Expect("cancelled", o.CancelBooking(t.Context(), officetest.Anna, o.OnlyBooking()), nil)
		o.Expect("the hook alone", ask(traintravel.NewBooking{TripID: o.TripID('C', 'D', "R 1"), HasBicycle: true}), nil)
		o.Expect("a bicycle to F", ask(traintravel.NewBooking{TripID: o.Joined(2), HasBicycle: true}), traintravel.ErrNoBicycleSpace)
		o.Book(officetest.Berta, o.Joined(2)) // and nothing was kept
		o.Clock.Set(officetest.Opens.Add(2 * time.Hour))
		o.Expect("after the first train", ask(traintravel.NewBooking{TripID: o.Joined(2)}), traintravel.ErrDeparted)
		o.Clock.Set(officetest.Opens)
	})
}

// TestPlacesAreSoldBySection: half-open, on the place with the smallest gap.
func TestPlacesAreSoldBySection(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		var gone []uuid.UUID
		place := func(from, to rune) string {
			b := o.Book(officetest.Anna, o.TripID(from, to, "R 1"))
			return b.Legs[0].Coach
		}
		steps := []struct {
			from, to rune
			coach    string
		}{
			{'A', 'C', "1"},
			{'C', 'D', "1"}, // behind it, where it fits exactly
			{'B', 'C', "2"}, // A to C is taken
			{'C', 'D', "2"},
			{'A', 'B', "2"},
		}
		for _, s := range steps {
			if got := place(s.from, s.to); got != s.coach {
				t.Errorf("%c to %c is in coach %s, want %s", s.from, s.to, got, s.coach)
			}
		}
		// The best place is not the first: of what is cancelled, C to D is a gap
		// in coach 2 and the end of a larger one in coach 1.
		for _, b := range o.Audit().Bookings {
			if l := b.Legs[0]; l.Destination.Station == officetest.Station('D') || l.Coach == "1" {
				gone = append(gone, b.ID)
			}
		}
		for _, id := range gone {
			o.Expect("cancelling", o.CancelBooking(t.Context(), officetest.Anna, id), nil)
		}
		if got := place('C', 'D'); got != "2" {
			t.Errorf("C to D is in coach %s, where the gap is larger", got)
		}
		place('A', 'D')
		for _, full := range []string{"AB", "BC", "CD", "AD"} {
			o.TryBook(officetest.Berta, o.TripID(rune(full[0]), rune(full[1]), "R 1"), traintravel.ErrSoldOut)
		}
		if found, err := o.SearchTrips(t.Context(), traintravel.TripQuery{Origin: officetest.Station('A'), Destination: officetest.Station('D'), Depart: officetest.Opens, Direct: true}); err != nil || len(found.Items) != 0 {
			t.Errorf("a sold-out trip is found: %+v, %v", found, err)
		}
	})
}
