package rail

import (
	"testing"
	"time"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func date(t *testing.T, s string) Date {
	t.Helper()
	d, err := ParseDate(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDateRoundTrip(t *testing.T) {
	t.Parallel()
	if d := NewDate(1970, 1, 1); d != 0 {
		t.Errorf("1970-01-01 is %d", d)
	}
	weekday := time.Thursday
	for d := Date(0); d < 30000; d++ {
		y, m, day := d.Utc().Date()
		if again := date(t, d.String()); again != d || NewDate(y, m, day) != d || d.Weekday() != weekday {
			t.Fatalf("day %d is %s, read as %d, a %s", d, d, again, d.Weekday())
		}
		weekday = (weekday + 1) % 7
	}
	for _, s := range []string{"0001-01-01", "1582-10-15", "1969-12-31", "2024-02-29", "9999-12-31"} {
		if got := date(t, s).String(); got != s {
			t.Errorf("%s is written as %s", s, got)
		}
	}
	if d := NewDate(2021, 4, 31); d.String() != "2021-05-01" {
		t.Errorf("31 April is %s", d)
	}
}

func TestDateParseRefuses(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "2021-02-29", "2021-13-01", "2021-1-1", "20210101", "2021-01-01T00:00:00Z", " 2021-01-01", "-001-01-01", "2021-00-01", "2021-01-00"} {
		if d, err := ParseDate(s); err == nil {
			t.Errorf("%q is read as %s", s, d)
		}
	}
}

// The day is the one that clocks show there, on both sides of UTC.
func TestDateOfIsLocal(t *testing.T) {
	t.Parallel()
	instant := time.Date(2021, 6, 30, 23, 30, 0, 0, time.UTC)
	for name, want := range map[string]string{
		"Europe/Lisbon": "2021-07-01", "Europe/Berlin": "2021-07-01", "America/New_York": "2021-06-30", "UTC": "2021-06-30",
	} {
		if got := DateOf(instant.In(zone(t, name))).String(); got != want {
			t.Errorf("in %s it is %s, want %s", name, got, want)
		}
	}
}

func TestDateStart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, day, want string }{
		{"UTC", "2021-03-28", "2021-03-28T00:00:00Z"},
		{"Europe/Berlin", "2021-03-28", "2021-03-28T00:00:00+01:00"},
		{"Europe/Berlin", "2021-03-29", "2021-03-29T00:00:00+02:00"},
		{"Europe/Berlin", "2021-10-31", "2021-10-31T00:00:00+02:00"},
		{"Europe/Berlin", "2021-11-01", "2021-11-01T00:00:00+01:00"},
		{"Europe/Berlin", "2099-07-01", "2099-07-01T00:00:00+02:00"},
		// Clocks skip midnight.
		{"America/Sao_Paulo", "2018-11-03", "2018-11-03T00:00:00-03:00"},
		{"America/Sao_Paulo", "2018-11-04", "2018-11-04T01:00:00-02:00"},
		{"America/Sao_Paulo", "2018-11-05", "2018-11-05T00:00:00-02:00"},
		{"Africa/Cairo", "2024-04-26", "2024-04-26T01:00:00+03:00"},
		{"Asia/Beirut", "2022-03-27", "2022-03-27T01:00:00+03:00"},
		// Clocks go back at midnight to the day before; it strikes twelve once more.
		{"America/Sao_Paulo", "2018-02-18", "2018-02-18T00:00:00-03:00"},
		{"Africa/Cairo", "2023-10-27", "2023-10-27T00:00:00+02:00"},
		// Clocks go back from one to midnight: the first of two.
		{"America/Havana", "2021-11-07", "2021-11-07T00:00:00-04:00"},
		{"Atlantic/Azores", "2021-10-31", "2021-10-31T00:00:00Z"},
		// Samoa skipped a day.
		{"Pacific/Apia", "2011-12-29", "2011-12-29T00:00:00-10:00"},
		{"Pacific/Apia", "2011-12-30", "2011-12-31T00:00:00+14:00"},
		{"Pacific/Apia", "2011-12-31", "2011-12-31T00:00:00+14:00"},
	} {
		got := date(t, c.day).Start(zone(t, c.zone))
		if got.Format(time.RFC3339) != c.want {
			t.Errorf("%s starts in %s at %s, want %s", c.day, c.zone, got.Format(time.RFC3339), c.want)
		}
	}
}

// The start belongs to its day, the instant before it to another, and days
// follow each other.
func TestDateStartIsTheFirstInstant(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"UTC", "Europe/Lisbon", "Europe/Berlin", "Europe/Istanbul", "Europe/Moscow", "Atlantic/Azores",
		"America/Sao_Paulo", "America/Scoresbysund", "Africa/Cairo", "Asia/Beirut", "Australia/Lord_Howe", "Pacific/Chatham",
	} {
		loc := zone(t, name)
		for d := NewDate(2015, 1, 1); d < NewDate(2027, 1, 1); d++ {
			start := d.Start(loc)
			if DateOf(start) != d || DateOf(start.Add(-1)) >= d {
				t.Fatalf("%s starts in %s at %s", d, name, start)
			}
			if h := (d + 1).Start(loc).Sub(start).Hours(); h < 22 || h > 26 {
				t.Fatalf("%s has %v hours in %s", d, h, name)
			}
		}
	}
}
