package trains

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/schedule"
)

// A Move says that a train sells from another inventory on a date than from
// that of its registered twin: the bookings there are its own.
type Move struct {
	Train int // index
	Date  rail.Date
	Slot  int // the twin whose inventory it is
}

// A Handback says that a train runs again whose run another had taken over and
// sold meanwhile: what was sold on its list of calls is its own again.
type Handback struct {
	Train    int // index
	List     uint64
	From, To rail.RunID // whose inventories
}

// Slots finds the moves and handbacks of a timetable. Only bases that have, or lately had,
// more than one train or list of calls are in it.
type Slots struct {
	Bases []slotBase
	at    map[uuid.UUID]slot // by identity
}

type slot struct{ Base, N int }

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
	days  *Days
	list  uint64
	id    string
	added bool // nobody was registered as its twin before
}

// SlotRecord is the inventory of a slot on a date: what it was last fitted to,
// and whose it was in the timetable before.
type SlotRecord struct {
	Slot    int
	List    uint64
	Foreign []uint64 // see seats.Inventory.Foreign
	former  uint64   // the list of calls of whoever had it in the timetable before
	Unknown bool     // it cannot be read: it stays with whoever had it
}

// NewSlots prepares for what register found, so that find has little to do.
func NewSlots(old, reg Registry, trains []schedule.Train, ids []Numbering, calendars func(*schedule.Calendar) *Days) *Slots {
	entries := map[uuid.UUID]int{} // of the bases that matter
	limit := map[uuid.UUID]int{}
	byBase := slices.SortedFunc(slices.Values(reg.Entries), func(a, b Registered) int {
		return cmp.Or(bytes.Compare(a.Base[:], b.Base[:]), cmp.Compare(a.Number, b.Number))
	})
	byBase = slices.CompactFunc(byBase, func(a, b Registered) bool { return a.Number == b.Number })
	for i, e := range byBase {
		if e.Twin > 0 || i > 0 && byBase[i-1].Base == e.Base || i+1 < len(byBase) && byBase[i+1].Base == e.Base {
			entries[e.Base]++
			limit[e.Base] = max(limit[e.Base], e.Twin)
		}
	}
	f := &Slots{at: map[uuid.UUID]slot{}}
	if len(entries) == 0 {
		return f
	}
	byNumber := reg.ByNumber()
	index := map[uuid.UUID]int{}
	for i := range trains {
		t, e := &trains[i], Numbered(byNumber, ids[i].Number)
		if entries[e.Base] == 0 {
			continue
		}
		at, ok := index[e.Base]
		if !ok {
			at = len(f.Bases)
			index[e.Base] = at
			f.Bases = append(f.Bases, slotBase{id: e.Base, limit: limit[e.Base] + 2*entries[e.Base] + 2, known: map[uint64][]kin{}})
			for n := range f.Bases[at].limit {
				f.at[Twin(e.Base, n)] = slot{at, n}
			}
		}
		f.Bases[at].trains = append(f.Bases[at].trains, slotTrain{
			kin: kin{e.Twin, e.Terminus, TextMark(t.ID)}, index: i, days: calendars(t.Days), list: e.List, id: t.ID, added: true,
		})
	}
	for _, e := range old.Entries {
		at, ok := index[e.Base]
		if !ok {
			continue
		}
		b := &f.Bases[at]
		b.known[e.List] = append(b.known[e.List], kin{e.Twin, e.Terminus, e.Source})
		for i := range b.trains {
			t := &b.trains[i]
			t.added = t.added && t.twin != e.Twin
		}
	}
	for _, b := range f.Bases {
		slices.SortFunc(b.trains, func(a, b slotTrain) int {
			return cmp.Or(cmp.Compare(a.twin, b.twin), cmp.Compare(a.list, b.list), cmp.Compare(a.days.First, b.days.First), cmp.Compare(a.id, b.id), cmp.Compare(a.index, b.index))
		})
	}
	return f
}

// Of is the slot whose inventory a run has, if it is one that may move.
func (f *Slots) Of(run rail.RunID) (slot, bool) {
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
