package gtfs_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
)

// base is a feed of one train. Tests replace files of it.
const base = `
-- agency.txt --
agency_id,agency_name,agency_url,agency_timezone
db,Bahn,https://example.org,Europe/Berlin
-- routes.txt --
route_id,agency_id,route_short_name,route_type
ICE,db,ICE,2
-- calendar.txt --
service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date
daily,1,1,1,1,1,1,1,20260101,20261231
-- stops.txt --
stop_id,stop_name,stop_lat,stop_lon
B,Berlin Hbf,52.525,13.369
H,Hannover Hbf,52.377,9.741
K,Köln Hbf,50.943,6.959
-- trips.txt --
trip_id,route_id,service_id,trip_short_name
t1,ICE,daily,575
-- stop_times.txt --
trip_id,stop_id,stop_sequence,arrival_time,departure_time
t1,B,1,08:00:00,08:00:00
t1,H,2,09:30:00,09:33:00
t1,K,3,12:05:00,12:05:00
`

// files makes a feed of texts in which a line "-- name --" begins a file; a
// later file of the same name replaces an earlier one.
func files(texts ...string) fstest.MapFS {
	feed := fstest.MapFS{}
	for _, text := range texts {
		for i, part := range strings.Split("\n"+text, "\n-- ") {
			name, data, ok := strings.Cut(part, " --\n")
			if i > 0 && ok {
				feed[name] = &fstest.MapFile{Data: []byte(data)}
			}
		}
	}
	return feed
}

// read reads base with some files replaced; there must be no mistake.
func read(t *testing.T, opts gtfs.Options, replaced ...string) (*traintravel.Timetable, gtfs.Report) {
	t.Helper()
	timetable, report, err := gtfs.Read(t.Context(), files(append([]string{base}, replaced...)...), opts)
	if err != nil {
		t.Fatal(err)
	}
	return timetable, report
}

// refuse reads base with some files replaced and returns the mistakes.
func refuse(t *testing.T, replaced ...string) string {
	t.Helper()
	timetable, _, err := gtfs.Read(t.Context(), files(append([]string{base}, replaced...)...), gtfs.Options{})
	var mistakes *gtfs.Errors
	if !errors.As(err, &mistakes) {
		t.Fatalf("Read: %v, want *gtfs.Errors", err)
	}
	if timetable != nil {
		t.Error("a feed with mistakes gave a timetable")
	}
	return err.Error()
}

// leavesNone reads base with some files replaced, of which no train is left,
// and the error ends with why.
func leavesNone(t *testing.T, why string, replaced ...string) gtfs.Report {
	t.Helper()
	timetable, report, err := gtfs.Read(t.Context(), files(append([]string{base}, replaced...)...), gtfs.Options{})
	if timetable != nil || !errors.Is(err, gtfs.ErrNoTrains) {
		t.Fatalf("%v, %v, want ErrNoTrains", timetable, err)
	}
	diff(t, "error", err.Error(), "gtfs: the feed has no train to import: "+why)
	return report
}

// times writes the calls of a train as "08:00:00-08:00:00 09:30:00-09:33:00".
func times(train traintravel.Train) string {
	var words []string
	for _, c := range train.Calls {
		words = append(words, c.Arrive.String()+"-"+c.Depart.String())
	}
	return strings.Join(words, " ")
}

func diff(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	got, report := read(t, gtfs.Options{Feed: "de"})
	b, h, k := gtfs.StationID("de", "B"), gtfs.StationID("de", "H"), gtfs.StationID("de", "K")
	want := &traintravel.Timetable{
		Stations: []traintravel.Station{
			{ID: b, Name: "Berlin Hbf", Zone: "Europe/Berlin", Latitude: 52.525, Longitude: 13.369},
			{ID: h, Name: "Hannover Hbf", Zone: "Europe/Berlin", Latitude: 52.377, Longitude: 9.741},
			{ID: k, Name: "Köln Hbf", Zone: "Europe/Berlin", Latitude: 50.943, Longitude: 6.959},
		},
		Trains: []traintravel.Train{{
			Feed: "de", ID: "t1", Line: "ICE", Operator: "Bahn", Number: "ICE 575", Zone: "Europe/Berlin",
			Days: traintravel.Daily(traintravel.NewDate(2026, time.January, 1), traintravel.NewDate(2026, time.December, 31)),
			Calls: []traintravel.Call{
				{Station: b, Arrive: traintravel.Clock(8, 0), Depart: traintravel.Clock(8, 0)},
				{Station: h, Arrive: traintravel.Clock(9, 30), Depart: traintravel.Clock(9, 33)},
				{Station: k, Arrive: traintravel.Clock(12, 5), Depart: traintravel.Clock(12, 5)},
			},
			Fare: traintravel.Fare{Currency: "eur", Base: 300, PerKm: 12},
		}},
	}
	diff(t, "timetable", got, want)
	diff(t, "report", report, gtfs.Report{
		Stations: 3, Trains: 1, Calls: 3,
		First: traintravel.NewDate(2026, time.January, 1), Last: traintravel.NewDate(2026, time.December, 31),
		Prices: []gtfs.Pricing{{Currency: "eur", Base: [2]int64{300, 300}, PerKm: [2]int64{12, 12}, Trains: 1}}, Seats: []gtfs.Seating{{Trains: 1}},
	})
}

