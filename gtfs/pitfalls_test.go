package gtfs_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
)

// Faults that other readers of timetables had, one test each.

// instants returns when a train leaves its first call and reaches its last, on
// a service date.
func instants(t *testing.T, train traintravel.Train, d traintravel.Date) [2]string {
	t.Helper()
	loc, err := time.LoadLocation(train.Zone)
	if err != nil {
		t.Fatal(err)
	}
	first, last := train.Calls[0], train.Calls[len(train.Calls)-1]
	return [2]string{
		first.Depart.Instant(d, loc).Format(time.RFC3339),
		last.Arrive.Instant(d, loc).Format(time.RFC3339),
	}
}

// ride is a stop_times.txt with one train from B to K.
func ride(depart, arrive string) string {
	return `
-- stop_times.txt --
trip_id,stop_id,stop_sequence,arrival_time,departure_time
t1,B,1,` + depart + `,` + depart + `
t1,K,2,` + arrive + `,` + arrive + `
`
}

func TestTimeAfterMidnightBelongsToTheDayBefore(t *testing.T) {
	t.Parallel()
	timetable, _ := read(t, gtfs.Options{}, ride("22:00:00", "24:30:00"))
	got := instants(t, timetable.Trains[0], traintravel.NewDate(2026, time.May, 4))
	diff(t, "instants", got, [2]string{"2026-05-04T22:00:00+02:00", "2026-05-05T00:30:00+02:00"})
}

func TestLateAndEarlyTrainOnOneDay(t *testing.T) {
	t.Parallel()
	timetable, _ := read(t, gtfs.Options{}, `
-- trips.txt --
trip_id,route_id,service_id,trip_short_name
late,ICE,daily,1
early,ICE,daily,1
-- stop_times.txt --
trip_id,stop_id,stop_sequence,arrival_time,departure_time
late,B,1,27:35:00,27:35:00
late,K,2,32:00:00,32:00:00
early,B,1,02:35:00,02:35:00
early,K,2,07:00:00,07:00:00
`)
	monday := traintravel.NewDate(2026, time.May, 4)
	diff(t, "Monday's", instants(t, timetable.Trains[0], monday), [2]string{"2026-05-05T03:35:00+02:00", "2026-05-05T08:00:00+02:00"})
	diff(t, "Tuesday's", instants(t, timetable.Trains[1], monday+1), [2]string{"2026-05-05T02:35:00+02:00", "2026-05-05T07:00:00+02:00"})
}

func TestSameNumberTwiceOnOneCalendarDay(t *testing.T) {
	t.Parallel()
	timetable, _ := read(t, gtfs.Options{}, `
-- trips.txt --
trip_id,route_id,service_id,trip_short_name
a,ICE,daily,1
b,ICE,daily,1
-- stop_times.txt --
trip_id,stop_id,stop_sequence,arrival_time,departure_time
a,B,1,00:05:00,00:05:00
a,K,2,05:00:00,05:00:00
b,B,1,23:50:00,23:50:00
b,K,2,29:00:00,29:00:00
`)
	if len(timetable.Trains) != 2 || timetable.Trains[0].Number != timetable.Trains[1].Number {
		t.Errorf("trains %+v, want two with one number", timetable.Trains)
	}
}

func TestTimesOfSeveralDays(t *testing.T) {
	t.Parallel()
	for _, arrive := range []string{"58:53:00", "149:09:00", "336:00:00"} {
		timetable, _ := read(t, gtfs.Options{}, ride("09:45:00", arrive))
		if got, want := times(timetable.Trains[0]), "09:45:00-09:45:00 "+arrive+"-"+arrive; got != want {
			t.Errorf("times %s, want %s", got, want)
		}
	}
	for _, arrive := range []string{"336:00:01", "400:00:00", "99999:00:00", "999999999:59:59"} {
		got := refuse(t, ride("09:45:00", arrive))
		want := `stop_times.txt:3: arrival_time "` + arrive + `" is beyond 336:00:00, the longest time that a train may run`
		if first, _, _ := strings.Cut(got, "\n"); first != want {
			t.Errorf("mistakes %s\nwant %s", got, want)
		}
	}
}

func TestTimesThatJumpBackAtMidnightAreRefused(t *testing.T) {
	t.Parallel()
	got := refuse(t, ride("23:49:00", "00:01:00"))
	diff(t, "mistakes", got, "stop_times.txt:3: arrival_time 00:01:00 is before the departure from the call before, 23:49:00")
}

func TestLocalTimesPerStopThatFallAreRefused(t *testing.T) {
	t.Parallel()
	got := refuse(t, `
-- stop_times.txt --
trip_id,stop_id,stop_sequence,arrival_time,departure_time
t1,B,1,08:00:00,08:00:00
t1,H,2,08:40:00,08:39:00
t1,K,3,09:00:00,09:00:00
`)
	diff(t, "mistakes", got, "stop_times.txt:3: departure_time 08:39:00 is before arrival_time 08:40:00")
}

