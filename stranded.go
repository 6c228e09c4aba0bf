package traintravel

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/google/uuid"
)

// strandedBy lists the bookings of runs from yesterday on that a timetable does
// not fit, and what it cannot read.
func (o *loader) strandedBy(ctx context.Context, sn *snapshot) (out []Stranded, left omissions, err error) {
	left, err = o.eachRunToCome(ctx, func(v runInventory) {
		for booking := range misfits(sn, v) {
			out = append(out, Stranded{Booking: booking, Run: v.run})
		}
	})
	if err != nil {
		return nil, nil, err
	}
	more, err := o.addLegs(ctx, out)
	return out, append(left, more...), err
}

// eachRunToCome goes through what is sold of the runs from yesterday on, and returns what
// it cannot read.
func (o *loader) eachRunToCome(ctx context.Context, fn func(runInventory)) (omissions, error) {
	from := runKey(RunID{Date: DateOf(o.books.now()) - 1}).ID
	return eachOf(ctx, o.books.store, Range{Table: TableRuns, From: from}, readRun, func(v runInventory) bool {
		fn(v)
		return true
	})
}

// misfits are the bookings of a run that a timetable does not fit.
func misfits(sn *snapshot, v runInventory) iter.Seq[uuid.UUID] {
	return func(yield func(uuid.UUID) bool) {
		inv := v.inv
		if t, ok := sn.run(v.run); ok {
			inv = sn.fitted(inv, t)
		} else {
			for _, t := range inv.taken {
				if t.booking != blocked && !yield(t.booking) {
					return
				}
			}
		}
		for _, x := range inv.stranded {
			if x.booking != blocked && !yield(x.booking) {
				return
			}
		}
	}
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
func (o *loader) addLegs(ctx context.Context, all []Stranded) (left omissions, err error) {
	for part := range slices.Chunk(all, batch) {
		keys := make([]Key, len(part))
		for i := range part {
			keys[i] = bookingKey(part[i].Booking)
		}
		values, err := o.books.store.Get(ctx, keys...)
		if err != nil {
			return left, err
		}
		for i, v := range values {
			if v == nil {
				continue // it has just gone
			}
			b, err := decodeBooking(v, o.books.zones)
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
