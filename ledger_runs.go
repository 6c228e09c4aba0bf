package traintravel

import (
	"fmt"
	"slices"
)

// What an update does to the inventories of runs.

type runEntry struct {
	id      RunID
	inv     *inventory // nil if there is none yet
	err     error      // why there is one that cannot be read
	changed bool
}

// loadRuns loads the inventories of runs in one round trip. An error of one that
// cannot be read is returned each time that it is asked for.
func (l *ledger) loadRuns(ids ...RunID) error {
	keys := make([]Key, 0, maxLegs)
	for _, id := range ids {
		if k := runKey(id); l.runEntry(id) == nil && !l.hasFetched(k) {
			keys = append(keys, k)
		}
	}
	if len(keys) > 0 {
		if err := l.fetch(keys...); err != nil {
			return err
		}
	}
	for _, id := range ids {
		e := l.runEntry(id)
		if e == nil {
			e = &runEntry{id: id}
			l.runs = append(l.runs, e)
			v, err := l.get(runKey(id))
			if err != nil {
				return err
			}
			if v != nil {
				e.load(v)
			}
		}
		if e.err != nil {
			return e.err
		}
	}
	return nil
}

// load fills an entry from its record.
func (e *runEntry) load(v []byte) {
	inv, err := decodeInventory(v)
	if err != nil {
		e.err = fmt.Errorf("the run %v: %w", e.id, err)
		return
	}
	e.inv = inv
}

func (l *ledger) runEntry(id RunID) *runEntry {
	for _, e := range l.runs {
		if e.id == id {
			return e
		}
	}
	return nil
}

// ride returns the inventory of a run that takes new bookings, fitted to the
// timetable. Its run is loaded.
func (l *ledger) ride(sn *snapshot, r ride) *runEntry {
	e := l.runEntry(r.run())
	e.inv = sn.inventoryOf(e.inv, r.train)
	return e
}

// release gives back all that a booking has on its runs.
func (l *ledger) release(b *Booking) error {
	if err := l.loadRuns(runsOf(b)...); err != nil {
		return err
	}
	for _, id := range runsOf(b) {
		if e := l.runEntry(id); e.inv != nil && e.inv.release(b.ID) {
			e.changed = true
		}
	}
	return nil
}

// pin changes until when a booking has its places. It returns false, and has
// changed nothing, if the booking lacks one that it was given.
func (l *ledger) pin(b *Booking, until int64) (bool, error) {
	if err := l.loadRuns(runsOf(b)...); err != nil {
		return false, err
	}
	for i := range b.Legs {
		if e := l.runEntry(b.Legs[i].Run); b.Legs[i].Seat > 0 && (e.inv == nil || !e.inv.has(b.ID)) {
			return false, nil
		}
	}
	for _, id := range runsOf(b) {
		if e := l.runEntry(id); e.inv != nil && e.inv.hold(b.ID, until) {
			e.changed = true
		}
	}
	return true, nil
}

// handBack gives a train that runs again what was sold on its calls of a run
// that another train has taken over. Where that cannot be read, nothing is given, and
// nobody is put on a train that is cancelled.
func (l *ledger) handBack(sn *snapshot, h handback) error {
	if err := l.loadRuns(h.from, h.to); err != nil {
		return err
	}
	from, to := l.runEntry(h.from), l.runEntry(h.to)
	if to.inv != nil && to.inv.cancelled {
		return nil
	}
	var bookings []*Booking
	for _, id := range from.inv.soldOn(h.list) {
		if id == blocked {
			continue
		}
		b, err := l.booking(id)
		if err != nil {
			return fmt.Errorf("booking %v, which has a place: %w", id, damaged(err))
		}
		bookings = append(bookings, b)
	}
	to.inv = sn.inventoryOf(to.inv, &sn.trains[h.train])
	from.inv.handBack(h.list, to.inv)
	for _, b := range bookings {
		b.Legs = slices.Clone(b.Legs)
		for i := range b.Legs {
			if b.Legs[i].Run == h.from {
				b.Legs[i].Run = h.to
			}
		}
	}
	from.changed, to.changed = true, true
	return nil
}
