package traintravel

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// Small networks to test on. A station's ID spells its name, so that a list of
// calls says where a train goes.

func stationNamed(name string) (id uuid.UUID) {
	copy(id[:], name)
	return id
}

func nameOf(id uuid.UUID) string { return strings.TrimRight(string(id[:]), "\x00") }

// allYear is every day of 2021, the year whose clock changes we know by heart:
// 28 March and 31 October.
var allYear = Daily(NewDate(2021, 1, 1), NewDate(2021, 12, 31))

// on is a calendar of single dates.
func on(dates ...Date) *Calendar { return &Calendar{Added: dates} }

// trainOf writes a train as its printed timetable has it: "Köln 9:00",
// "Bonn 9:20-9:25" or, where passengers may not get on or off, "Bonn 9:20-9:25
// no-boarding no-alighting".
func trainOf(number, zone string, days *Calendar, calls ...string) Train {
	t := Train{Operator: "Rail", Number: number, Zone: zone, Days: days, Fare: Fare{Currency: "eur", Base: 100, PerKm: 10}}
	for i, s := range calls {
		f := strings.Fields(s)
		arrive, depart, stays := strings.Cut(f[1], "-")
		if !stays {
			depart = arrive
		}
		name, at, _ := strings.Cut(f[0], "@")
		platform, _ := strconv.Atoi(at)
		t.Calls = append(t.Calls, Call{
			Station: stationNamed(name), Platform: uint16(platform), Arrive: clockOf(arrive), Depart: clockOf(depart), Metres: int32(i) * 50_000,
			NoBoarding: slices.Contains(f, "no-boarding"), NoAlighting: slices.Contains(f, "no-alighting"),
		})
	}
	return t
}

func clockOf(s string) ServiceTime {
	var h, m int
	if _, err := fmt.Sscanf(s, "%d:%d", &h, &m); err != nil {
		panic(err)
	}
	return Clock(h, m)
}

// networkOf is a timetable of trains, each station in the zone of the train
// that calls there first.
func networkOf(trains ...Train) *Timetable {
	tt := &Timetable{Trains: trains}
	seen := map[uuid.UUID]bool{}
	for _, tr := range trains {
		for _, c := range tr.Calls {
			if !seen[c.Station] {
				seen[c.Station] = true
				tt.Stations = append(tt.Stations, Station{
					ID: c.Station, Name: nameOf(c.Station), Zone: tr.Zone,
					Latitude: 40 + float64(len(seen)), Longitude: 10,
				})
			}
		}
	}
	return tt
}

// tester is a *testing.T or a *rapid.T.
type tester interface {
	Helper()
	Errorf(string, ...any)
	Fatal(...any)
	Fatalf(string, ...any)
}

var _ tester = (testing.TB)(nil)

// compiled is what LoadTimetable makes of a first timetable.
func compiled(t tester, tt *Timetable) *snapshot {
	t.Helper()
	sn, _ := loaded(t, tt, registry{}, NewDate(2021, 1, 1))
	return sn
}

// loaded is what LoadTimetable makes of a timetable after others.
func loaded(t tester, tt *Timetable, old registry, today Date) (*snapshot, registry) {
	t.Helper()
	z := &zones{}
	if err := tt.check(z); err != nil {
		t.Fatal(err)
	}
	ids, reg, err := register(context.Background(), old, tt.Trains, calendarCache{}.get, today, today)
	if err != nil {
		t.Fatal(err)
	}
	sn, err := compile(context.Background(), tt, ids, reg, compiling{zones: z})
	if err != nil {
		t.Fatal(err)
	}
	return sn, reg
}

func (sn *snapshot) named(name string) int32 {
	at, ok := sn.stationAt[stationNamed(name)]
	if !ok {
		panic("no station " + name)
	}
	return at
}

// describe writes a ride for people: "ICE1 of 2021-06-14: Köln 2021-06-14T09:00:00+02:00 - Bonn …".
func (sn *snapshot) describe(r ride) string {
	leg := sn.leg(r)
	return fmt.Sprintf("%s of %s: %s %s - %s %s", r.train.name, r.date,
		leg.Origin.Name, leg.Origin.Time.Format(time.RFC3339), leg.Destination.Name, leg.Destination.Time.Format(time.RFC3339))
}

func (sn *snapshot) describeAll(rides []ride) []string {
	out := []string{}
	for _, r := range rides {
		out = append(out, sn.describe(r))
	}
	return out
}

// ridesOn searches a calendar day at the origin, as SearchTrips does, and
// orders what it finds by departure.
func (sn *snapshot) ridesOn(origin, destination string, d Date) []string {
	found := sn.directOn(origin, destination, d)
	slices.SortFunc(found, func(a, b ride) int {
		return cmp.Or(a.departs().Compare(b.departs()), a.arrives().Compare(b.arrives()))
	})
	return sn.describeAll(found)
}

func (sn *snapshot) directOn(origin, destination string, d Date) []ride {
	loc := sn.locations[sn.named(origin)]
	return sn.direct(ask{
		origin: sn.named(origin), destination: sn.named(destination), date: d, from: d.Start(loc).Unix(), to: (d + 1).Start(loc).Unix(),
	})
}
