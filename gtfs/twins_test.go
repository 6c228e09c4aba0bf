package gtfs_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
)

// twinDays are services for twins: June and July of 2026 are within 2026.
const twinDays = `
-- calendar.txt --
service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date
june,1,1,1,1,1,1,1,20260601,20260630
july,1,1,1,1,1,1,1,20260701,20260731
summer,1,1,1,1,1,1,1,20260615,20260705
mondays,1,0,0,0,0,0,0,20260601,20260731
`

const twinTrips = "\n-- trips.txt --\ntrip_id,service_id,trip_short_name,route_id,trip_headsign,block_id,coaches,fare_base\n"

// twinCalls gives trips the calls of one train, from Berlin at eight.
func twinCalls(trips ...string) string {
	times := "\n-- stop_times.txt --\ntrip_id,stop_id,stop_sequence,arrival_time,departure_time\n"
	for _, id := range trips {
		times += id + ",B,1,08:00:00,08:00:00\n" + id + ",H,2,09:30:00,09:33:00\n" + id + ",K,3,12:05:00,12:05:00\n"
	}
	return times
}

// days are on which dates trains run, by their IDs: 06-01..06-30.
func days(tt *traintravel.Timetable) string {
	var all []string
	for _, tr := range tt.Trains {
		var spans []string
		for d := traintravel.NewDate(2026, 5, 1); d < traintravel.NewDate(2026, 9, 1); d++ {
			if !tr.Days.Runs(d) {
				continue
			}
			first := d
			for tr.Days.Runs(d + 1) {
				d++
			}
			spans = append(spans, first.String()[5:]+".."+d.String()[5:])
		}
		all = append(all, tr.ID+" "+strings.Join(spans, " "))
	}
	return strings.Join(all, ", ")
}

