package gtfs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
)

// platforms are where the trains call, such as "a: 0 1".
func platforms(timetable *traintravel.Timetable) (all []string) {
	for _, train := range timetable.Trains {
		var at []string
		for _, c := range train.Calls {
			at = append(at, fmt.Sprint(c.Platform))
		}
		all = append(all, train.ID+": "+strings.Join(at, " "))
	}
	return all
}

// Calls keep their platform only where a change between platforms is forbidden.
func TestPlatformsOfCalls(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		rows string
		want []string
	}{
		{"H1,H2,,,,,2,600", []string{"a: 0 0", "b: 0 0", "c: 0 0"}},
		{"H,H,,,,,3,", []string{"a: 0 0", "b: 0 0", "c: 0 0"}},
		{"H1,H2,,,,,3,", []string{"a: 0 1", "b: 2 0", "c: 0 0"}},
		{"H1,L1,,,,,3,", []string{"a: 0 1", "b: 2 0", "c: 1 0"}},
		{"H1,L,,,,,3,", []string{"a: 0 1", "b: 2 0", "c: 1 0"}},
	} {
		timetable, _ := read(t, gtfs.Options{}, junction, transfers+test.rows+"\n")
		diff(t, test.rows, platforms(timetable), test.want)
	}
}

// A boarding area is part of its platform.
func TestPlatformsOfBoardingAreas(t *testing.T) {
	t.Parallel()
	feed := strings.NewReplacer("H1,Hannover Hbf,52.377,9.741,0,H", "H1,Hannover Hbf,52.377,9.741,0,H\nA1,,,,4,H1", "a,H1,2", "a,A1,2").Replace(junction)
	for _, row := range []string{"A1,H2,,,,,3,\n", "H1,H2,,,,,3,\n"} {
		timetable, _ := read(t, gtfs.Options{}, feed, transfers+row)
		diff(t, "platforms", platforms(timetable), []string{"a: 0 1", "b: 2 0", "c: 0 0"})
		diff(t, "rules", changes(t, timetable), []string{"H#1>H#2 *>* *>* impossible"})
	}
}

// What is forbidden between stops that have become one station is forbidden between
// these, with the platforms below them, and no others.
func TestPlatformsOfJoinedStops(t *testing.T) {
	t.Parallel()
	joined := strings.NewReplacer(
		"H1,Hannover Hbf,52.377,9.741,0,H", "I,Hannover Hauptbahnhof,52.377,9.742,1,\nI1,Hannover Hbf,52.377,9.742,0,I\nI2,Hannover Hbf,52.377,9.742,0,I\nH1,Hannover Hbf,52.377,9.741,0,H",
		"b,H2,1", "b,I1,1", "c,L1,1", "c,I2,1",
	).Replace(junction)
	for _, test := range []struct{ row, want string }{
		{"H,I,,,,,3,", "H#1>H#2 H#1>H#3 H#1>H#7 H#4>H#2 H#4>H#3 H#4>H#7 H#5>H#2 H#5>H#3 H#5>H#7 H#6>H#2 H#6>H#3 H#6>H#7"},
		{"H1,I1,,,,,3,", "H#1>H#2"},
		{"H,I,,,a,b,3,", "H>H"},
		{"B,I,,,,,3,", "B>H#2 B>H#3 B>H#4"},
	} {
		timetable, report := read(t, gtfs.Options{}, joined, transfers+test.row+"\n")
		var got []string
		for _, rule := range changes(t, timetable) {
			ends, _, _ := strings.Cut(rule, " ")
			got = append(got, ends)
		}
		if diff(t, test.row, strings.Join(got, " "), test.want); len(report.Joined) != 1 {
			t.Errorf("joined %v", report.Joined)
		}
	}
}

// The mistakes of transfers.txt are told once, though it is read twice.
func TestBarriersOfABadFile(t *testing.T) {
	t.Parallel()
	diff(t, "mistakes", refuse(t, junction, transfers+"H1,H2,,,,,3,,x\nH1,H2,,,,,7,\n"),
		"transfers.txt:2: the row has more fields than the header\ntransfers.txt:3: transfer_type \"7\" is not a number from 0 to 5")
}
