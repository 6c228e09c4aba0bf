package gtfs_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
)

// FuzzRead reads feeds in the form that files knows, laid over base: whatever
// they hold, there is a timetable that keeps its promises, or an error.
func FuzzRead(f *testing.F) {
	f.Add(base)
	f.Add("-- calendar_dates.txt --\nservice_id,date,exception_type\ndaily,20260606,2\nx,20260607,1\n")
	f.Add("-- stops.txt --\nstop_id,stop_name,stop_lat,stop_lon,location_type,parent_station\nB,B,1,2,1,\nb,,,,0,B\nH,b,,,4,b\nK,K,3,4\n")
	f.Add("-- stop_times.txt --\ntrip_id,stop_id,stop_sequence,arrival_time,departure_time,shape_dist_traveled\nt1,B,3,9:00:00,,1\nt1,H,2,,,5\nt1,K,1,8:00:00,,2\n")
	f.Add("-- trips.txt --\ntrip_id,route_id,service_id,coaches,bicycle_hooks,fare_base,fare_currency\nt1,ICE,daily,21:80 22:76,4,1.50,eur\n")
	f.Add(rich)
	f.Add(junction + transfers + "H1,H2,,,a,b,1,\nH,L,ICE,RE,,,0,\n,,,,a,b,4,\n,,,,b,a,5,\nH,H,,,,,2,99999\nB,K,,,,,3,\n")
	f.Add(junction + frequencies + "b,10:00:00,10:20:00,600,0\nb,10:05:00,10:20:00,300,1\n" + transfers + "H,H,,,a,b,2,60\n")
	f.Add(blocks("a daily 1 B 08:00 H 09:30", "b weekdays 1 H 09:40 K 12:00", "c weekend 1 H 09:50 K 12:00"))
	f.Add(blocks("a daily 1 B 08:00 H 09:30", "b daily 1 H 09:20 K 12:00") + transfers + ",,,,a,b,4,\n")
	f.Add(network + fareAttributes + "f,5,EUR,0,,db,\ng,0,JPY,0,0,,\nh,1.5,eur\n" + fareRules + "f,ICE,,,\ng,NJ,1,,\ng,IC,,,\nh\n")
	f.Add(zoned + fareAttributes + "f,5,EUR,0,0,,\ng,7,EUR,0,0,,\n" + fareRules + "f,ICE,1,3,\nf,,,,1\ng,,2,,\ng,,,,\n")
	f.Add(zoned + fareAttributes + "f,5,EUR,0,0,,\ng,0,CHF,0,0,,\n" + fareRules + "f,ICE,,9,\ng,,,,1\ng,,,,2\n" + frequencies + "t1,10:00:00,11:00:00,1200,1\n")
	f.Add(translated + "-- translations.txt --\ntable_name,field_name,language,translation,record_id,record_sub_id,field_value\nstops,stop_name,en,Alpha,A,1,B\nstops,stop_name,en,\u202e,,,B\n")
	f.Add(translated + "-- translations.txt --\ntrans_id,lang,translation\nA,en,Alpha\n,,\n")
	f.Add(frequencies + "t1,23:00:00,336:00:00,3600,1\n")
	f.Add("-- feed_info.txt --\nfeed_publisher_name,feed_start_date,feed_end_date\n\u202eB,20260101,20250101\nC,0,\n")
	f.Add("-- agency.txt --\nagency_name,agency_timezone\nA,Europe/Berlin\n\"B\n\",UTC\n")
	f.Add("-- trips.txt --\ntrip_id,route_id,service_id,coaches,fare_per_km,fare_currency\nt1,ICE,daily,\u202e:3,20000000,eur\n")
	f.Add("-- stops.txt --\nstop_id,stop_name,stop_lat,stop_lon\nB,B\ufffe,52,13\nH,\u0301 \u200b,53,10\nK,K\ufdd0\u200d,50,7\n-- agency.txt --\nagency_name,agency_timezone\n\U0001ffff,UTC\n")
	f.Fuzz(func(t *testing.T, text string) {
		opts := gtfs.Options{DistanceUnit: 1000, Today: traintravel.NewDate(2026, time.June, 1)}
		timetable, report, err := gtfs.Read(t.Context(), files(base, text), opts)
		opts.Strict = true
		strict, _, strictErr := gtfs.Read(t.Context(), files(base, text), opts)
		checkStrict(t, timetable, report, err, strict, strictErr)
		opts.Strict, opts.Lenient = false, true
		lenient, left, lenientErr := gtfs.Read(t.Context(), files(base, text), opts)
		checkLenient(t, timetable, err, lenient, left, lenientErr)
		if err == nil {
			check(t, timetable, report)
			if err := timetable.Check(); err != nil {
				t.Errorf("it cannot be loaded: %v", err)
			}
			return
		}
		if timetable == nil && errors.Is(err, gtfs.ErrNoTrains) && report.Trains == 0 {
			return
		}
		var mistakes *gtfs.Errors
		if timetable != nil || !errors.As(err, &mistakes) || len(mistakes.List) == 0 {
			t.Errorf("timetable %v, error %v", timetable, err)
		}
	})
}

