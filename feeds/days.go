package feeds

import (
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// A dayCache knows the days of calendars, in their order.
type dayCache map[*traintravel.Calendar][]traintravel.Date

func (c dayCache) of(calendar *traintravel.Calendar) []traintravel.Date {
	if calendar == nil {
		return nil
	}
	days, ok := c[calendar]
	if !ok {
		removed := make(map[traintravel.Date]bool, len(calendar.Removed))
		for _, d := range calendar.Removed {
			removed[d] = true
		}
		for d := calendar.From; d <= calendar.To; d++ {
			if calendar.Weekdays[d.Weekday()] && !removed[d] {
				days = append(days, d)
			}
		}
		for _, d := range calendar.Added {
			if !removed[d] {
				days = append(days, d)
			}
		}
		slices.Sort(days)
		days = slices.Compact(days)
		c[calendar] = days
	}
	return days
}

// common are the days of both calendars.
func (c dayCache) common(a, b *traintravel.Calendar) []traintravel.Date {
	first, second := c.of(a), c.of(b)
	var both []traintravel.Date
	for len(first) > 0 && len(second) > 0 {
		switch {
		case first[0] < second[0]:
			first = first[1:]
		case first[0] > second[0]:
			second = second[1:]
		default:
			both = append(both, first[0])
			first, second = first[1:], second[1:]
		}
	}
	return both
}

// without is a calendar less some days.
func without(c *traintravel.Calendar, days []traintravel.Date) *traintravel.Calendar {
	less := *c
	less.Removed = slices.Concat(c.Removed, days)
	return &less
}

// sameCalls says whether trains call at the same stations at the same times, and let
// the same passengers on and off. What the ends' other times say means nothing.
func sameCalls(a, b *traintravel.Train, at map[uuid.UUID]uuid.UUID) bool {
	if len(a.Calls) != len(b.Calls) || a.Zone != b.Zone {
		return false
	}
	last := len(a.Calls) - 1
	for i := range a.Calls {
		p, q := a.Calls[i], b.Calls[i]
		if at[p.Station] != at[q.Station] || i > 0 && (p.Arrive != q.Arrive || p.NoAlighting != q.NoAlighting) ||
			i < last && (p.Depart != q.Depart || p.NoBoarding != q.NoBoarding) {
			return false
		}
	}
	return true
}

// apart says whether the coaches of trains are known and none is of both.
func apart(a, b []traintravel.Coach) bool {
	return len(a) > 0 && len(b) > 0 && !slices.ContainsFunc(a, func(c traintravel.Coach) bool {
		return slices.ContainsFunc(b, func(o traintravel.Coach) bool { return o.Number == c.Number })
	})
}
