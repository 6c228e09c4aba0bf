package traintravel

import (
	"testing"

	"pgregory.net/rapid"
)

func TestCompileCalendar(t *testing.T) {
	t.Parallel()
	monday := NewDate(2021, 6, 14)
	weekdays := [7]bool{false, true, true, true, true, true, false}
	for _, c := range []struct {
		name        string
		calendar    *Calendar
		first, last Date
	}{
		{"no calendar", nil, 0, -1},
		{"the zero calendar", &Calendar{}, 0, -1},
		{"no weekday, whatever the period", &Calendar{From: -1 << 31, To: 1<<31 - 1}, 0, -1},
		{"one day", Daily(monday, monday), monday, monday},
		{"a period that begins and ends on a weekend", &Calendar{Weekdays: weekdays, From: monday - 2, To: monday + 6}, monday, monday + 4},
		{"a period without its weekday", &Calendar{Weekdays: weekdays, From: monday - 2, To: monday - 1}, 0, -1},
		{"only single dates", on(monday+9, monday, monday+3), monday, monday + 9},
		{"all removed", &Calendar{Weekdays: weekdays, From: monday, To: monday, Removed: []Date{monday}}, 0, -1},
		{"removed at both ends", &Calendar{Weekdays: weekdays, From: monday, To: monday + 4, Removed: []Date{monday, monday + 4, monday}}, monday + 1, monday + 3},
		{"added and removed", &Calendar{Added: []Date{monday, monday + 1}, Removed: []Date{monday}}, monday + 1, monday + 1},
		{"added before and after", &Calendar{Weekdays: weekdays, From: monday, To: monday, Added: []Date{monday - 9, monday + 9}}, monday - 9, monday + 9},
		{"before 1970", Daily(-9, -3), -9, -3},
	} {
		d := compileCalendar(c.calendar)
		if d.first != c.first || d.last != c.last {
			t.Errorf("%s: from %d to %d, want %d to %d", c.name, d.first, d.last, c.first, c.last)
		}
	}
}

func TestWeekday(t *testing.T) {
	t.Parallel()
	for d := Date(-800); d < 800; d++ {
		if d.Weekday() != d.utc().Weekday() {
			t.Fatalf("%s is no %s", d, d.Weekday())
		}
	}
}

// looseCalendar is any calendar around day zero, whose period may be empty.
func looseCalendar(t *rapid.T) *Calendar {
	day := rapid.Map(rapid.Int32Range(-20, 20), func(n int32) Date { return Date(n) })
	c := &Calendar{
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
		x, y := compileCalendar(a), compileCalendar(b)
		first, last, meet := Date(0), Date(-1), false
		for d := Date(-40); d <= 40; d++ {
			if x.runs(d) != a.Runs(d) {
				t.Fatalf("%s: compiled %t, calendar %t", d, x.runs(d), a.Runs(d))
			}
			if a.Runs(d) {
				if last < first {
					first = d
				}
				last = d
			}
			meet = meet || a.Runs(d) && b.Runs(d)
		}
		if x.first != first || x.last != last {
			t.Fatalf("from %d to %d, want %d to %d", x.first, x.last, first, last)
		}
		if x.meets(y) != meet || y.meets(x) != meet {
			t.Fatalf("meet: %t and %t, want %t", x.meets(y), y.meets(x), meet)
		}
	})
}