// checkStrict checks that a strict reading differs only where something is wrong.
func checkStrict(t *testing.T, timetable *traintravel.Timetable, report gtfs.Report, err error, strict *traintravel.Timetable, strictErr error) {
	t.Helper()
	wrong := slices.ContainsFunc(report.Notes, func(n gtfs.Note) bool { return n.Wrong })
	switch {
	case err != nil && strictErr == nil:
		t.Errorf("only the strict reading succeeds: %v", err)
	case err == nil && wrong != (strictErr != nil):
		t.Errorf("notes %v, strict reading %v", report.Notes, strictErr)
	case err == nil && strictErr == nil && !reflect.DeepEqual(timetable, strict): // many trains are too many for cmp
		t.Error("the strict reading is another")
	}
}

// checkLenient checks that a lenient reading is the other one where nothing is wrong, and
// else what the other one foretells.
func checkLenient(t *testing.T, timetable *traintravel.Timetable, err error, lenient *traintravel.Timetable, left gtfs.Report, lenientErr error) {
	t.Helper()
	mistakes, found := errors.AsType[*gtfs.Errors](err)
	switch {
	case err == nil:
		if lenientErr != nil || len(left.LeftOut) > 0 || !reflect.DeepEqual(timetable, lenient) {
			t.Errorf("nothing is wrong, and the lenient reading is another: %v, %v", left.LeftOut, lenientErr)
		}
	case found && mistakes.Lenient:
		if lenientErr != nil || len(left.LeftOut) != mistakes.Trips {
			t.Errorf("%+v, but the lenient reading leaves out %v, %v", mistakes, left.LeftOut, lenientErr)
		} else if check(t, lenient, left); lenient.Check() != nil {
			t.Errorf("it cannot be loaded: %v", lenient.Check())
		}
	case lenientErr == nil:
		t.Errorf("only the lenient reading succeeds: %v", err)
	}
}

// check checks what every timetable that is read promises.
func check(t *testing.T, timetable *traintravel.Timetable, report gtfs.Report) {
	t.Helper()
	stations := map[uuid.UUID]bool{}
	for _, s := range timetable.Stations {
		if stations[s.ID] || s.Name == "" || s.Zone == "" {
			t.Errorf("station %+v", s)
		}
		stations[s.ID] = true
	}
	calls := 0
	for _, train := range timetable.Trains {
		calls += len(train.Calls)
		if len(train.Calls) < 2 || train.Operator == "" || train.Zone == "" || train.Days == nil {
			t.Errorf("train %+v", train)
		}
		if !train.Days.Runs(train.Days.From) && len(train.Days.Added) == 0 && train.Days.Weekdays == [7]bool{} {
			t.Errorf("train %q never runs", train.ID)
		}
		at, metres := traintravel.ServiceTime(0), int32(0)
		for _, c := range train.Calls {
			if !stations[c.Station] || c.Arrive < at || c.Depart < c.Arrive || c.Metres < metres {
				t.Errorf("train %q: call %+v", train.ID, c)
			}
			at, metres = c.Depart, c.Metres
		}
		if at > traintravel.MaxServiceTime {
			t.Errorf("train %q: ends at %s", train.ID, at)
		}
	}
	trains := map[string]bool{}
	for _, train := range timetable.Trains {
		trains[train.ID] = true
	}
	seen := map[traintravel.Change]bool{}
	for _, ch := range timetable.Changes {
		about := ch
		about.Kind, about.Time = 0, 0
		if !stations[ch.From] || !stations[ch.To] || seen[about] {
			t.Errorf("rule %+v", ch)
		}
		seen[about] = true
		for _, id := range []string{ch.FromTrain, ch.ToTrain} {
			if id != "" && !trains[id] {
				t.Errorf("rule %+v: there is no train %q", ch, id)
			}
		}
		if ch.Kind > traintravel.StaySeated || ch.Kind == traintravel.StaySeated && (ch.FromTrain == "" || ch.ToTrain == "") {
			t.Errorf("rule %+v", ch)
		}
	}
	if report.Headway > report.Repeated || report.Repeated > report.Trains {
		t.Errorf("reported %+v", report)
	}
	got := []int{report.Stations, report.Trains, report.Calls}
	if want := []int{len(stations), len(timetable.Trains), calls}; !slices.Equal(got, want) {
		t.Errorf("reported stations, trains, calls %v, want %v", got, want)
	}
}
