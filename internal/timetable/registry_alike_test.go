package timetable

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/traintravel/traintravel/internal/railtest"
	"github.com/traintravel/traintravel/internal/trains"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

// So many trains without a number that leave one station at one time are no railway's.
// As many as may be are told apart.
func TestTooManyAlike(t *testing.T) {
	t.Parallel()
	alike := func(n int) []schedule.Train {
		all := make([]schedule.Train, n)
		for i := range all {
			all[i] = railtest.Line("", railtest.AllYear(), "Köln", "Hamm", "Kiel")
			all[i].ID = strconv.Itoa(i)
		}
		return all
	}
	_, _, err := trains.Registry{}.Register(context.Background(), alike(trains.MaxAlike+1), trains.CalendarCache{}.Get, railtest.NewYear(), railtest.NewYear())
	if bad, ok := errors.AsType[*rail.InvalidError](err); !ok || bad.Field != "trains" {
		t.Errorf("%d: %v", trains.MaxAlike+1, err)
	}
	list := alike(trains.MaxAlike / 4)
	ids, reg, err := trains.Registry{}.Register(context.Background(), list, trains.CalendarCache{}.Get, railtest.NewYear(), railtest.NewYear())
	if err != nil {
		t.Fatal(err)
	}
	checkRegistry(t, list, ids, reg)
}
