package rail

import (
	"testing"
	"time"
)

// The time package errs about the spans of a zone on the last day of a leap
// year, beyond the transitions that the zone's file lists. The search for the
// start of the day comes to an end all the same, and to the right one.
func TestDateStartInFarLeapYears(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"Europe/Berlin", "Europe/Lisbon", "Europe/London", "Europe/Athens", "Africa/Cairo", "America/New_York", "America/Santiago", "Pacific/Auckland",
	} {
		loc := zone(t, name)
		for year := 2000; year < 2200; year++ {
			for d := NewDate(year, 12, 29); d < NewDate(year+1, 1, 3); d++ {
				want := time.Date(year, 12, 29+int(d-NewDate(year, 12, 29)), 0, 0, 0, 0, loc)
				if got := d.Start(loc); !got.Equal(want) {
					t.Fatalf("%s starts in %s at %s, want %s", d, name, got, want)
				}
			}
		}
	}
}
