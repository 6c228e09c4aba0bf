package trains

import (
	"cmp"
	"slices"

	"github.com/traintravel/traintravel/rail"
)

// Assign returns the moves and handbacks of a date. found are the inventories of the date, by
// base; former says which list of calls had a run in the timetable before, or 0.
func (f *Slots) Assign(date rail.Date, found map[int][]SlotRecord, former func(rail.RunID) uint64) (moves []Move, back []Handback) {
	for base, records := range found {
		b := &f.Bases[base]
		formers := make([]uint64, b.limit)
		for slot := range formers {
			formers[slot] = former(rail.RunID{Train: Twin(b.id, slot), Date: date})
		}
		m, h := b.assign(date, records, formers)
		moves, back = append(moves, m...), append(back, h...)
	}
	return moves, back
}

// assign gives each train of the base that runs on a date a slot of its own
// and returns those that are not the registered twin's. formers are the lists
// of calls of who had the slots in the timetable before.
func (b *slotBase) assign(date rail.Date, records []SlotRecord, formers []uint64) (moves []Move, back []Handback) {
	s := newSlotDay(b, date, records, formers)
	s.keepSold()
	s.giveToKin()
	s.giveToAdded()
	s.giveUnreadable()
	s.takeOwn()
	s.takeFree()
	return s.moves(), s.handbacks()
}

// A slotDay gives the trains of a base that run on a date their slots, pass by pass.
// What a pass has given no later one takes away.
type slotDay struct {
	base    *slotBase
	date    rail.Date
	records []SlotRecord // by slot
	formers []uint64
	trains  []slotTrain
	at      []int // the slot of each train, or -1
}

func newSlotDay(b *slotBase, date rail.Date, records []SlotRecord, formers []uint64) *slotDay {
	slices.SortFunc(records, func(a, b SlotRecord) int { return cmp.Compare(a.Slot, b.Slot) })
	for i := range records {
		r := &records[i]
		if r.former = formers[r.Slot]; r.Unknown {
			r.List = r.former
		}
	}
	s := &slotDay{base: b, date: date, records: records, formers: formers}
	for _, t := range b.trains {
		if t.days.Runs(date) {
			s.trains, s.at = append(s.trains, t), append(s.at, -1)
		}
	}
	return s
}

// claim gives free slots with records to trains without a slot.
func (s *slotDay) claim(likes func(slotTrain, SlotRecord) bool) {
	for i, t := range s.trains {
		for _, r := range s.records {
			if s.at[i] < 0 && likes(t, r) && !s.taken(r.Slot) {
				s.at[i] = r.Slot
			}
		}
	}
}

func (s *slotDay) taken(slot int) bool { return slices.Contains(s.at, slot) }

func (s *slotDay) booked(slot int) bool {
	return slices.ContainsFunc(s.records, func(r SlotRecord) bool { return r.Slot == slot })
}

// came says whether a train did not run with its calls in the timetable before.
func (s *slotDay) came(t slotTrain) bool { return !slices.Contains(s.formers, t.list) }

// keepSold gives a slot to the train that has the calls that were sold, and then to the
// one that has the calls of the train that had the run until now, if nobody has booked it
// since it changed.
func (s *slotDay) keepSold() {
	for _, is := range []func(slotTrain, SlotRecord) bool{
		func(t slotTrain, r SlotRecord) bool { return t.list == r.List },
		func(t slotTrain, r SlotRecord) bool { return t.list == r.former },
	} {
		s.claim(func(t slotTrain, r SlotRecord) bool { return is(t, r) && t.twin == r.Slot })
		s.claim(is)
	}
}

// giveToKin gives the other records, which are of trains that do not run any more or have
// other calls now, to trains that did not run with their calls before: first to those that
// are most like them.
func (s *slotDay) giveToKin() {
	for near := range stranger {
		s.claim(func(t slotTrain, r SlotRecord) bool {
			return s.came(t) && min(s.base.kinship(t, r.List), s.base.kinship(t, r.former)) == near
		})
	}
}

// giveToAdded gives records to trains of which nobody was registered as a twin.
func (s *slotDay) giveToAdded() {
	s.claim(func(t slotTrain, _ SlotRecord) bool { return s.came(t) && t.added })
}

// giveUnreadable gives away what cannot be read, which is perhaps of a train that comes
// back: rather than sell its places twice, none of it is sold.
func (s *slotDay) giveUnreadable() {
	s.claim(func(t slotTrain, r SlotRecord) bool { return r.Unknown && s.came(t) && t.twin == r.Slot })
	s.claim(func(t slotTrain, r SlotRecord) bool { return r.Unknown && s.came(t) })
}

// takeOwn gives trains the slot of their own twin, if it is free.
func (s *slotDay) takeOwn() {
	for i, t := range s.trains {
		if s.at[i] < 0 && !s.taken(t.twin) && !s.booked(t.twin) {
			s.at[i] = t.twin
		}
	}
}

// takeFree gives the trains that are left the first free slots. The next timetable would
// not find what lies beyond the limit: rather than that, a train gets the slot of one that
// does not run any more.
func (s *slotDay) takeFree() {
	limit := s.base.limit
	for i := range s.trains {
		for n := 0; s.at[i] < 0; n++ {
			if !s.taken(n%limit) && (n >= limit || !s.booked(n)) {
				s.at[i] = n % limit
			}
		}
	}
}

// moves are the trains whose slot is not their own twin's.
func (s *slotDay) moves() (moves []Move) {
	for i, t := range s.trains {
		if s.at[i] != t.twin {
			moves = append(moves, Move{t.index, s.date, s.at[i]})
		}
	}
	return moves
}

// handbacks are the lists of calls that were sold of a slot and are nearer to another
// train than to the one that has the slot now.
func (s *slotDay) handbacks() (back []Handback) {
	run := func(slot int) rail.RunID { return rail.RunID{Train: Twin(s.base.id, slot), Date: s.date} }
	for _, r := range s.records {
		if r.Unknown {
			continue
		}
		holder := slices.Index(s.at, r.Slot)
		for _, list := range append(r.Foreign, r.List) {
			home := s.home(holder, list)
			if home >= 0 && home != holder && !s.unreadable(s.at[home]) {
				back = append(back, Handback{s.trains[home].index, list, run(r.Slot), run(s.at[home])})
			}
		}
	}
	return back
}

// home is the train that is nearest to a list of calls, which is the holder of its slot
// unless another one is nearer. Both are -1 if there is none.
func (s *slotDay) home(holder int, list uint64) int {
	home, nearest := holder, sameEndAndTwin // if nobody has it, a likeness is not enough
	if holder >= 0 {
		nearest = s.base.kinship(s.trains[holder], list)
	}
	for i, t := range s.trains {
		if near := s.base.kinship(t, list); near < nearest && (near == same || s.came(t)) {
			home, nearest = i, near
		}
	}
	return home
}

func (s *slotDay) unreadable(slot int) bool {
	return slices.ContainsFunc(s.records, func(r SlotRecord) bool { return r.Slot == slot && r.Unknown })
}
