package ledger

import (
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/seats"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/rail"
)

// A Handover says that the previous timetable had a train twice, as two trains that travellers
// could not distinguish, and the new one has it once: the sales of the run that is gone belong
// to the other one, so that its places are not sold again.
type Handover struct {
	Train    int // the index of the remaining train
	From, To rail.RunID
	// Named maps stations to the IDs that the calls of the remaining train use, where the
	// other's used different ones. It is nil if this cannot be determined.
	Named map[uuid.UUID]uuid.UUID
}

// HandOver moves the sales of a run to another train that was the same. It moves nobody to a
// cancelled train.
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
