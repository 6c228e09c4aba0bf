package traintravel

import "slices"

// days is a Calendar made quick to ask: exceptions sorted, bounds known.
type days struct {
	mask           [7]bool
	from, to       Date
	added, removed []Date
	first, last    Date // every service date lies between them; last < first if there is none
}

func compileCalendar(c *Calendar) *days {
	if c == nil {
		c = &Calendar{}
	}
	d := &days{mask: c.Weekdays, from: c.From, to: c.To, first: 0, last: -1}
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
		if d.runs(day) {
			d.first, d.last = day, day
			break
		}
	}
	for day := d.to; day > d.last && d.first <= d.last; day-- {
		if d.runs(day) {
			d.last = day
		}
	}
	if len(d.added) > 0 {
		first, last := d.added[0], d.added[len(d.added)-1]
		if d.last < d.first {
			d.first, d.last = first, last
		}
		d.first, d.last = min(d.first, first), max(d.last, last)
	}
	return d
}

func (d *days) byWeekday(day Date) bool {
	return day >= d.from && day <= d.to && d.mask[day.Weekday()]
}

func (d *days) excluded(day Date) bool {
	_, ok := slices.BinarySearch(d.removed, day)
	return ok
}

func (d *days) runs(day Date) bool {
	if d.byWeekday(day) {
		return !d.excluded(day)
	}
	_, ok := slices.BinarySearch(d.added, day)
	return ok
}

// meets says whether there is a date in both.
func (d *days) meets(e *days) bool {
	for day := max(d.first, e.first); day <= min(d.last, e.last); day++ {
		if d.runs(day) && e.runs(day) {
			return true
		}
	}
	return false
}

// calendarCache compiles each Calendar once.
type calendarCache map[*Calendar]*days

func (c calendarCache) get(src *Calendar) *days {
	d, ok := c[src]
	if !ok {
		d = compileCalendar(src)
		c[src] = d
	}
	return d
}