func TestOptions(t *testing.T) {
	t.Parallel()
	opts := gtfs.Options{
		Fare:         traintravel.Fare{Currency: "chf", PerKm: 40},
		Coaches:      []traintravel.Coach{{Number: "1", Seats: 80}},
		RouteType:    func(kind int) bool { return kind == 1 },
		DistanceUnit: 1000,
		Locate: func(s *traintravel.Station) {
			s.Country = "CH"
			if s.Name == "Berlin Hbf" {
				s.Zone = "Europe/Zurich"
			}
		},
	}
	var last, total int64
	opts.Progress = func(read, of int64) { last, total = read, of }
	timetable, _ := read(t, opts, `
-- routes.txt --
route_id,agency_id,route_short_name,route_type
ICE,db,U1,1
-- stop_times.txt --
trip_id,stop_id,stop_sequence,arrival_time,departure_time,shape_dist_traveled
t1,B,1,08:00:00,08:00:00,1.5
t1,K,3,12:05:00,12:05:00,481.75
`)
	train := timetable.Trains[0]
	diff(t, "fare", train.Fare, opts.Fare)
	diff(t, "coaches", train.Coaches, opts.Coaches)
	diff(t, "metres", train.Calls[1].Metres, int32(480_250))
	s := timetable.Stations
	diff(t, "stations", []string{s[0].Country, s[0].Zone, s[1].Country, s[1].Zone},
		[]string{"CH", "Europe/Zurich", "CH", "Europe/Berlin"})
	if last == 0 || last != total {
		t.Errorf("progress ended at %d of %d", last, total)
	}
}

// An empty timetable would withdraw what is in force.
func TestNoTrains(t *testing.T) {
	t.Parallel()
	const trips = "-- trips.txt --\ntrip_id,route_id,service_id\n"
	const kinds = "-- routes.txt --\nroute_id,route_type\nbus,3\ntram,0\na,4\nb,5\nc,6\nd,7\n"
	const calls = "-- stop_times.txt --\ntrip_id,stop_id,stop_sequence,arrival_time,departure_time\n"
	leavesNone(t, "trips.txt has no trips", trips, calls)
	leavesNone(t, "trips.txt:2: the trip has fewer than two calls", calls)
	report := leavesNone(t, "trips.txt:2: route_type 3 is not read (2 times), trips.txt:4: route_type 0 is not read; only rail is read, unless a program sets Options.RouteType",
		kinds, trips+"1,bus,daily\n2,bus,daily\n3,tram,daily\n", calls)
	diff(t, "notes", len(report.Notes), 3)
	leavesNone(t, "trips.txt:2: route_type 3 is not read, trips.txt:3: route_type 0 is not read, trips.txt:4: route_type 4 is not read, "+
		"trips.txt:5: route_type 5 is not read, trips.txt:6: route_type 6 is not read, and 1 more reasons; only rail is read, unless a program sets Options.RouteType",
		kinds, trips+"1,bus,daily\n2,tram,daily\n3,a,daily\n4,b,daily\n5,c,daily\n6,d,daily\n", calls)
}

// What Check would refuse of a timetable is refused before the feed is read.
func TestBadOptions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		opts gtfs.Options
		want string // the error begins with it
	}{
		{gtfs.Options{DistanceUnit: -1}, "gtfs: Options.DistanceUnit: "},
		{gtfs.Options{Fare: traintravel.Fare{Currency: "EUR", Base: 1}}, `gtfs: Options.Fare.Currency: invalid currency "EUR"`},
		{gtfs.Options{Fare: traintravel.Fare{Base: 1}}, "gtfs: Options.Fare.Currency: "},
		{gtfs.Options{Fare: traintravel.Fare{Currency: "eur", Base: -1}}, "gtfs: Options.Fare: has base -1"},
		{gtfs.Options{Fare: traintravel.Fare{Currency: "eur", PerKm: 1e9 + 1}}, "gtfs: Options.Fare: has base 0 and per km 1000000001"},
		{gtfs.Options{Coaches: []traintravel.Coach{{Number: "1", Seats: 8}, {Number: "1", Seats: 8}}}, `gtfs: Options.Coaches[1].Number: "1" occurs twice`},
		{gtfs.Options{Coaches: []traintravel.Coach{{Number: "1"}}}, "gtfs: Options.Coaches[0].Seats: invalid number 0"},
		{gtfs.Options{Coaches: []traintravel.Coach{{Seats: 8}}}, "gtfs: Options.Coaches[0].Number: is empty"},
		{gtfs.Options{Coaches: make([]traintravel.Coach, traintravel.MaxCoaches+1)}, "gtfs: Options.Coaches: has 501 entries"},
	} {
		timetable, _, err := gtfs.Read(t.Context(), files(base), test.opts)
		if timetable != nil || err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %s", test.opts, err, test.want)
		}
	}
	if _, _, err := gtfs.Read(t.Context(), nil, gtfs.Options{}); err == nil || err.Error() != "gtfs: the file system is nil" {
		t.Errorf("no file system: %v", err)
	}
}

