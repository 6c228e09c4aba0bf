package gtfs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
)

const frequencies = "-- frequencies.txt --\ntrip_id,start_time,end_time,headway_secs,exact_times\n"

// ids lists the IDs of the trains.
func ids(timetable *traintravel.Timetable) []string {
	var all []string
	for _, train := range timetable.Trains {
		all = append(all, train.ID)
	}
	return all
}

// notes lists the notes of a report.
func notes(report gtfs.Report) []string {
	var all []string
	for _, n := range report.Notes {
		all = append(all, n.String())
	}
	return all
}

func TestFrequencies(t *testing.T) {
	t.Parallel()
	const nominal = "frequencies.txt:2: exact_times is 0: the trains are sold as if they left at even intervals from start_time, which the railway does not promise"
	const overlap = "frequencies.txt:3: the row overlaps another one of its trip: the departures of both are sold, equal ones once"
	tests := []struct {
		name, rows string
		want       string // departures
		headway    int
		notes      []string
	}{
		{"the last leaves before the end", "t1,06:00:00,06:30:00,420,1\n", "06:00:00 06:07:00 06:14:00 06:21:00 06:28:00", 0, nil},
		{"none leaves at the end", "t1,06:00:00,06:30:00,600,1\n", "06:00:00 06:10:00 06:20:00", 0, nil},
		{"one alone", "t1,06:00:00,06:00:01,600,1\n", "06:00:00", 0, nil},
		{"one window after another", "t1,07:00:00,07:40:00,1200,1\nt1,06:00:00,07:00:00,1800,1\n", "06:00:00 06:30:00 07:00:00 07:20:00", 0, nil},
		{"after midnight", "t1,23:50:00,24:10:01,600,1\n", "23:50:00 24:00:00 24:10:00", 0, nil},
		{"before the written time", " t1 , 0:00:00,0:20:00,600,1\n", "00:00:00 00:10:00", 0, nil},
		{"nominal", "t1,06:00:00,06:20:00,600,0\n", "06:00:00 06:10:00", 2, []string{nominal}},
		{"nominal by default", "t1,06:00:00,06:20:00,600,\n", "06:00:00 06:10:00", 2, []string{nominal}},
		{"overlapping", "t1,06:00:00,06:30:00,600,1\nt1,06:20:00,06:35:00,300,1\n", "06:00:00 06:10:00 06:20:00 06:25:00 06:30:00", 0, []string{overlap}},
		{
			"overlapping, in part nominal", "t1,06:00:00,06:30:00,600,0\nt1,06:20:00,06:35:00,300,1\n",
			"06:00:00 06:10:00 06:20:00 06:25:00 06:30:00", 2, []string{nominal, overlap},
		},
		{"the same twice", "t1,06:00:00,06:20:00,600,1\nt1,06:00:00,06:20:00,600,1\n", "06:00:00 06:10:00", 0, []string{overlap}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			timetable, report := read(t, gtfs.Options{}, frequencies+test.rows)
			var departures []string
			for _, train := range timetable.Trains {
				at := train.Calls[0].Depart
				departures = append(departures, at.String())
				diff(t, "ID", train.ID, "t1@"+at.String())
				// Calls after the end of the window are lawful: 1:30 and 4:05 later.
				diff(t, "times", times(train), fmt.Sprintf("%v-%v %v-%v %v-%v", at, at, at+5400, at+5580, at+14700, at+14700))
			}
			diff(t, "departures", strings.Join(departures, " "), test.want)
			diff(t, "reported", []int{report.Trains, report.Calls, report.Repeated, report.Headway},
				[]int{len(departures), 3 * len(departures), len(departures), test.headway})
			diff(t, "notes", notes(report), test.notes)
			check(t, timetable, report)
			if err := timetable.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// What is written of a trip that is repeated is not when it runs, and others run
// as before, each with all that its row says.
func TestFrequenciesBesideOtherTrips(t *testing.T) {
	t.Parallel()
	timetable, report := read(t, gtfs.Options{}, `
-- trips.txt --
trip_id,route_id,service_id,trip_short_name,bikes_allowed,coaches
t1,ICE,daily,1,1,21:80
t2,ICE,daily,2,,
bus,BUS,daily,,,
-- routes.txt --
route_id,route_short_name,route_type
ICE,ICE,2
BUS,12,3
-- stop_times.txt --
trip_id,stop_id,stop_sequence,arrival_time,departure_time
t1,K,9,08:30:00,08:30:00
t1,B,1,07:50:00,08:00:00
t2,B,1,08:00:00,08:00:00
t2,K,2,09:30:00,09:33:00
`, frequencies+"t1,00:05:00,00:06:00,60,1\nbus,x,y,z,9\n")
	diff(t, "trains", ids(timetable), []string{"t2", "t1@00:05:00"})
	train := timetable.Trains[1]
	diff(t, "times", times(train), "00:00:00-00:05:00 00:35:00-00:35:00")
	diff(t, "the rest", []any{train.Number, train.Line, train.Bicycles, train.Coaches, train.Days},
		[]any{"ICE 1", "ICE", traintravel.Allowed, []traintravel.Coach{{Number: "21", Seats: 80}}, timetable.Trains[0].Days})
	diff(t, "trains, repeated", []int{report.Trains, report.Repeated}, []int{2, 1})
}

// Another import gives the trains the same IDs, whatever the order of the rows.
func TestFrequenciesAreStable(t *testing.T) {
	t.Parallel()
	rows := []string{"t1,06:00:00,07:00:00,600,1\n", "t1,06:30:00,08:00:00,420,0\n", "t1,12:00:00,13:00:00,600,1\n"}
	first, _ := read(t, gtfs.Options{}, frequencies+strings.Join(rows, ""))
	slices.Reverse(rows)
	second, _ := read(t, gtfs.Options{}, frequencies+strings.Join(rows, ""))
	if d := cmp.Diff(first, second); d != "" {
		t.Error(d)
	}
	seen := map[string]bool{}
	for _, id := range ids(first) {
		if seen[id] {
			t.Errorf("%s occurs twice", id)
		}
		seen[id] = true
	}
}

func TestFrequencyMistakes(t *testing.T) {
	t.Parallel()
	tests := []struct{ replaced, want string }{
		{frequencies + "x,06:00:00,07:00:00,600,1\n", `frequencies.txt:2: trip_id "x" is not in trips.txt`},
		{frequencies + "t1,06:00:00,06:00:00,600,1\n", "frequencies.txt:2: end_time 06:00:00 is not after start_time 06:00:00"},
		{frequencies + "t1,06:00:00,05:00:00,600,1\n", "frequencies.txt:2: end_time 05:00:00 is not after start_time 06:00:00"},
		{frequencies + "t1,06:00:00,07:00:00,0,1\n", `frequencies.txt:2: headway_secs "0" is not a number from 1`},
		{frequencies + "t1,06:00:00,07:00:00,-60,1\n", `frequencies.txt:2: headway_secs "-60" is not a number from 1`},
		{frequencies + "t1,06:00:00,07:00:00,,1\n", `frequencies.txt:2: headway_secs "" is not a number from 1`},
		{frequencies + "t1,6,07:00:00,60,1\n", `frequencies.txt:2: start_time "6" is not a time of the form 09:45:00`},
		{frequencies + "t1,06:00:00,,60,1\n", "frequencies.txt:2: start_time or end_time is missing"},
		{frequencies + "t1,06:00:00,07:00:00,60,2\n", `frequencies.txt:2: exact_times "2" is not a number from 0 to 1`},
		{"-- frequencies.txt --\ntrip_id\nt1\n", "frequencies.txt:1: column start_time is missing\nfrequencies.txt:1: column end_time is missing\nfrequencies.txt:1: column headway_secs is missing"},
		{
			frequencies + "t1,00:00:00,24:00:00,1,1\nt1,24:00:00,48:00:00,1,1\n",
			"frequencies.txt:3: the rows up to here make 172800 trains, more than 100000",
		},
		{
			frequencies + "t1,331:50:00,332:00:00,60,1\n",
			"frequencies.txt:2: the train that leaves at 331:56:00 arrives after 336:00:00, the longest time that a train may run",
		},
		{
			frequencies + "t1,06:00:00,07:00:00,600,1\n-- trips.txt --\ntrip_id,route_id,service_id\nt1,ICE,daily\nt1@06:20:00,ICE,daily\n",
			`frequencies.txt:2: the train that leaves at 06:20:00 has the trip_id of another: "t1@06:20:00"`,
		},
		{
			strings.ReplaceAll(frequencies+"t1,06:00:00,07:00:00,600,1\n-- trips.txt --\ntrip_id,route_id,service_id\nt1,ICE,daily\n"+ride("08:00:00", "09:00:00"), "t1,", strings.Repeat("t", 195)+","),
			"frequencies.txt:2: trip_id and the departure have more than 200 characters",
		},
		// A mistake in the calls is told once.
		{
			frequencies + "t1,330:00:00,331:00:00,600,1\n" + ride("08:00:00", "07:00:00") + "t1,H,3,20:00:00,20:00:00\n",
			"stop_times.txt:3: arrival_time 07:00:00 is before the departure from the call before, 08:00:00",
		},
	}
	for _, test := range tests {
		diff(t, fmt.Sprintf("%.200q", test.replaced), refuse(t, test.replaced), test.want)
	}
	long := "-- stop_times.txt --\ntrip_id,stop_id,stop_sequence,arrival_time,departure_time\n"
	for i := range 250 {
		long += fmt.Sprintf("t1,%s,%d,08:00:00,08:00:00\n", []string{"B", "K"}[i%2], i)
	}
	diff(t, "calls", refuse(t, frequencies+"t1,06:00:00,06:30:00,1,1\nt1,08:00:00,12:00:00,1,1\n", long),
		"frequencies.txt:3: the trains up to here have more than 4000000 calls")
}

func TestFrequenciesOfATripWithoutCalls(t *testing.T) {
	t.Parallel()
	leavesNone(t, "trips.txt:2: the trip has fewer than two calls", frequencies+"t1,06:00:00,07:00:00,600,1\n",
		"-- stop_times.txt --\ntrip_id,stop_id,stop_sequence,arrival_time,departure_time\n")
}
