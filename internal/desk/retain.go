package desk

import (
	"context"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// The personal data of travellers is erased some time after their journeys. An item on the
// agenda, one for the store, has the time of the next scan of the bookings, and the booking
// before which all have been erased.

// ForgetTravellers erases the bookings whose journeys ended longer ago than Retain.
func (d *Desk) ForgetTravellers(ctx context.Context, it records.Item) error {
	now := d.Books.Now()
	due := func(b *rail.Booking) bool { return !now.Before(b.Arrives().Add(d.Retain)) }
	from := string(it.Value) // all before are erased
	erased, first := 0, true
	err := store.EachPage(ctx, d.Books.Store, store.Range{Table: store.TableBookings, From: from}, func(page []store.Record) error {
		var ids []uuid.UUID
		var left records.Omissions
		gone := make([]bool, len(page))
		for i, rec := range page {
			b, err := d.Books.BookingOf(rec)
			if err != nil {
				left.Add(store.Key{Table: store.TableBookings, ID: rec.ID}, err)
				continue
			}
			if gone[i] = b.Erased(); !b.Erased() && due(&b) {
				ids = append(ids, b.ID)
			}
		}
		done, more, err := d.erase(ctx, ids, due)
		d.Books.Omit(ctx, append(left, more...))
		if err != nil {
			return err
		}
		erased += len(done)
		for i, rec := range page {
			if first = first && (gone[i] || done[uuid.UUID([]byte(rec.ID))]); first {
				from = rec.ID + "\x00"
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if erased > 0 {
		d.Books.Log.Info("erased the personal data of travellers", "bookings", erased, "after", d.Retain)
	}
	return d.Books.Update(ctx, now, func(l *ledger.Ledger) error {
		v, err := l.Tx.Get(l.Ctx, it.Key)
		if err != nil || v[0] == nil { // another server did it
			return err
		}
		l.Delete(it.Key)
		l.Put(records.AgendaKey(records.TravellersDue, now.Add(ledger.ForgetEvery), it.ID), []byte(from))
		return nil
	})
}