func TestExtensionColumns(t *testing.T) {
	t.Parallel()
	timetable, _ := read(t, gtfs.Options{KeepTwins: true}, `
-- stops.txt --
stop_country,stop_address,stop_id,stop_name,stop_lat,stop_lon,stop_desc
DE,Europaplatz 1,B,Berlin Hbf,52.525,13.369,on two levels
fr,,K,Paris Nord,48.881,2.355,
-- trips.txt --
trip_id,route_id,service_id,bikes_allowed,dogs_allowed,bicycle_hooks,coaches,fare_currency,fare_base,fare_per_km
t1,ICE,daily,1,2,8,21:80  22:76,EUR,19.00,0.12
t2,ICE,daily,2,1,,21:80  22:76,jpy,,25
t3,ICE,daily,0,,,,,5,
t4,ICE,daily,,,,,,,
-- stop_times.txt --
trip_id,stop_id,stop_sequence,arrival_time,departure_time
t1,B,1,08:00:00,08:00:00
t1,K,2,17:05:00,17:05:00
t2,B,1,08:00:00,08:00:00
t2,K,2,17:05:00,17:05:00
t3,B,1,08:00:00,08:00:00
t3,K,2,17:05:00,17:05:00
t4,B,1,08:00:00,08:00:00
t4,K,2,17:05:00,17:05:00
`)
	type extra struct {
		Bicycles, Dogs traintravel.Allowance
		Hooks          int
		Coaches        []traintravel.Coach
		Fare           traintravel.Fare
	}
	var got []extra
	for _, train := range timetable.Trains {
		got = append(got, extra{train.Bicycles, train.Dogs, train.Hooks, train.Coaches, train.Fare})
	}
	coaches := []traintravel.Coach{{Number: "21", Seats: 80}, {Number: "22", Seats: 76}}
	diff(t, "trains", got, []extra{
		{traintravel.Allowed, traintravel.NotAllowed, 8, coaches, traintravel.Fare{Currency: "eur", Base: 1900, PerKm: 12}},
		{traintravel.NotAllowed, traintravel.Allowed, 0, coaches, traintravel.Fare{Currency: "jpy", PerKm: 25}},
		{Fare: traintravel.Fare{Currency: "eur", Base: 500}},
		{Fare: traintravel.Fare{Currency: "eur", Base: 300, PerKm: 12}},
	})
	s := timetable.Stations
	diff(t, "stations", []string{s[0].Country, s[0].Address, s[1].Country, s[1].Address}, []string{"DE", "Europaplatz 1", "FR", ""})
}

func TestStationID(t *testing.T) {
	t.Parallel()
	const berlin = "efdbb9d1-02c2-4bc3-afb7-6788d8782b1e"
	if got := gtfs.StationID("any", berlin); got.String() != berlin {
		t.Errorf("a stop_id that is a UUID became %s", got)
	}
	// Pinned: bookings and trip IDs depend on it.
	if got := gtfs.StationID("de", "8011160").String(); got != "0ac3bc0f-4c99-59d5-80d7-28f5cf60327f" {
		t.Errorf("the ID of a known station changed to %s", got)
	}
	seen := map[uuid.UUID]string{}
	for _, name := range [][2]string{{"de", "1"}, {"fr", "1"}, {"", "de1"}, {"de1", ""}, {"d", "e1"}, {"", uuid.Nil.String()}, {"", "{" + berlin + "}"}} {
		id := gtfs.StationID(name[0], name[1])
		if other, twice := seen[id]; twice || id.Version() != 5 {
			t.Errorf("%q has the ID %s, version %d, also of %q", name, id, id.Version(), other)
		}
		seen[id] = name[0] + " " + name[1]
	}
}

// TestFeed reads the feed that TRAINTRAVEL_TEST_FEED names, or that of the demo
// network.
func TestFeed(t *testing.T) {
	path := os.Getenv("TRAINTRAVEL_TEST_FEED")
	if path == "" {
		path = filepath.Join("..", "internal", "demo", "feed")
	}
	timetable, report, err := gtfs.ReadFile(t.Context(), path, gtfs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	check(t, timetable, report)
	t.Logf("%+v", report)
}
