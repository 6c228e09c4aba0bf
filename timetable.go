package traintravel

import (
	"context"
	"time"

	"github.com/traintravel/traintravel/internal/loading"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

// LoadTimetable checks a timetable and makes it the current one for this
// service and every other on the same store, atomically. Existing bookings
// remain valid and keep the trip as sold; trip IDs do not change for trains that
// still run with the same calls. It returns the errors of [Timetable.Check] for an
// invalid timetable, and ctx's error if ctx ends before the timetable is current;
// in both cases nothing has changed. It accepts any valid timetable, even an
// expired one; [Service.ReplaceTimetable] asks first.
//
// The timetable must not be modified afterwards.
func (s *Service) LoadTimetable(ctx context.Context, t *Timetable) (_ LoadReport, err error) {
	ctx, end := s.begin(ctx, "LoadTimetable")
	defer end(&err)
	return s.loader.Load(ctx, t, loading.Replacing{})
}

// LoadFirstTimetable is like LoadTimetable, for a store without a timetable. If the store
// has one, or another call is faster, that stays, and the error is [ErrHasTimetable].
func (s *Service) LoadFirstTimetable(ctx context.Context, t *Timetable) (_ LoadReport, err error) {
	ctx, end := s.begin(ctx, "LoadFirstTimetable")
	defer end(&err)
	return s.loader.Load(ctx, t, loading.Replacing{First: true})
}

// ReplaceTimetable is like LoadTimetable, but calls accept before it changes anything, with
// the differences between the timetable and the current one. If accept returns an error,
// ReplaceTimetable returns it and changes nothing. If another timetable is loaded meanwhile,
// it calls accept again, so the differences are accurate when the timetable becomes current.
// [Edition.Check] refuses timetables that look like a mistake:
//
//	report, err := service.ReplaceTimetable(ctx, timetable, traintravel.Edition.Check)
func (s *Service) ReplaceTimetable(ctx context.Context, t *Timetable, accept func(Edition) error) (_ LoadReport, err error) {
	ctx, end := s.begin(ctx, "ReplaceTimetable")
	defer end(&err)
	return s.loader.Load(ctx, t, loading.Replacing{Accept: accept})
}

// CompareTimetable returns what [Service.ReplaceTimetable] would change now, and changes
// nothing. It returns the errors of [Timetable.Check] for an invalid timetable.
func (s *Service) CompareTimetable(ctx context.Context, t *Timetable) (_ Edition, err error) {
	ctx, end := s.begin(ctx, "CompareTimetable")
	defer end(&err)
	return s.loader.CompareNow(ctx, t)
}

type (
	// A Change is a rule for changing trains: from those that FromTrain, FromLine and From
	// describe to those that ToTrain, ToLine and To do.
	Change = schedule.Change
	// A ChangeKind says how a rule affects a change of trains.
	ChangeKind = schedule.ChangeKind
)

const (
	// Takes: the change takes Time.
	Takes = schedule.Takes
	// Impossible: this change is not offered.
	Impossible = schedule.Impossible
	// StaySeated: the train continues as the other one, and passengers remain
	// seated. FromTrain and ToTrain are required. The second train must begin where
	// the first ends, within an hour, on each day it runs; otherwise the rule has
	// no effect.
	StaySeated = schedule.StaySeated
)

// MaxPairs limits the number of pairs of trains that the rules of a timetable distinguish, as
// [ChangePairs] counts them.
const MaxPairs = schedule.MaxPairs

// ChangePairs counts the pairs of trains that rules distinguish: at each station with rules,
// the arriving trains, lines and platforms that rules name, times the departing ones, where
// all that no rule names count as one.
func ChangePairs(all []Change) int { return schedule.ChangePairs(all) }

// Limits of what a timetable has in one place.
const (
	MaxCalls      = schedule.MaxCalls      // of a train
	MaxCoaches    = schedule.MaxCoaches    // of a train
	MaxText       = rail.MaxText           // characters of a name, an address, a number or an ID
	MaxOtherNames = schedule.MaxOtherNames // of a station
)

// Limits of a timetable as a whole, twice what the largest railways have. They bound what a
// server takes of memory to load one: some hundred bytes for a call, 1.5 GB at the most
// for all of them.
const (
	MaxStations   = schedule.MaxStations
	MaxTrains     = schedule.MaxTrains
	MaxTotalCalls = schedule.MaxTotalCalls // of all trains
	MaxChanges    = schedule.MaxChanges    // rules
)

// A Date is a day of the calendar, counted from 1970-01-01, which is zero. It has no time
// zone: a service date is the railway's, whatever the clock says.
type Date = rail.Date

// DateOf returns the day that t shows in its own location.
func DateOf(t time.Time) Date { return rail.DateOf(t) }

// NewDate returns a day; like time.Date it normalises, so that 31 April is 1 May.
func NewDate(year int, month time.Month, day int) Date { return rail.NewDate(year, month, day) }

// ParseDate reads a day in the form 2026-12-31.
func ParseDate(s string) (Date, error) { return rail.ParseDate(s) }

// A ServiceTime is a time of a service day in seconds, from its noon minus 12 hours
// (GTFS, stop_times.txt): midnight on all days but those on which clocks change.
type ServiceTime = rail.ServiceTime

// MaxServiceTime bounds a ServiceTime: a train runs for at most 14 days.
const MaxServiceTime = rail.MaxServiceTime

// Clock returns the ServiceTime that a timetable prints as h:m.
func Clock(h, m int) ServiceTime { return rail.Clock(h, m) }

// FirstDate and LastDate, 2000-01-01 and 2179-06-06, are the first and last service dates
// of a timetable, because trip IDs cannot hold others.
const (
	FirstDate = rail.FirstDate
	LastDate  = rail.LastDate
)

type (
	// An Edition compares a timetable with the current one that it is to replace.
	Edition = schedule.Edition
	// An EditionSize says how large a timetable is.
	EditionSize = schedule.EditionSize
	// A Difference counts the items that only the new timetable has, that only the one before
	// has, and that both have.
	Difference = schedule.Difference
	// A FeedEdition compares the trains of one [Train.Feed] in both timetables.
	FeedEdition = schedule.FeedEdition
	// A Doubt is a reason to think that a timetable is a mistake.
	Doubt = schedule.Doubt
	// A DoubtKind is a reason why a timetable looks like a mistake.
	DoubtKind = schedule.DoubtKind
)

// The kinds of doubt.
const (
	DoubtExpired   = schedule.DoubtExpired   // no train runs any more
	DoubtEndsSoon  = schedule.DoubtEndsSoon  // the last train runs today or tomorrow
	DoubtFewTrains = schedule.DoubtFewTrains // it has at most a twentieth of the trains of the one in force
)

type (
	// An EditionError refuses a timetable that looks like a mistake.
	EditionError = schedule.EditionError
	// A LoadReport says what LoadTimetable did.
	LoadReport = rail.LoadReport
	// Stranded is a booking that a new timetable does not fit.
	Stranded = rail.Stranded
	// A Timetable contains the trains of a railway: where they stop, when, on which days, and
	// which places they sell.
	Timetable = schedule.Timetable
	// A Train is a line of the timetable: the same calls at the same times on every day it
	// runs. A train on one service date is a run.
	Train = schedule.Train
	// A Call is a stop of a train. Arrive and Depart never decrease from call to call; the
	// first call's Arrive and the last call's Depart are ignored.
	Call = schedule.Call
	// A Coach is a coach with numbered seats, from 1 to Seats.
	Coach = rail.Coach
	// An Allowance says whether something may be taken on board. The zero value is Unknown,
	// which does not permit it.
	Allowance = rail.Allowance
)

// The allowances, as in GTFS (bikes_allowed).
const (
	Unknown    = rail.Unknown
	Allowed    = rail.Allowed
	NotAllowed = rail.NotAllowed
)

type (
	// A Fare prices a ride by its length. Base and PerKm are in minor units of Currency
	// (cents), PerKm for each kilometre, rounded half up at the end.
	Fare = schedule.Fare
	// Prices contains the prices of rides on a train, each set separately.
	Prices = schedule.Prices
	// A Calendar is a set of service dates: the Weekdays between From and To, both included,
	// with Added and without Removed. The zero Calendar is empty.
	Calendar = schedule.Calendar
)

// Daily returns a calendar of all days from from to to, both included.
func Daily(from, to Date) *Calendar { return schedule.Daily(from, to) }
