package loading

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/seats"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// strandedBy lists the bookings of runs from yesterday on that a timetable does not fit, and the
// unreadable records.
func (o *Loader) strandedBy(ctx context.Context, sn *timetable.Snapshot) (out []rail.Stranded, left records.Omissions, err error) {
	left, err = o.eachRunToCome(ctx, func(v runInventory) {
		for booking := range misfits(sn, v) {
			out = append(out, rail.Stranded{Booking: booking, Run: v.run})
		}
	})
	if err != nil {
		return nil, nil, err
	}
	more, err := o.addLegs(ctx, out)
	return out, append(left, more...), err
}

// eachRunToCome iterates over the sales of the runs from yesterday on, and returns the unreadable
// records.
func (o *Loader) eachRunToCome(ctx context.Context, fn func(runInventory)) (records.Omissions, error) {
	from := seats.RunKey(rail.RunID{Date: rail.DateOf(o.Books.Now()) - 1}).ID
	return records.EachOf(ctx, o.Books.Store, store.Range{Table: store.TableRuns, From: from}, readRun, func(v runInventory) bool {
		fn(v)
		return true
	})
}

// misfits returns the bookings of a run that a timetable does not fit.
func misfits(sn *timetable.Snapshot, v runInventory) iter.Seq[uuid.UUID] {
	return func(yield func(uuid.UUID) bool) {
		inv := v.inv
		if t, ok := sn.Run(v.run); ok {
			inv = sn.Fitted(inv, t)
		} else {
			for _, t := range inv.Taken {
				if t.Booking != seats.Blocked() && !yield(t.Booking) {
					return
				}
			}
		}
		for _, x := range inv.Stranded {
			if x.Booking != seats.Blocked() && !yield(x.Booking) {
				return
			}
		}
	}
}

// A runInventory is a record of TableRuns.
type runInventory struct {
	run rail.RunID
	inv *seats.Inventory
}

func readRun(rec store.Record) (runInventory, error) {
	if len(rec.ID) != seats.RunKeySize {
		return runInventory{}, fmt.Errorf("the key of a run %w", codec.ErrDamaged)
	}
	inv, err := seats.DecodeInventory(rec.Value)
	return runInventory{seats.ParseRunKey(rec.ID), inv}, err
}

// addLegs adds the legs of stranded bookings, except of those that it cannot read.
func (o *Loader) addLegs(ctx context.Context, all []rail.Stranded) (left records.Omissions, err error) {
	for part := range slices.Chunk(all, records.Batch) {
		keys := make([]store.Key, len(part))
		for i := range part {
			keys[i] = records.BookingKey(part[i].Booking)
		}
		values, err := o.Books.Store.Get(ctx, keys...)
		if err != nil {
			return left, err
		}
		for i, v := range values {
			if v == nil {
				continue // it has just gone
			}
			b, err := records.DecodeBooking(v, o.Books.Zones)
			if err != nil {
				left.Add(keys[i], err)
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
