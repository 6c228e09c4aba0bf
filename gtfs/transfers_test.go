package gtfs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
)

// junction is a feed of three trains and of one bus, with platforms in Hannover
// (H) and near to it a station of its own (L).
const junction = `
-- routes.txt --
route_id,route_short_name,route_type
ICE,ICE,2
RE,RE,2
BUS,1,3
-- stops.txt --
stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station
B,Berlin Hbf,52.525,13.369,1,
H,Hannover Hbf,52.377,9.741,1,
H1,Hannover Hbf,52.377,9.741,0,H
H2,Hannover Hbf,52.377,9.741,0,H
H3,Hannover Hbf,52.377,9.741,0,H
K,Köln Hbf,50.943,6.959,1,
L,Hannover Süd,52.367,9.741,1,
L1,Hannover Süd,52.367,9.741,0,L
X,Nowhere,50,10,1,
-- trips.txt --
trip_id,route_id,service_id,block_id
a,ICE,daily,
b,RE,daily,
c,RE,daily,
bus,BUS,daily,
rests,RE,never,
-- calendar_dates.txt --
service_id,date,exception_type
never,20260101,2
-- stop_times.txt --
trip_id,stop_id,stop_sequence,arrival_time,departure_time
a,B,1,08:00:00,08:00:00
a,H1,2,09:30:00,09:30:00
b,H2,1,10:00:00,10:00:00
b,K,2,12:00:00,12:00:00
c,L1,1,10:00:00,10:00:00
c,K,2,12:00:00,12:00:00
bus,B,1,08:00:00,08:00:00
`

const transfers = `-- transfers.txt --
from_stop_id,to_stop_id,from_route_id,to_route_id,from_trip_id,to_trip_id,transfer_type,min_transfer_time
`

// changes writes the rules of a timetable: "H>H ICE>* a>b takes 5m0s".
func changes(t *testing.T, timetable *traintravel.Timetable) []string {
	t.Helper()
	if err := timetable.Check(); err != nil {
		t.Errorf("the timetable cannot be loaded: %v", err)
	}
	stops := map[uuid.UUID]string{}
	for _, id := range []string{"B", "H", "K", "L"} {
		stops[gtfs.StationID("", id)] = id
	}
	star := func(s string) string {
		if s == "" {
			return "*"
		}
		return s
	}
	var all []string
	for _, ch := range timetable.Changes {
		at := func(stop string, platform uint16) string {
			if platform != 0 {
				stop += fmt.Sprint("#", platform)
			}
			return stop
		}
		s := fmt.Sprintf("%s>%s %s>%s %s>%s %v", at(stops[ch.From], ch.FromPlatform), at(stops[ch.To], ch.ToPlatform),
			star(ch.FromLine), star(ch.ToLine), star(ch.FromTrain), star(ch.ToTrain), ch.Kind)
		if ch.Kind == traintravel.Takes {
			s += " " + ch.Time.String()
		}
		all = append(all, s)
	}
	return all
}

