package traintravel

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
)

// stranded lists the bookings of runs from yesterday on that a timetable does
// not fit, and what it cannot read.
func (s *Service) stranded(ctx context.Context, sn *snapshot) (out []Stranded, left omissions, err error) {
	add := func(booking uuid.UUID, run RunID) {
		if booking != blocked {
			out = append(out, Stranded{Booking: booking, Run: run})
		}
	}
	from := runKey(RunID{Date: DateOf(s.now()) - 1}).ID
	left, err = eachOf(ctx, s.store, Range{Table: TableRuns, From: from}, readRun, func(v runInventory) bool {
		inv := v.inv
		if t, ok := sn.run(v.run); ok {
			inv = sn.fitted(inv, t)
		} else {
			for _, t := range inv.taken {
				add(t.booking, v.run)
			}
		}
		for _, x := range inv.stranded {
			add(x.booking, v.run)
		}
		return true
	})
	if err != nil {
		return nil, nil, err
	}
	more, err := s.addLegs(ctx, out)
	return out, append(left, more...), err
}

// A runInventory is a record of TableRuns.
type runInventory struct {
	run RunID
	inv *inventory
}

func readRun(rec Record) (runInventory, error) {
	if len(rec.ID) != runKeySize {
		return runInventory{}, fmt.Errorf("the key of a run %w", errDamaged)
	}
	inv, err := decodeInventory(rec.Value)
	return runInventory{parseRunKey(rec.ID), inv}, err
}

// addLegs adds what stranded bookings have of their runs, but for those that it cannot
// read.
func (s *Service) addLegs(ctx context.Context, all []Stranded) (left omissions, err error) {
	for part := range slices.Chunk(all, batch) {
		keys := make([]Key, len(part))
		for i := range part {
			keys[i] = bookingKey(part[i].Booking)
		}
		values, err := s.store.Get(ctx, keys...)
		if err != nil {
			return left, err
		}
		for i, v := range values {
			if v == nil {
				continue // it has just gone
			}
			b, err := decodeBooking(v, &s.zones)
			if err != nil {
				left.add(keys[i], err)
				continue
			}
			for _, leg := range b.Legs {
				if leg.Run == part[i].Run {
					part[i].Leg = leg
				}
			}
		}
	}
	return left, nil
}
