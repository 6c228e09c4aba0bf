package traintravel_test

import (
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/memstore"
)

// oneStation makes two stations of a timetable one, under the ID of the first.
func oneStation(tt *traintravel.Timetable, first, second rune) *traintravel.Timetable {
	at := func(name rune) int {
		return slices.IndexFunc(tt.Stations, func(s traintravel.Station) bool { return s.ID == station(name) })
	}
	tt.Stations[at(first)].OtherIDs = append(tt.Stations[at(first)].OtherIDs, station(second))
	tt.Stations = slices.Delete(tt.Stations, at(second), at(second)+1)
	return tt
}

// When stations become one, and when they are two again, bookings stay where they are,
// their places are not sold again, and the ID of either finds the station.
func TestStationsThatBecomeOne(t *testing.T) {
	t.Parallel()
	trains := func() *traintravel.Timetable {
		return timetable(train("R 1", 8, "ACD", seats(1)), train("R 2", 9, "BCD", seats(1)), train("R 3", 14, "BCD", seats(2)))
	}
	o := newOffice(t, memstore.New())
	o.load(trains())
	b := o.book(anna, o.trip('B', 'D', "R 2"))
	o.mustPay(b, traintravel.Succeeded)
	was := o.trip('B', 'D', "R 2")
	for range 2 {
		if rep := o.load(oneStation(trains(), 'A', 'B')); len(rep.Stranded) > 0 {
			t.Fatalf("joined: %+v are stranded", rep.Stranded)
		}
		for _, id := range []rune{'A', 'B'} {
			st, err := o.Station(t.Context(), station(id))
			if err != nil || st.ID != station('A') || st.Name != "AAA" {
				t.Errorf("station %c: %+v, %v", id, st, err)
			}
			for _, number := range []string{"R 1", "R 2"} {
				trip, err := o.Trip(t.Context(), o.trip(id, 'D', number))
				if err != nil || trip.Origin().Station != station('A') || trip.Origin().Name != "AAA" {
					t.Errorf("%s from %c: %+v, %v", number, id, trip, err)
				}
			}
		}
		if now := o.trip('A', 'D', "R 2"); now != was {
			t.Errorf("the trip's ID is %v, and was %v", now, was)
		}
		o.tryBook(berta, o.trip('A', 'D', "R 2"), traintravel.ErrSoldOut)
		_, err := o.SearchTrips(t.Context(), traintravel.TripQuery{Origin: station('B'), Destination: station('A'), Depart: opens})
		if err == nil {
			t.Error("there are trips from a station to itself")
		}
		// What is booked now is known by the ID that the calls have.
		c := o.book(berta, o.trip('A', 'C', "R 1"))
		o.mustPay(c, traintravel.Succeeded)
		d := o.book(berta, o.trip('A', 'C', "R 3"))
		o.mustPay(d, traintravel.Succeeded)
		if d.Legs[0].Origin.Station != station('B') {
			t.Errorf("the booking is from %v", d.Legs[0].Origin)
		}
		o.audit()
		ticket, err := o.Ticket(t.Context(), anna, b.ID)
		if err != nil || ticket.Stations[ticket.Booking.Legs[0].Origin.Station].ID != station('A') {
			t.Errorf("the ticket is %+v, %v", ticket, err)
		}
		if rep := o.load(trains()); len(rep.Stranded) > 0 {
			t.Fatalf("apart: %+v are stranded", rep.Stranded)
		}
		o.tryBook(berta, o.trip('B', 'D', "R 2"), traintravel.ErrSoldOut)
		o.tryBook(berta, o.trip('A', 'D', "R 1"), traintravel.ErrSoldOut)
		e := o.book(anna, o.trip('B', 'D', "R 3"))
		o.audit()
		o.expect("cancelling", o.CancelBooking(t.Context(), berta, d.ID), nil)
		o.expect("cancelling", o.CancelBooking(t.Context(), anna, e.ID), nil)
		o.expect("cancelling", o.CancelBooking(t.Context(), berta, c.ID), nil)
	}
	o.load(oneStation(trains(), 'A', 'B'))
	for number, from := range map[string]string{"R 1": "AAA", "R 2": "AAA"} {
		runs, err := o.Runs(t.Context(), number, traintravel.DateOf(opens))
		if err != nil || len(runs) != 1 || runs[0].Calls[0].Name != from {
			t.Fatalf("runs of %s: %+v, %v", number, runs, err)
		}
		m, err := o.Manifest(t.Context(), runs[0].ID)
		if err != nil || number == "R 2" && (len(m.Riders) != 1 || m.Riders[0].Stranded) {
			t.Errorf("manifest of %s: %+v, %v", number, m, err)
		}
	}
}

func TestCheckOtherIDs(t *testing.T) {
	t.Parallel()
	for _, ids := range [][]uuid.UUID{{uuid.Nil}, {station('A')}, {station('B')}, {uuid.New(), station('Z'), station('Z')}} {
		tt := timetable(train("R 1", 8, "AB"))
		tt.Stations[0].OtherIDs = ids
		if err := tt.Check(); err == nil {
			t.Errorf("%v are no other IDs of %v", ids, tt.Stations[0].ID)
		}
	}
}
