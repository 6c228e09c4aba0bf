package world_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/traintravel/traintravel/internal/sim/chance"
	"github.com/traintravel/traintravel/internal/sim/world"
	"github.com/traintravel/traintravel/store/memstore"
)

// The range of a clock has all that it shows meanwhile, and clocks stay within the most that
// they may be off.
func TestClockRange(t *testing.T) {
	t.Parallel()
	jumped := false
	for seed := range chance.Seed(40) {
		synctest.Test(t, func(t *testing.T) {
			on, _ := world.ParseFaults("skew,clock-jump")
			w := world.New(world.Config{Seed: seed, Faults: on, Days: 10, Store: memstore.New()})
			c := w.NewClock("server 1", seed.At("test", 0))
			for k := range 200 {
				r := seed.At("spans", uint64(k))
				from := w.Start.Add(time.Duration(r.Int64N(int64(10 * 24 * time.Hour))))
				long := chance.Between(r, time.Second, 12*time.Hour)
				least, most := c.Range(from, from.Add(long))
				jumped = jumped || most-least > world.MaxSkew
				for range 50 {
					at := from.Add(time.Duration(r.Int64N(int64(long))))
					if off := c.Off(at); off < least || off > most || off.Abs() > w.MostSkew() {
						t.Fatalf("seed %d: the clock is %v off, out of %v to %v, and at most %v", seed, off, least, most, w.MostSkew())
					}
				}
			}
		})
	}
	if !jumped {
		t.Error("no clock jumped")
	}
}

// Histories begin at many days, and often soon before clocks change.
func TestBeginning(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	days, changes, leaps, years := map[string]bool{}, 0, 0, 0
	for seed := range chance.Seed(400) {
		at := world.Beginning(seed, 10)
		end := at.AddDate(0, 0, 10)
		if at.Year() < 2000 || at.Year() > 2004 {
			t.Errorf("seed %d begins at %v", seed, at)
		}
		days[at.Format(time.DateOnly)] = true
		_, before := at.In(berlin).Zone()
		_, after := end.In(berlin).Zone()
		if before != after {
			changes++
		}
		for _, year := range []int{2000, 2004} {
			if leap := time.Date(year, 2, 29, 12, 0, 0, 0, time.UTC); at.Before(leap) && leap.Before(end) {
				leaps++
			}
		}
		if at.Year() != end.Year() {
			years++
		}
	}
	if len(days) < 150 || changes < 60 || leaps < 20 || years < 20 {
		t.Errorf("400 seeds begin at %d days; %d cross a change of clocks, %d the 29th of February, %d the end of a year", len(days), changes, leaps, years)
	}
}
