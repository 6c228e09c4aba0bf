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

// settle returns the moves and handbacks of a date. found are the inventories of the date, by
// base; former says which list of calls had a run in the timetable before, or 0.
func (f *slots) settle(date Date, found map[int][]slotRecord, former func(RunID) uint64) (moves []move, back []handback) {
	for base, records := range found {
		b := &f.bases[base]
		formers := make([]uint64, b.limit)
		for slot := range formers {
			formers[slot] = former(RunID{twin(b.id, slot), date})
		}
		m, h := b.settle(date, records, formers)
		moves, back = append(moves, m...), append(back, h...)
	}
	return moves, back
}

// settle gives each train of the base that runs on a date a slot of its own
// and returns those that are not the registered twin's. formers are the lists
// of calls of who had the slots in the timetable before.
func (b *slotBase) settle(date Date, records []slotRecord, formers []uint64) (moves []move, back []handback) {
	slices.SortFunc(records, func(a, b slotRecord) int { return cmp.Compare(a.slot, b.slot) })
	for i := range records {
		r := &records[i]
		if r.former = formers[r.slot]; r.unknown {
			r.list = r.former
		}
	}
	var trains []slotTrain
	for _, t := range b.trains {
		if t.days.runs(date) {
			trains = append(trains, t)
		}
	}
	at := make([]int, len(trains))
	for i := range at {
		at[i] = -1
	}
	taken := func(n int) bool { return slices.Contains(at, n) }
	booked := func(n int) bool { return slices.ContainsFunc(records, func(r slotRecord) bool { return r.slot == n }) }
	claim := func(likes func(slotTrain, slotRecord) bool) {
		for i, t := range trains {
			for _, r := range records {
				if at[i] < 0 && likes(t, r) && !taken(r.slot) {
					at[i] = r.slot
				}
			}
		}
	}
	// Whoever has the calls that were sold, and then whoever has the calls of
	// the train that had the run until now, if nobody has booked it since it
	// changed.
	for _, is := range []func(slotTrain, slotRecord) bool{
		func(t slotTrain, r slotRecord) bool { return t.list == r.list },
		func(t slotTrain, r slotRecord) bool { return t.list == r.former },
	} {
		claim(func(t slotTrain, r slotRecord) bool { return is(t, r) && t.twin == r.slot })
		claim(is)
	}
	// The other records are of trains that do not run any more or have other
	// calls now, so they go to trains that did not run with their calls before.
	came := func(t slotTrain) bool { return !slices.Contains(formers, t.list) }
	for near := range stranger {
		claim(func(t slotTrain, r slotRecord) bool {
			return came(t) && min(b.kinship(t, r.list), b.kinship(t, r.former)) == near
		})
	}
	claim(func(t slotTrain, _ slotRecord) bool { return came(t) && t.added })
	// What cannot be read is perhaps of a train that comes back: rather than sell its
	// places twice, none of it is sold.
	claim(func(t slotTrain, r slotRecord) bool { return r.unknown && came(t) && t.twin == r.slot })
	claim(func(t slotTrain, r slotRecord) bool { return r.unknown && came(t) })
	for i, t := range trains {
		if at[i] < 0 && !taken(t.twin) && !booked(t.twin) {
			at[i] = t.twin
		}
	}
	for i := range trains {
		for n := 0; at[i] < 0; n++ {
			// The next timetable would not find what lies beyond the limit.
			// Rather than that, somebody's slot who does not run any more.
			if !taken(n%b.limit) && (n >= b.limit || !booked(n)) {
				at[i] = n % b.limit
			}
		}
	}
	for i, t := range trains {
		if at[i] != t.twin {
			moves = append(moves, move{t.index, date, at[i]})
		}
	}
	unknown := func(n int) bool {
		return slices.ContainsFunc(records, func(r slotRecord) bool { return r.slot == n && r.unknown })
	}
	for _, r := range records {
		if r.unknown {
			continue
		}
		holder := slices.Index(at, r.slot)
		for _, list := range append(r.foreign, r.list) {
			home, nearest := holder, sameEndAndTwin // if nobody has it, a likeness is not enough
			if holder >= 0 {
				nearest = b.kinship(trains[holder], list)
			}
			for i, t := range trains {
				if near := b.kinship(t, list); near < nearest && (near == same || came(t)) {
					home, nearest = i, near
				}
			}
			if home >= 0 && home != holder && !unknown(at[home]) {
				run := func(slot int) RunID { return RunID{twin(b.id, slot), date} }
				back = append(back, handback{trains[home].index, list, run(r.slot), run(at[home])})
			}
		}
	}
	return moves, back
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
