package gtfs_test

import (
	"errors"
	"slices"
	"testing"

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
	f.Add("-- frequencies.txt --\ntrip_id\nt1\n")
	f.Add("-- agency.txt --\nagency_name,agency_timezone\nA,Europe/Berlin\n\"B\n\",UTC\n")
	f.Add("-- trips.txt --\ntrip_id,route_id,service_id,coaches,fare_per_km,fare_currency\nt1,ICE,daily,\u202e:3,20000000,eur\n")
	f.Add("-- stops.txt --\nstop_id,stop_name,stop_lat,stop_lon\nB,B\ufffe,52,13\nH,\u0301 \u200b,53,10\nK,K\ufdd0\u200d,50,7\n-- agency.txt --\nagency_name,agency_timezone\n\U0001ffff,UTC\n")
	f.Fuzz(func(t *testing.T, text string) {
		timetable, report, err := gtfs.Read(t.Context(), files(base, text), gtfs.Options{DistanceUnit: 1000})
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
	got := []int{report.Stations, report.Trains, report.Calls}
	if want := []int{len(stations), len(timetable.Trains), calls}; !slices.Equal(got, want) {
		t.Errorf("reported stations, trains, calls %v, want %v", got, want)
	}
}
