package timetable

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/internal/trains"
	"github.com/traintravel/traintravel/internal/tz"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

var _ railtest.Tester = (testing.TB)(nil)

// compiled is what LoadTimetable makes of a first timetable.
func compiled(t railtest.Tester, tt *schedule.Timetable) *Snapshot {
	t.Helper()
	sn, _ := loaded(t, tt, trains.Registry{}, rail.NewDate(2021, 1, 1))
	return sn
}

// loaded is what LoadTimetable makes of a timetable after others.
func loaded(t railtest.Tester, tt *schedule.Timetable, old trains.Registry, today rail.Date) (*Snapshot, trains.Registry) {
	t.Helper()
	z := &tz.Zones{}
	if err := tt.CheckIn(z); err != nil {
		t.Fatal(err)
	}
	ids, reg, err := old.Register(context.Background(), tt.Trains, trains.CalendarCache{}.Get, today, today)
	if err != nil {
		t.Fatal(err)
	}
	sn, err := Compile(context.Background(), tt, ids, reg, compiling{zones: z})
	if err != nil {
		t.Fatal(err)
	}
	return sn, reg
}

func (sn *Snapshot) named(name string) int32 {
	at, ok := sn.StationAt[railtest.StationNamed(name)]
	if !ok {
		panic("no station " + name)
	}
	return at
}

// describe writes a ride for people: "ICE1 of 2021-06-14: Köln 2021-06-14T09:00:00+02:00 - Bonn …".
func (sn *Snapshot) describe(r Ride) string {
	leg := sn.leg(r)
	return fmt.Sprintf("%s of %s: %s %s - %s %s", r.Train.Name, r.Date,
		leg.Origin.Name, leg.Origin.Time.Format(time.RFC3339), leg.Destination.Name, leg.Destination.Time.Format(time.RFC3339))
}

func (sn *Snapshot) describeAll(rides []Ride) []string {
	out := []string{}
	for _, r := range rides {
		out = append(out, sn.describe(r))
	}
	return out
}

// ridesOn searches a calendar day at the origin, as SearchTrips does, and
// orders what it finds by departure.
func (sn *Snapshot) ridesOn(origin, destination string, d rail.Date) []string {
	found := sn.directOn(origin, destination, d)
	slices.SortFunc(found, func(a, b Ride) int {
		return cmp.Or(a.departs().Compare(b.departs()), a.arrives().Compare(b.arrives()))
	})
	return sn.describeAll(found)
}

func (sn *Snapshot) directOn(origin, destination string, d rail.Date) []Ride {
	loc := sn.Locations[sn.named(origin)]
	return sn.Direct(Ask{
		Origin: sn.named(origin), Destination: sn.named(destination), Date: d, From: d.Start(loc).Unix(), To: (d + 1).Start(loc).Unix(),
	})
}
