package officetest

import (
	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
)

// The twins of these tests are trains named R 1 that leave A at 8:00. Each is
// booked from A to a station at which no other calls.

// Monday is the day of opens; the tests look at the week that begins with it.
var Monday = traintravel.DateOf(Opens)

// R1 is a train with one place on days of that week, 0 for Monday.
func R1(line string, days ...int) traintravel.Train {
	t := Train("R 1", 8, line, Seats(1))
	t.ID, t.Days = line, &traintravel.Calendar{}
	for _, d := range days {
		t.Days.Added = append(t.Days.Added, Monday+traintravel.Date(d))
	}
	return t
}

// Ride is the ID of a trip from A on a day of the week.
func (o *Office) Ride(day int, to rune) uuid.UUID {
	o.T.Helper()
	id, err := o.Direct(o.T.Context(), "R 1", Monday+traintravel.Date(day), Station('A'), Station(to))
	if err != nil {
		o.T.Fatalf("to %c on day %d: %v", to, day, err)
	}
	return id
}

// Full expects that a booking has the place of a ride, today and at an office
// that reads the timetable from the store.
func (o *Office) Full(b traintravel.Booking, day int, to rune) {
	o.T.Helper()
	for _, office := range []*Office{o, o.Another()} {
		trip, err := office.Trip(o.T.Context(), o.Ride(day, to))
		if err != nil || trip.Legs[0].Run != b.Legs[0].Run || trip.Seats != 0 {
			o.T.Errorf("to %c on day %d: %+v, %v; want none left on %v", to, day, trip, err, b.Legs[0].Run)
		}
		office.TryBook(Berta, trip.ID, traintravel.ErrSoldOut)
	}
}

func (o *Office) LoadAll(trains ...traintravel.Train) []traintravel.Stranded {
	o.T.Helper()
	return o.Load(Timetable(trains...)).Stranded
}
