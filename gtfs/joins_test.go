package gtfs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
)

const stopColumns = "\n-- stops.txt --\nstop_id,stop_name,stop_lat,stop_lon,location_type,parent_station,stop_timezone\n"

// calling makes a feed in which a train of its own goes from each stop to K.
func calling(stops string, at ...string) []string {
	trips, times := "\n-- trips.txt --\ntrip_id,route_id,service_id,trip_short_name\n", "\n-- stop_times.txt --\ntrip_id,stop_id,stop_sequence,arrival_time,departure_time\n"
	for i, stop := range at {
		trips += fmt.Sprintf("t%d,ICE,daily,%d\n", i, i)
		times += fmt.Sprintf("t%d,%s,1,08:00:00,08:00:00\nt%d,K,2,12:00:00,12:00:00\n", i, stop, i)
	}
	return []string{stopColumns + stops + "K,Köln Hbf,50.943,6.959,,,\n", trips, times}
}

// stationsOf lists stations but K: their name, the stops that they are, and other names.
func stationsOf(t *testing.T, tt *traintravel.Timetable, keys ...string) []string {
	t.Helper()
	if err := tt.Check(); err != nil {
		t.Error(err)
	}
	known := map[uuid.UUID]string{}
	for _, key := range keys {
		known[gtfs.StationID("", key)] = key
	}
	all := []string{}
	for _, s := range tt.Stations {
		if s.ID == gtfs.StationID("", "K") {
			continue
		}
		line := s.Name + ": " + known[s.ID]
		for _, id := range s.OtherIDs {
			line += " " + known[id]
		}
		if len(s.OtherNames) > 0 {
			line += " (" + strings.Join(s.OtherNames, ", ") + ")"
		}
		all = append(all, line)
	}
	slices.Sort(all)
	return all
}

// A thousandth of a degree of latitude is 111 metres.
func TestStopsAreJoined(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, stops string
		at          []string
		want        []string
		joined      []string
	}{
		{
			"seven at one point", "7,St-Pancras,51.53,-0.126,,,\n1,St-Pancras,51.53,-0.126,,,\n3,St-Pancras,51.53,-0.126,,,\n", []string{"7", "1", "3"},
			[]string{"St-Pancras: 1 3 7"}, []string{"3 stops named St-Pancras, up to 0 m apart"},
		},
		{
			"names that agree", "a,Zürich HB,47.378,8.540,,,\nb,ZUERICH HB,47.3785,8.540,,,\nc,Zurich HB,47.379,8.540,,,\n", []string{"a", "b", "c"},
			[]string{"Zürich HB: a b c (ZUERICH HB)"}, []string{"3 stops named Zürich HB, up to 111 m apart"},
		},
		{
			"named by platform", "a,Stuttgart Hbf Gleis 1,48.784,9.182,,,\nb,\"Stuttgart Hbf, Gl. 2\",48.785,9.182,,,\nc,Bahnhof Stuttgart Hbf,48.785,9.182,,,\n", []string{"a", "b", "c"},
			[]string{"Stuttgart Hbf: a b c (Bahnhof Stuttgart Hbf)"}, []string{"3 stops named Stuttgart Hbf, up to 111 m apart"},
		},
		{
			"other names", "a,Hauptbahnhof,48.784,9.182,,,\nb,Bahnhofplatz,48.784,9.182,,,\n", []string{"a", "b"},
			[]string{"Bahnhofplatz: b", "Hauptbahnhof: a"}, nil,
		},
		{
			"far apart", "a,Neustadt,49.350,8.140,,,\nb,Neustadt,49.3523,8.140,,,\n", []string{"a", "b"}, // 256 m
			[]string{"Neustadt: a", "Neustadt: b"}, nil,
		},
		{
			"near", "a,Neustadt,49.350,8.140,,,\nb,Neustadt,49.3522,8.140,,,\n", []string{"a", "b"}, // 245 m
			[]string{"Neustadt: a b"}, []string{"2 stops named Neustadt, up to 245 m apart"},
		},
		{
			"around one", "a,Neustadt,49.350,8.140,,,\nb,Neustadt,49.352,8.140,,,\nc,Neustadt,49.354,8.140,,,\n", []string{"a", "b", "c"},
			[]string{"Neustadt: a b c"}, []string{"3 stops named Neustadt, up to 445 m apart"},
		},
		{
			"a chain", "a,Neustadt,49.350,8.140,,,\nb,Neustadt,49.352,8.140,,,\nc,Neustadt,49.354,8.140,,,\nd,Neustadt,49.356,8.140,,,\ne,Neustadt,49.358,8.140,,,\n", []string{"a", "b", "c", "d", "e"},
			[]string{"Neustadt: a b c", "Neustadt: d e"}, []string{"3 stops named Neustadt, up to 445 m apart", "2 stops named Neustadt, up to 222 m apart"},
		},
		{
			"with a station and its platforms", "a,Neustadt,49.350,8.140,,,\np,Neustadt,49.350,8.140,1,,\np1,Neustadt Gleis 1,49.350,8.140,0,p,\n", []string{"a", "p1"},
			[]string{"Neustadt: p a p1"}, []string{"2 stops named Neustadt, up to 0 m apart"},
		},
		{
			"one without trains gives its ID", "a,Neustadt,49.350,8.140,,,\nb,Neustadt,49.350,8.140,,,\nc,Neustadt Markt,49.350,8.140,,,\n", []string{"a"},
			[]string{"Neustadt: a b"}, nil,
		},
		{
			"across a border of time", "a,Neustadt,49.350,8.140,,,Europe/Berlin\nb,Neustadt,49.350,8.140,,,Europe/Paris\n", []string{"a", "b"},
			[]string{"Neustadt: a", "Neustadt: b"}, nil,
		},
	} {
		feed := calling(c.stops, c.at...)
		timetable, report := read(t, gtfs.Options{Strict: true}, feed...)
		diff(t, c.name, stationsOf(t, timetable, "a", "b", "c", "d", "e", "p", "p1", "1", "3", "7"), c.want)
		var told []string
		for _, j := range report.Joined {
			told = append(told, j.String())
		}
		diff(t, c.name+", reported", told, c.joined)
		if report.Stations != len(timetable.Stations) {
			t.Errorf("%s: %d stations are reported of %d", c.name, report.Stations, len(timetable.Stations))
		}
		// Calls keep the names of their own stops, by which trains are known again.
		for i, tr := range timetable.Trains {
			if want := gtfs.StationID("", strings.TrimSuffix(c.at[i], "1")); c.at[i] != "1" && tr.Calls[0].Station != want {
				t.Errorf("%s: the train from %s calls at %v", c.name, c.at[i], tr.Calls[0].Station)
			}
		}
	}
}

