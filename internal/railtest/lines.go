// Package railtest makes timetables, trains and values for the tests of other packages. Programs
// must not import it.
package railtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

// Small networks to test on. A station's ID spells its name, so that a list of
// calls says where a train goes.

// StationNamed is the ID of a station with a name of at most 16 bytes.
func StationNamed(name string) (id uuid.UUID) {
	copy(id[:], name)
	return id
}

// NameOf is the inverse of StationNamed.
func NameOf(id uuid.UUID) string { return strings.TrimRight(string(id[:]), "\x00") }

// AllYear is every day of 2021, the year whose clock changes we know by heart:
// 28 March and 31 October.
func AllYear() *schedule.Calendar {
	return schedule.Daily(rail.NewDate(2021, 1, 1), rail.NewDate(2021, 12, 31))
}

// On is a calendar of single dates.
func On(dates ...rail.Date) *schedule.Calendar { return &schedule.Calendar{Added: dates} }

// TrainOf writes a train as its printed timetable has it: "Köln 9:00",
// "Bonn 9:20-9:25" or, where passengers may not get on or off, "Bonn 9:20-9:25
// no-boarding no-alighting".
func TrainOf(number, zone string, days *schedule.Calendar, calls ...string) schedule.Train {
	t := schedule.Train{Operator: "Rail", Number: number, Zone: zone, Days: days, Fare: schedule.Fare{Currency: "eur", Base: 100, PerKm: 10}}
	for i, s := range calls {
		f := strings.Fields(s)
		arrive, depart, stays := strings.Cut(f[1], "-")
		if !stays {
			depart = arrive
		}
		name, at, _ := strings.Cut(f[0], "@")
		platform, _ := strconv.Atoi(at)
		t.Calls = append(t.Calls, schedule.Call{
			Station: StationNamed(name), Platform: uint16(platform), Arrive: clockOf(arrive), Depart: clockOf(depart), Metres: int32(i) * 50_000,
			NoBoarding: slices.Contains(f, "no-boarding"), NoAlighting: slices.Contains(f, "no-alighting"),
		})
	}
	return t
}

func clockOf(s string) rail.ServiceTime {
	var h, m int
	if _, err := fmt.Sscanf(s, "%d:%d", &h, &m); err != nil {
		panic(err)
	}
	return rail.Clock(h, m)
}

// NetworkOf is a timetable of trains, each station in the zone of the train
// that calls there first.
func NetworkOf(trains ...schedule.Train) *schedule.Timetable {
	tt := &schedule.Timetable{Trains: trains}
	seen := map[uuid.UUID]bool{}
	for _, tr := range trains {
		for _, c := range tr.Calls {
			if !seen[c.Station] {
				seen[c.Station] = true
				tt.Stations = append(tt.Stations, rail.Station{
					ID: c.Station, Name: NameOf(c.Station), Zone: tr.Zone,
					Latitude: 40 + float64(len(seen)), Longitude: 10,
				})
			}
		}
	}
	return tt
}

// Tester is a *testing.T or a *rapid.T.
type Tester interface {
	Helper()
	Errorf(string, ...any)
	Fatal(...any)
	Fatalf(string, ...any)
}

// Noon is an instant of the tests.
func Noon() time.Time { return time.Date(2021, 6, 14, 12, 0, 0, 0, time.UTC) }

// Later is an hour after Noon.
func Later() time.Time { return Noon().Add(time.Hour) }

// Nth is the ID of the nth booking of a test.
func Nth(n int) uuid.UUID { return uuid.UUID{0: byte(n >> 8), 1: byte(n), 15: 1} }

// NewYear is the day on which most tests import their timetables.
func NewYear() rail.Date { return rail.NewDate(2021, 1, 1) }

// Line is a train that calls at a station each hour from eight o'clock on.
func Line(number string, days *schedule.Calendar, stations ...string) schedule.Train {
	calls := make([]string, len(stations))
	for i, s := range stations {
		calls[i] = fmt.Sprintf("%s %d:00", s, 8+i)
	}
	t := TrainOf(number, "Europe/Berlin", days, calls...)
	t.ID = "trip-" + number + stations[len(stations)-1]
	return t
}

// CitiesForTests are some cities. There is a village called Vienna in Germany.
func CitiesForTests() []rail.City {
	return []rail.City{
		{Names: []string{"Wien", "Vienna", "Bécs", "Вена"}, Country: "AT", Latitude: 48.21, Longitude: 16.37, Radius: 11_000},
		{Names: []string{"Den Haag", "The Hague", "La Haye", "Haag"}, Country: "NL", Latitude: 52.08, Longitude: 4.31, Radius: 6_000},
		{Names: []string{"Aachen", "Aix-la-Chapelle"}, Country: "DE", Latitude: 50.78, Longitude: 6.08, Radius: 5_000},
		{Names: []string{"München", "Munich"}, Country: "DE", Latitude: 48.14, Longitude: 11.57, Radius: 10_000},
		{Names: []string{"Gent", "Ghent"}, Country: "BE", Latitude: 51.05, Longitude: 3.73, Radius: 6_000},
		{Names: []string{"Genève", "Genf"}, Country: "CH", Latitude: 46.20, Longitude: 6.15, Radius: 6_000},
		{Names: []string{"Dublin", "Baile Átha Cliath"}, Country: "IE", Latitude: 53.35, Longitude: -6.26, Radius: 8_000},
		{Names: []string{"Київ", "Kyiv", "Kiev"}, Country: "UA", Latitude: 50.45, Longitude: 30.52, Radius: 10_000},
	}
}
