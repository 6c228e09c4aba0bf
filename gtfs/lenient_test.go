package gtfs_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
)

// several is a feed of trips of which each has something that only it has: a route, a
// service or a stop.
const several = `
-- routes.txt --
route_id,agency_id,route_type,route_short_name
ICE,db,2,ICE
own,db,2,IC
bus,db,3,1
-- calendar.txt --
service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date
daily,1,1,1,1,1,1,1,20260101,20261231
own,1,1,1,1,1,1,1,20260101,20261231
-- stops.txt --
stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station
B,Berlin Hbf,52.525,13.369,,
H,Hannover Hbf,52.377,9.741,,
K,Köln Hbf,50.943,6.959,,
own,Own,50.1,7.1,1,
own1,Own,50.1,7.1,0,own
`

const (
	severalTrips = "-- trips.txt --\ntrip_id,route_id,service_id,trip_short_name,coaches,bikes_allowed,block_id\n"
	severalTimes = "-- stop_times.txt --\ntrip_id,stop_id,stop_sequence,arrival_time,departure_time,pickup_type\n"
)

// rows are the trips of several, with what replaces some of them.
func rows(replaced map[string]string) string {
	trips := []string{"a,ICE,daily,1,,,", "route,own,daily,2,,,", "service,ICE,own,3,,,", "stop,ICE,daily,4,,,", "z,ICE,daily,5,,,", "bus,bus,daily,6,,,"}
	times := map[string][]string{}
	for _, id := range []string{"a", "route", "service", "stop", "z", "bus"} {
		middle := "H"
		if id == "stop" {
			middle = "own1"
		}
		times[id] = []string{id + ",B,1,08:00:00,08:00:00", id + "," + middle + ",2,09:30:00,09:33:00", id + ",K,3,12:00:00,12:00:00"}
	}
	text := severalTrips
	for _, row := range trips {
		if other, ok := replaced[row]; ok {
			row = other
		}
		if row != "" {
			text += row + "\n"
		}
	}
	text += severalTimes
	for _, id := range []string{"a", "route", "service", "stop", "z", "bus"} {
		for _, row := range times[id] {
			if other, ok := replaced[row]; ok {
				row = other
			}
			if row != "" {
				text += row + "\n"
			}
		}
	}
	return text
}

func replace(text, old, by string) string {
	if !strings.Contains(text, old) {
		panic(old)
	}
	return strings.Replace(text, old, by, 1)
}

