package gtfs_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/traintravel/traintravel/gtfs"
)

func contains(s string, parts ...string) bool {
	for _, part := range parts {
		if strings.Contains(s, part) {
			return true
		}
	}
	return false
}

// oneSeaters are coaches of one seat each.
func oneSeaters(n int) string {
	var words []string
	for i := range n {
		words = append(words, fmt.Sprintf("%d:1", i))
	}
	return strings.Join(words, " ")
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	const (
		agency    = "-- agency.txt --\nagency_id,agency_name,agency_timezone\n"
		routes    = "-- routes.txt --\nroute_id,agency_id,route_type\n"
		calendar  = "-- calendar.txt --\nservice_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date\n"
		dates     = "-- calendar_dates.txt --\nservice_id,date,exception_type\n"
		trips     = "-- trips.txt --\ntrip_id,route_id,service_id,bikes_allowed,coaches,fare_currency,fare_base,fare_per_km\n"
		stopTimes = "-- stop_times.txt --\ntrip_id,stop_id,stop_sequence,arrival_time,departure_time,pickup_type,shape_dist_traveled\n"
		end       = "t1,K,9,12:00:00,12:00:00\n"
	)
	tests := []struct{ replaced, want string }{
		{agency, "agency.txt: the file lists no agency"},
		{agency + "db,,Europe/Berlin\n", "agency.txt:2: agency_name is missing"},
		{agency + "db,Bahn,CET+1\n", `agency.txt:2: agency_timezone "CET+1" is not a known time zone`},
		{agency + "db,Bahn,Europe/Berlin\ndb,Bahn,Europe/Berlin\n", `agency.txt:3: agency_id "db" occurs twice`},
		{agency + "a,A,Europe/Berlin\nb,B,Europe/Berlin\n", `routes.txt:2: agency_id "db" is not in agency.txt`},
		{routes + "ICE,,2\nICE,,2\n", `routes.txt:3: route_id "ICE" occurs twice`},
		{routes + "ICE,,rail\n", `routes.txt:2: route_type "rail" is not a number`},
		{routes + "X,,2\n", `trips.txt:2: route_id "ICE" is not in routes.txt`},
		{"-- routes.txt --\nroute_id,route_id,type\nICE,ICE,2\n", "routes.txt:1: column \"route_id\" occurs twice\nroutes.txt:1: column route_type is missing"},
		{calendar + "daily,1,1,1,1,1,1,1,20260101,20261301\n", `calendar.txt:2: end_date "20261301" is not a date of the form 20261231`},
		{calendar + "daily,1,1,1,1,1,1,1,2026-01-01,20261231\n", `calendar.txt:2: start_date "2026-01-01" is not a date of the form 20261231`},
		{calendar + "daily,1,1,1,1,1,1,1,20260102,20260101\n", "calendar.txt:2: end_date 2026-01-01 is before start_date 2026-01-02"},
		{calendar + "daily,1,1,2,1,1,1,1,20260101,20260102\n", `calendar.txt:2: wednesday "2" is not a number from 0 to 1`},
		{calendar + strings.Repeat("daily,1,1,1,1,1,1,1,20260101,20261231\n", 2), `calendar.txt:3: service_id "daily" occurs twice`},
		{calendar, `trips.txt:2: service_id "daily" is in neither calendar.txt nor calendar_dates.txt`},
		{dates + "daily,20260230,1\n", `calendar_dates.txt:2: date "20260230" is not a date of the form 20261231`},
		{dates + "daily,20260228,3\n", `calendar_dates.txt:2: exception_type "3" is neither 1 nor 2`},
		{trips + "t1,ICE,daily\nt1,ICE,daily\n", `trips.txt:3: trip_id "t1" occurs twice`},
		{trips + "t1,ICE,daily,3\n", `trips.txt:2: bikes_allowed "3" is not a number from 0 to 2`},
		{trips + "t1,ICE,daily,,21\n", `trips.txt:2: coaches: "21" is not of the form 21:80: want each coach once, with 1 to 1000 seats`},
		{trips + "t1,ICE,daily,,1:5 1:6\n", `trips.txt:2: coaches: "1:6" is not of the form 21:80: want each coach once, with 1 to 1000 seats`},
		{trips + "t1,ICE,daily,,1:0\n", `trips.txt:2: coaches: "1:0" is not of the form 21:80: want each coach once, with 1 to 1000 seats`},
		{trips + "t1,ICE,daily,,,eur\n", `trips.txt:2: fare_currency "eur" needs fare_base or fare_per_km`},
		{trips + "t1,ICE,daily,,,eur,-1\n", `trips.txt:2: fare_base -1.00 eur is negative or too high`},
		{trips + "t1,ICE,daily,,,,,2e10\n", "trips.txt:2: fare_per_km 20000000000.00 eur is negative or too high"},
		{trips + "t1,ICE,daily,,1:1000 2:1000 3:1000 4:1000 5:1000 6:1000 7:1000 8:1000 9:1000 10:1000 11:1\n", "trips.txt:2: the coaches have 10001 seats, more than 10000"},
		{trips + "t1,ICE,daily,,,,,10000000.01\n", "trips.txt:2: fare_per_km 10000000.01 eur is negative or too high"},
		{trips + "t1,ICE,daily,," + strings.Repeat("x", 201) + ":5\n", `trips.txt:2: coaches: "` + strings.Repeat("x", 40) + `" is not of the form 21:80: want each coach once, with 1 to 1000 seats`},
		{trips + "t1,ICE,daily,," + oneSeaters(501) + "\n", "trips.txt:2: the trip has 501 coaches, more than 500"},
		{trips + strings.Repeat("t", 201) + ",ICE,daily\nt1,ICE,daily\n", "trips.txt:2: trip_id has more than 200 characters"},
		{agency + "db," + strings.Repeat("ä", 201) + ",Europe/Berlin\n", "agency.txt:2: agency_name has more than 200 characters"},
		{trips + "x,ICE,daily\n", `stop_times.txt:2: trip_id "t1" is not in trips.txt`},
		{stopTimes + "t1,B,1,08:00:00,08:00:00\nt1,X,2,,\n" + end, `stop_times.txt:3: stop_id "X" is not in stops.txt`},
		{stopTimes + "t1,B,1,8.00,08:00:00\n" + end, `stop_times.txt:2: arrival_time "8.00" is not a time of the form 09:45:00`},
		{stopTimes + "t1,B,1,08:00:00,08:60:00\n" + end, `stop_times.txt:2: departure_time "08:60:00" is not a time of the form 09:45:00`},
		{stopTimes + "t1,B,1,08:00:00,-1:00:00\n" + end, `stop_times.txt:2: departure_time "-1:00:00" is not a time of the form 09:45:00`},
		{stopTimes + "t1,B,-1,08:00:00,08:00:00\n" + end, `stop_times.txt:2: stop_sequence "-1" is not a number from 0`},
		{stopTimes + "t1,B,9,08:00:00,08:00:00\n" + end, `stop_times.txt:3: stop_sequence 9 occurs twice in trip "t1"`},
		{stopTimes + "t1,B,1,,\n" + end, `stop_times.txt:2: the first and the last call of trip "t1" need times`},
		{stopTimes + "t1,B,1,08:00:00,08:00:00,4\n" + end, `stop_times.txt:2: pickup_type "4" is not a number from 0 to 3`},
		{stopTimes + "t1,B,1,08:00:00,08:00:00,0,0x1p3\n" + end, `stop_times.txt:2: shape_dist_traveled "0x1p3" is not a distance`},
		{stopTimes + "t1,B,1,08:00:00,08:00:00,0,-3\n" + end, `stop_times.txt:2: shape_dist_traveled "-3" is not a distance`},
		{stopTimes + "t1,B,1,08:00:00,08:00:00,0,3,x\n" + end, "stop_times.txt:2: the row has more fields than the header"},
		{stopTimes + "t1,B,1,08:00:00,\"08:00:00\n" + end, "stop_times.txt:2: a field without quotes contains a quote, or a quote is missing"},
		{stopTimes + "t1,B,1,08:00:00,08:00:00\nt1,B\xe9,1,08:00:00,08:00:00\n", "stop_times.txt:3: the text is not UTF-8"},
		{stopTimes + strings.Repeat("x", 70_000), "stop_times.txt:2: the record is longer than 64 KiB"},
		{stopTimes + `"` + strings.Repeat("x\n", 70_000), "stop_times.txt:2: the record is longer than 64 KiB"},
	}
	for _, test := range tests {
		diff(t, fmt.Sprintf("%.200q", test.replaced), refuse(t, test.replaced), test.want)
	}
}

func TestMissingFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"agency.txt", "routes.txt", "stops.txt", "trips.txt", "stop_times.txt"} {
		feed := files(base)
		delete(feed, name)
		_, _, err := gtfs.Read(t.Context(), feed, gtfs.Options{})
		diff(t, name, fmt.Sprint(err), name+": the file is missing")
	}
	feed := files(base)
	delete(feed, "calendar.txt")
	_, _, err := gtfs.Read(t.Context(), feed, gtfs.Options{})
	diff(t, "calendar.txt", fmt.Sprint(err), "calendar.txt: the feed has neither this file nor calendar_dates.txt")
}

func TestManyMistakes(t *testing.T) {
	t.Parallel()
	rows := "-- stop_times.txt --\ntrip_id,stop_id,stop_sequence,arrival_time,departure_time\n" +
		strings.Repeat("t1,X,1,08:00:00,08:00:00\n", 250)
	_, _, err := gtfs.Read(t.Context(), files(base, rows), gtfs.Options{})
	var all *gtfs.Errors
	if !errors.As(err, &all) || len(all.List) != 100 || all.Total != 250 {
		t.Fatalf("%v, want 100 of 250 mistakes", err)
	}
	if !strings.HasSuffix(err.Error(), "\nand 150 more mistakes") {
		t.Errorf("the message does not count the rest: %s", err)
	}
	var one *gtfs.Error
	if !errors.As(err, &one) || one.File != "stop_times.txt" || one.Line != 2 {
		t.Errorf("the first mistake is %v", one)
	}
}

