package traintravel

import (
	"context"
	"errors"
	"strconv"
	"testing"
)

// So many trains without a number that leave one station at one time are no railway's.
// As many as may be are told apart.
func TestTooManyAlike(t *testing.T) {
	t.Parallel()
	alike := func(n int) []Train {
		all := make([]Train, n)
		for i := range all {
			all[i] = line("", allYear, "Köln", "Hamm", "Kiel")
			all[i].ID = strconv.Itoa(i)
		}
		return all
	}
	_, _, err := register(context.Background(), registry{}, alike(maxAlike+1), calendarCache{}.get, newYear, newYear)
	if bad, ok := errors.AsType[*InvalidError](err); !ok || bad.Field != "trains" {
		t.Errorf("%d: %v", maxAlike+1, err)
	}
	trains := alike(maxAlike / 4)
	ids, reg, err := register(context.Background(), registry{}, trains, calendarCache{}.get, newYear, newYear)
	if err != nil {
		t.Fatal(err)
	}
	checkRegistry(t, trains, ids, reg)
}
