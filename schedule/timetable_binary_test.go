package schedule_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
	"github.com/traintravel/traintravel/internal/demo"
)

// A timetable that goes to another process arrives as it was.
func TestTimetableBinary(t *testing.T) {
	t.Parallel()
	want, _, err := gtfs.Read(t.Context(), demo.Feed(), gtfs.Options{Feed: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := want.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var got traintravel.Timetable
	if err := got.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, &got, cmp.Transformer("calendar", func(c traintravel.Calendar) any {
		return struct {
			Days           [7]bool
			From, To       traintravel.Date
			Added, Removed []traintravel.Date
		}{c.Weekdays, c.From, c.To, append([]traintravel.Date{}, c.Added...), append([]traintravel.Date{}, c.Removed...)}
	})); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if err := got.UnmarshalBinary(b[:len(b)-1]); err == nil || len(got.Trains) != len(want.Trains) {
		t.Errorf("a timetable cut short: %v, and %d trains are left of the one before", err, len(got.Trains))
	}
	want.Trains[0].Calls[0].Station[0]++
	if _, err := want.MarshalBinary(); err == nil {
		t.Error("a train that calls nowhere was written")
	}
}