// A mistake leaves out the trips that it is about, and no others; without Lenient the
// feed is refused, and the error says how many these are.
func TestLenient(t *testing.T) {
	t.Parallel()
	row := func(old, by string) string { return several + rows(map[string]string{old: by}) }
	plain := several + rows(nil)
	for name, c := range map[string]struct {
		feed string
		left string // IDs of the trips left out, and their mistakes
	}{
		"nothing":                         {plain, ""},
		"a time":                          {row("a,H,2,09:30:00,09:33:00", "a,H,2,9.30,09:33:00"), `a stop_times.txt:3: arrival_time "9.30" is not a time of the form 09:45:00`},
		"a stop that is nowhere":          {row("a,H,2,09:30:00,09:33:00", "a,X,2,09:30:00,09:33:00"), `a stop_times.txt:3: stop_id "X" is not in stops.txt`},
		"times that fall":                 {row("a,H,2,09:30:00,09:33:00", "a,H,2,07:30:00,09:33:00"), `a stop_times.txt:3: arrival_time 07:30:00 is before the departure from the call before, 08:00:00`},
		"a sequence twice":                {row("a,H,2,09:30:00,09:33:00", "a,H,1,09:30:00,09:33:00"), `a stop_times.txt:3: stop_sequence 1 occurs twice in trip "a"`},
		"more fields than the header":     {row("a,H,2,09:30:00,09:33:00", "a,H,2,09:30:00,09:33:00,0,1"), `a stop_times.txt:3: the row has more fields than the header`},
		"a pickup_type":                   {row("z,K,3,12:00:00,12:00:00", "z,K,3,12:00:00,12:00:00,9"), `z stop_times.txt:16: pickup_type "9" is not a number from 0 to 3`},
		"a row of a bus":                  {row("bus,H,2,09:30:00,09:33:00", "bus,H,2,09:30:00,09:33:00,0,1"), "-"},
		"two mistakes of one trip":        {row("a,H,2,09:30:00,09:33:00", "a,H,2,9.30,9.33"), `a stop_times.txt:3: arrival_time "9.30" is not a time of the form 09:45:00`},
		"bikes":                           {row("a,ICE,daily,1,,,", "a,ICE,daily,1,,7,"), `a trips.txt:2: bikes_allowed "7" is not a number from 0 to 2`},
		"a trip twice":                    {row("z,ICE,daily,5,,,", "z,ICE,daily,5,,,\na,ICE,daily,9,,,"), `a trips.txt:7: trip_id "a" occurs twice`},
		"a route that is nowhere":         {row("a,ICE,daily,1,,,", "a,X,daily,1,,,"), `a trips.txt:2: route_id "X" is not in routes.txt`},
		"a service that is nowhere":       {row("a,ICE,daily,1,,,", "a,ICE,X,1,,,"), `a trips.txt:2: service_id "X" is in neither calendar.txt nor calendar_dates.txt`},
		"coaches of two trips":            {several + rows(map[string]string{"a,ICE,daily,1,,,": "a,ICE,daily,1,21,,", "z,ICE,daily,5,,,": "z,ICE,daily,5,21,,"}), `a trips.txt:2: coaches: "21" is not of the form 21:80: want each coach once, with 1 to 1000 seats|z trips.txt:6: coaches: "21" is not of the form 21:80: want each coach once, with 1 to 1000 seats`},
		"its route twice":                 {replace(plain, "bus,db,3,1", "own,db,2,IC\nbus,db,3,1"), `route routes.txt:4: route_id "own" occurs twice`},
		"its route's agency":              {replace(plain, "own,db,2", "own,no,2"), `route routes.txt:3: agency_id "no" is not in agency.txt`},
		"the route of a bus":              {replace(plain, "bus,db,3,1", "bus,db,3,1\nbus,db,3,1"), "bus routes.txt:5: route_id \"bus\" occurs twice"},
		"its service's dates":             {replace(plain, "own,1,1,1,1,1,1,1,20260101", "own,1,1,1,1,1,1,1,2026"), `service calendar.txt:3: start_date "2026" is not a date of the form 20261231`},
		"its service's exceptions":        {plain + "-- calendar_dates.txt --\nservice_id,date,exception_type\nown,20260101,7\n", `service calendar_dates.txt:2: exception_type "7" is neither 1 nor 2`},
		"its service twice":               {replace(plain, "own,1,1", "own,1,1,1,1,1,1,1,20260101,20261231\nown,1,1"), `service calendar.txt:4: service_id "own" occurs twice`},
		"its station's place":             {replace(plain, "own,Own,50.1", "own,Own,"), `stop stops.txt:5: stop_lat "", stop_lon "7.1" is not a place on earth`},
		"its platform twice":              {replace(plain, "own1,Own", "own1,Own,50.2,7.1,,\nown1,Own"), `stop stops.txt:7: stop_id "own1" occurs twice`},
		"its station twice":               {replace(plain, "own,Own", "own,Other,50.2,7.1,,\nown,Own"), `stop stops.txt:6: stop_id "own" occurs twice`},
		"its parent":                      {replace(plain, "0,own", "0,no"), `stop stops.txt:6: parent_station "no" is not in stops.txt`},
		"a stop where no train calls":     {replace(plain, "own1,Own", "K2,K2,1,1,,\nK2,K2,1,1,,\nown1,Own"), "-"},
		"a trip_id mistyped in a trip":    {row("a,H,2,09:30:00,09:33:00", "A,H,2,09:30:00,09:33:00"), `a stop_times.txt:3: trip_id "A" is not in trips.txt`},
		"a trip_id mistyped at an end":    {row("a,K,3,12:00:00,12:00:00", "A,K,3,12:00:00,12:00:00"), `a stop_times.txt:4: trip_id "A" is not in trips.txt|route stop_times.txt:4: trip_id "A" is not in trips.txt`},
		"no trip_id":                      {row("a,H,2,09:30:00,09:33:00", ",H,2,09:30:00,09:33:00\n,H,3,09:40:00,09:43:00"), `a stop_times.txt:3: trip_id "" is not in trips.txt`},
		"the rows of a trip that is gone": {row("z,ICE,daily,5,,,", ""), "-"},
		"a frequency":                     {plain + frequencies + "a,10:00:00,10:20:00,0,1\na,11:00:00,11:20:00,600,1\n", `a frequencies.txt:2: headway_secs "0" is not a number from 1`},
		"the train of a frequency":        {replace(plain, "z,ICE,daily,5", "a@11:10:00,ICE,daily,5") + frequencies + "a,11:00:00,11:20:00,600,1\n", `a frequencies.txt:2: the train that leaves at 11:10:00 has the trip_id of another: "a@11:10:00"`},
	} {
		t.Run(name, func(t *testing.T) {
			var ids, told []string
			want := strings.Split(c.left, "|")
			if c.left == "" || c.left == "-" {
				want = nil
			}
			for _, line := range want {
				id, _, _ := strings.Cut(line, " ")
				ids = append(ids, id)
			}
			_, refused, err := gtfs.Read(t.Context(), files(base, c.feed), gtfs.Options{})
			var mistakes *gtfs.Errors
			if errors.As(err, &mistakes) != (c.left != "") || c.left != "" && (!mistakes.Lenient || mistakes.Trips != len(ids)) {
				t.Errorf("not lenient: %v, %+v", err, mistakes)
			}
			if len(refused.LeftOut) > 0 {
				t.Errorf("not lenient: left out %v", refused.LeftOut)
			}
			timetable, report := read(t, gtfs.Options{Lenient: true}, c.feed)
			check(t, timetable, report)
			for _, l := range report.LeftOut {
				told = append(told, l.Trip+" "+l.Mistake.Error())
			}
			diff(t, "left out", told, want)
			if wrong := slices.ContainsFunc(report.Notes, func(n gtfs.Note) bool { return n.Wrong }); !wrong && c.left == "-" {
				t.Errorf("a mistake of no trip is not told: %v", report.Notes)
			}
			// What is left is what the feed without the flawed trips has.
			for _, train := range timetable.Trains {
				if id, _, _ := strings.Cut(train.ID, "@"); slices.Contains(ids, id) {
					t.Errorf("train %q is there", train.ID)
				}
			}
			sound, _ := read(t, gtfs.Options{}, plain)
			for _, train := range sound.Trains {
				if slices.Contains(ids, train.ID) || train.ID == "z" && name == "the rows of a trip that is gone" {
					continue
				}
				i := slices.IndexFunc(timetable.Trains, func(other traintravel.Train) bool { return other.ID == train.ID })
				if name == "the train of a frequency" && train.ID == "z" {
					continue
				}
				if i < 0 || !reflect.DeepEqual(timetable.Trains[i], train) {
					t.Errorf("train %q is gone, or another", train.ID)
				}
			}
		})
	}
}