func TestTransfers(t *testing.T) {
	t.Parallel()
	const (
		unread  = "transfers.txt:2: the row is about a stop, a route or a trip that is not read"
		several = "transfers.txt:3: several rules apply to the stations and trains: the strictest is used"
		missing = "transfers.txt:2: from_stop_id or to_stop_id is missing"
		useless = "transfers.txt:2: min_transfer_time is ignored, because transfer_type is not 2"
	)
	tests := []struct {
		name, rows string
		want       string // rules, one a line
		notes      string // likewise
	}{
		{"recommended", "H,H,,,,,0,", "", ""},
		{"recommended by default", "H1,H2,,,,,,", "", ""},
		// Hannover Süd is 0.01 degrees south, 1111.95 m.
		{"recommended, of two stations", "H1,L1,,,,,0,", "H>L *>* *>* takes 23m32s", ""},
		{"recommended, too far", "B,K,,,,,0,", "", "transfers.txt:2: transfer_type is 0, but the stations are more than a day's walk from each other"},
		{"recommended, with a time", "H,H,,,,,0,60", "", useless},
		{"timed", "H,H,,,,,1,", "H>H *>* *>* takes 0s", ""},
		{"timed, with a time", "H,H,,,,,1,60", "H>H *>* *>* takes 0s", useless},
		{"timed, by route", "H1,H2,ICE,RE,,,1,", "H>H ICE>RE *>* takes 0s", ""},
		{"timed, of platforms", "H1,H,,,,,1,", "", "transfers.txt:2: the row guarantees a change between two platforms only, and is left out"},
		{"timed, to platforms", "H,H2,,,,,1,", "", "transfers.txt:2: the row guarantees a change between two platforms only, and is left out"},
		{"minimum", "H,H,,,,,2,180", "H>H *>* *>* takes 3m0s", ""},
		{"minimum of nothing", "H,H,,,,,2,0", "H>H *>* *>* takes 0s", ""},
		{"minimum, a walk", "H,L,,,,,2,1200", "H>L *>* *>* takes 20m0s", ""},
		{"minimum, a way and back", "H,L,,,,,2,1200\nL,H,,,,,2,1300", "H>L *>* *>* takes 20m0s\nL>H *>* *>* takes 21m40s", ""},
		{"minimum, a day", "H,H,,,,,2,86400", "H>H *>* *>* takes 24h0m0s", ""},
		{"minimum, more than a day", "H,H,,,,,2,86401", "H>H *>* *>* impossible", "transfers.txt:2: min_transfer_time is longer than a day: the change counts as impossible"},
		{"minimum is missing", "H,H,,,,,2,", "", "transfers.txt:2: transfer_type is 2, but min_transfer_time is missing"},
		{"the longest of platforms", "H1,H2,,,,,2,120\nH1,H3,,,,,2,420\nH2,H3,,,,,2,300", "H>H *>* *>* takes 7m0s", several + " (2 times)"},
		{"platforms agree", "H1,H2,,,,,2,120\nH1,H3,,,,,2,120", "H>H *>* *>* takes 2m0s", ""},
		{"minimum and timed", "H,H,,,,,2,120\nH,H,,,,,1,", "H>H *>* *>* takes 2m0s", several},
		{"impossible", "H,H,,,,,3,", "H>H *>* *>* impossible", ""},
		{"impossible from a platform", "H1,H,,,,,3,", "H#1>H *>* *>* impossible", ""},
		{"impossible to a platform", "H,H1,,,,,3,", "H>H#1 *>* *>* impossible", ""},
		{"impossible between platforms", "H1,H2,,,,,3,", "H#1>H#2 *>* *>* impossible", ""},
		{"impossible between platforms of two stations", "H1,L1,,,,,3,", "H#1>L#1 *>* *>* impossible", ""},
		{"impossible between platforms, twice", "H1,H2,,,,,3,\nH2,H1,,,,,3,\nH1,H2,,,,,3,", "H#1>H#2 *>* *>* impossible\nH#2>H#1 *>* *>* impossible", ""},
		{"impossible between platforms, by route", "H1,H2,ICE,RE,,,3,", "H#1>H#2 ICE>RE *>* impossible", ""},
		{"impossible between platforms, by one trip", "H1,H2,,,a,,3,", "H>H#2 *>* a>* impossible", ""},
		{"impossible between platforms, and a minimum", "H1,H2,,,,,2,120\nH1,H2,,,,,3,\nH1,H3,,,,,2,300", "H>H *>* *>* takes 5m0s\nH#1>H#2 *>* *>* impossible", "transfers.txt:4: several rules apply to the stations and trains: the strictest is used"},
		{"impossible between platforms, and a minimum of routes at others", "H1,H3,ICE,RE,,,2,120\nH1,H2,,,,,3,", "H#1>H#3 ICE>RE *>* takes 2m0s\nH#1>H#2 *>* *>* impossible", ""},
		{"impossible between platforms, and a trip that waits", "H1,H2,,,a,b,1,\nH1,H2,,,,,3,", "H>H *>* a>b takes 0s\nH#1>H#2 *>* *>* impossible", ""},
		{"more than a day between platforms", "H1,H2,,,,,2,86401", "H#1>H#2 *>* *>* impossible", "transfers.txt:2: min_transfer_time is longer than a day: the change counts as impossible"},
		{"seated, and not", ",,,,a,b,4,\n,,,,a,b,5,", "", several},
		{"not seated, and seated", ",,,,a,b,5,\n,,,,a,b,4,", "", several},
		{"impossible between platforms, by trip", "H1,H2,,,a,b,3,", "H>H *>* a>b impossible", ""},
		{"impossible, then possible", "H,H,,,,,3,\nH,H,,,,,2,600", "H>H *>* *>* impossible", several},
		{"possible, then impossible", "H,H,,,,,2,600\nH,H,,,,,3,", "H>H *>* *>* impossible", several},
		{"by route", "H,H,ICE,,,,2,60\nH,H,,RE,,,2,90\nH,H,ICE,RE,,,2,120", "H>H ICE>* *>* takes 1m0s\nH>H *>RE *>* takes 1m30s\nH>H ICE>RE *>* takes 2m0s", ""},
		{"by trip", "H,H,,,a,,2,60\nH,H,,,,b,2,90\nH,H,,,a,b,2,120", "H>H *>* a>* takes 1m0s\nH>H *>* *>b takes 1m30s\nH>H *>* a>b takes 2m0s", ""},
		{"by route and trip", "H,H,ICE,RE,a,,2,60", "H>H *>RE a>* takes 1m0s", ""},
		{"of a trip and another's route", "H,H,RE,,a,,2,60", "", "transfers.txt:2: from_trip_id is not a trip of from_route_id"},
		{"stays seated", ",,,,a,b,4,", "H>H *>* a>b stay-seated", ""},
		{"stays seated, by stop", "H1,H2,,,a,b,4,", "H>H *>* a>b stay-seated", ""},
		{"stays seated, or changes", "H,H,,,a,b,2,60\n,,,,a,b,4,", "H>H *>* a>b stay-seated", several},
		{"stays seated, which is impossible", "H,H,,,a,b,3,\n,,,,a,b,4,", "H>H *>* a>b impossible", several},
		{"stays seated elsewhere", ",,,,a,c,4,", "", "transfers.txt:2: the first trip continues as the second, but does not end where the second begins"},
		{"stays seated on itself", ",,,,a,a,4,", "", "transfers.txt:2: the trip continues as itself"},
		{"who stays seated", ",,,,a,,4,", "", "transfers.txt:2: transfer_type is 4, but from_trip_id or to_trip_id is missing"},
		{"who does not", "H,H,,,,b,5,", "", "transfers.txt:2: transfer_type is 5, but from_trip_id or to_trip_id is missing"},
		{"not seated", ",,,,a,b,5,", "", ""},
		{"no train calls", "X,H,,,,,2,60", "", unread},
		{"a route that is not read", "H,H,,BUS,,,2,60", "", unread},
		{"a trip that is not read", "H,H,,,bus,,2,60", "", unread},
		{"a trip that never runs", "H,H,,,,rests,3,", "", unread},
		{"no such stop", "Y,H,,,,,2,60", "", "transfers.txt:2: from_stop_id is not in stops.txt"},
		{"no such stop to go to", "X,Y,,,,,2,60", "", "transfers.txt:2: to_stop_id is not in stops.txt"},
		{"no such route", "H,H,,Y,,,2,60", "", "transfers.txt:2: to_route_id is not in routes.txt"},
		{"no such trip", "H,H,,,y,,2,60", "", "transfers.txt:2: from_trip_id is not in trips.txt"},
		{"no stop", ",H,,,,,2,60", "", missing},
		{"no stop to go to", "H,,,,,,2,60", "", missing},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			timetable, report := read(t, gtfs.Options{}, junction, transfers+test.rows+"\n")
			diff(t, "rules", strings.Join(changes(t, timetable), "\n"), test.want)
			var other []string
			for _, n := range report.Notes {
				if n.File == "transfers.txt" {
					other = append(other, n.String())
				}
			}
			diff(t, "notes", strings.Join(other, "\n"), test.notes)
		})
	}
}

