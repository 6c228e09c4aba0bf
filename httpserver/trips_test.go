package httpserver_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// By default trips with changes are listed too; who wants none says so.
func TestDirect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	type trips struct {
		Data []struct {
			ID   string
			Legs []struct{}
		}
	}
	most := 0
	for _, station := range w.get("/stations?limit=100").collection().Data {
		if station.ID == berlin {
			continue
		}
		find := func(more string) (ids, direct []string) {
			var found trips
			w.get(strings.Replace(search, paris, station.ID, 1) + "&limit=100" + more).want(200).into(&found)
			for _, trip := range found.Data {
				if ids = append(ids, trip.ID); len(trip.Legs) == 1 {
					direct = append(direct, trip.ID)
				}
				most = max(most, len(trip.Legs))
			}
			return ids, direct
		}
		all, direct := find("")
		if only, alike := find("&direct=true"); !slices.Equal(only, alike) || len(all) < 100 && !slices.Equal(only, direct) {
			t.Errorf("to %s: direct (-default +direct=true): %s", station.ID, cmp.Diff(direct, only))
		}
		if same, _ := find("&direct=false"); !slices.Equal(same, all) {
			t.Errorf("to %s: direct=false lists others: %s", station.ID, cmp.Diff(all, same))
		}
	}
	if most < 2 || most > 4 {
		t.Errorf("the trips have %d legs at most", most)
	}
}
