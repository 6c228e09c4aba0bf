package ledger

import (
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/seats"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/rail"
)

// A Handover says that the timetable before had a train twice, as two trains that no
// traveller could tell apart, and this one has it once: what was sold of the run of the
// one that is gone is the other's, whose places must not be sold again.
type Handover struct {
	Train    int // index of the one that stays
	From, To rail.RunID
	// Named is by what the calls of the one that stays name the stations, where those
	// of the other did otherwise. It is nil if that cannot be told.
	Named map[uuid.UUID]uuid.UUID
}

// HandOver gives a train what was sold of the run of another one that was the same.
// Nobody is put on a train that is cancelled.
func (l *Ledger) HandOver(sn *timetable.Snapshot, h Handover) error {
	if err := l.LoadRuns(h.From, h.To); err != nil {
		return err
	}
	from, to := l.RunEntry(h.From), l.RunEntry(h.To)
	if from.Inv == nil || to.Inv != nil && to.Inv.Cancelled {
		return nil
	}
	var bookings []*rail.Booking
	for _, id := range from.Inv.Holders() {
		if id == seats.Blocked() {
			continue
		}
		b, err := l.Booking(id)
		if err != nil {
			return records.Damaged(err)
		}
		bookings = append(bookings, b)
	}
	to.Inv = sn.InventoryOf(to.Inv, &sn.Trains[h.Train])
	from.Inv.HandOver(h.Named, to.Inv)
	rename := func(s *rail.Stop) {
		if id, ok := h.Named[s.Station]; ok {
			s.Station = id
		}
	}
	for _, b := range bookings {
		b.Legs = slices.Clone(b.Legs)
		for i := range b.Legs {
			if g := &b.Legs[i]; g.Run == h.From {
				g.Run = h.To
				rename(&g.Origin)
				rename(&g.Destination)
			}
		}
	}
	from.Changed, to.Changed = true, true
	return nil
}
