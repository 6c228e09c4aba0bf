package trains

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

func TestCompileCalendar(t *testing.T) {
	t.Parallel()
	monday := rail.NewDate(2021, 6, 14)
	weekdays := [7]bool{false, true, true, true, true, true, false}
	for _, c := range []struct {
		name        string
		calendar    *schedule.Calendar
		first, last rail.Date
	}{
		{"no calendar", nil, 0, -1},
		{"the zero calendar", &schedule.Calendar{}, 0, -1},
		{"no weekday, whatever the period", &schedule.Calendar{From: -1 << 31, To: 1<<31 - 1}, 0, -1},
		{"one day", schedule.Daily(monday, monday), monday, monday},
		{"a period that begins and ends on a weekend", &schedule.Calendar{Weekdays: weekdays, From: monday - 2, To: monday + 6}, monday, monday + 4},
		{"a period without its weekday", &schedule.Calendar{Weekdays: weekdays, From: monday - 2, To: monday - 1}, 0, -1},
		{"only single dates", railtest.On(monday+9, monday, monday+3), monday, monday + 9},
		{"all removed", &schedule.Calendar{Weekdays: weekdays, From: monday, To: monday, Removed: []rail.Date{monday}}, 0, -1},
		{"removed at both ends", &schedule.Calendar{Weekdays: weekdays, From: monday, To: monday + 4, Removed: []rail.Date{monday, monday + 4, monday}}, monday + 1, monday + 3},
		{"added and removed", &schedule.Calendar{Added: []rail.Date{monday, monday + 1}, Removed: []rail.Date{monday}}, monday + 1, monday + 1},
		{"added before and after", &schedule.Calendar{Weekdays: weekdays, From: monday, To: monday, Added: []rail.Date{monday - 9, monday + 9}}, monday - 9, monday + 9},
		{"before 1970", schedule.Daily(-9, -3), -9, -3},
	} {
		d := CompileCalendar(c.calendar)
		if d.First != c.first || d.Last != c.last {
			t.Errorf("%s: from %d to %d, want %d to %d", c.name, d.First, d.Last, c.first, c.last)
		}
	}
}

func TestWeekday(t *testing.T) {
	t.Parallel()
	for d := rail.Date(-800); d < 800; d++ {
		if d.Weekday() != d.Utc().Weekday() {
			t.Fatalf("%s is no %s", d, d.Weekday())
		}
	}
}

// looseCalendar is any calendar around day zero, whose period may be empty.
func looseCalendar(t *rapid.T) *schedule.Calendar {
	day := rapid.Map(rapid.Int32Range(-20, 20), func(n int32) rail.Date { return rail.Date(n) })
	c := &schedule.Calendar{
		From: day.Draw(t, "from"), To: day.Draw(t, "to"),
		Added: rapid.SliceOfN(day, 0, 6).Draw(t, "added"), Removed: rapid.SliceOfN(day, 0, 6).Draw(t, "removed"),
	}
	for i := range c.Weekdays {
		c.Weekdays[i] = rapid.Bool().Draw(t, "weekday")
	}
	return c
}

func TestCompiledCalendarRunsOnTheSameDays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := looseCalendar(t), looseCalendar(t)
		x, y := CompileCalendar(a), CompileCalendar(b)
		first, last, meet := rail.Date(0), rail.Date(-1), false
		for d := rail.Date(-40); d <= 40; d++ {
			if x.Runs(d) != a.Runs(d) {
				t.Fatalf("%s: compiled %t, calendar %t", d, x.Runs(d), a.Runs(d))
			}
			if a.Runs(d) {
				if last < first {
					first = d
				}
				last = d
			}
			meet = meet || a.Runs(d) && b.Runs(d)
		}
		if x.First != first || x.Last != last {
			t.Fatalf("from %d to %d, want %d to %d", x.First, x.Last, first, last)
		}
		if x.Meets(y) != meet || y.Meets(x) != meet {
			t.Fatalf("meet: %t and %t, want %t", x.Meets(y), y.Meets(x), meet)
		}
	})
}
