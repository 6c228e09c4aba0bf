package traintravel

import (
	"context"
	"errors"

	"github.com/google/uuid"
)

// Travellers are forgotten when their journeys are long over. An item on the agenda,
// one for the store, has the time of the next look through the bookings, and the
// booking before which all have been erased.

// passes are the kinds of which a pass is always on the agenda.
func (s *Service) passes() (ks []kind) {
	if s.opts.Retain > 0 {
		ks = append(ks, travellersDue)
	}
	if s.opts.KeepUnpaid > 0 {
		ks = append(ks, unpaidPass)
	}
	return ks
}

// schedulePass puts the next pass of a kind on the agenda, unless it is there.
func (s *Service) schedulePass(ctx context.Context, k kind) error {
	first := agendaOf(k)
	first.Limit = 1
	there, err := s.store.List(ctx, first)
	if err != nil || len(there) > 0 {
		return err
	}
	now := s.now()
	return s.books.update(ctx, now, func(l *ledger) error {
		there, err := l.tx.List(l.ctx, first)
		if err == nil && len(there) == 0 {
			l.put(agendaKey(k, now, uuid.Nil), nil)
		}
		return err
	})
}

// keepForgetting puts the next pass of a kind on the agenda, and tries until it is there.
func (s *Service) keepForgetting(ctx context.Context, k kind) {
	for ctx.Err() == nil {
		err := s.schedulePass(ctx, k)
		if err == nil {
			return
		}
		if !errors.Is(err, ctx.Err()) {
			s.log.Error("a pass over bookings could not be scheduled; will retry", "kind", string(k), "error", err)
		}
		sleep(ctx, lookAgain)
	}
}

// forgetTravellers erases the bookings of journeys that ended so long ago as they are kept.
func (d *operatorDesk) forgetTravellers(ctx context.Context, it item) error {
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