// The rules say to which feed their trains and lines belong.
func TestTransfersNameTheFeed(t *testing.T) {
	t.Parallel()
	timetable, _ := read(t, gtfs.Options{Feed: "de"}, junction, transfers+"H,H,,,,,2,60\n,,,,a,b,4,\n")
	station := gtfs.StationID("de", "H")
	diff(t, "rules", timetable.Changes, []traintravel.Change{
		{From: station, To: station, Feed: "de", Kind: traintravel.Takes, Time: 60e9},
		{From: station, To: station, Feed: "de", FromTrain: "a", ToTrain: "b", Kind: traintravel.StaySeated},
	})
	diff(t, "lines", []string{timetable.Trains[0].Line, timetable.Trains[1].Line}, []string{"ICE", "RE"})
}

// A rule for a trip that is repeated is one for each of its trains.
func TestTransfersOfRepeatedTrips(t *testing.T) {
	t.Parallel()
	const repeated = frequencies + "b,10:00:00,10:20:00,600,1\nc,10:00:00,10:20:00,600,1\n"
	timetable, _ := read(t, gtfs.Options{}, junction, repeated, transfers+"H,H,,,a,b,2,60\n")
	diff(t, "rules", changes(t, timetable), []string{
		"H>H *>* a>b@10:00:00 takes 1m0s",
		"H>H *>* a>b@10:10:00 takes 1m0s",
	})
	timetable, _ = read(t, gtfs.Options{}, junction, repeated, transfers+"K,L,,,b,c,3,\n")
	diff(t, "rules", changes(t, timetable), []string{
		"K>L *>* b@10:00:00>c@10:00:00 impossible",
		"K>L *>* b@10:00:00>c@10:10:00 impossible",
		"K>L *>* b@10:10:00>c@10:00:00 impossible",
		"K>L *>* b@10:10:00>c@10:10:00 impossible",
	})
	timetable, report := read(t, gtfs.Options{}, junction, repeated, transfers+",,,,a,b,4,\n,,,,a,b,5,\n")
	diff(t, "rules", changes(t, timetable), []string(nil))
	diff(t, "note", report.Notes[len(report.Notes)-1].String(),
		"transfers.txt:2: the row says which trip continues as which, but frequencies.txt repeats one of them (2 times)")
	diff(t, "mistakes", refuse(t, junction, frequencies+"b,06:00:00,07:00:00,2,1\nc,06:00:00,07:00:00,2,1\n", transfers+"K,L,,,b,c,3,\n"),
		"transfers.txt:2: the rows up to here make more than 500000 rules for changes")
}

