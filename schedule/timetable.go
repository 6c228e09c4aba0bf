// Package schedule describes a timetable as it is loaded: stations and trains, with their
// calls, days, coaches, prices and rules for bicycles. It checks timetables, compares them and
// reads and writes them as bytes. It must not know which seats are sold, or how connections are
// searched for.
package schedule

import (
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/rail"
)

// A Timetable contains the trains of a railway: where they stop, when, on which
// days, and which places they sell. Package gtfs reads one from a feed, or the
// embedding program makes it from its own data. Service.LoadTimetable checks
// it, stores it, and sells from it.
type Timetable struct {
	Stations []rail.Station
	Trains   []Train
	Changes  []Change
}

// A Train is a line of the timetable: the same calls at the same times on
// every day it runs. A train on one service date is a run.
//
// A later timetable recognises a train, even with a new ID, by Feed, Operator,
// Number, first station and first departure time. ID only distinguishes trains
// that agree in all of these and run on the same day.
type Train struct {
	Feed     string // name of the timetable's source; may be empty
	ID       string // the source's own ID; may be empty
	Line     string // the source's own ID of its line, for a Change; may be empty
	Operator string // the operator's name, as shown to travellers
	Number   string // as shown to travellers, such as "ICE 575"; may be empty

	// Zone is the IANA time zone in which the calls' times are written, the
	// same for all calls (GTFS, agency_timezone).
	Zone string

	// Days says when the train runs. Trains may share one Calendar. Nil means that the train
	// never runs.
	Days *Calendar

	Calls []Call // two to 256, in the order of travel

	// Coaches has the coaches with their places. Without coaches the train is unreserved:
	// any number of tickets are sold.
	Coaches []rail.Coach

	Bicycles rail.Allowance
	Dogs     rail.Allowance

	// Hooks is the number of bicycles that the train can carry at a time; zero
	// means that they are not counted.
	Hooks int

	// Fare prices a leg. With the zero Fare, legs are not for sale unless Options.Price
	// returns a price.
	Fare Fare

	// Prices, if not nil, replaces Fare, which must be zero then: the price of a leg
	// depends on where it begins and ends. Trains may share one Prices.
	Prices *Prices
}

// A Call is a stop of a train. Arrive and Depart never decrease from call to
// call; the first call's Arrive and the last call's Depart are ignored.
type Call struct {
	// Station is the ID of a station, or one of its OtherIDs. Later timetables
	// recognise trains by the ID in their calls: if two stations are merged, keep
	// the IDs in the calls.
	Station uuid.UUID
	Arrive  rail.ServiceTime
	Depart  rail.ServiceTime
	// Metres along the line from the first call; zero at every call means that distances
	// are measured in a straight line.
	Metres int32
	// NoBoarding and NoAlighting say that passengers must not get on or off here.
	NoBoarding  bool
	NoAlighting bool
	// Platform is the platform of the call, for a Change that names it: a number that
	// identifies a platform of the station within one Feed of one timetable. With zero,
	// only rules that name no platform apply to the call.
	Platform uint16
}

// A Fare prices a ride by its length. Base and PerKm are in minor units of
// Currency (cents), PerKm for each kilometre, rounded half up at the end.
type Fare struct {
	Currency string // ISO 4217 code in lower case
	Base     int64
	PerKm    int64
}

// Prices contains the prices of rides on a train, each set separately. Amounts[i][j]
// is the price in minor units of Currency from the i-th call to the j-th. If it is
// zero or missing, the ride is not sold, unless Options.Price returns a price.
type Prices struct {
	Currency string // ISO 4217 code in lower case
	Amounts  [][]int64
}

// Amount returns the price of a ride, zero if it is not for sale.
func (p *Prices) Amount(board, alight int) int64 {
	if board < len(p.Amounts) && alight < len(p.Amounts[board]) {
		return p.Amounts[board][alight]
	}
	return 0
}

// A Calendar is a set of service dates: the Weekdays between From and To, both
// included, with Added and without Removed. The zero Calendar is empty.
type Calendar struct {
	Weekdays       [7]bool // by time.Weekday: Sunday is 0
	From, To       rail.Date
	Added, Removed []rail.Date // any order; a date in both is removed
}

// Daily returns a calendar of all days from from to to, both included.
func Daily(from, to rail.Date) *Calendar {
	return &Calendar{Weekdays: [7]bool{true, true, true, true, true, true, true}, From: from, To: to}
}

// Runs says whether the calendar has the date; a nil calendar has none.
func (c *Calendar) Runs(d rail.Date) bool {
	if c == nil || slices.Contains(c.Removed, d) {
		return false
	}
	return d >= c.From && d <= c.To && c.Weekdays[d.Weekday()] || slices.Contains(c.Added, d)
}
