package gtfs_test

import (
	"errors"
	"fmt"
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
		{agency, "agency.txt: there is no agency"},
		{agency + "db,,Europe/Berlin\n", "agency.txt:2: agency_name is missing"},
		{agency + "db,Bahn,CET+1\n", `agency.txt:2: agency_timezone "CET+1" is no known time zone`},
		{agency + "db,Bahn,Europe/Berlin\ndb,Bahn,Europe/Berlin\n", `agency.txt:3: agency_id "db" is there twice`},
		{agency + "a,A,Europe/Berlin\nb,B,Europe/Berlin\n", `routes.txt:2: agency_id "db" is not in agency.txt`},
		{routes + "ICE,,2\nICE,,2\n", `routes.txt:3: route_id "ICE" is there twice`},
		{routes + "ICE,,rail\n", `routes.txt:2: route_type "rail" is no number`},
		{routes + "X,,2\n", `trips.txt:2: route_id "ICE" is not in routes.txt`},
		{"-- routes.txt --\nroute_id,route_id,type\nICE,ICE,2\n", "routes.txt:1: column \"route_id\" is there twice\nroutes.txt:1: column route_type is missing"},
		{calendar + "daily,1,1,1,1,1,1,1,20260101,20261301\n", `calendar.txt:2: end_date "20261301" is no date of the form 20261231`},
		{calendar + "daily,1,1,1,1,1,1,1,2026-01-01,20261231\n", `calendar.txt:2: start_date "2026-01-01" is no date of the form 20261231`},
		{calendar + "daily,1,1,1,1,1,1,1,20260102,20260101\n", "calendar.txt:2: end_date 2026-01-01 is before start_date 2026-01-02"},
		{calendar + "daily,1,1,2,1,1,1,1,20260101,20260102\n", `calendar.txt:2: wednesday "2" is no number from 0 to 1`},
		{calendar + strings.Repeat("daily,1,1,1,1,1,1,1,20260101,20261231\n", 2), `calendar.txt:3: service_id "daily" is there twice`},
		{calendar, `trips.txt:2: service_id "daily" is in neither calendar.txt nor calendar_dates.txt`},
		{dates + "daily,20260230,1\n", `calendar_dates.txt:2: date "20260230" is no date of the form 20261231`},
		{dates + "daily,20260228,3\n", `calendar_dates.txt:2: exception_type "3" is neither 1 nor 2`},
		{trips + "t1,ICE,daily\nt1,ICE,daily\n", `trips.txt:3: trip_id "t1" is there twice`},
		{trips + "t1,ICE,daily,3\n", `trips.txt:2: bikes_allowed "3" is no number from 0 to 2`},
		{trips + "t1,ICE,daily,,21\n", `trips.txt:2: coaches: "21" is not of the form 21:80, a number once and 1 to 1000 seats`},
		{trips + "t1,ICE,daily,,1:5 1:6\n", `trips.txt:2: coaches: "1:6" is not of the form 21:80, a number once and 1 to 1000 seats`},
		{trips + "t1,ICE,daily,,1:0\n", `trips.txt:2: coaches: "1:0" is not of the form 21:80, a number once and 1 to 1000 seats`},
		{trips + "t1,ICE,daily,,,eur\n", `trips.txt:2: fare_currency "eur" is without fare_base and fare_per_km`},
		{trips + "t1,ICE,daily,,,eur,-1\n", `trips.txt:2: fare_base -1.00 eur is negative or absurdly high`},
		{trips + "t1,ICE,daily,,,,,2e10\n", "trips.txt:2: fare_per_km 20000000000.00 eur is negative or absurdly high"},
		{trips + "t1,ICE,daily,,1:1000 2:1000 3:1000 4:1000 5:1000 6:1000 7:1000 8:1000 9:1000 10:1000 11:1\n", "trips.txt:2: coaches have 10001 seats, more than 10000"},
		{trips + "t1,ICE,daily,,,,,10000000.01\n", "trips.txt:2: fare_per_km 10000000.01 eur is negative or absurdly high"},
		{trips + "t1,ICE,daily,," + strings.Repeat("x", 201) + ":5\n", `trips.txt:2: coaches: "` + strings.Repeat("x", 40) + `" is not of the form 21:80, a number once and 1 to 1000 seats`},
		{trips + "t1,ICE,daily,," + oneSeaters(501) + "\n", "trips.txt:2: coaches are 501, more than 500"},
		{trips + strings.Repeat("t", 201) + ",ICE,daily\nt1,ICE,daily\n", "trips.txt:2: trip_id has more than 200 characters"},
		{agency + "db," + strings.Repeat("ä", 201) + ",Europe/Berlin\n", "agency.txt:2: agency_name has more than 200 characters"},
		{trips + "x,ICE,daily\n", `stop_times.txt:2: trip_id "t1" is not in trips.txt`},
		{stopTimes + "t1,B,1,08:00:00,08:00:00\nt1,X,2,,\n" + end, `stop_times.txt:3: stop_id "X" is not in stops.txt`},
		{stopTimes + "t1,B,1,8.00,08:00:00\n" + end, `stop_times.txt:2: arrival_time "8.00" is no time of the form 09:45:00`},
		{stopTimes + "t1,B,1,08:00:00,08:60:00\n" + end, `stop_times.txt:2: departure_time "08:60:00" is no time of the form 09:45:00`},
		{stopTimes + "t1,B,1,08:00:00,-1:00:00\n" + end, `stop_times.txt:2: departure_time "-1:00:00" is no time of the form 09:45:00`},
		{stopTimes + "t1,B,-1,08:00:00,08:00:00\n" + end, `stop_times.txt:2: stop_sequence "-1" is no number from 0`},
		{stopTimes + "t1,B,9,08:00:00,08:00:00\n" + end, `stop_times.txt:3: stop_sequence 9 is there twice in trip "t1"`},
		{stopTimes + "t1,B,1,,\n" + end, `stop_times.txt:2: the first and the last call of trip "t1" need times`},
		{stopTimes + "t1,B,1,08:00:00,08:00:00,4\n" + end, `stop_times.txt:2: pickup_type "4" is no number from 0 to 3`},
		{stopTimes + "t1,B,1,08:00:00,08:00:00,0,0x1p3\n" + end, `stop_times.txt:2: shape_dist_traveled "0x1p3" is no distance`},
		{stopTimes + "t1,B,1,08:00:00,08:00:00,0,-3\n" + end, `stop_times.txt:2: shape_dist_traveled "-3" is no distance`},
		{stopTimes + "t1,B,1,08:00:00,08:00:00,0,3,x\n" + end, "stop_times.txt:2: the row has more fields than the header"},
		{stopTimes + "t1,B,1,08:00:00,\"08:00:00\n" + end, "stop_times.txt:2: a quote stands in a field that is not quoted, or another one is missing"},
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
		diff(t, name, fmt.Sprint(err), name+": the feed has no such file")
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

func TestDirt(t *testing.T) {
	t.Parallel()
	want, _ := read(t, gtfs.Options{})
	feed := files(base)
	for name, file := range feed {
		dirty := "\ufeff" + strings.ReplaceAll(string(file.Data), "\n", ",\r\n\r\n ,,\r\n")
		feed[name].Data = []byte(strings.ReplaceAll(dirty, ",", " , "))
	}
	got, _, err := gtfs.Read(t.Context(), feed, gtfs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "timetable", got, want)
}