// rich is a feed that uses all the files that are read.
const rich = `
-- feed_info.txt --
feed_publisher_name,feed_version,feed_start_date,feed_end_date
Bahn,1,20260101,20261231
-- fare_attributes.txt --
fare_id,price,currency_type,transfers
f,19.99,EUR,0
-- fare_rules.txt --
fare_id,route_id,origin_id
f,ICE,
-- calendar_dates.txt --
service_id,date,exception_type
daily,20260606,2
-- trips.txt --
trip_id,route_id,service_id,trip_short_name,block_id
t1,ICE,daily,575,1
t2,ICE,daily,576,1
t3,ICE,daily,577,
-- stop_times.txt --
trip_id,stop_id,stop_sequence,arrival_time,departure_time
t1,B,1,8:00:00,8:00:00
t1,H,2,09:30:00,09:33:00
t1,K,3,12:05:00,12:05:00
t2,K,1,12:15:00,12:15:00
t2,B,2,16:15:00,16:15:00
t3,B,1,8:00:00,8:00:00
t3,K,2,12:00:00,12:00:00
-- frequencies.txt --
trip_id,start_time,end_time,headway_secs,exact_times
t3,9:00:00,11:00:00,3600,1
-- transfers.txt --
from_stop_id,to_stop_id,to_trip_id,transfer_type,min_transfer_time
H,H,t3,2,180
K,K,,3,
`

