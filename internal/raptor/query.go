package raptor

import "math"

// MaxLegs is the most legs that a journey has.
const MaxLegs = 4

// A Query asks for the journeys between two stations, which are not the same.
type Query struct {
	Origin, Target int32
	// The journeys depart in From <= t < To, in Unix seconds, on the date of
	// the Days.
	From, To int64
	Legs     int // at the most, 1 to MaxLegs
	// Allow leaves out groups of trains; nil leaves out none.
	Allow func(group int32) bool
	// Limits are the runs on which not every ride is to be had.
	Limits []Limit
}

// A Limit says of a run how far one can ride: from a stop on, up to Reach of it
// at the most, less than the stop itself for nowhere.
type Limit struct {
	Train, Day int32
	Reach      []int16
}

// A Journey is one to four legs.
type Journey []Leg

// A Leg is a ride on a train of a service day, from one stop to another.
type Leg struct {
	Train, Day    int32
	Board, Alight int32
}

const (
	never = math.MaxInt32
	none  = -1
)
