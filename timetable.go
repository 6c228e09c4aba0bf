package traintravel

import (
	"context"
	"time"

	"github.com/traintravel/traintravel/internal/loading"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

// LoadTimetable checks a timetable and makes it the one in force, for this
// service and every other on the same store, all at once. Bookings made before
// stay valid and keep the trip as sold; trip IDs stay the same for trains that
// still run with the same calls. What is wrong with the timetable is returned
// as by [Timetable.Check], and then nothing has changed. If ctx ends before the
// timetable is in force, its error is returned, and nothing has changed either.
// It takes any timetable that is well-formed, also one that has expired:
// [Service.ReplaceTimetable] asks first.
//
// The timetable must not be modified any more.
func (s *Service) LoadTimetable(ctx context.Context, t *Timetable) (_ LoadReport, err error) {
	ctx, end := s.begin(ctx, "LoadTimetable")
	defer end(&err)
	return s.loader.Load(ctx, t, loading.Replacing{})
}

// LoadFirstTimetable is LoadTimetable for a store that has none. If another one
// is in force, or is first, that stays, and the error is [ErrHasTimetable].
func (s *Service) LoadFirstTimetable(ctx context.Context, t *Timetable) (_ LoadReport, err error) {
	ctx, end := s.begin(ctx, "LoadFirstTimetable")
	defer end(&err)
	return s.loader.Load(ctx, t, loading.Replacing{First: true})
}

// ReplaceTimetable is LoadTimetable that asks before it changes anything: accept is
// told how the timetable differs from the one in force. If accept returns an error,
// that is returned, and nothing has changed. What it was told is still so when the
// timetable comes into force: if another one is loaded meanwhile, accept is asked
// again. [Edition.Check] refuses timetables that look like a mistake:
//
//	report, err := service.ReplaceTimetable(ctx, timetable, traintravel.Edition.Check)
func (s *Service) ReplaceTimetable(ctx context.Context, t *Timetable, accept func(Edition) error) (_ LoadReport, err error) {
	ctx, end := s.begin(ctx, "ReplaceTimetable")
	defer end(&err)
	return s.loader.Load(ctx, t, loading.Replacing{Accept: accept})
}

// CompareTimetable says what [Service.ReplaceTimetable] would change now. It changes
// nothing. What is wrong with the timetable is returned as by [Timetable.Check].
func (s *Service) CompareTimetable(ctx context.Context, t *Timetable) (_ Edition, err error) {
	ctx, end := s.begin(ctx, "CompareTimetable")
	defer end(&err)
	return s.loader.CompareNow(ctx, t)
}

type (
	// A Change is a rule for changing trains: from those that FromTrain, FromLine and From
	// describe to those that ToTrain, ToLine and To do.
	Change = schedule.Change
	// A ChangeKind is what a rule says of a change.
	ChangeKind = schedule.ChangeKind
)

const (
	// Takes: the change takes Time.
	Takes = schedule.Takes
	// Impossible: nobody may count on it.
	Impossible = schedule.Impossible
	// StaySeated: the train goes on as the other one, on which passengers
	// remain. FromTrain and ToTrain are given; the one ends where the other
	// begins, and does so within an hour on each day it runs, or else the rule
	// means nothing.
	StaySeated = schedule.StaySeated
)

// MaxPairs bounds how many pairs of trains the rules of a timetable may tell apart, as
// [ChangePairs] counts them.
const MaxPairs = schedule.MaxPairs

// ChangePairs counts the pairs of trains that rules tell apart: at each station that they
// are about, all trains, lines and platforms that they name on the one side with all on
// the other, and those that none names.
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

// FirstDate and LastDate, 2000-01-01 and 2179-06-06, bound the service dates of
// a timetable: those that trip IDs can hold.
const (
	FirstDate = rail.FirstDate
	LastDate  = rail.LastDate
)

type (
	// An Edition compares a timetable with the one in force that it is to replace.
	Edition = schedule.Edition
	// An EditionSize says how large a timetable is.
	EditionSize = schedule.EditionSize
	// A Difference counts what the new timetable has that the one before did not have, what
	// it does not have any more, and what both have.
	Difference = schedule.Difference
	// A FeedEdition is what both timetables have of one [Train.Feed].
	FeedEdition = schedule.FeedEdition
	// A Doubt is a reason to think that a timetable is a mistake.
	Doubt = schedule.Doubt
	// A DoubtKind is why a timetable looks like a mistake.
	DoubtKind = schedule.DoubtKind
)

// The kinds of doubt.
const (
	DoubtExpired   = schedule.DoubtExpired   // no train runs any more
	DoubtEndsSoon  = schedule.DoubtEndsSoon  // the last train runs today or tomorrow
	DoubtFewTrains = schedule.DoubtFewTrains // it has a twentieth of the trains of the one in force, or less
)

type (
	// An EditionError refuses a timetable that looks like a mistake.
	EditionError = schedule.EditionError
	// A LoadReport says what LoadTimetable did.
	LoadReport = rail.LoadReport
	// Stranded is a booking that a new timetable does not fit.
	Stranded = rail.Stranded
	// A Timetable is what a railway offers: where its trains call, when, on which days, and
	// what there is to sell.
	Timetable = schedule.Timetable
	// A Train is one line of the timetable: the same calls at the same times on every day it
	// runs. On one service date it is a run.
	Train = schedule.Train
	// A Call is one stop of a train. Arrive and Depart never fall from call to call; the
	// first call's Arrive and the last one's Depart mean nothing.
	Call = schedule.Call
	// A Coach is a coach with numbered seats, from 1 to Seats.
	Coach = rail.Coach
	// An Allowance says whether something may be taken along. The zero value is Unknown,
	// which is not permission.
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
	// Prices are what the rides on a train cost, each by itself.
	Prices = schedule.Prices
	// A Calendar is a set of service dates: the Weekdays between From and To, both included,
	// with Added and without Removed. The zero Calendar is empty.
	Calendar = schedule.Calendar
)

// Daily runs on every day from from to to, both included.
func Daily(from, to Date) *Calendar { return schedule.Daily(from, to) }
