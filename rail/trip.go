// Package rail defines the types that all other packages use: stations, trips, bookings,
// payments, subscriptions, deliveries, and the errors that refuse a request. It must not know
// about stores, records, the rules that change a booking, or how a timetable is stored.
package rail

import (
	"fmt"
	"time"

	"github.com/google/uuid"
)

// A Trip is a journey from one station to another on one to four trains, on a
// given day.
type Trip struct {
	ID    uuid.UUID
	Legs  []Leg // one to four
	Price Money
	// Bicycles and Dogs are allowed if every leg is known to allow them, and
	// not allowed if one is known not to.
	Bicycles, Dogs Allowance
	// Reserved reports that at least one leg has numbered places; Seats is the
	// number of free ones on the leg with the fewest. A trip only on trains without
	// numbered places is never sold out.
	Reserved bool
	Seats    int
}

// A Leg is a ride on one train without a change.
type Leg struct {
	Run         RunID
	Operator    string
	Number      string // of the train, as shown to travellers; may be empty
	Origin      Stop
	Destination Stop
	// Coach and Seat are the place of a booking; empty and zero on an
	// unreserved train, and in a search.
	Coach string
	Seat  int
	// Board and Alight are the indexes of the run's calls at which the leg
	// begins and ends, in the timetable it was found in.
	Board, Alight int
}

// A Stop is an end of a leg. Time is in the time zone of the station. In a
// booking, Station may be one of the station's OtherIDs.
type Stop struct {
	Station uuid.UUID
	Name    string
	Time    time.Time
}

// A CallingPoint is a stop of the train of a leg, from the beginning of the leg to its end.
// Times are in the time zone of the station: Arrival is zero at the first, Departure at the
// last.
type CallingPoint struct {
	Station            uuid.UUID
	Name               string
	Arrival, Departure time.Time
}

// A RunID names a train on one service date. Train is its identity, a version
// 8 UUID made from the properties by which later timetables recognise it (see
// Train). A place belongs to one booking, unless a booking is stranded (see
// [LoadReport]): then the run may be that of a train that took it over.
type RunID struct {
	Train uuid.UUID
	Date  Date
}

// String returns the run in the form 2026-12-31/uuid.
func (r RunID) String() string { return fmt.Sprintf("%v/%v", r.Date, r.Train) }

// Origin returns where the trip begins.
func (t Trip) Origin() Stop { return t.Legs[0].Origin }

// Destination returns where the trip ends.
func (t Trip) Destination() Stop { return t.Legs[len(t.Legs)-1].Destination }

// A trip's ID is a version 8 UUID (RFC 9562) that says which trip it is. Its
// 122 free bits hold, from the highest: the number of legs less one (2), the
// service date of the first leg's run in days from 2000-01-01 (16), the first
// boarding call (8), the last alighting call (8), the registered numbers of
// the trains (4 x 21, unused ones zero), and zeros (4). Where travellers
// change follows from these by connect.
const MaxLegs = 4
