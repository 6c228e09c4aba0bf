package rail

import (
	"testing"
	"time"
)

// Times count from noon minus twelve hours, so that trains keep their time on
// the days clocks change, and nothing jumps back after midnight.
func TestServiceTimeInstant(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		zone, day string
		time      ServiceTime
		want      string
	}{
		// Spring: the clock goes from 02:00 to 03:00.
		{"Europe/Berlin", "2021-03-28", Clock(0, 0), "2021-03-27T23:00:00+01:00"},
		{"Europe/Berlin", "2021-03-28", Clock(0, 30), "2021-03-27T23:30:00+01:00"},
		{"Europe/Berlin", "2021-03-28", Clock(2, 59), "2021-03-28T01:59:00+01:00"},
		{"Europe/Berlin", "2021-03-28", Clock(3, 0), "2021-03-28T03:00:00+02:00"},
		{"Europe/Berlin", "2021-03-28", Clock(6, 30), "2021-03-28T06:30:00+02:00"},
		{"Europe/Berlin", "2021-03-27", Clock(26, 30), "2021-03-28T03:30:00+02:00"},
		{"Europe/Berlin", "2021-03-27", Clock(30, 30), "2021-03-28T07:30:00+02:00"},
		// Autumn: the clock goes from 03:00 to 02:00.
		{"Europe/Berlin", "2021-10-31", Clock(0, 0), "2021-10-31T01:00:00+02:00"},
		{"Europe/Berlin", "2021-10-31", Clock(1, 30), "2021-10-31T02:30:00+02:00"},
		{"Europe/Berlin", "2021-10-31", Clock(2, 30), "2021-10-31T02:30:00+01:00"},
		{"Europe/Berlin", "2021-10-31", Clock(6, 30), "2021-10-31T06:30:00+01:00"},
		{"Europe/Berlin", "2021-10-30", Clock(26, 30), "2021-10-31T02:30:00+02:00"},
		{"Europe/Berlin", "2021-10-30", Clock(27, 0), "2021-10-31T02:00:00+01:00"},
		// Lisbon changes clocks an hour of the clock earlier; Istanbul no more.
		{"Europe/Lisbon", "2021-03-28", Clock(6, 30), "2021-03-28T06:30:00+01:00"},
		{"Europe/Lisbon", "2021-06-30", Clock(24, 30), "2021-07-01T00:30:00+01:00"},
		{"Europe/Istanbul", "2021-03-28", Clock(0, 30), "2021-03-28T00:30:00+03:00"},
		// Yesterday's 24:30, and Monday's 27:35 after Tuesday's 02:35.
		{"Europe/Berlin", "2021-06-14", Clock(24, 30), "2021-06-15T00:30:00+02:00"},
		{"Europe/Berlin", "2021-06-14", Clock(27, 35), "2021-06-15T03:35:00+02:00"},
		// The third day, and beyond.
		{"Europe/Berlin", "2021-06-14", Clock(58, 53), "2021-06-16T10:53:00+02:00"},
		{"Europe/Berlin", "2021-06-14", Clock(149, 9), "2021-06-20T05:09:00+02:00"},
		{"Europe/Berlin", "2021-06-14", MaxServiceTime, "2021-06-28T00:00:00+02:00"},
	} {
		got := c.time.Instant(date(t, c.day), zone(t, c.zone)).Format(time.RFC3339)
		if got != c.want {
			t.Errorf("%s of %s in %s is %s, want %s", c.time, c.day, c.zone, got, c.want)
		}
	}
}

func TestServiceTimeString(t *testing.T) {
	t.Parallel()
	for st, want := range map[ServiceTime]string{
		0: "00:00:00", Clock(8, 30): "08:30:00", Clock(23, 59) + 59: "23:59:59", Clock(24, 0): "24:00:00",
		Clock(58, 53): "58:53:00", Clock(149, 9): "149:09:00", MaxServiceTime: "336:00:00",
	} {
		if st.String() != want {
			t.Errorf("%d s is %s, want %s", int32(st), st, want)
		}
	}
}
