package gtfs_test

import (
	"testing"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
)

func TestCalendar(t *testing.T) {
	t.Parallel()
	day := func(month time.Month, d int) traintravel.Date { return traintravel.NewDate(2026, month, d) }
	const header = "-- calendar.txt --\nservice_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date\n"
	const dates = "-- calendar_dates.txt --\nservice_id,date,exception_type\n"
	tests := []struct {
		name, calendar, dates string
		first, last           traintravel.Date
		runs                  []traintravel.Date
		rests                 []traintravel.Date
	}{
		{
			"weekdays", "daily,0,0,0,0,1,0,0,20260601,20260630\n", "",
			day(6, 5), day(6, 26), []traintravel.Date{day(6, 12)}, []traintravel.Date{day(6, 13), day(7, 3)},
		}, {
			"exceptions", "daily,0,0,0,0,1,0,0,20260601,20260630\n", "daily,20260605,2\ndaily,20260704,1\ndaily,20260530,1\n",
			day(5, 30), day(7, 4), []traintravel.Date{day(7, 4), day(6, 26)}, []traintravel.Date{day(6, 5)},
		}, {
			"the ends are removed", "daily,1,1,1,1,1,1,1,20260601,20260605\n",
			"daily,20260601,2\ndaily,20260605,2\ndaily,20260605,2\n",
			day(6, 2), day(6, 4), []traintravel.Date{day(6, 3)}, []traintravel.Date{day(6, 1), day(6, 5)},
		}, {
			"added and removed is removed", "daily,0,0,0,0,1,0,0,20260601,20260630\n", "daily,20260601,1\ndaily,20260601,2\n",
			day(6, 5), day(6, 26), nil, []traintravel.Date{day(6, 1)},
		}, {
			"for ever", "daily,1,1,1,1,1,1,1,00010101,99991231\n", "daily,99991231,1\ndaily,20260605,2\n",
			traintravel.FirstDate, traintravel.LastDate, []traintravel.Date{day(6, 1)}, []traintravel.Date{day(6, 5)},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			timetable, report := read(t, gtfs.Options{}, header+test.calendar, dates+test.dates)
			diff(t, "first and last day", []traintravel.Date{report.First, report.Last}, []traintravel.Date{test.first, test.last})
			for _, d := range test.runs {
				diff(t, d.String(), timetable.Trains[0].Days.Runs(d), true)
			}
			for _, d := range test.rests {
				diff(t, d.String(), timetable.Trains[0].Days.Runs(d), false)
			}
		})
	}
}

func TestTripsWithoutDaysAreLeftOut(t *testing.T) {
	t.Parallel()
	for _, calendar := range []string{
		"daily,0,0,0,0,0,0,0,20260601,20260630\n",
		"daily,1,1,1,1,1,0,0,20260606,20260607\n", // a weekend
		"daily,1,1,1,1,1,1,1,20260606,20260606\n", // and removed
		"daily,1,1,1,1,1,1,1,19990101,19991231\n",
	} {
		report := leavesNone(t, "trips.txt:2: the trip runs on no day",
			"-- calendar.txt --\nservice_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date\n"+calendar,
			"-- calendar_dates.txt --\nservice_id,date,exception_type\ndaily,20260606,2\n")
		if report.Trains != 0 || report.First != 0 || report.Last != 0 {
			t.Errorf("%s: %+v, want no train", calendar, report)
		}
	}
}

func TestTripsOfOneServiceShareItsCalendar(t *testing.T) {
	t.Parallel()
	timetable, _ := read(t, gtfs.Options{KeepTwins: true}, `
-- trips.txt --
trip_id,route_id,service_id
t1,ICE,daily
t2,ICE,daily
-- stop_times.txt --
trip_id,stop_id,stop_sequence,arrival_time,departure_time
t1,B,1,08:00:00,08:00:00
t1,K,2,09:00:00,09:00:00
t2,B,1,08:00:00,08:00:00
t2,K,2,09:00:00,09:00:00
`)
	if timetable.Trains[0].Days != timetable.Trains[1].Days {
		t.Error("two trips of one service have two calendars")
	}
}
