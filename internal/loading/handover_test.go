package loading_test

import (
	"slices"
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/internal/trains"
	"github.com/traintravel/traintravel/store/memstore"
)

// A train that was sold as two, from another platform or by another feed, is one now. What
// was sold of either is the train's, and nothing of it is sold again.
func TestSalesOfTheSameTrainAreHandedOver(t *testing.T) {
	t.Parallel()
	first := func(seats int) traintravel.Train { return withSeats(officetest.Train("R 1", 8, "ACD"), seats) }
	platform := func(seats int) traintravel.Train {
		t := first(seats)
		t.Calls = slices.Clone(t.Calls)
		t.ID, t.Calls[0].Station = "another", officetest.Station('B')
		return t
	}
	otherFeed := func(seats int) traintravel.Train {
		t := first(seats)
		t.Feed, t.Operator = "other", "TEST rail"
		return t
	}
	spaced := func(seats int) traintravel.Train {
		t := first(seats)
		t.Number = "r1"
		return t
	}
	other := func(seats int) traintravel.Train { // is not a twin
		t := platform(seats)
		t.Calls[1].Arrive--
		return t
	}
	for _, c := range []struct {
		name         string
		twin         func(int) traintravel.Train
		stays        bool // the twin, and not the first
		apart        bool // A and B are two stations before
		left, strand int
	}{
		{"from another platform", platform, false, false, 1, 0},
		{"from what was another station", platform, false, true, 1, 0},
		{"the one from another platform stays", platform, true, false, 1, 0},
		{"of another feed", otherFeed, false, false, 1, 0},
		{"the one of another feed stays", otherFeed, true, false, 1, 0},
		{"of a number that is spaced otherwise", spaced, false, false, 1, 0},
		{"another train", other, false, false, 2, 1},
	} {
		o := officetest.New(t, memstore.New())
		before := officetest.Timetable(first(2), c.twin(2))
		if !c.apart {
			before = oneStation(before, 'A', 'B')
		}
		o.Load(before)
		var booked traintravel.Booking
		stays := c.twin(2)
		if !c.stays {
			stays = first(2)
		}
		from := map[bool]rune{false: 'A', true: 'B'}[c.apart]
		for _, trip := range trips(o, from, 'D') { // of the one that goes
			if runs, err := o.Runs(t.Context(), "R 1", traintravel.DateOf(officetest.Opens)); err != nil || len(runs) != 2 {
				t.Fatalf("%s: %+v, %v", c.name, runs, err)
			}
			if isOf := trip.Legs[0].Run.Train == trains.BaseOf(&stays); !isOf {
				booked = o.Book(officetest.Anna, trip.ID)
			}
		}
		o.MustPay(booked, traintravel.Succeeded)
		next := oneStation(officetest.Timetable(stays), 'A', 'B')
		e, err := o.CompareTimetable(t.Context(), next)
		if err != nil || e.Bookings != c.strand {
			t.Errorf("%s: %d bookings would not fit, %v; want %d", c.name, e.Bookings, err, c.strand)
		}
		for range 2 {
			if got := o.Load(next).Stranded; len(got) != c.strand {
				t.Errorf("%s: %+v are stranded", c.name, got)
			}
		}
		now, err := o.Booking(t.Context(), officetest.Anna, booked.ID)
		if err != nil || now.Status != traintravel.Confirmed || (now.Legs[0].Run.Train == trains.BaseOf(&stays)) != (c.strand == 0) {
			t.Errorf("%s: the booking is %+v, %v", c.name, now, err)
		}
		for range c.left {
			b := o.Book(officetest.Berta, o.TripID('A', 'D', "R 1"))
			if c.strand == 0 && b.Legs[0].Seat == now.Legs[0].Seat {
				t.Errorf("%s: seat %d is sold twice", c.name, b.Legs[0].Seat)
			}
		}
		o.TryBook(officetest.Berta, o.TripID('A', 'D', "R 1"), traintravel.ErrSoldOut)
		o.Audit()
		o.Expect("cancelling", o.CancelBooking(t.Context(), officetest.Anna, booked.ID), nil)
		if c.strand == 0 {
			o.Book(officetest.Berta, o.TripID('A', 'D', "R 1"))
		}
	}
}

// trips are the trips between two stations on the day of opens.
func trips(o *officetest.Office, from, to rune) []traintravel.Trip {
	o.T.Helper()
	found, err := o.SearchTrips(o.T.Context(), traintravel.TripQuery{Origin: officetest.Station(from), Destination: officetest.Station(to), Depart: officetest.Opens, Page: traintravel.Page{Limit: 100}})
	if err != nil {
		o.T.Fatal(err)
	}
	return found.Items
}
