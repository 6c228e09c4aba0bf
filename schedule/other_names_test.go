package schedule_test

import (
	"slices"
	"testing"

	"github.com/traintravel/traintravel"
)

func TestCheckOtherNames(t *testing.T) {
	t.Parallel()
	tt := sound()
	tt.Stations[0].OtherNames = slices.Repeat([]string{"Cologne"}, traintravel.MaxOtherNames)
	if got := complaints(t, tt); len(got) != 0 {
		t.Errorf("as many as there may be: %q", got)
	}
	tt.Stations[0].OtherNames[7] = ""
	tt.Stations[1].OtherNames = slices.Repeat([]string{"Cologne"}, traintravel.MaxOtherNames+1)
	want := []string{"stations[0].otherNames[7]: is empty", "stations[1].otherNames: has 201 entries, more than 200"}
	if got := complaints(t, tt); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
