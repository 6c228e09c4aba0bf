package gtfs

import (
	"math"
	"testing"
)

// Of more platforms than there are numbers, the last ones share one: what is forbidden of
// one of them is of all.
func TestTooManyPlatforms(t *testing.T) {
	t.Parallel()
	f := &feed{stops: make([]stop, math.MaxUint16+10)} // the first is the station
	for i := range f.stops[1:] {
		if got, want := f.platform(int32(i+1)), uint16(min(i+1, math.MaxUint16)); got != want {
			t.Fatalf("platform %d has the number %d, want %d", i+1, got, want)
		}
	}
	if f.platform(0) != 0 || f.platform(7) != 7 {
		t.Error("a number has changed")
	}
}
