package rail

import "github.com/google/uuid"

// A LoadReport says what LoadTimetable did.
type LoadReport struct {
	Stations int
	Trains   int
	// Stranded lists the bookings of future runs that the new timetable does not
	// fit, because the run, a call or the place no longer exists. They stay valid and
	// keep the trip as sold; their places are not sold to others.
	Stranded []Stranded
	// Unreadable is the number of runs and bookings that could not be read; they may include
	// more bookings that the new timetable does not fit. Check lists the records.
	Unreadable int
}

// Stranded is a booking that a new timetable does not fit.
type Stranded struct {
	Booking uuid.UUID
	Run     RunID
	// Leg is the leg as it was sold.
	Leg Leg
}
