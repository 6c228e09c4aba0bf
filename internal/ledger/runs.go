package ledger

import (
	"fmt"
	"slices"

	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/seats"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/internal/trains"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// The inventories of runs in an update.

// A RunEntry is the inventory of a run in an update.
type RunEntry struct {
	ID      rail.RunID
	Inv     *seats.Inventory // nil if it does not exist yet
	err     error            // why it cannot be read
	Changed bool
}

// LoadRuns loads the inventories of runs in one round trip. If an inventory cannot be read, each
// use of it returns the error.
func (l *Ledger) LoadRuns(ids ...rail.RunID) error {
	keys := make([]store.Key, 0, rail.MaxLegs)
	for _, id := range ids {
		if k := seats.RunKey(id); l.RunEntry(id) == nil && !l.hasFetched(k) {
			keys = append(keys, k)
		}
	}
	if len(keys) > 0 {
		if err := l.fetch(keys...); err != nil {
			return err
		}
	}
	for _, id := range ids {
		e := l.RunEntry(id)
		if e == nil {
			e = &RunEntry{ID: id}
			l.Runs = append(l.Runs, e)
			v, err := l.get(seats.RunKey(id))
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
func (e *RunEntry) load(v []byte) {
	inv, err := seats.DecodeInventory(v)
	if err != nil {
		e.err = fmt.Errorf("the run %v: %w", e.ID, err)
		return
	}
	e.Inv = inv
}

// RunEntry returns the entry of a run that was loaded, or nil.
func (l *Ledger) RunEntry(id rail.RunID) *RunEntry {
	for _, e := range l.Runs {
		if e.ID == id {
			return e
		}
	}
	return nil
}

// Ride returns the inventory of a run that takes new bookings, fitted to the
// timetable. Its run is loaded.
func (l *Ledger) Ride(sn *timetable.Snapshot, r timetable.Ride) *RunEntry {
	e := l.RunEntry(r.Run())
	e.Inv = sn.InventoryOf(e.Inv, r.Train)
	return e
}

// release frees all places and hooks of a booking on its runs.
func (l *Ledger) release(b *rail.Booking) error {
	if err := l.LoadRuns(rail.RunsOf(b)...); err != nil {
		return err
	}
	for _, id := range rail.RunsOf(b) {
		if e := l.RunEntry(id); e.Inv != nil && e.Inv.Release(b.ID) {
			e.Changed = true
		}
	}
	return nil
}

// pin changes the time until which a booking has its places. It returns false, and changes
// nothing, if the booking has lost one of them.
func (l *Ledger) pin(b *rail.Booking, until int64) (bool, error) {
	if err := l.LoadRuns(rail.RunsOf(b)...); err != nil {
		return false, err
	}
	for i := range b.Legs {
		if e := l.RunEntry(b.Legs[i].Run); b.Legs[i].Seat > 0 && (e.Inv == nil || !e.Inv.Has(b.ID)) {
			return false, nil
		}
	}
	for _, id := range rail.RunsOf(b) {
		if e := l.RunEntry(id); e.Inv != nil && e.Inv.Hold(b.ID, until) {
			e.Changed = true
		}
	}
	return true, nil
}

// HandBack moves the sales on a train's calls back to the train when it runs again, from the run
// of another train that had taken it over. It moves nothing if the run cannot be read, and nobody
// to a cancelled train.
func (l *Ledger) HandBack(sn *timetable.Snapshot, h trains.Handback) error {
	if err := l.LoadRuns(h.From, h.To); err != nil {
		return err
	}
	from, to := l.RunEntry(h.From), l.RunEntry(h.To)
	if to.Inv != nil && to.Inv.Cancelled {
		return nil
	}
	var bookings []*rail.Booking
	for _, id := range from.Inv.SoldOn(h.List) {
		if id == seats.Blocked() {
			continue
		}
		b, err := l.Booking(id)
		if err != nil {
			return fmt.Errorf("booking %v, which has a place: %w", id, records.Damaged(err))
		}
		bookings = append(bookings, b)
	}
	to.Inv = sn.InventoryOf(to.Inv, &sn.Trains[h.Train])
	from.Inv.HandBack(h.List, to.Inv)
	for _, b := range bookings {
		b.Legs = slices.Clone(b.Legs)
		for i := range b.Legs {
			if b.Legs[i].Run == h.From {
				b.Legs[i].Run = h.To
			}
		}
	}
	from.Changed, to.Changed = true, true
	return nil
}
