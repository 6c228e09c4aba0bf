package traintravel

import (
	"context"

	"github.com/google/uuid"
)

// Travellers are forgotten when their journeys are long over. An item on the agenda,
// one for the store, has the time of the next look through the bookings, and the
// booking before which all have been erased.

// forgetTravellers erases the bookings of journeys that ended so long ago as they are kept.
func (d *desk) forgetTravellers(ctx context.Context, it item) error {
	now := d.books.now()
	due := func(b *Booking) bool { return !now.Before(b.arrives().Add(d.retain)) }
	from := string(it.value) // all before are erased
	erased, first := 0, true
	err := eachPage(ctx, d.books.store, Range{Table: TableBookings, From: from}, func(page []Record) error {
		var ids []uuid.UUID
		var left omissions
		gone := make([]bool, len(page))
		for i, rec := range page {
			b, err := d.books.bookingOf(rec)
			if err != nil {
				left.add(Key{TableBookings, rec.ID}, err)
				continue
			}
			if gone[i] = b.Erased(); !b.Erased() && due(&b) {
				ids = append(ids, b.ID)
			}
		}
		done, more, err := d.erase(ctx, ids, due)
		d.books.omit(ctx, append(left, more...))
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
		d.books.log.Info("travellers were forgotten", "bookings", erased, "after", d.retain)
	}
	return d.books.update(ctx, now, func(l *ledger) error {
		v, err := l.tx.Get(l.ctx, it.key)
		if err != nil || v[0] == nil { // somebody else did it
			return err
		}
		l.delete(it.key)
		l.put(agendaKey(travellersDue, now.Add(forgetEvery), it.id), []byte(from))
		return nil
	})
}
