package traintravel_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// joined makes the trip from A with as many trains as asked, to D, F, G or H.
func (o *office) joined(legs int) uuid.UUID {
	o.t.Helper()
	return joinTrips([]uuid.UUID{
		o.trip('A', 'D', "R 1"), o.trip('D', 'F', "R 2"), o.trip('F', 'G', "S 3"), o.trip('G', 'H', "R 4"),
	}[:legs]...)
}

func TestConnection(t *testing.T) {
	for legs := 2; legs <= 4; legs++ {
		onEveryStoreCase(t, string(rune('0'+legs))+" legs", func(t *testing.T, store traintravel.Store) {
			ctx, o := t.Context(), newOffice(t, store)
			id := o.joined(legs)
			trip, err := o.Trip(ctx, id)
			if err != nil || len(trip.Legs) != legs || trip.ID != id || trip.Seats != 1 {
				t.Fatalf("%+v, %v", trip, err)
			}
			if want := []int64{0, 0, 2500 + 2000, 6000, 7500}[legs]; trip.Price.Amount != want {
				t.Errorf("costs %v, want %d", trip.Price, want)
			}
			b := o.book(anna, id)
			for i, leg := range b.Legs {
				if want := []int{1, 1, 0, 1}[i]; leg.Seat != want || leg.Number != trip.Legs[i].Number {
					t.Errorf("leg %d: %+v", i, leg)
				}
			}
			o.tryBook(berta, id, traintravel.ErrSoldOut) // R 2 has one place
			o.tryBook(berta, o.trip('E', 'F', "R 2"), traintravel.ErrSoldOut)
			if seen, err := o.Trip(ctx, o.trip('A', 'D', "R 1")); err != nil || seen.Seats != 1 {
				t.Errorf("a refused trip has left %d seats on its first leg, %v", seen.Seats, err)
			}

			// Paid and cancelled as one.
			o.mustPay(b, traintravel.Succeeded)
			o.holds(trip.Price.Amount)
			o.clock.set(b.Expires)
			o.do()
			o.tryBook(berta, id, traintravel.ErrSoldOut)
			o.expect("cancelling", o.CancelBooking(ctx, anna, b.ID), nil)
			o.do()
			o.holds(0)

			// Expired as one, by somebody who takes one leg of it.
			o.clock.set(opens)
			b = o.book(anna, id)
			o.clock.set(b.Expires.Add(-1))
			o.tryBook(berta, o.trip('D', 'E', "R 2"), traintravel.ErrSoldOut)
			o.clock.add(1)
			o.book(berta, o.trip('D', 'E', "R 2"))
			o.stands(b.ID, traintravel.Expired)
			if seen, err := o.Trip(ctx, o.trip('A', 'D', "R 1")); err != nil || seen.Seats != 2 {
				t.Errorf("%d seats are left on the first leg, %v", seen.Seats, err)
			}
			o.tryBook(anna, id, traintravel.ErrSoldOut)
			_, err = o.pay(b)
			o.expect("paying late", err, traintravel.ErrHoldExpired)
		})
	}
}

// TestConnectionsThatCannotBeRidden are not found, whoever makes their IDs.
func TestConnectionsThatCannotBeRidden(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
		r1, r2, s3, r4 := o.trip('A', 'D', "R 1"), o.trip('D', 'F', "R 2"), o.trip('F', 'G', "S 3"), o.trip('G', 'H', "R 4")
		for name, id := range map[string]uuid.UUID{
			"no station in common": joinTrips(r1, s3),
			"against the line":     joinTrips(r4, s3),
			"a gap in the middle":  joinTrips(r1, r2, r4),
		} {
			if trip, err := o.Trip(t.Context(), id); err == nil {
				t.Errorf("%s: %+v", name, trip)
			}
			o.tryBook(anna, id, traintravel.ErrNotFound)
		}
		// Backwards in the day, one waits for tomorrow's train.
		late := o.book(anna, joinTrips(o.trip('A', 'B', "R 5"), o.trip('B', 'C', "R 1")))
		if wait := late.Legs[1].Origin.Time.Sub(late.Legs[0].Destination.Time); wait != 12*time.Hour {
			t.Errorf("one waits %v", wait)
		}
	})
}

// TestConnectionRefusals: one leg's refusal is the trip's.
func TestConnectionRefusals(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
		ask := func(n traintravel.NewBooking) error {
			n.PassengerName = "Anna"
			_, err := o.CreateBooking(t.Context(), anna, n)
			return err
		}
		o.expect("a bicycle", ask(traintravel.NewBooking{TripID: o.joined(4), HasBicycle: true}), traintravel.ErrBicyclesNotAllowed)
		o.expect("a dog", ask(traintravel.NewBooking{TripID: o.joined(4), HasDog: true}), traintravel.ErrDogsNotAllowed)
		o.expect("a bicycle to G", ask(traintravel.NewBooking{TripID: o.joined(3), HasBicycle: true}), nil)
		o.expect("cancelled", o.CancelBooking(t.Context(), anna, o.onlyBooking()), nil)
		o.expect("the hook alone", ask(traintravel.NewBooking{TripID: o.trip('C', 'D', "R 1"), HasBicycle: true}), nil)
		o.expect("a bicycle to F", ask(traintravel.NewBooking{TripID: o.joined(2), HasBicycle: true}), traintravel.ErrNoBicycleSpace)
		o.book(berta, o.joined(2)) // and nothing was kept
		o.clock.set(opens.Add(2 * time.Hour))
		o.expect("after the first train", ask(traintravel.NewBooking{TripID: o.joined(2)}), traintravel.ErrDeparted)
		o.clock.set(opens)
	})
}

func (o *office) onlyBooking() uuid.UUID {
	o.t.Helper()
	list, err := o.Bookings(o.t.Context(), anna, traintravel.Page{})
	if err != nil || len(list.Items) != 1 {
		o.t.Fatalf("%+v, %v", list, err)
	}
	return list.Items[0].ID
}

// TestPlacesAreSoldBySection: half-open, on the place with the smallest gap.
func TestPlacesAreSoldBySection(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
		var gone []uuid.UUID
		place := func(from, to rune) string {
			b := o.book(anna, o.trip(from, to, "R 1"))
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
		for _, b := range o.audit().Bookings {
			if l := b.Legs[0]; l.Destination.Station == station('D') || l.Coach == "1" {
				gone = append(gone, b.ID)
			}
		}
		for _, id := range gone {
			o.expect("cancelling", o.CancelBooking(t.Context(), anna, id), nil)
		}
		if got := place('C', 'D'); got != "2" {
			t.Errorf("C to D is in coach %s, where the gap is larger", got)
		}
		place('A', 'D')
		for _, full := range []string{"AB", "BC", "CD", "AD"} {
			o.tryBook(berta, o.trip(rune(full[0]), rune(full[1]), "R 1"), traintravel.ErrSoldOut)
		}
		if found, err := o.SearchTrips(t.Context(), traintravel.TripQuery{Origin: station('A'), Destination: station('D'), Depart: opens, Direct: true}); err != nil || len(found.Items) != 0 {
			t.Errorf("a sold-out trip is found: %+v, %v", found, err)
		}
	})
}
