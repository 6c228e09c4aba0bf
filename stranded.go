package traintravel

import (
	"context"
	"slices"

	"github.com/google/uuid"
)

// stranded lists the bookings of runs from yesterday on that a timetable does
// not fit.
func (s *Service) stranded(ctx context.Context, sn *snapshot) ([]Stranded, error) {
	var out []Stranded
	add := func(booking uuid.UUID, run RunID) {
		if booking != blocked {
			out = append(out, Stranded{Booking: booking, Run: run})
		}
	}
	from := runKey(RunID{Date: DateOf(s.now()) - 1}).ID
	for {
		records, err := s.store.List(ctx, Range{Table: TableRuns, From: from, Limit: batch})
		if err != nil {
			return nil, err
		}
		if len(records) == 0 {
			return out, s.addLegs(ctx, out)
		}
		from = records[len(records)-1].ID + "\x00"
		for _, rec := range records {
			inv, err := decodeInventory(rec.Value)
			if err != nil {
				return nil, err
			}
			run := parseRunKey(rec.ID)
			t, ok := sn.run(run)
			if ok {
				inv = sn.fitted(inv, t)
			} else {
				for _, t := range inv.taken {
					add(t.booking, run)
				}
			}
			for _, x := range inv.stranded {
				add(x.booking, run)
			}
		}
	}
}

// addLegs adds what stranded bookings have of their runs.
func (s *Service) addLegs(ctx context.Context, all []Stranded) error {
	for part := range slices.Chunk(all, batch) {
		keys := make([]Key, len(part))
		for i := range part {
			keys[i] = bookingKey(part[i].Booking)
		}
		values, err := s.store.Get(ctx, keys...)
		if err != nil {
			return err
		}
		for i, v := range values {
			if v == nil {
				continue // it has just gone
			}
			b, err := decodeBooking(v, &s.zones)
			if err != nil {
				return err
			}
			for _, leg := range b.Legs {
				if leg.Run == part[i].Run {
					part[i].Leg = leg
				}
			}
		}
	}
	return nil
}
