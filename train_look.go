package traintravel

import (
	"hash/fnv"
	"slices"

	"github.com/traintravel/traintravel/internal/fold"
)

// lookMark shortens what travellers know of a train that calls at stations.
func (t *train) lookMark(at func(call int) int32) uint64 {
	h := fnv.New64a()
	h.Write([]byte(fold.Label(t.operator) + "\x00" + fold.Label(t.name) + "\x00"))
	for i := range t.stops {
		v := uint32(at(i))
		h.Write([]byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)})
		v = uint32(t.times[i].Depart)
		h.Write([]byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)})
	}
	return h.Sum64()
}

// looksLike says whether travellers cannot tell a train from another one that calls at
// stations.
func (t *train) looksLike(was *train, at func(call int) int32) bool {
	if fold.Label(t.operator) != fold.Label(was.operator) || fold.Label(t.name) != fold.Label(was.name) ||
		t.location.String() != was.location.String() || !slices.Equal(t.times, was.times) {
		return false
	}
	for i := range t.stops {
		if t.station(i) != at(i) {
			return false
		}
	}
	return true
}

// former is the list of calls of the train that has a run, 0 if there is none.
func (sn *snapshot) former(id RunID) uint64 {
	if sn == nil {
		return 0
	}
	t, ok := sn.run(id)
	if !ok {
		return 0
	}
	return t.list
}

// inventoryOf is an inventory as a train counts, or a new one if there is none.
func (sn *snapshot) inventoryOf(inv *inventory, t *train) *inventory {
	if inv == nil {
		return sn.newInventory(t)
	}
	return sn.fitted(inv, t)
}