func TestTwins(t *testing.T) {
	t.Parallel()
	const note = "the trip is the same train as another one, by operator, number and calls, on days on which both run: it is sold once"
	for _, c := range []struct {
		name, trips string
		want        string
		twins       []string
	}{
		{"all days", "a,june,575,ICE,,,,\nb,june,575,ICE,,,,\n", "a 06-01..06-30", []string{"trip \"a\" and trip \"b\" on 30 days from 2026-06-01 on"}},
		{"some days", "a,june,575,ICE,,,,\nb,summer,575,ICE,,,,\n", "a 06-01..06-30, b 07-01..07-05", []string{"trip \"a\" and trip \"b\" on 16 days from 2026-06-15 on"}},
		{"the one with more days first", "a,summer,575,ICE,,,,\nb,june,575,ICE,,,,\n", "a 07-01..07-05, b 06-01..06-30", []string{"trip \"b\" and trip \"a\" on 16 days from 2026-06-15 on"}},
		{"few days gone", "a,june,575,ICE,,,,\nb,mondays,575,ICE,,,,\n", "a 06-01..06-30, b 07-06..07-06 07-13..07-13 07-20..07-20 07-27..07-27", []string{"trip \"a\" and trip \"b\" on 5 days from 2026-06-01 on"}},
		{"of two others", "a,june,575,ICE,,,,\nb,july,575,ICE,,,,\nc,summer,575,ICE,,,,\n", "a 06-01..06-30, b 07-01..07-31", []string{"trip \"a\" and trip \"c\" on 21 days from 2026-06-15 on"}},
		{"three", "a,june,575,ICE,,,,\nb,june,575,ICE,,,,\nc,june,575,ICE,,,,\n", "a 06-01..06-30", []string{"trip \"a\" and trip \"b\" on 30", "trip \"a\" and trip \"c\" on 30"}},
		{"no common day", "a,june,575,ICE,,,,\nb,july,575,ICE,,,,\n", "a 06-01..06-30, b 07-01..07-31", nil},
		{"spaced and cased otherwise", "a,june,IC 575,ICE,,,,\nb,june,ic575,ICE,,,,\nc,june,IC  575,ICE,,,,\n", "a 06-01..06-30", []string{"trip \"a\" and trip \"b\" on 30", "trip \"a\" and trip \"c\" on 30"}},
		{"another number", "a,june,575,ICE,,,,\nb,june,576,ICE,,,,\n", "a 06-01..06-30, b 06-01..06-30", nil},
		{"other headsign, block and fare", "a,june,575,ICE,Köln,x,,5\nb,june,575,ICE,Bonn,y,,7\n", "a 06-01..06-30", []string{"trip \"a\" and trip \"b\" on 30"}},
		{"portions", "a,june,575,ICE,,,21:80,\nb,june,575,ICE,,,31:80,\n", "a 06-01..06-30, b 06-01..06-30", nil},
		{"the coaches in part", "a,june,575,ICE,,,21:80,\nb,june,575,ICE,,,21:80 22:76,\n", "a 06-01..06-30", []string{"trip \"a\" and trip \"b\" on 30"}},
		{"the one with coaches first", "a,june,575,ICE,,,,\nb,june,575,ICE,,,21:80,\n", "b 06-01..06-30", []string{"trip \"b\" and trip \"a\" on 30"}},
		{"without a number", "a,june,,X,,,,\nb,june,,X,,,,\n", "a 06-01..06-30", []string{"trip \"a\" and trip \"b\" on 30"}},
		{"without a number, of two routes", "a,june,,X,,,,\nb,june,,Y,,,,\n", "a 06-01..06-30, b 06-01..06-30", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			feed := []string{twinDays, "\n-- routes.txt --\nroute_id,agency_id,route_short_name,route_type\nICE,db,ICE,2\nX,db,,2\nY,db,,2\n", twinTrips + c.trips, twinCalls([]string{"a", "b", "c"}[:strings.Count(c.trips, "\n")]...)}
			timetable, report := read(t, gtfs.Options{}, feed...)
			diff(t, "trains", days(timetable), c.want)
			if len(report.Twins) != len(c.twins) {
				t.Fatalf("twins %v, want %v", report.Twins, c.twins)
			}
			for i, twin := range report.Twins {
				if !strings.Contains(twin.String(), c.twins[i]) || !strings.Contains(twin.String(), "from Berlin Hbf at 08:00:00 to Köln Hbf") {
					t.Errorf("%v, want %s", twin, c.twins[i])
				}
			}
			calls := 0
			for _, tr := range timetable.Trains {
				calls += len(tr.Calls)
			}
			if report.Trains != len(timetable.Trains) || report.Calls != calls {
				t.Errorf("%d trains and %d calls are reported of %d and %d", report.Trains, report.Calls, len(timetable.Trains), calls)
			}
			told := slices.ContainsFunc(report.Notes, func(n gtfs.Note) bool {
				return n.Reason == note && n.Wrong && n.File == "trips.txt" && n.Count == len(c.twins)
			})
			if told != (len(c.twins) > 0) {
				t.Errorf("notes: %v", report.Notes)
			}
			_, _, err := gtfs.Read(t.Context(), files(append([]string{base}, feed...)...), gtfs.Options{Strict: true})
			if wrong := new(gtfs.Errors); errors.As(err, &wrong) != (len(c.twins) > 0) || len(c.twins) > 0 && !strings.Contains(err.Error(), note) {
				t.Errorf("strict: %v", err)
			}
			kept, report := read(t, gtfs.Options{KeepTwins: true, Strict: true}, feed...)
			if len(kept.Trains) != strings.Count(c.trips, "\n") || len(report.Twins) != len(c.twins) || report.Trains != len(kept.Trains) {
				t.Errorf("kept: %s, twins %v", days(kept), report.Twins)
			}
		})
	}
}

// Trains that differ in anything a traveller sees are no twins.
func TestNoTwins(t *testing.T) {
	t.Parallel()
	const trips = twinTrips + "a,june,575,ICE,,,,\nb,june,575,ICE,,,,\n"
	for name, calls := range map[string]string{
		"a minute later":   strings.Replace(twinCalls("a", "b"), "b,H,2,09:30:00,09:33:00", "b,H,2,09:30:00,09:34:00", 1),
		"a call fewer":     strings.Replace(twinCalls("a", "b"), "b,H,2,09:30:00,09:33:00\n", "", 1),
		"not for boarding": strings.Replace(strings.ReplaceAll(twinCalls("a", "b"), ":00\n", ":00,0\n"), "b,H,2,09:30:00,09:33:00,0", "b,H,2,09:30:00,09:33:00,1", 1),
	} {
		timetable, report := read(t, gtfs.Options{}, twinDays, trips, strings.Replace(calls, "departure_time\n", "departure_time,pickup_type\n", 1))
		if len(timetable.Trains) != 2 || len(report.Twins) != 0 {
			t.Errorf("%s: %s, twins %v", name, days(timetable), report.Twins)
		}
	}
}

