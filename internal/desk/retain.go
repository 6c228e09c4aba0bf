package desk

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// The personal data of travellers is erased some time after their journeys. An item on the
// agenda, one for the store, has the time of the next scan of the bookings, and the booking
// before which all have been erased.

// longestWait is the age from which an event that is not distributed yet does not delay an
// erasure any more.
const longestWait = 7 * 24 * time.Hour

// undistributed returns the bookings with an event of which it is not decided yet to which
// subscriptions it goes. That depends on the owner, which an erasure removes.
func (d *Desk) undistributed(ctx context.Context, now time.Time) (map[uuid.UUID]bool, error) {
	found := map[uuid.UUID]bool{}
	err := store.EachPage(ctx, d.Books.Store, records.AgendaOf(records.FanOutDue), func(page []store.Record) error {
		for _, rec := range page {
			if q, err := records.DecodeQueued(rec.Value); err == nil && now.Sub(q.Created) < longestWait {
				found[q.Booking] = true
			}
		}
		return nil
	})
	return found, err
}

// ForgetTravellers erases the bookings whose journeys ended longer ago than Retain. Holds wait
// until they have expired, and all bookings until their events are distributed.
func (d *Desk) ForgetTravellers(ctx context.Context, it records.Item) error {
	now := d.Books.Now()
	waiting, err := d.undistributed(ctx, now)
	if err != nil {
		return err
	}
	due := func(b *rail.Booking) bool {
		return !now.Before(b.Arrives().Add(d.Retain)) && b.Status != rail.Held && !waiting[b.ID] && b.Changed.Before(now)
	}
	settled := func(b *rail.Booking, payments []records.Payment) bool {
		return due(b) && !slices.ContainsFunc(payments, func(p records.Payment) bool { return !p.Settled.Before(now) })
	}
	from := string(it.Value) // all before are erased
	erased, first := 0, true
	err = store.EachPage(ctx, d.Books.Store, store.Range{Table: store.TableBookings, From: from}, func(page []store.Record) error {
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
		done, more, err := d.erase(ctx, ids, settled)
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
