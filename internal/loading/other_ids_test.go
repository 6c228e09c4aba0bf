package loading_test

import (
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/memstore"
)

// oneStation makes two stations of a timetable one, under the ID of the first.
func oneStation(tt *traintravel.Timetable, first, second rune) *traintravel.Timetable {
	at := func(name rune) int {
		return slices.IndexFunc(tt.Stations, func(s traintravel.Station) bool { return s.ID == officetest.Station(name) })
	}
	tt.Stations[at(first)].OtherIDs = append(tt.Stations[at(first)].OtherIDs, officetest.Station(second))
	tt.Stations = slices.Delete(tt.Stations, at(second), at(second)+1)
	return tt
}

// When stations become one, and when they are two again, bookings stay where they are,
// their places are not sold again, and the ID of either finds the station.
func TestStationsThatBecomeOne(t *testing.T) {
	t.Parallel()
	trains := func() *traintravel.Timetable {
		return officetest.Timetable(officetest.Train("R 1", 8, "ACD", officetest.Seats(1)), officetest.Train("R 2", 9, "BCD", officetest.Seats(1)), officetest.Train("R 3", 14, "BCD", officetest.Seats(2)))
	}
	o := officetest.New(t, memstore.New())
	o.Load(trains())
	b := o.Book(officetest.Anna, o.TripID('B', 'D', "R 2"))
	o.MustPay(b, traintravel.Succeeded)
	was := o.TripID('B', 'D', "R 2")
	for range 2 {
		if rep := o.Load(oneStation(trains(), 'A', 'B')); len(rep.Stranded) > 0 {
			t.Fatalf("joined: %+v are stranded", rep.Stranded)
		}
		for _, id := range []rune{'A', 'B'} {
			st, err := o.Station(t.Context(), officetest.Station(id))
			if err != nil || st.ID != officetest.Station('A') || st.Name != "AAA" {
				t.Errorf("station %c: %+v, %v", id, st, err)
			}
			for _, number := range []string{"R 1", "R 2"} {
				trip, err := o.Trip(t.Context(), o.TripID(id, 'D', number))
				if err != nil || trip.Origin().Station != officetest.Station('A') || trip.Origin().Name != "AAA" {
					t.Errorf("%s from %c: %+v, %v", number, id, trip, err)
				}
			}
		}
		if now := o.TripID('A', 'D', "R 2"); now != was {
			t.Errorf("the trip's ID is %v, and was %v", now, was)
		}
		o.TryBook(officetest.Berta, o.TripID('A', 'D', "R 2"), traintravel.ErrSoldOut)
		_, err := o.SearchTrips(t.Context(), traintravel.TripQuery{Origin: officetest.Station('B'), Destination: officetest.Station('A'), Depart: officetest.Opens})
		if err == nil {
			t.Error("there are trips from a station to itself")
		}
		// What is booked now is known by the ID that the calls have.
		c := o.Book(officetest.Berta, o.TripID('A', 'C', "R 1"))
		o.MustPay(c, traintravel.Succeeded)
		d := o.Book(officetest.Berta, o.TripID('A', 'C', "R 3"))
		o.MustPay(d, traintravel.Succeeded)
		if d.Legs[0].Origin.Station != officetest.Station('B') {
			t.Errorf("the booking is from %v", d.Legs[0].Origin)
		}
		o.Audit()
		ticket, err := o.Ticket(t.Context(), officetest.Anna, b.ID)
		if err != nil || ticket.Stations[ticket.Booking.Legs[0].Origin.Station].ID != officetest.Station('A') {
			t.Errorf("the ticket is %+v, %v", ticket, err)
		}
		if rep := o.Load(trains()); len(rep.Stranded) > 0 {
			t.Fatalf("apart: %+v are stranded", rep.Stranded)
		}
		o.TryBook(officetest.Berta, o.TripID('B', 'D', "R 2"), traintravel.ErrSoldOut)
		o.TryBook(officetest.Berta, o.TripID('A', 'D', "R 1"), traintravel.ErrSoldOut)
		e := o.Book(officetest.Anna, o.TripID('B', 'D', "R 3"))
		o.Audit()
		o.Expect("cancelling", o.CancelBooking(t.Context(), officetest.Berta, d.ID), nil)
		o.Expect("cancelling", o.CancelBooking(t.Context(), officetest.Anna, e.ID), nil)
		o.Expect("cancelling", o.CancelBooking(t.Context(), officetest.Berta, c.ID), nil)
	}
	o.Load(oneStation(trains(), 'A', 'B'))
	for number, from := range map[string]string{"R 1": "AAA", "R 2": "AAA"} {
		runs, err := o.Runs(t.Context(), number, traintravel.DateOf(officetest.Opens))
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
	for _, ids := range [][]uuid.UUID{{uuid.Nil}, {officetest.Station('A')}, {officetest.Station('B')}, {uuid.New(), officetest.Station('Z'), officetest.Station('Z')}} {
		tt := officetest.Timetable(officetest.Train("R 1", 8, "AB"))
		tt.Stations[0].OtherIDs = ids
		if err := tt.Check(); err == nil {
			t.Errorf("%v are no other IDs of %v", ids, tt.Stations[0].ID)
		}
	}
}