// Whatever the order of the rows, the stations have the same IDs and names.
func TestStopsAreJoinedInAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var rows, at, keys []string
		for i := range rapid.IntRange(2, 9).Draw(rt, "stops") {
			key := string(rune('a' + i))
			name := rapid.SampledFrom([]string{"Neustadt", "Neustadt Gleis 3", "Neustadt Bahnhof", "Altstadt"}).Draw(rt, "name")
			rows = append(rows, fmt.Sprintf("%s,%s,%.4f,8.14,%s,,\n", key, name, 49+float64(rapid.IntRange(0, 60).Draw(rt, "place"))/1e4, rapid.SampledFrom([]string{"", "1"}).Draw(rt, "kind")))
			keys = append(keys, key)
			if rapid.Bool().Draw(rt, "served") || i == 0 {
				at = append(at, key)
			}
		}
		first, report := read(t, gtfs.Options{}, calling(strings.Join(rows, ""), at...)...)
		again, _ := read(t, gtfs.Options{}, calling(strings.Join(rapid.Permutation(rows).Draw(rt, "rows"), ""), rapid.Permutation(at).Draw(rt, "at")...)...)
		if a, b := stationsOf(t, first, keys...), stationsOf(t, again, keys...); !slices.Equal(a, b) {
			rt.Fatalf("%q\n%q", a, b)
		}
		for _, j := range report.Joined {
			if j.Metres > 2*gtfs.JoinRadius {
				rt.Fatalf("%v is not a station", j)
			}
		}
	})
}

// Trains go on, and are twins, by their stations and not by their platforms.
func TestTrainsAtJoinedStops(t *testing.T) {
	t.Parallel()
	const (
		stops = "a,Hannover Hbf,52.377,9.741,,,\nb,Hannover Hbf,52.377,9.741,,,\nB,Berlin Hbf,52.525,13.369,,,\nK,Köln Hbf,50.943,6.959,,,\n"
		trips = "\n-- trips.txt --\ntrip_id,route_id,service_id,trip_short_name,block_id\nt1,ICE,daily,1,x\nt2,ICE,daily,2,x\nt3,ICE,daily,2,\n"
		times = "\n-- stop_times.txt --\ntrip_id,stop_id,stop_sequence,arrival_time,departure_time\nt1,B,1,08:00:00,08:00:00\nt1,a,2,10:00:00,10:00:00\n" +
			"t2,b,1,10:10:00,10:10:00\nt2,K,2,12:00:00,12:00:00\nt3,a,1,10:10:00,10:10:00\nt3,K,2,12:00:00,12:00:00\n"
		transfers = "\n-- transfers.txt --\nfrom_stop_id,to_stop_id,transfer_type,min_transfer_time\na,b,2,420\na,a,3,\n"
	)
	timetable, report := read(t, gtfs.Options{}, stopColumns+stops, trips, times, transfers)
	if len(timetable.Trains) != 2 || len(report.Twins) != 1 || report.Twins[0].From != "Hannover Hbf" {
		t.Errorf("trains %v, twins %v", len(timetable.Trains), report.Twins)
	}
	h := gtfs.StationID("", "a")
	diff(t, "changes", timetable.Changes, []traintravel.Change{
		{From: h, To: h, Time: 420e9},
		{From: h, To: h, FromPlatform: 1, ToPlatform: 1, Kind: traintravel.Impossible},
		{From: h, To: h, FromTrain: "t1", ToTrain: "t2", Kind: traintravel.StaySeated},
	})
	if err := timetable.Check(); err != nil {
		t.Error(err)
	}
}

