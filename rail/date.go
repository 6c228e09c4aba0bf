package rail

import (
	"fmt"
	"time"
)

// A Date is a day of the calendar, counted from 1970-01-01, which is zero. It
// has no time zone: a service date is the railway's, whatever the clock says.
type Date int32

// DateOf returns the day that t shows in its own location.
func DateOf(t time.Time) Date {
	y, m, d := t.Date()
	return NewDate(y, m, d)
}

// NewDate returns a day; like time.Date it normalises, so that 31 April is 1 May.
func NewDate(year int, month time.Month, day int) Date {
	return Date(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / 86400)
}

// ParseDate reads a day in the form 2026-12-31.
func ParseDate(s string) (Date, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return 0, fmt.Errorf("invalid date %.20q: want a form such as 2026-12-31", s)
	}
	return DateOf(t), nil
}

// Utc returns the midnight in UTC at which the day begins.
func (d Date) Utc() time.Time { return time.Unix(int64(d)*86400, 0).UTC() }

// String returns the day in the form 2026-12-31.
func (d Date) String() string { return d.Utc().Format(time.DateOnly) }

// Weekday returns the day of the week: day zero was a Thursday.
func (d Date) Weekday() time.Weekday { return time.Weekday(((int(d)+4)%7 + 7) % 7) }

// Start returns the first instant of the day in loc. Where clocks skip
// midnight that is later than 00:00, and where they skip the whole day it is
// the start of the next.
func (d Date) Start(loc *time.Location) time.Time {
	midnight := d.Utc()
	// time.Date may answer an instant of the day before, so we walk from
	// well before midnight, one span of constant offset after another.
	t := midnight.AddDate(0, 0, -2).In(loc)
	for {
		_, offset := t.Zone()
		_, end := t.ZoneBounds()
		start := midnight.Add(-time.Duration(offset) * time.Second).In(loc)
		if start.Before(t) {
			return t
		}
		if end.IsZero() {
			return start
		}
		if !end.After(t) {
			// ZoneBounds errs on the last day of a leap year, beyond the
			// transitions that the zone's file lists.
			end = t.Add(time.Hour)
		}
		if start.Before(end) {
			return start
		}
		t = end
	}
}

// A ServiceTime is a time of a service day in seconds, from its noon minus 12
// hours (GTFS, stop_times.txt): midnight on all days but those on which clocks
// change. It may exceed 24 hours, by days. It is never negative.
type ServiceTime int32

// MaxServiceTime bounds a ServiceTime: a train runs for at most 14 days.
const MaxServiceTime ServiceTime = 14 * 86400

// Clock returns the ServiceTime that a timetable prints as h:m.
func Clock(h, m int) ServiceTime { return ServiceTime(h*3600 + m*60) }

// String returns the time in the form 08:30:00; hours go on after 24.
func (t ServiceTime) String() string {
	return fmt.Sprintf("%02d:%02d:%02d", t/3600, t/60%60, t%60)
}

// Instant returns when the time occurs on a service date of a railway that
// keeps its clocks in loc.
func (t ServiceTime) Instant(d Date, loc *time.Location) time.Time {
	return serviceStart(d, loc).Add(time.Duration(t) * time.Second)
}

// serviceStart is the instant from which the times of a service date count.
func serviceStart(d Date, loc *time.Location) time.Time {
	y, m, day := d.Utc().Date()
	return time.Date(y, m, day, 12, 0, 0, 0, loc).Add(-12 * time.Hour)
}

// FirstDate and LastDate, 2000-01-01 and 2179-06-06, are the first and last service dates
// of a timetable, because trip IDs cannot hold others.
const (
	FirstDate Date = 10957
	LastDate       = FirstDate + 1<<16 - 1
)
