package ticket

import (
	"slices"
	"strings"
	"time"
)

const icalTime = "20060102T150405"

func utc(t time.Time) string { return t.UTC().Format(icalTime + "Z") }

// time writes an instant as the clocks of its zone show it, or in UTC if that
// would not tell which it is.
func (c *calendar) time(name string, t time.Time) {
	if !zoned(t) {
		c.line(name, utc(t))
		return
	}
	c.line(name+";TZID="+t.Location().String(), t.Format(icalTime))
}

// zoned says whether what the clocks show at an instant stands for it: their zone
// has a name, and they do not show it for the second time, after they were put back.
func zoned(t time.Time) bool {
	name := t.Location().String()
	if name == "UTC" || name == "Local" || name == "" || strings.ContainsAny(name, ":;,\" ") {
		return false
	}
	start, _ := t.ZoneBounds()
	return start.IsZero() || t.Sub(start) >= offset(start.Add(-1))-offset(t)
}

// offset is how far the clocks are ahead of UTC.
func offset(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}

// zones are the time zones of a calendar, each with the instants at which its
// clocks were last changed before a time in that calendar.
type zones []zone

type zone struct {
	name    string
	changes []time.Time
}

// add makes the zone of an instant known.
func (z *zones) add(t time.Time) {
	if !zoned(t) {
		return
	}
	i := slices.IndexFunc(*z, func(known zone) bool { return known.name == t.Location().String() })
	if i < 0 {
		i = len(*z)
		*z = append(*z, zone{name: t.Location().String()})
	}
	one := &(*z)[i]
	start, _ := t.ZoneBounds()
	if start.IsZero() {
		start = t.AddDate(-1, 0, 0) // the clocks are as they always were
	}
	if !slices.ContainsFunc(one.changes, start.Equal) {
		one.changes = append(one.changes, start)
	}
}

// write describes the zones as far as the calendar needs it.
func (z zones) write(c *calendar) {
	for _, one := range z {
		c.line("BEGIN", "VTIMEZONE")
		c.line("TZID", one.name)
		for _, start := range one.changes {
			kind := "STANDARD"
			if start.IsDST() {
				kind = "DAYLIGHT"
			}
			before := start.Add(-1)
			c.line("BEGIN", kind)
			c.line("DTSTART", start.UTC().Add(offset(before)).Format(icalTime)) // as clocks showed it that were not changed yet
			c.line("TZOFFSETFROM", before.Format("-0700"))
			c.line("TZOFFSETTO", start.Format("-0700"))
			name, _ := start.Zone()
			c.line("TZNAME", name)
			c.line("END", kind)
		}
		c.line("END", "VTIMEZONE")
	}
}