// Whatever the order of the rows, the same trains are left.
func TestTwinsInAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var rows []string
		ids := []string{"a", "b", "c", "d", "e"}
		for _, id := range ids {
			service := rapid.SampledFrom([]string{"june", "july", "summer", "mondays"}).Draw(rt, "service")
			coaches := rapid.SampledFrom([]string{"", "21:80", "22:80", "21:80 22:80"}).Draw(rt, "coaches")
			rows = append(rows, id+","+service+",575,ICE,,,"+coaches+",\n")
		}
		sorted, report := read(t, gtfs.Options{}, twinDays, twinTrips+strings.Join(rows, ""), twinCalls(ids...))
		mixed, again := read(t, gtfs.Options{}, twinDays, twinTrips+strings.Join(rapid.Permutation(rows).Draw(rt, "rows"), ""), twinCalls(rapid.Permutation(ids).Draw(rt, "ids")...))
		byID := func(a, b traintravel.Train) int { return strings.Compare(a.ID, b.ID) }
		slices.SortFunc(mixed.Trains, byID)
		slices.SortFunc(sorted.Trains, byID)
		if days(sorted) != days(mixed) || len(report.Twins) != len(again.Twins) {
			rt.Fatalf("%s\n%s", days(sorted), days(mixed))
		}
		// On no day are there two that share a coach, or whose coaches are not known.
		for i, a := range mixed.Trains {
			for _, b := range mixed.Trains[:i] {
				apart := len(a.Coaches) > 0 && len(b.Coaches) > 0 && !slices.ContainsFunc(a.Coaches, func(c traintravel.Coach) bool { return slices.Contains(b.Coaches, c) })
				for d := traintravel.NewDate(2026, 6, 1); d < traintravel.NewDate(2026, 8, 1) && !apart; d++ {
					if a.Days.Runs(d) && b.Days.Runs(d) {
						rt.Fatalf("%s and %s both run on %v: %s", a.ID, b.ID, d, days(mixed))
					}
				}
			}
		}
	})
}

// What is said of a twin's changes goes for the train that is kept.
func TestRulesOfTwins(t *testing.T) {
	t.Parallel()
	const rest = "o,K,1,12:20:00,12:20:00\no,H,2,14:00:00,14:00:00\np,K,1,12:30:00,12:30:00\np,B,2,16:00:00,16:00:00\n"
	for _, c := range []struct {
		name, trips, transfers string
		want                   []string
	}{
		{
			"blocks", "a,june,575,ICE,,x,,\nb,june,575,ICE,,y,,\no,june,577,ICE,,x,,\np,june,578,ICE,,y,,\n", "",
			[]string{"a goes on as o", "a goes on as p"},
		},
		{
			"one block", "a,june,575,ICE,,x,,\nb,june,575,ICE,,x,,\no,june,577,ICE,,x,,\np,june,578,ICE,,,,\n", "",
			[]string{"a goes on as o"},
		},
		{
			"not on the days of the one that is kept", "a,june,575,ICE,,,,\nb,mondays,575,ICE,,y,,\no,june,577,ICE,,,,\np,june,578,ICE,,y,,\n", "",
			[]string{"b goes on as p"},
		},
		{
			"transfers", "a,june,575,ICE,,,,\nb,june,575,ICE,,,,\no,june,577,ICE,,,,\np,june,578,ICE,,,,\n",
			"K,K,b,o,2,900\nK,K,a,p,2,300\nK,K,b,p,2,600\n",
			[]string{"a to o takes 15m0s", "a to p takes 10m0s"},
		},
	} {
		transfers := "\n-- transfers.txt --\nfrom_stop_id,to_stop_id,from_trip_id,to_trip_id,transfer_type,min_transfer_time\n" + c.transfers
		timetable, _ := read(t, gtfs.Options{}, twinDays, twinTrips+c.trips, twinCalls("a", "b")+rest, transfers)
		got := []string{}
		for _, ch := range timetable.Changes {
			line := ch.FromTrain + " to " + ch.ToTrain + " takes " + ch.Time.String()
			if ch.Kind == traintravel.StaySeated {
				line = ch.FromTrain + " goes on as " + ch.ToTrain
			}
			got = append(got, line)
		}
		slices.Sort(got)
		diff(t, c.name, got, c.want)
	}
}

// A repeated trip makes no train that another trip is.
func TestRepeatedTwins(t *testing.T) {
	t.Parallel()
	timetable, report := read(t, gtfs.Options{}, twinDays, twinTrips+"a,june,575,ICE,,,,\nb,june,575,ICE,,,,\n",
		twinCalls("a", "b"), "\n-- frequencies.txt --\ntrip_id,start_time,end_time,headway_secs,exact_times\nb,08:00:00,10:00:00,3600,1\n")
	if got := days(timetable); got != "a 06-01..06-30, b@09:00:00 06-01..06-30" || report.Trains != 2 || report.Repeated != 1 {
		t.Errorf("%s, %+v", got, report)
	}
}
