package audit

import (
	"testing"

	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/internal/trains"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
	"github.com/traintravel/traintravel/store"
)

// The audit finds a number that stands for two lists of calls.
func TestAuditOfNumbers(t *testing.T) {
	t.Parallel()
	one := railtest.TrainOf("1", "Europe/Berlin", railtest.AllYear(), "A 8:00", "B 9:00")
	two := railtest.TrainOf("2", "Europe/Berlin", railtest.AllYear(), "A 9:00", "C 10:00")
	day := rail.NewDate(2021, 1, 1)
	ids, reg, err := trains.Registry{}.Register(t.Context(), []schedule.Train{one, two}, trains.CalendarCache{}.Get, day, day)
	if err != nil {
		t.Fatal(err)
	}
	var a auditor
	if a.registry(store.Key{}, railtest.NetworkOf(one, two), ids, reg); a.report.Found != 0 {
		t.Errorf("a check finds %v", a.report.Faults)
	}
	for i := range reg.Entries {
		if reg.Entries[i].Number == ids[1].Number {
			reg.Entries[i].List++
			break
		}
	}
	if a.registry(store.Key{}, railtest.NetworkOf(one, two), ids, reg); a.report.Found == 0 {
		t.Error("a check finds nothing where a number stands for two lists of calls")
	}
}