func TestStationsTakeNamesOfPlatforms(t *testing.T) {
	t.Parallel()
	const platforms = "p1,Stuttgart Hbf Gleis 1,48.784,9.182,0,p,\np2,Stuttgart Hbf (tief),48.784,9.182,0,p,\np3,Gleis 3,48.784,9.182,0,p,\np4,4,48.784,9.182,0,p,\ne,Königstraße,48.784,9.182,2,p,\n"
	for _, c := range []struct {
		name, stops string
		want        []string
		renamed     []string
	}{
		{"a noun", "p,Hauptbahnhof,48.784,9.182,1,,\n" + platforms, []string{"Stuttgart Hbf: p p1 p2 p3 p4 (Hauptbahnhof, Stuttgart Hbf (tief))"}, []string{`Stuttgart Hbf, after the platforms of "Hauptbahnhof"`}},
		{"a town alone", "p,Gare centrale,48.784,9.182,1,,\np1,Lyon,48.784,9.182,0,p,\n", []string{"Lyon Gare centrale: p p1 (Gare centrale)"}, []string{`Lyon Gare centrale, after the platforms of "Gare centrale"`}},
		{"numbers", "p,Gare centrale,48.784,9.182,1,,\np1,Lyon 12A,48.784,9.182,0,p,\n", []string{"Lyon Gare centrale: p p1 (Gare centrale)"}, []string{`Lyon Gare centrale, after the platforms of "Gare centrale"`}},
		{"nouns all over", "p,Hauptbahnhof,48.784,9.182,1,,\np1,Bahnhof,48.784,9.182,0,p,\n", []string{"Hauptbahnhof: p p1"}, nil},
		{"a name of its own", "p,RV Bahnhof,48.784,9.182,1,,\np1,Ravensburg,48.784,9.182,0,p,\n", []string{"RV Bahnhof: p p1 (Ravensburg)"}, nil},
		{"the same name", "p,Stuttgart Hbf,48.784,9.182,1,,\np1,Stuttgart,48.784,9.182,0,p,\n", []string{"Stuttgart Hbf: p p1"}, nil},
		{"the one with most trains", "p,Centraal,48.784,9.182,1,,\np2,Amsterdam,48.784,9.182,0,p,\np1,Damrak,48.784,9.182,0,p,\n", []string{"Damrak Centraal: p p1 p2 (Centraal, Amsterdam)"}, []string{`Damrak Centraal, after the platforms of "Centraal"`}},
	} {
		timetable, report := read(t, gtfs.Options{Strict: true}, calling(c.stops, "p1")...)
		diff(t, c.name, stationsOf(t, timetable, "p", "p1", "p2", "p3", "p4"), c.want)
		var told []string
		for _, r := range report.Renamed {
			told = append(told, r.String())
		}
		diff(t, c.name+", reported", told, c.renamed)
	}
	// Names are final before a station is located.
	var located []string
	read(t, gtfs.Options{Locate: func(s *traintravel.Station) { located = append(located, s.Name) }}, calling("p,Hauptbahnhof,48.784,9.182,1,,\n"+platforms, "p1")...)
	diff(t, "located", located, []string{"Stuttgart Hbf", "Köln Hbf"})
}

// translations.txt knows stops by the names that the feed gives them.
func TestRenamedStationsAreTranslated(t *testing.T) {
	t.Parallel()
	feed := append(calling("p,Hauptbahnhof,48.784,9.182,1,,\np1,Stuttgart Hbf,48.784,9.182,0,p,\n", "p1"),
		"\n-- translations.txt --\ntable_name,field_name,language,translation,field_value\nstops,stop_name,fr,Gare centrale,Hauptbahnhof\nstops,stop_name,fr,Stoutgart,Stuttgart Hbf\n")
	timetable, _ := read(t, gtfs.Options{}, feed...)
	diff(t, "names", stationsOf(t, timetable, "p", "p1"), []string{"Stuttgart Hbf: p p1 (Hauptbahnhof, Gare centrale, Stoutgart)"})
}
