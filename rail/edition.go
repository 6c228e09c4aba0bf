package rail

import "github.com/google/uuid"

// A LoadReport says what LoadTimetable did.
type LoadReport struct {
	Stations int
	Trains   int
	// Stranded are the bookings of runs still to come that the new timetable
	// does not fit: the run, a call or the place is gone. They stay valid and
	// keep the trip as sold; nobody else gets their places.
	Stranded []Stranded
	// Unreadable is how many runs and bookings could not be read: there may be more
	// bookings that the new timetable does not fit. Check names the records.
	Unreadable int
}

// Stranded is a booking that a new timetable does not fit.
type Stranded struct {
	Booking uuid.UUID
	Run     RunID
	// Leg is what was sold of the run.
	Leg Leg
}
