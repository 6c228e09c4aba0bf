package trains

import (
	"slices"

	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

// Days is a Calendar made quick to ask: exceptions sorted, bounds known.
type Days struct {
	mask           [7]bool
	from, to       rail.Date
	added, removed []rail.Date
	First, Last    rail.Date // every service date lies between them; last < first if there is none
}

// CompileCalendar compiles a calendar; nil has no dates.
func CompileCalendar(c *schedule.Calendar) *Days {
	if c == nil {
		c = &schedule.Calendar{}
	}
	d := &Days{mask: c.Weekdays, from: c.From, to: c.To, First: 0, Last: -1}
	if d.mask == [7]bool{} {
		d.from, d.to = 0, -1
	}
	d.removed = slices.Compact(slices.Sorted(slices.Values(c.Removed)))
	for _, day := range slices.Compact(slices.Sorted(slices.Values(c.Added))) {
		if !d.excluded(day) && !d.byWeekday(day) {
			d.added = append(d.added, day)
		}
	}
	for day := d.from; day <= d.to; day++ {
		if d.Runs(day) {
			d.First, d.Last = day, day
			break
		}
	}
	for day := d.to; day > d.Last && d.First <= d.Last; day-- {
		if d.Runs(day) {
			d.Last = day
		}
	}
	if len(d.added) > 0 {
		first, last := d.added[0], d.added[len(d.added)-1]
		if d.Last < d.First {
			d.First, d.Last = first, last
		}
		d.First, d.Last = min(d.First, first), max(d.Last, last)
	}
	return d
}

func (d *Days) byWeekday(day rail.Date) bool {
	return day >= d.from && day <= d.to && d.mask[day.Weekday()]
}

func (d *Days) excluded(day rail.Date) bool {
	_, ok := slices.BinarySearch(d.removed, day)
	return ok
}

// Runs says whether a date is among them.
func (d *Days) Runs(day rail.Date) bool {
	if d.byWeekday(day) {
		return !d.excluded(day)
	}
	_, ok := slices.BinarySearch(d.added, day)
	return ok
}

// Meets says whether there is a date in both.
func (d *Days) Meets(e *Days) bool {
	for day := max(d.First, e.First); day <= min(d.Last, e.Last); day++ {
		if d.Runs(day) && e.Runs(day) {
			return true
		}
	}
	return false
}

// CalendarCache compiles each Calendar once.
type CalendarCache map[*schedule.Calendar]*Days

// Get returns the compiled form of a calendar.
func (c CalendarCache) Get(src *schedule.Calendar) *Days {
	d, ok := c[src]
	if !ok {
		d = CompileCalendar(src)
		c[src] = d
	}
	return d
}
