package timetable

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

// slowDirect is the search, written to be seen right: every train, every date,
// every pair of calls.
func slowDirect(tt *schedule.Timetable, origin, destination uuid.UUID, from, to time.Time) []string {
	found := []string{}
	for i := range tt.Trains {
		tr := &tt.Trains[i]
		loc, _ := time.LoadLocation(tr.Zone)
		for d := rail.DateOf(from.UTC()) - 17; d <= rail.DateOf(to.UTC())+2; d++ {
			if tr.Days == nil || !tr.Days.Runs(d) {
				continue
			}
			noon := time.Date(1970, 1, 1+int(d), 12, 0, 0, 0, loc)
			for b, board := range tr.Calls {
				departs := noon.Add(time.Duration(board.Depart)*time.Second - 12*time.Hour)
				if board.Station != origin || board.NoBoarding || departs.Before(from) || !departs.Before(to) {
					continue
				}
				if a := firstAlighting(tr, b, destination); a > 0 && !boardsBetween(tr, b, a, origin, destination) {
					found = append(found, fmt.Sprint(i, d, b, a, departs.Unix()))
				}
			}
		}
	}
	slices.Sort(found)
	return found
}

// firstAlighting is the first call after another at which one may get off at a
// station, if that ride is for sale, or -1.
func firstAlighting(tr *schedule.Train, after int, station uuid.UUID) int {
	for i := after + 1; i < len(tr.Calls); i++ {
		if tr.Calls[i].Station == station && !tr.Calls[i].NoAlighting && railtest.SlowSells(tr, after, i) {
			return i
		}
	}
	return -1
}

// boardsBetween says whether one may board later for a ride that ends no later.
func boardsBetween(tr *schedule.Train, from, to int, origin, destination uuid.UUID) bool {
	for i := from + 1; i < to; i++ {
		if c := tr.Calls[i]; c.Station == origin && !c.NoBoarding {
			if a := firstAlighting(tr, i, destination); a > 0 && a <= to {
				return true
			}
		}
	}
	return false
}

func TestDirectFindsWhatIsThere(t *testing.T) {
	t.Parallel()
	total := 0
	railtest.DrawUntil(t, func() bool { return total >= 1000 }, func(t *rapid.T) {
		tt, first := railtest.DrawTrains(t, 6)
		sn := compiled(t, tt)
		from := first.Utc().Add(time.Duration(rapid.IntRange(-4, 6*48).Draw(t, "half hours")) * 30 * time.Minute)
		to := from.Add(time.Duration(rapid.SampledFrom([]int{4 * 3600, 3600, 1, 0}).Draw(t, "seconds")) * time.Second)
		for _, origin := range tt.Stations {
			for _, destination := range tt.Stations {
				if origin.ID == destination.ID {
					continue // nobody asks
				}
				total += checkDirect(t, tt, sn, origin.ID, destination.ID, from, to)
				loc := sn.Locations[sn.StationAt[origin.ID]]
				for d := first - 1; d < first+6; d++ {
					total += checkDirect(t, tt, sn, origin.ID, destination.ID, d.Start(loc), (d + 1).Start(loc))
				}
			}
		}
	})
}

// checkDirect compares the search with the slow one, and returns how many rides
// there are.
func checkDirect(t *rapid.T, tt *schedule.Timetable, sn *Snapshot, origin, destination uuid.UUID, from, to time.Time) int {
	got := []string{}
	a := Ask{Origin: sn.StationAt[origin], Destination: sn.StationAt[destination], From: UnixUp(from), To: UnixUp(to)}
	a.Date = rail.DateOf(from.In(sn.Locations[a.Origin]))
	for _, r := range sn.Direct(a) {
		i := r.Train.Index
		got = append(got, fmt.Sprint(i, r.Date, r.Board, r.Alight, r.departs().Unix()))
		if again, err := sn.Resolve(TripID([]Ride{r})); err != nil || len(again) != 1 || again[0] != r {
			t.Fatalf("%s: its ID resolves to %v, %v", sn.describe(r), again, err)
		}
	}
	slices.Sort(got)
	want := slowDirect(tt, origin, destination, from, to)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s to %s from %v to %v: train, date, board, alight, departure: -want +got\n%s",
			railtest.NameOf(origin), railtest.NameOf(destination), from, to, diff)
	}
	return len(want)
}
