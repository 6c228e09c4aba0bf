package timetable

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/internal/raptor"
	"github.com/traintravel/traintravel/rail"
)

// A search finds the best trips, and their IDs lead to the same trips.
func TestJourneysAgainstOracle(t *testing.T) {
	t.Parallel()
	counts := [rail.MaxLegs + 1]int{}
	railtest.DrawUntil(t, func() bool { return counts[2] > 0 }, func(t *rapid.T) {
		tt, first := railtest.DrawTrains(t, 9)
		for i := range tt.Trains {
			tt.Trains[i].Line = rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "line")
			railtest.DrawPlatforms(t, &tt.Trains[i])
		}
		tt.Stations[1].Latitude = tt.Stations[0].Latitude + 0.003 // 334 m: one can walk
		tt.Changes = railtest.DrawChanges(t, tt)
		sn := compiled(t, tt)
		for range 3 {
			origin, destination := rapid.SampledFrom(tt.Stations).Draw(t, "origin"), rapid.SampledFrom(tt.Stations).Draw(t, "destination")
			if origin.ID == destination.ID {
				continue
			}
			a := Ask{Origin: sn.StationAt[origin.ID], Destination: sn.StationAt[destination.ID], Date: first + rail.Date(rapid.IntRange(0, 3).Draw(t, "day"))}
			loc := sn.Locations[a.Origin]
			from, to := a.Date.Start(loc), (a.Date + 1).Start(loc)
			var got []railtest.SlowTrip
			for _, j := range sn.Network.Search(sn.DaysAround(a.Date), &raptor.Query{Origin: a.Origin, Target: a.Destination, From: from.Unix(), To: to.Unix(), Legs: rail.MaxLegs}) {
				found := sn.Rides(j)
				numbers := map[uint32]bool{}
				for _, r := range found {
					numbers[r.Train.number] = true
				}
				if len(numbers) < len(found) {
					return // one train twice, such as one that calls several times within a second
				}
				rides := sn.Canonical(found)
				if rides == nil || arrival(rides).After(arrival(found)) {
					t.Fatalf("%v is canonically %v", sn.describeAll(found), sn.describeAll(rides))
				}
				if again, err := sn.Resolve(TripID(rides)); err != nil || fmt.Sprint(sn.describeAll(again)) != fmt.Sprint(sn.describeAll(rides)) {
					t.Fatalf("%v: its ID means %v, %v", sn.describeAll(rides), sn.describeAll(again), err)
				}
				got = append(got, railtest.SlowTrip{Departs: rides[0].departs().Unix(), Arrives: arrival(rides).Unix(), Legs: len(rides)})
				counts[len(rides)]++
			}
			slices.SortFunc(got, func(a, b railtest.SlowTrip) int {
				return cmp.Or(cmp.Compare(a.Departs, b.Departs), cmp.Compare(a.Arrives, b.Arrives))
			})
			if want := railtest.SlowJourneys(tt, origin, destination, from, to, func(int, rail.Date, int, int) bool { return true }); !slices.Equal(got, want) {
				t.Fatalf("%s to %s on %v: found %v, want %v", origin.Name, destination.Name, a.Date, got, want)
			}
		}
	})
}
