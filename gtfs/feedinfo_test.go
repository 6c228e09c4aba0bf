package gtfs_test

import (
	"errors"
	"testing"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
)

func TestFeedInfo(t *testing.T) {
	t.Parallel()
	const columns = "feed_publisher_name,feed_version,feed_start_date,feed_end_date\n"
	day := func(month time.Month, d int) traintravel.Date { return traintravel.NewDate(2026, month, d) }
	type info struct {
		Publisher, Version string
		Start, End         traintravel.Date
	}
	tests := []struct {
		name, text string
		today      traintravel.Date
		want       info
		notes      []string
	}{
		{"all", columns + "\"Bahn, \u200eAG\",3.1,20260101,20261231\n", 0, info{"Bahn, \u200eAG", "3.1", day(1, 1), day(12, 31)}, nil},
		{"nothing", "", 0, info{}, nil},
		{"no row", columns, 0, info{}, nil},
		{"blank", columns + "Bahn,,,\n", day(6, 1), info{Publisher: "Bahn"}, nil},
		{"other columns", "feed_lang,feed_version\nde,x\n", 0, info{Version: "x"}, nil},
		{"the last day", columns + "Bahn,1,20260101,20260601\n", day(6, 1), info{"Bahn", "1", day(1, 1), day(6, 1)}, nil},
		{"expired", columns + "Bahn,1,,20260531\n", day(6, 1), info{"Bahn", "1", 0, day(5, 31)}, []string{"feed_info.txt:2: the feed has expired: feed_end_date is 2026-05-31"}},
		{"expired, and nobody asks", columns + "Bahn,1,,20260531\n", 0, info{"Bahn", "1", 0, day(5, 31)}, nil},
		{"ends before it begins", columns + "Bahn,1,20260601,20260531\n", 0, info{"Bahn", "1", day(6, 1), day(5, 31)}, []string{"feed_info.txt:2: feed_end_date is before feed_start_date"}},
		{"no dates", columns + "Bahn,1,2026-06-01,20260631\n", day(6, 1), info{"Bahn", "1", 0, 0}, []string{
			`feed_info.txt:2: feed_start_date "2026-06-01" is not a date of the form 20261231`,
			`feed_info.txt:2: feed_end_date "20260631" is not a date of the form 20261231`,
		}},
		{"two rows", columns + "Bahn,1,,\nOther,2,20260101,\n", 0, info{"Bahn", "1", 0, 0}, []string{"feed_info.txt:3: the file has more than one row: only the first is used"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, r := read(t, gtfs.Options{Today: test.today}, "-- feed_info.txt --\n"+test.text)
			diff(t, "report", info{r.Publisher, r.Version, r.Start, r.End}, test.want)
			diff(t, "notes", notes(r), test.notes)
		})
	}
}

// Strict refuses what is wrong, not what is only left out.
func TestStrict(t *testing.T) {
	t.Parallel()
	wrong := map[string]string{
		"-- feed_info.txt --\nfeed_end_date\n20260101\n":                                         "feed_info.txt:2: the feed has expired: feed_end_date is 2026-01-01",
		"-- feed_info.txt --\nfeed_end_date\nx\n":                                                `feed_info.txt:2: feed_end_date "x" is not a date of the form 20261231`,
		"-- agency.txt --\nagency_id,agency_name,agency_timezone\ndb,A,Europe/Berlin\nx,B,UTC\n": "agency.txt:3: agency_timezone differs from that of the first agency, which applies to stations without a time zone",
		"-- trips.txt --\ntrip_id,route_id,service_id\nt1,ICE,daily\nt2,ICE,daily\n":             "trips.txt:3: the trip has fewer than two calls",
		frequencies + "t1,06:00:00,07:00:00,600,1\nt1,06:30:00,08:00:00,600,1\n":                 "frequencies.txt:3: the row overlaps another one of its trip: the departures of both are sold, equal ones once",
		transfers + "B,X,,,,,2,60\n":                                                             "transfers.txt:2: to_stop_id is not in stops.txt",
		transfers + "B,B,,,,,2,\n":                                                               "transfers.txt:2: transfer_type is 2, but min_transfer_time is missing",
		fareAttributes + "f,5,EUR,0,0,,\n" + fareRules + "f,X,,,\n":                              "fare_rules.txt:2: route_id is not in routes.txt",
		blocks("a daily 1 B 08:00 K 12:00", "b daily 1 B 09:00 H 10:00"):                         "trips.txt:2: the block has trips that overlap in time on one day",
		transfers + "B,X,,,,,2,60\nB,X,,,,,2,60\n":                                               "transfers.txt:2: to_stop_id is not in stops.txt\ntransfers.txt:3: to_stop_id is not in stops.txt",
	}
	opts := gtfs.Options{Strict: true, Today: traintravel.NewDate(2026, time.June, 1)}
	for replaced, want := range wrong {
		timetable, _, err := gtfs.Read(t.Context(), files(base, replaced), opts)
		var mistakes *gtfs.Errors
		if timetable != nil || !errors.As(err, &mistakes) {
			t.Errorf("%s: %v, want a mistake", replaced, err)
			continue
		}
		diff(t, replaced, err.Error(), want)
		// Without Strict the same is a note that says so.
		_, report := read(t, gtfs.Options{Today: opts.Today}, replaced)
		flagged := 0
		for _, n := range report.Notes {
			if n.Wrong {
				flagged += n.Count
			}
		}
		diff(t, replaced, flagged, mistakes.Total)
	}
	leftOut := []string{
		"-- trips.txt --\ntrip_id,route_id,service_id\nt1,ICE,daily\nt2,BUS,daily\nt3,ICE,never\n" +
			"-- routes.txt --\nroute_id,route_type\nICE,2\nBUS,3\n-- calendar_dates.txt --\nservice_id,date,exception_type\nnever,20260101,2\ndaily,99991231,1\n",
		frequencies + "t1,06:00:00,07:00:00,600,0\n",
		junction + transfers + "H1,H2,,,,,3,\nX,H,,,,,2,60\nH,H,,,,,0,60\nH,H,,,,,2,60\nH,H,,,,,2,90\n",
		fareAttributes + "f,5,EUR,0,,,\n",
		fareAttributes + "f,5,EUR,0,,,\ng,6,EUR,0,,,\n",
		zoned + fareAttributes + "f,5,EUR,0,,,\n" + fareRules + "f,ICE,1,,\n",
		ride("08:00:00", "09:00:00"), // H is not called at
	}
	for _, replaced := range leftOut {
		_, report, err := gtfs.Read(t.Context(), files(base, replaced), opts)
		if told := notes(report); err != nil || len(told) == 0 {
			t.Errorf("%s: %v with notes %v, want a note", replaced, err, told)
		}
		for _, n := range report.Notes {
			if n.Wrong {
				t.Errorf("%s: %v is wrong", replaced, n)
			}
		}
	}
}
