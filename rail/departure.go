package rail

import (
	"strings"
	"time"
)

// ParseDeparture reads the date of a trip query as the documented API takes
// it, for an origin whose clocks run in loc: an RFC 3339 date-time is an
// instant; without an offset it is wall time at the origin, moved forward where
// clocks skip it and the earlier one where they show it twice; a bare date is
// the beginning of the day there. Fractions of a second are read to the
// nanosecond. A blank before the offset is read as the plus sign that a form
// decoder made it from. The error is an [*InvalidError] naming date; the years
// are 1900 to 2199. loc must not be nil.
func ParseDeparture(text string, loc *time.Location) (time.Time, error) {
	s := strings.ToUpper(strings.TrimSpace(text))
	if i := strings.LastIndexByte(s, ' '); i > len("2006-01-02T") {
		s = s[:i] + "+" + s[i+1:]
	}
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil && hasOffset(t) {
		return within(t, t)
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if t, err := time.Parse(layout, s); err == nil {
			return within(t, wall(t, loc))
		}
	}
	if d, err := ParseDate(s); err == nil {
		return within(d.Utc(), d.Start(loc))
	}
	return time.Time{}, Invalid("date", "invalid date %.60q: want a form such as 2026-12-31 or 2026-12-31T09:00:00+01:00", text)
}

// within returns an instant, unless what was written for it lies out of range.
func within(written, at time.Time) (time.Time, error) {
	if !Sane(written) {
		return time.Time{}, Invalid("date", "is in the year %d: want 1900 to 2199", written.Year())
	}
	return at, nil
}

// Sane reports whether the year is one in which arithmetic on instants does not overflow.
func Sane(t time.Time) bool { return t.Year() >= 1900 && t.Year() < 2200 }

// hasOffset says whether the offset of t from UTC is one of RFC 3339: Go reads
// +24:00, too.
func hasOffset(t time.Time) bool {
	_, seconds := t.Zone()
	return (time.Duration(seconds) * time.Second).Abs() < 24*time.Hour
}

// wall is the instant at which clocks in loc show what t shows in UTC.
func wall(t time.Time, loc *time.Location) time.Time {
	offset := func(at time.Time) time.Duration {
		_, seconds := at.In(loc).Zone()
		return time.Duration(seconds) * time.Second
	}
	before, after := t.Add(-offset(t.Add(-24*time.Hour))), t.Add(-offset(t.Add(24*time.Hour)))
	shows := func(at time.Time) bool { return at.Add(offset(at)).Equal(t) }
	if shows(after) && (after.Before(before) || !shows(before)) {
		return after.In(loc)
	}
	return before.In(loc) // in a gap it shows as much later as the clocks skip
}
