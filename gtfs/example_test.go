package gtfs_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/traintravel/traintravel/gtfs"
)

func ExampleRead() {
	feed := fstest.MapFS{
		"agency.txt":         {Data: []byte("agency_name,agency_timezone\nNightjet,Europe/Vienna\n")},
		"routes.txt":         {Data: []byte("route_id,route_short_name,route_type\nnj,NJ,102\nbus,12,3\n")},
		"calendar_dates.txt": {Data: []byte("service_id,date,exception_type\nnew year,20261231,1\n")},
		"stops.txt":          {Data: []byte("stop_id,stop_name,stop_lat,stop_lon\nw,Wien Hbf,48.185,16.376\nv,Venezia S. Lucia,45.441,12.321\n")},
		"trips.txt":          {Data: []byte("trip_id,route_id,service_id,trip_short_name\n1,nj,new year,237\n2,bus,new year,\n")},
		"stop_times.txt": {Data: []byte("trip_id,stop_id,stop_sequence,arrival_time,departure_time\n" +
			"1,w,1,21:27:00,21:27:00\n1,v,2,32:34:00,32:34:00\n")},
	}
	timetable, report, err := gtfs.Read(context.Background(), feed, gtfs.Options{Feed: "at"})
	if err != nil {
		fmt.Println(err) // every mistake with its file and line
		return
	}
	for _, train := range timetable.Trains {
		fmt.Println(train.Operator, train.Number, "leaves at", train.Calls[0].Depart, "and arrives at", train.Calls[1].Arrive)
	}
	fmt.Println(report.Stations, "stations,", report.Trains, "train, running from", report.First, "to", report.Last)
	for _, note := range report.Notes {
		fmt.Println(note)
	}
	// Output:
	// Nightjet NJ 237 leaves at 21:27:00 and arrives at 32:34:00
	// 2 stations, 1 train, running from 2026-12-31 to 2026-12-31
	// trips.txt:3: route_type 3 is not read
}
