package gtfs_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/gtfs"
)

func TestPlatformsFold(t *testing.T) {
	t.Parallel()
	timetable, report := read(t, gtfs.Options{}, `
-- stops.txt --
stop_name,parent_station,stop_id,stop_lat,stop_lon,location_type,stop_timezone
"Berlin, Platform 3",B,B3,,,0,
"Berlin, Platform 3 A",B3,B3A,,,4,
Entrance,B,BE,52.5,13.3,2,
"Berlin, ""Hbf""",,B,52.525,13.369,1,Europe/Warsaw
Node,B,BN,,,3,
Köln,nonsense,K,50.943,6.959,1,
Unserved,,U,51,7,1,
-- stop_times.txt --
trip_id,stop_id,stop_sequence,arrival_time,departure_time
t1,B3A,1,08:00:00,08:00:00
t1,K,2,09:00:00,09:00:00
t1,B3,3,10:00:00,10:00:00
t1,B,4,11:00:00,11:00:00
`)
	b, k := gtfs.StationID("", "B"), gtfs.StationID("", "K")
	diff(t, "stations", timetable.Stations, []traintravel.Station{
		{ID: b, OtherIDs: []uuid.UUID{gtfs.StationID("", "B3")}, Name: `Berlin, "Hbf"`, Zone: "Europe/Warsaw", Latitude: 52.525, Longitude: 13.369},
		{ID: k, Name: "Köln", Zone: "Europe/Berlin", Latitude: 50.943, Longitude: 6.959},
	})
	for i, want := range []string{b.String(), k.String(), b.String(), b.String()} {
		if got := timetable.Trains[0].Calls[i].Station.String(); got != want {
			t.Errorf("call %d is at %s, want %s", i, got, want)
		}
	}
	diff(t, "notes", report.Notes, []gtfs.Note{
		{File: "stops.txt", Line: 8, Reason: "no train that is read calls at the station", Count: 1},
	})
}

func TestStationFlaws(t *testing.T) {
	t.Parallel()
	const columns = "stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station,stop_timezone,stop_country\n"
	tests := []struct{ rows, want string }{
		{"B,,52,13", "stops.txt:3: stop_name is missing"},
		{"B,\u200b,52,13", "stops.txt:3: stop_name is missing"},
		{"B,\uffff,52,13", "stops.txt:3: stop_name is missing"},
		{"B,Berlin,,", `stops.txt:3: stop_lat "", stop_lon "" is not a place on earth`},
		{"B,Berlin,91,13", `stops.txt:3: stop_lat "91", stop_lon "13" is not a place on earth`},
		{"B,Berlin,52,-180.5", `stops.txt:3: stop_lat "52", stop_lon "-180.5" is not a place on earth`},
		{"B,Berlin,NaN,13", `stops.txt:3: stop_lat "NaN", stop_lon "13" is not a place on earth`},
		{"B,Berlin,52;3,13", `stops.txt:3: stop_lat "52;3", stop_lon "13" is not a place on earth`},
		{"B,Berlin,0.0,0", "stops.txt:3: stop_lat, stop_lon is 0, 0, which is in the sea"},
		{"B,Berlin,52,13,0,,Europe/Atlantis", `stops.txt:3: stop_timezone "Europe/Atlantis" is not a known time zone`},
		{"B,Berlin,52,13,0,,Local", `stops.txt:3: stop_timezone "Local" is not a known time zone`},
		{"B,Berlin,52,13,0,,,DEU", `stops.txt:3: stop_country "DEU" is not a code of two letters`},
		{"B,Berlin,52,13,2", "stops.txt:3: location_type 2 is not a place where trains call"},
		{"B,Berlin,52,13,3", "stops.txt:3: location_type 3 is not a place where trains call"},
		{"B,Berlin,52,13,4", "stops.txt:3: parent_station of a boarding area is missing"},
		{"B,Berlin,52,13,5", `stops.txt:3: location_type "5" is not a number from 0 to 4`},
		{"B,Berlin,52,13,0,X", `stops.txt:3: parent_station "X" is not in stops.txt`},
		{"B,Berlin,52,13,0,B", "stops.txt:3: parent_station leads back to the stop"},
		{"B,Berlin,52,13,0,C\nC,Berlin,52,13,0,B", "stops.txt:3: parent_station leads back to the stop"},
		{"B,Berlin,52,13,0,E\nE,Entrance,52,13,2", "stops.txt:4: location_type 2 is not a place where trains call"},
		{"B," + strings.Repeat("B", 201) + ",52,13", "stops.txt:3: stop_name or stop_address has more than 200 characters"},
		{"B,Berlin,52,13\nB,Berlin,52,13", `stops.txt:4: stop_id "B" occurs twice`},
		{"B,Berlin,52,13\n,Berlin,52,13", "stops.txt:4: stop_id is missing"},
	}
	for _, test := range tests {
		replaced := "-- stops.txt --\n" + columns + "K,Köln,50.943,6.959\n" + test.rows + "\n"
		diff(t, test.rows, refuse(t, ride("08:00:00", "09:00:00"), replaced), test.want)
		// No train calls at B: what is wrong there does no harm, but for what
		// makes the table itself doubtful.
		if !contains(test.want, "stop_id", "location_type \"5\"") {
			timetable, _ := read(t, gtfs.Options{}, replaced, `
-- stop_times.txt --
trip_id,stop_id,stop_sequence,arrival_time,departure_time
t1,K,1,08:00:00,08:00:00
t1,K,2,09:00:00,09:00:00
`)
			diff(t, test.rows, len(timetable.Stations), 1)
		}
	}
}

// Each stop without a station is one mistake, and no other.
func TestStopsWithoutStation(t *testing.T) {
	t.Parallel()
	got := refuse(t, `
-- stops.txt --
stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station
B,Berlin,52,13,0,H
H,Hamm,52,8,0,B
K,Köln,51,7,0,X
L,Lünen,51,7,0,Y
E,Entrance,51,7,2,K
`, `
-- stop_times.txt --
trip_id,stop_id,stop_sequence,arrival_time,departure_time
t1,B,1,08:00:00,08:00:00
t1,H,2,09:00:00,09:00:00
t1,K,3,10:00:00,10:00:00
t1,L,4,11:00:00,11:00:00
t1,E,5,12:00:00,12:00:00
`)
	diff(t, "mistakes", got, `stops.txt:2: parent_station leads back to the stop
stops.txt:3: parent_station leads back to the stop
stops.txt:4: parent_station "X" is not in stops.txt
stops.txt:5: parent_station "Y" is not in stops.txt
stops.txt:6: location_type 2 is not a place where trains call`)
}

func TestOneStationWithTwoSpellingsOfItsUUID(t *testing.T) {
	t.Parallel()
	got := refuse(t, `
-- stops.txt --
stop_id,stop_name,stop_lat,stop_lon
efdbb9d1-02c2-4bc3-afb7-6788d8782b1e,Berlin,52.525,13.369
EFDBB9D1-02C2-4BC3-AFB7-6788D8782B1E,Berlin,52.525,13.369
-- stop_times.txt --
trip_id,stop_id,stop_sequence,arrival_time,departure_time
t1,efdbb9d1-02c2-4bc3-afb7-6788d8782b1e,1,08:00:00,08:00:00
t1,EFDBB9D1-02C2-4BC3-AFB7-6788D8782B1E,2,09:30:00,09:33:00
`)
	diff(t, "mistakes", got,
		"stops.txt:3: stop_id is a UUID that occurs twice, in different letter case: efdbb9d1-02c2-4bc3-afb7-6788d8782b1e")
}
