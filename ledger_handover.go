package traintravel

import (
	"slices"

	"github.com/google/uuid"
)

// A handover says that the timetable before had a train twice, as two trains that no
// traveller could tell apart, and this one has it once: what was sold of the run of the
// one that is gone is the other's, whose places must not be sold again.
type handover struct {
	train    int // index of the one that stays
	from, to RunID
	// named is by what the calls of the one that stays name the stations, where those
	// of the other did otherwise. It is nil if that cannot be told.
	named map[uuid.UUID]uuid.UUID
}

// handOver gives a train what was sold of the run of another one that was the same.
// Nobody is put on a train that is cancelled.
func (l *ledger) handOver(sn *snapshot, h handover) error {
	if err := l.loadRuns(h.from, h.to); err != nil {
		return err
	}
	from, to := l.runEntry(h.from), l.runEntry(h.to)
	if from.inv == nil || to.inv != nil && to.inv.cancelled {
		return nil
	}
	var bookings []*Booking
	for _, id := range from.inv.holders() {
		if id == blocked {
			continue
		}
		b, err := l.booking(id)
		if err != nil {
			return damaged(err)
		}
		bookings = append(bookings, b)
	}
	to.inv = sn.inventoryOf(to.inv, &sn.trains[h.train])
	from.inv.handOver(h.named, to.inv)
	rename := func(s *Stop) {
		if id, ok := h.named[s.Station]; ok {
			s.Station = id
		}
	}
	for _, b := range bookings {
		b.Legs = slices.Clone(b.Legs)
		for i := range b.Legs {
			if g := &b.Legs[i]; g.Run == h.from {
				g.Run = h.to
				rename(&g.Origin)
				rename(&g.Destination)
			}
		}
	}
	from.changed, to.changed = true, true
	return nil
}