// What is wrong with the form of a table changes nothing of what it says.
func TestDirt(t *testing.T) {
	t.Parallel()
	want, wantReport := read(t, gtfs.Options{}, rich)
	if len(want.Trains) != 4 || len(want.Changes) != 4 || want.Trains[0].Fare.Base != 1999 || len(wantReport.Notes) > 0 {
		t.Fatalf("%+v %+v", want, wantReport)
	}
	rows := func(change func(row []string) []string) func(string) string {
		return func(text string) string {
			var all []string
			for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
				all = append(all, strings.Join(change(strings.Split(line, ",")), ","))
			}
			return strings.Join(all, "\n") + "\n"
		}
	}
	for what, spoil := range map[string]func(string) string{
		"byte order mark":     func(s string) string { return "\ufeff" + s },
		"CRLF":                func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"no end":              func(s string) string { return strings.TrimSuffix(s, "\n") },
		"blanks":              func(s string) string { return strings.ReplaceAll(s, ",", " ,\t\u00a0") },
		"blank lines":         func(s string) string { return strings.ReplaceAll(s, "\n", "\n\n \n,,\n") },
		"blank lines on top":  func(s string) string { return "\n\r\n" + s },
		"a comma at the end":  func(s string) string { return strings.ReplaceAll(s, "\n", ",\n") },
		"quotes":              rows(func(row []string) []string { return strings.Split(`"`+strings.Join(row, `","`)+`"`, ",") }),
		"blanks, then quotes": rows(func(row []string) []string { return strings.Split(` "`+strings.Join(row, `" , " `)+`"`, ",") }),
		"columns in another order": rows(func(row []string) []string {
			slices.Reverse(row)
			return row
		}),
		"an unknown column": rows(func(row []string) []string { return append([]string{"x"}, row...) }),
		"rows that end early": rows(func(row []string) []string {
			for len(row) > 1 && row[len(row)-1] == "" {
				row = row[:len(row)-1]
			}
			return row
		}),
		"all at once": func(s string) string {
			return "\ufeff" + strings.ReplaceAll(strings.ReplaceAll(s, "\n", ",\r\n\r\n ,,\r\n"), ",", " , ")
		},
	} {
		feed := files(base, rich)
		for name, file := range feed {
			feed[name].Data = []byte(spoil(string(file.Data)))
		}
		got, report, err := gtfs.Read(t.Context(), feed, gtfs.Options{})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		diff(t, what, got, want)
		report.Notes, wantReport.Notes = nil, nil
		diff(t, what, report, wantReport)
	}
}

// Files that need not be there may also be empty, or have no row.
func TestMissingOptionalFiles(t *testing.T) {
	t.Parallel()
	want, _ := read(t, gtfs.Options{}, `
-- trips.txt --
trip_id,route_id,service_id,trip_short_name
t1,ICE,daily,575
`)
	for _, name := range []string{"feed_info.txt", "fare_attributes.txt", "fare_rules.txt", "calendar_dates.txt", "frequencies.txt", "transfers.txt"} {
		header, _, _ := strings.Cut(string(files(rich)[name].Data), "\n")
		for _, text := range []string{"", header, header + "\n", "\ufeff" + header + "\r\n,\r\n"} {
			got, report := read(t, gtfs.Options{Strict: true}, "-- "+name+" --\n"+text)
			diff(t, fmt.Sprintf("%s: %q", name, text), got, want)
			diff(t, "notes", notes(report), []string(nil))
		}
		feed := files(base, rich)
		delete(feed, name)
		if name == "fare_attributes.txt" { // of which fare_rules.txt speaks
			delete(feed, "fare_rules.txt")
		}
		if _, _, err := gtfs.Read(t.Context(), feed, gtfs.Options{Strict: true}); err != nil {
			t.Errorf("without %s: %v", name, err)
		}
	}
}
