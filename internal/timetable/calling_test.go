package timetable

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/rail"
)

// The calling points of a ride are those from end to end, without stops where nobody gets
// on or off, by the clocks of the stations, across midnight too.
func TestCallingPoints(t *testing.T) {
	t.Parallel()
	sn := compiled(t, railtest.NetworkOf(railtest.TrainOf("1", "Europe/Berlin", railtest.AllYear(),
		"A 21:00", "B 22:00-22:05", "C 23:00-23:10 no-boarding no-alighting", "D 24:30-24:40 no-boarding", "E 26:00")))
	var got []string
	for _, p := range sn.CallingPoints(Ride{&sn.Trains[0], rail.NewDate(2021, 6, 14), 0, 3}) {
		line := p.Name
		if !p.Arrival.IsZero() {
			line += " arrives " + p.Arrival.Format("02T15:04 -07")
		}
		if !p.Departure.IsZero() {
			line += " departs " + p.Departure.Format("02T15:04 -07")
		}
		got = append(got, line)
	}
	want := []string{"A departs 14T21:00 +02", "B arrives 14T22:00 +02 departs 14T22:05 +02", "D arrives 15T00:30 +02"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