// A file of a few rows does not keep the reader busy for ever.
func TestTransfersOfRepeatedTripsAgain(t *testing.T) {
	t.Parallel()
	rows := transfers + strings.Repeat("K,L,,,b,c,3,\n", 60)
	diff(t, "mistakes", refuse(t, junction, frequencies+"b,06:00:00,06:01:40,1,1\nc,06:00:00,06:01:40,1,1\n", rows),
		"transfers.txt:52: the rows up to here make more than 500000 rules for changes")
}

func TestTransferMistakes(t *testing.T) {
	t.Parallel()
	tests := []struct{ replaced, want string }{
		{transfers + "H,H,,,,,6,\n", `transfers.txt:2: transfer_type "6" is not a number from 0 to 5`},
		{transfers + "H,H,,,,,2,-60\n", `transfers.txt:2: min_transfer_time "-60" is not a number of seconds`},
		{transfers + "H,H,,,,,2,1e3\n", `transfers.txt:2: min_transfer_time "1e3" is not a number of seconds`},
		{"-- transfers.txt --\nfrom_stop_id,to_stop_id\nH,H\n", "transfers.txt:1: column transfer_type is missing"},
	}
	for _, test := range tests {
		diff(t, test.replaced, refuse(t, junction, test.replaced), test.want)
	}
}

// An ID of which nothing can be shown would make a rule for any train.
func TestTransfersOfInvisibleIDs(t *testing.T) {
	t.Parallel()
	invisible := strings.NewReplacer("a,", "\u200b,", "ICE,", "\u200b,").Replace(junction)
	timetable, report := read(t, gtfs.Options{}, invisible, transfers+"H,H,,,\u200b,,3,\nH,H,\u200b,,,,3,\n")
	diff(t, "rules", changes(t, timetable), []string(nil))
	diff(t, "note", report.Notes[len(report.Notes)-1].Count, 2)
}

// Passengers may stay seated until the day after, or on a train of the day before.
func TestStaySeatedOverMidnight(t *testing.T) {
	t.Parallel()
	tests := []struct {
		arrive, depart string
		dates          string // of the other train, when the one runs on 5 June
		ok             bool
	}{
		{"23:50:00", "24:10:00", "20260605", true},
		{"24:05:00", "24:05:00", "20260605", true},
		{"24:05:00", "00:10:00", "20260606", true},
		{"24:05:00", "00:10:00", "20260605", false},
		{"58:00:00", "10:30:00", "20260607", true},
		{"58:00:00", "10:30:00", "20260606", false},
		{"08:30:00", "33:00:00", "20260604", true},
		{"08:30:00", "33:00:00", "20260605", false},
		{"08:30:00", "08:29:59", "20260606", true},
	}
	for _, test := range tests {
		timetable, _ := read(t, gtfs.Options{}, `
-- trips.txt --
trip_id,route_id,service_id
a,ICE,one
b,ICE,other
-- calendar_dates.txt --
service_id,date,exception_type
one,20260605,1
other,`+test.dates+`,1
`, `
-- stop_times.txt --
trip_id,stop_id,stop_sequence,arrival_time,departure_time
a,B,1,08:00:00,08:00:00
a,H,2,`+test.arrive+`,
b,H,1,,`+test.depart+`
b,K,2,99:00:00,99:00:00
`, transfers+",,,,a,b,4,\n")
		if got := len(timetable.Changes) == 1; got != test.ok {
			t.Errorf("arrives %s, leaves %s on %s: %v", test.arrive, test.depart, test.dates, timetable.Changes)
		}
	}
}
