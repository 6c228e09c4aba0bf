package gtfs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// dropWaiting leaves out rules by which single trains wait for others, at the stations
// with most of them, if all rules distinguish more pairs of trains than a timetable may.
// Without such a rule the change takes longer, so no impossible change
// done.
func (f *feed) dropWaiting() {
	if traintravel.ChangePairs(f.rules.list) <= traintravel.MaxPairs {
		return
	}
	rules := map[uuid.UUID]int{}
	for i := range f.rules.list {
		if ch := &f.rules.list[i]; waits(ch) {
			rules[ch.From]++
		}
	}
	stations := slices.SortedFunc(maps.Keys(rules), func(a, b uuid.UUID) int {
		return cmp.Or(cmp.Compare(rules[b], rules[a]), slices.Compare(a[:], b[:]))
	})
	without := func(n int) []traintravel.Change {
		gone := make(map[uuid.UUID]bool, n)
		for _, id := range stations[:n] {
			gone[id] = true
		}
		return slices.DeleteFunc(slices.Clone(f.rules.list), func(ch traintravel.Change) bool { return waits(&ch) && gone[ch.From] })
	}
	n := sort.Search(len(stations), func(n int) bool { return traintravel.ChangePairs(without(n)) <= traintravel.MaxPairs })
	if n == 0 {
		return // nothing is to be left out
	}
	left := without(n)
	f.note("transfers.txt", 1, fmt.Sprintf("%d rules by which one trip waits for another are left out, at %d stations, because they distinguish more trains than the limit: these changes take as long as others there",
		len(f.rules.list)-len(left), n))
	f.rules.list = left
}

// waits reports whether a rule makes one train wait for another.
func waits(ch *traintravel.Change) bool {
	return ch.Kind == traintravel.Takes && ch.Time == 0 && ch.FromTrain != "" && ch.ToTrain != ""
}