// What is not a trip's mistake refuses the feed all the same.
func TestLenientRefuses(t *testing.T) {
	t.Parallel()
	plain := several + rows(nil)
	for name, feed := range map[string]string{
		"a quote":            replace(plain, "a,H,2", "\"a\",H\"\",2"),
		"a transfer":         plain + transfers + "H,H,,,,,9,\n",
		"a fare":             plain + fareAttributes + "f,-1,EUR,0,0,,\n",
		"an agency":          "-- agency.txt --\nagency_id,agency_name,agency_timezone\ndb,Bahn,Nowhere\n" + plain,
		"a missing column":   replace(plain, "service_id,monday", "service,monday"),
		"a frequency of all": plain + frequencies + "x,10:00:00,10:20:00,600,1\n",
		"a row of some trip": several + severalTrips + "a,ICE,daily\nb,ICE,daily\n" + severalTimes + "a,B,1,08:00:00,08:00:00\nb,B,1,08:00:00,08:00:00\nx,H,2,09:00:00,09:00:00\na,K,3,12:00:00,12:00:00\nb,K,3,12:00:00,12:00:00\n",
		"and another":        replace(replace(plain, "a,H,2,09:30:00", "a,H,2,9.30"), "daily,1,1,1", "daily,1,1,1") + transfers + "H,H,,,,,9,\n",
	} {
		_, _, err := gtfs.Read(t.Context(), files(base, feed), gtfs.Options{Lenient: true})
		var mistakes *gtfs.Errors
		if !errors.As(err, &mistakes) || mistakes.Lenient {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, report, err := gtfs.Read(t.Context(), files(base, "-- stop_times.txt --\ntrip_id,stop_id,stop_sequence,arrival_time,departure_time\nt1,B,1,08:00:00,08:00:00\nt1,X,2,09:00:00,09:00:00\n"), gtfs.Options{Lenient: true})
	if !errors.Is(err, gtfs.ErrNoTrains) || !strings.Contains(err.Error(), `stop_id "X"`) || len(report.LeftOut) != 1 {
		t.Errorf("nothing is left: %v", err)
	}
	if _, _, err := gtfs.Read(t.Context(), files(base), gtfs.Options{Lenient: true, Strict: true}); err == nil || !strings.Contains(err.Error(), "Options.Lenient") {
		t.Errorf("strict: %v", err)
	}
}

// Nobody stays seated where the trip between is left out.
func TestLenientBlock(t *testing.T) {
	t.Parallel()
	block := blocks("a daily 1 B 08:00 H 09:30", "b daily 1 H 09:35 H 09:50", "c daily 1 H 09:55 K 12:00")
	timetable, _ := read(t, gtfs.Options{}, block)
	diff(t, "rules", changes(t, timetable), []string{"H>H *>* a>b stay-seated", "H>H *>* b>c stay-seated"})
	for _, flaw := range [][2]string{{"09:50:00,09:50:00", "09:50:00,9.50"}, {"\nb,ICE", "\nb,X"}, {"\nb,ICE,daily", "\nb,ICE,no"}} {
		timetable, report := read(t, gtfs.Options{Lenient: true}, replace(block, flaw[0], flaw[1]))
		if diff(t, "rules", changes(t, timetable), []string(nil)); len(report.LeftOut) != 1 {
			t.Errorf("%q: left out %v", flaw, report.LeftOut)
		}
	}
}

// Of many flawed trips each is listed.
func TestLenientOfMany(t *testing.T) {
	t.Parallel()
	trips, times := severalTrips, severalTimes
	for i := range 300 {
		trips += fmt.Sprintf("t%d,ICE,daily,%[1]d\n", i)
		times += fmt.Sprintf("t%d,B,1,08:00:00,08:00:00\nt%[1]d,X%[1]d,2,09:00:00,09:00:00\n", i)
	}
	_, report := read(t, gtfs.Options{Lenient: true}, several, trips+"z,ICE,daily,z\n", times+"z,B,1,08:00:00,08:00:00\nz,K,2,09:00:00,09:00:00\n")
	last := report.LeftOut[len(report.LeftOut)-1]
	if len(report.LeftOut) != 300 || last.String() != `trip "t299": stop_times.txt:601: stop_id "X299" is not in stops.txt` || report.Trains != 1 {
		t.Errorf("%d are left out, the last is %v", len(report.LeftOut), last)
	}
}

// Twins are found among the trips that are left.
func TestLenientTwins(t *testing.T) {
	t.Parallel()
	feed := several + replace(replace(rows(nil), "route,own,daily,2", "route,ICE,daily,1"), "z,K,3,12:00:00", "z,K,3,12.00")
	timetable, report := read(t, gtfs.Options{Lenient: true}, feed)
	if len(report.LeftOut) != 1 || len(report.Twins) != 1 || len(timetable.Trains) != 3 {
		t.Errorf("left out %v, twins %v, %d trains", report.LeftOut, report.Twins, len(timetable.Trains))
	}
}
