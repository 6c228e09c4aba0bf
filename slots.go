package traintravel

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/google/uuid"
)

// A move says that a train sells from another inventory on a date than from
// that of its registered twin: the bookings there are its own.
type move struct {
	train int // index
	date  Date
	slot  int // the twin whose inventory it is
}

// A handback says that a train runs again whose run another had taken over and
// sold meanwhile: what was sold on its list of calls is its own again.
type handback struct {
	train    int // index
	list     uint64
	from, to RunID // whose inventories
}

// slots finds the moves and handbacks of a timetable. Only bases that have, or lately had,
// more than one train or list of calls are in it.
type slots struct {
	bases []slotBase
	at    map[uuid.UUID]slot // by identity
}

type slot struct{ base, n int }

type slotBase struct {
	id     uuid.UUID
	trains []slotTrain
	limit  int              // the slots that can be found again are below
	known  map[uint64][]kin // by list: the trains that were registered with it
}

// kin is what tells whose successor a train with other calls is.
type kin struct {
	twin             int
	terminus, source uint64
}

type slotTrain struct {
	kin
	index int
	days  *days
	list  uint64
	id    string
	added bool // nobody was registered as its twin before
}

// slotRecord is the inventory of a slot on a date: what it was last fitted to,
// and whose it was in the timetable before.
type slotRecord struct {
	slot    int
	list    uint64
	foreign []uint64 // see inventory.foreign
	former  uint64   // the list of calls of whoever had it in the timetable before
	unknown bool     // it cannot be read: it stays with whoever had it
}

// newSlots prepares for what register found, so that find has little to do.
func newSlots(old, reg registry, trains []Train, ids []numbering, calendars func(*Calendar) *days) *slots {
	entries := map[uuid.UUID]int{} // of the bases that matter
	limit := map[uuid.UUID]int{}
	byBase := slices.SortedFunc(slices.Values(reg.entries), func(a, b registered) int {
		return cmp.Or(bytes.Compare(a.base[:], b.base[:]), cmp.Compare(a.number, b.number))
	})
	byBase = slices.CompactFunc(byBase, func(a, b registered) bool { return a.number == b.number })
	for i, e := range byBase {
		if e.twin > 0 || i > 0 && byBase[i-1].base == e.base || i+1 < len(byBase) && byBase[i+1].base == e.base {
			entries[e.base]++
			limit[e.base] = max(limit[e.base], e.twin)
		}
	}
	f := &slots{at: map[uuid.UUID]slot{}}
	if len(entries) == 0 {
		return f
	}
	byNumber := reg.byNumber()
	index := map[uuid.UUID]int{}
	for i := range trains {
		t, e := &trains[i], numbered(byNumber, ids[i].number)
		if entries[e.base] == 0 {
			continue
		}
		at, ok := index[e.base]
		if !ok {
			at = len(f.bases)
			index[e.base] = at
			f.bases = append(f.bases, slotBase{id: e.base, limit: limit[e.base] + 2*entries[e.base] + 2, known: map[uint64][]kin{}})
			for n := range f.bases[at].limit {
				f.at[twin(e.base, n)] = slot{at, n}
			}
		}
		f.bases[at].trains = append(f.bases[at].trains, slotTrain{
			kin: kin{e.twin, e.terminus, textMark(t.ID)}, index: i, days: calendars(t.Days), list: e.list, id: t.ID, added: true,
		})
	}
	for _, e := range old.entries {
		at, ok := index[e.base]
		if !ok {
			continue
		}
		b := &f.bases[at]
		b.known[e.list] = append(b.known[e.list], kin{e.twin, e.terminus, e.source})
		for i := range b.trains {
			t := &b.trains[i]
			t.added = t.added && t.twin != e.twin
		}
	}
	for _, b := range f.bases {
		slices.SortFunc(b.trains, func(a, b slotTrain) int {
			return cmp.Or(cmp.Compare(a.twin, b.twin), cmp.Compare(a.list, b.list), cmp.Compare(a.days.first, b.days.first), cmp.Compare(a.id, b.id), cmp.Compare(a.index, b.index))
		})
	}
	return f
}

// of is the slot whose inventory a run has, if it is one that may move.
func (f *slots) of(run RunID) (slot, bool) {
	s, ok := f.at[run.Train]
	return s, ok
}

// How near a train is to those that had a list of calls, from same to stranger.
const (
	same = iota // it has the list itself
	sameEndAndSource
	sameEndAndTwin
	sameEnd
	sameSource
	sameTwin
	stranger
)

// kinship says how near a train is to those that were registered with a list.
func (b *slotBase) kinship(t slotTrain, list uint64) int {
	if t.list == list {
		return same
	}
	nearest := stranger
	for _, k := range b.known[list] {
		near := stranger
		switch ends := t.terminus == k.terminus; {
		case ends && t.source == k.source:
			near = sameEndAndSource
		case ends && t.twin == k.twin:
			near = sameEndAndTwin
		case ends:
			near = sameEnd
		case t.source == k.source:
			near = sameSource
		case t.twin == k.twin:
			near = sameTwin
		}
		nearest = min(nearest, near)
	}
	return nearest
}