func TestSleeperDoesNotRunOnTheNightItDoesNotStart(t *testing.T) {
	t.Parallel()
	timetable, _ := read(t, gtfs.Options{}, ride("22:00:00", "31:00:00"), `
-- calendar.txt --
service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date
daily,1,1,1,1,1,0,1,20260101,20261231
`)
	saturday := traintravel.NewDate(2026, time.May, 9)
	days := timetable.Trains[0].Days
	diff(t, "runs on Friday, Saturday, Sunday",
		[]bool{days.Runs(saturday - 1), days.Runs(saturday), days.Runs(saturday + 1)}, []bool{true, false, true})
}

func TestRunsAcrossMidnightOfUTC(t *testing.T) {
	t.Parallel()
	for zone, want := range map[string][2]string{
		"Europe/Lisbon":   {"2026-07-01T23:30:00+01:00", "2026-07-02T04:00:00+01:00"},
		"Europe/Berlin":   {"2026-07-01T23:30:00+02:00", "2026-07-02T04:00:00+02:00"},
		"Europe/Istanbul": {"2026-07-01T23:30:00+03:00", "2026-07-02T04:00:00+03:00"},
	} {
		timetable, _ := read(t, gtfs.Options{}, ride("23:30:00", "28:00:00"),
			"-- agency.txt --\nagency_name,agency_timezone\nRailway,"+zone+"\n",
			"-- routes.txt --\nroute_id,route_type\nICE,2\n")
		diff(t, zone, instants(t, timetable.Trains[0], traintravel.NewDate(2026, time.July, 1)), want)
	}
}

func TestDaysOnWhichClocksChange(t *testing.T) {
	t.Parallel()
	timetable, _ := read(t, gtfs.Options{}, ride("00:30:00", "06:30:00"))
	train := timetable.Trains[0]
	diff(t, "spring", instants(t, train, traintravel.NewDate(2021, time.March, 28)),
		[2]string{"2021-03-27T23:30:00+01:00", "2021-03-28T06:30:00+02:00"})
	diff(t, "autumn", instants(t, train, traintravel.NewDate(2021, time.October, 31)),
		[2]string{"2021-10-31T01:30:00+02:00", "2021-10-31T06:30:00+01:00"})
}

func TestBicyclesWithoutColumnAreUnknown(t *testing.T) {
	t.Parallel()
	timetable, _ := read(t, gtfs.Options{})
	if got := timetable.Trains[0].Bicycles; got != traintravel.Unknown {
		t.Errorf("bicycles %d, want Unknown", got)
	}
}

func TestOnlyCalendarDates(t *testing.T) {
	t.Parallel()
	feed := files(base, "-- calendar_dates.txt --\nservice_id,date,exception_type\ndaily,20260606,1\n")
	delete(feed, "calendar.txt")
	timetable, _, err := gtfs.Read(t.Context(), feed, gtfs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := traintravel.NewDate(2026, time.June, 6)
	diff(t, "days", timetable.Trains[0].Days, &traintravel.Calendar{Added: []traintravel.Date{d}})
}

func TestNoCalendarAndOnlyRemovedDatesIsNoService(t *testing.T) {
	t.Parallel()
	feed := files(base, "-- calendar_dates.txt --\nservice_id,date,exception_type\ndaily,20260606,2\n")
	delete(feed, "calendar.txt")
	timetable, report, err := gtfs.Read(t.Context(), feed, gtfs.Options{})
	if timetable != nil || !errors.Is(err, gtfs.ErrNoTrains) {
		t.Errorf("%v, %v, want ErrNoTrains", timetable, err)
	}
	diff(t, "first note", report.Notes[0].String(), "trips.txt:2: the trip runs on no day")
}

func TestLoopLineCallsTwiceAtOneStation(t *testing.T) {
	t.Parallel()
	timetable, report := read(t, gtfs.Options{}, `
-- stop_times.txt --
trip_id,stop_id,stop_sequence,arrival_time,departure_time
t1,B,1,08:00:00,08:00:00
t1,H,2,09:30:00,09:33:00
t1,B,3,11:00:00,11:00:00
`)
	calls := timetable.Trains[0].Calls
	if len(calls) != 3 || calls[0].Station != calls[2].Station || report.Stations != 2 {
		t.Errorf("calls %v at %d stations, want three at two", calls, report.Stations)
	}
}

func TestTimeWithLeadingBlank(t *testing.T) {
	t.Parallel()
	timetable, _ := read(t, gtfs.Options{}, ride(" 9:45:00", "  13:00:00 "))
	diff(t, "times", times(timetable.Trains[0]), "09:45:00-09:45:00 13:00:00-13:00:00")
}
