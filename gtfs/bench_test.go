package gtfs

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// synthetic returns a feed of so many trips with 12 calls each.
func synthetic(trips int) fs.FS {
	const stops = 500
	var s, t, c strings.Builder
	s.WriteString("stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station\n")
	for i := range stops {
		fmt.Fprintf(&s, "S%d,Station %d,%f,%f,1,\n", i, i, 45+float64(i%25)/3, 5+float64(i/25)/3)
		fmt.Fprintf(&s, "S%d:1,\"Station %d, platform 1\",%f,%f,,S%d\n", i, i, 45+float64(i%25)/3, 5+float64(i/25)/3, i)
	}
	t.WriteString("route_id,service_id,trip_id,trip_short_name,bikes_allowed\n")
	c.WriteString("trip_id,arrival_time,departure_time,stop_id,stop_sequence,pickup_type,drop_off_type\n")
	for i := range trips {
		fmt.Fprintf(&t, "R,daily,trip-%d,%d,1\n", i, i)
		at := i % 1440
		for j := range 12 {
			fmt.Fprintf(&c, "trip-%d,%02d:%02d:00,%02d:%02d:00,S%d:1,%d,0,0\n",
				i, at/60, at%60, (at+2)/60, (at+2)%60, (i+j*7)%stops, j)
			at += 20
		}
	}
	return fstest.MapFS{
		"agency.txt":     {Data: []byte("agency_name,agency_timezone\nRailway,Europe/Berlin\n")},
		"routes.txt":     {Data: []byte("route_id,route_short_name,route_type\nR,IC,2\n")},
		"calendar.txt":   {Data: []byte("service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date\ndaily,1,1,1,1,1,1,1,20260101,20261231\n")},
		"stops.txt":      {Data: []byte(s.String())},
		"trips.txt":      {Data: []byte(t.String())},
		"stop_times.txt": {Data: []byte(c.String())},
	}
}

const benchTrips = 10_000

func BenchmarkRead(b *testing.B) {
	feed := synthetic(benchTrips)
	b.ReportAllocs()
	for b.Loop() {
		_, report, err := Read(b.Context(), feed, Options{})
		if err != nil || report.Calls != 12*benchTrips {
			b.Fatal(report, err)
		}
	}
}

// BenchmarkScan is what BenchmarkRead is measured against: the same files
// through encoding/csv, and nothing done with them.
func BenchmarkScan(b *testing.B) {
	feed := synthetic(benchTrips)
	b.ReportAllocs()
	for b.Loop() {
		for _, table := range tables {
			file, err := feed.Open(table.name)
			if err != nil {
				continue
			}
			r := csv.NewReader(file)
			r.ReuseRecord = true
			for err == nil {
				_, err = r.Read()
			}
			if !errors.Is(err, io.EOF) {
				b.Fatal(err)
			}
		}
	}
}
