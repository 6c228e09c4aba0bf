package gtfs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
)

func TestCallsInAnyOrder(t *testing.T) {
	t.Parallel()
	timetable, report := read(t, gtfs.Options{}, `
-- trips.txt --
trip_id,route_id,service_id
t1,ICE,daily
t2,ICE,daily
-- stop_times.txt --
stop_sequence,trip_id,departure_time,arrival_time,stop_id
30,t1,12:05:00,12:05:00,K
7,t2,10:00:00,10:00:00,H
10,t1,08:00:00,08:00:00,B
9,t2,11:00:00,11:00:00,B
20,t1,09:33:00,09:30:00,H
`)
	diff(t, "t1", times(timetable.Trains[0]), "08:00:00-08:00:00 09:30:00-09:33:00 12:05:00-12:05:00")
	diff(t, "t2", times(timetable.Trains[1]), "10:00:00-10:00:00 11:00:00-11:00:00")
	diff(t, "first station", timetable.Trains[0].Calls[0].Station, gtfs.StationID("", "B"))
	diff(t, "calls", report.Calls, 5)
}

func TestBlankTimes(t *testing.T) {
	t.Parallel()
	// Berlin - Hannover are 246.4 km as the crow flies, Hannover - Köln 249.5.
	tests := []struct{ name, columns, rows, want string }{
		{
			"one of two", "",
			"t1,B,1,,08:00:00\nt1,H,2,09:30:00,\nt1,K,3,12:00:00,\n",
			"08:00:00-08:00:00 09:30:00-09:30:00 12:00:00-12:00:00",
		}, {
			"as the crow flies", "",
			"t1,B,1,08:00:00,08:00:00\nt1,H,2,,\nt1,K,3,12:00:00,12:00:00\n",
			"08:00:00-08:00:00 09:59:15-09:59:15 12:00:00-12:00:00",
		}, {
			"by distance", ",shape_dist_traveled",
			"t1,B,1,08:00:00,08:00:00,10\nt1,H,2,,,110\nt1,K,3,12:00:00,12:00:00,410\n",
			"08:00:00-08:00:00 09:00:00-09:00:00 12:00:00-12:00:00",
		}, {
			"a distance lacks", ",shape_dist_traveled",
			"t1,B,1,08:00:00,08:00:00,10\nt1,H,2,,\nt1,K,3,12:00:00,12:00:00,410\n",
			"08:00:00-08:00:00 09:59:15-09:59:15 12:00:00-12:00:00",
		}, {
			"evenly at one place", "",
			"t1,B,1,08:00:00,08:00:00\nt1,B,2,,\nt1,B,3,,\nt1,B,4,08:30:00,08:30:00\n",
			"08:00:00-08:00:00 08:10:00-08:10:00 08:20:00-08:20:00 08:30:00-08:30:00",
		}, {
			"two gaps", "",
			"t1,B,1,08:00:00,08:00:00\nt1,B,2,,\nt1,B,3,08:10:00,08:20:00\nt1,B,4,,\nt1,B,5,08:30:00,08:30:00\n",
			"08:00:00-08:00:00 08:05:00-08:05:00 08:10:00-08:20:00 08:25:00-08:25:00 08:30:00-08:30:00",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			timetable, _ := read(t, gtfs.Options{},
				"-- stop_times.txt --\ntrip_id,stop_id,stop_sequence,arrival_time,departure_time"+test.columns+"\n"+test.rows)
			diff(t, "times", times(timetable.Trains[0]), test.want)
		})
	}
}

func TestPickupAndDropOff(t *testing.T) {
	t.Parallel()
	timetable, _ := read(t, gtfs.Options{}, `
-- stop_times.txt --
trip_id,stop_id,stop_sequence,arrival_time,departure_time,pickup_type,drop_off_type
t1,B,1,08:00:00,08:00:00,0,1
t1,H,2,09:30:00,09:33:00,2,3
t1,K,3,12:05:00,12:05:00,1,
`)
	var got []string
	for _, c := range timetable.Trains[0].Calls {
		got = append(got, fmt.Sprint(c.NoBoarding, " ", c.NoAlighting))
	}
	diff(t, "bars", got, []string{"false true", "false false", "true false"})
}

func TestNumber(t *testing.T) {
	t.Parallel()
	tests := []struct{ route, trip, headsign, want string }{
		{"ICE", "575", "Berlin", "ICE 575"},
		{"ICE", "ICE 575", "", "ICE 575"},
		{"ICE 575", "575", "", "ICE 575"},
		{"ICE 575", "", "Berlin", "ICE 575"},
		{"ICE", "ICE575", "", "ICE575"},
		{"RE 1", "RE 4711", "", "RE 4711"},
		{"", "1944", "", "1944"},
		{"", "", "1944", "1944"},
		{"IC", "", "1944", "IC 1944"},
		{"IC", "", "1944 Paris", "IC"},
		{"", "", "Paris", ""},
		{"", "", "", ""},
	}
	for _, test := range tests {
		timetable, _ := read(t, gtfs.Options{},
			"-- routes.txt --\nroute_id,route_short_name,route_type\nICE,"+test.route+",2\n",
			"-- trips.txt --\ntrip_id,route_id,service_id,trip_short_name,trip_headsign\nt1,ICE,daily,"+test.trip+","+test.headsign+"\n")
		if got := timetable.Trains[0].Number; got != test.want {
			t.Errorf("route %q, trip %q, headsign %q: number %q, want %q", test.route, test.trip, test.headsign, got, test.want)
		}
	}
}

func TestManyCalls(t *testing.T) {
	t.Parallel()
	calls := func(n int) string {
		var b strings.Builder
		b.WriteString("-- stop_times.txt --\ntrip_id,stop_id,stop_sequence,arrival_time,departure_time\n")
		for i := range n {
			at := traintravel.Clock(0, i)
			fmt.Fprintf(&b, "t1,%c,%d,%s,%s\n", "BH"[i%2], i, at, at)
		}
		return b.String()
	}
	_, report := read(t, gtfs.Options{}, calls(256))
	diff(t, "calls", report.Calls, 256)
	diff(t, "mistakes", refuse(t, calls(257)), `stop_times.txt:258: trip "t1" has more than 256 calls`)
}

func TestShortTripsAreLeftOut(t *testing.T) {
	t.Parallel()
	timetable, report := read(t, gtfs.Options{}, `
-- trips.txt --
trip_id,route_id,service_id
none,ICE,daily
one,ICE,daily
t1,ICE,daily
-- stop_times.txt --
trip_id,stop_id,stop_sequence,arrival_time,departure_time
one,H,1,08:00:00,08:00:00
t1,B,1,08:00:00,08:00:00
t1,K,3,12:05:00,12:05:00
`)
	diff(t, "trains", len(timetable.Trains), 1)
	diff(t, "stations", len(timetable.Stations), 2)
	diff(t, "notes", report.Notes, []gtfs.Note{
		{File: "trips.txt", Line: 2, Reason: "the trip has fewer than two calls", Count: 2, Wrong: true},
		{File: "stops.txt", Line: 3, Reason: "no train that is read calls at the station", Count: 1},
	})
}
