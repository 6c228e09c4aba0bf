package traintravel

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
)

// Bookings that ended unpaid are removed when nobody needs them any more: see
// Options.KeepUnpaid. The agenda has each of them from a day after it was made, in the
// order in which they may go. An item for the store has the time of the next pass and the
// booking before which all unpaid ones are on the agenda, so each booking is read once.

const (
	// forgetEvery is how often Run looks for bookings to erase or to remove.
	forgetEvery = 6 * time.Hour
	// keepUnpaid is what Options.KeepUnpaid is by default, and leastUnpaid the least: for
	// 24 hours requests are answered again, and lost charges watched.
	keepUnpaid  = 7 * 24 * time.Hour
	leastUnpaid = 48 * time.Hour
	// farAhead is how long after a hold ended its journey counts as over, so that nobody
	// fills the store with holds of journeys that are a year ahead.
	farAhead = 30 * 24 * time.Hour
	// settling is how old a booking is that a pass puts on the agenda: older than the
	// clocks of servers can differ.
	settling = 24 * time.Hour
	// postponed is how long what cannot go yet is left alone.
	postponed = 24 * time.Hour
	// removeAtOnce is how many are removed in one update.
	removeAtOnce = 32
	// mostAwaited is how many old events may wait at most while bookings are removed.
	mostAwaited = 100_000
)

// unpaidKey is where an unpaid booking stands on the agenda: at the end of its journey, or
// farAhead after its hold if that is earlier. It may go Options.KeepUnpaid later, so that
// another setting counts at once.
func unpaidKey(b *Booking) Key {
	over := b.arrives()
	if early := b.Expires.Add(farAhead); early.Before(over) {
		over = early
	}
	return agendaKey(unpaidOver, over, b.ID)
}

// removeUnpaid is one pass. Broken off, the next one goes on.
func (b *books) removeUnpaid(ctx context.Context, it item) error {
	now := b.now()
	from, err := b.listUnpaid(ctx, it, now)
	if err != nil {
		return err
	}
	awaited, err := b.awaited(ctx, now.Add(-leastUnpaid/2))
	switch {
	case errors.Is(err, errManyAwaited) || unreadable(err):
		b.log.WarnContext(ctx, "no unpaid bookings were removed; will retry", "after", forgetEvery, "error", err)
	case err != nil:
		return err
	default:
		if err := b.removeDue(ctx, now, awaited); err != nil {
			return err
		}
	}
	return b.update(ctx, now, func(l *ledger) error {
		v, err := l.tx.Get(l.ctx, it.key)
		if err != nil || v[0] == nil { // somebody else did it
			return err
		}
		l.delete(it.key)
		l.put(agendaKey(unpaidPass, now.Add(forgetEvery), it.id), []byte(from))
		return nil
	})
}

// listUnpaid puts the unpaid bookings on the agenda that were made since the pass before,
// and returns the one before which all are.
func (b *books) listUnpaid(ctx context.Context, it item, now time.Time) (string, error) {
	from, to := string(it.value), firstID(now.Add(-settling))
	for from < to {
		records, err := b.store.List(ctx, Range{Table: TableBookings, From: from, To: to, Limit: batch})
		if err != nil {
			return "", err
		}
		var unpaid []Booking
		var left omissions
		for _, rec := range records {
			is, err := b.bookingOf(rec)
			if err != nil {
				left.add(Key{TableBookings, rec.ID}, err)
			} else if is.PaidBy == uuid.Nil {
				unpaid = append(unpaid, is)
			}
		}
		b.omit(ctx, left)
		if from = to; len(records) == batch {
			from = records[batch-1].ID + "\x00"
		}
		if len(unpaid) == 0 {
			continue
		}
		err = b.update(ctx, now, func(l *ledger) error {
			v, err := l.tx.Get(l.ctx, it.key)
			if err != nil || v[0] == nil {
				return err
			}
			for i := range unpaid {
				l.put(unpaidKey(&unpaid[i]), nil)
			}
			l.put(it.key, []byte(from))
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	return from, nil
}

// firstID is before all IDs of bookings that are made from an instant on.
func firstID(t time.Time) string {
	return string(binary.BigEndian.AppendUint64(nil, uint64(max(0, t.UnixMilli()))<<16)[:6])
}

var errManyAwaited = errors.New("too many old events wait to be delivered")

// awaited are the bookings of which events from before an instant wait to be delivered.
func (b *books) awaited(ctx context.Context, before time.Time) (map[uuid.UUID]bool, error) {
	found := map[uuid.UUID]bool{}
	add := func(q queued, err error) error {
		switch {
		case errors.Is(err, ErrNewerData): // it may be of any booking
			return err
		case err == nil && q.created.Before(before):
			found[q.booking] = true
		}
		if len(found) > mostAwaited {
			return errManyAwaited
		}
		return nil
	}
	for k, decode := range eventKinds {
		err := eachPage(ctx, b.store, agendaOf(k), func(page []Record) error {
			for _, rec := range page {
				if err := add(decode(rec.Value)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	err := eachPage(ctx, b.store, Range{Table: TableDeliveries, From: "q", To: "r"}, func(page []Record) error {
		var keys []Key
		for _, rec := range page {
			if len(rec.ID) != queueKeySize {
				continue // Check reports it
			}
			if id := uuid.UUID([]byte(rec.ID[25:])); timeOf(id).Before(before) {
				keys = append(keys, deliveryKey(uuid.UUID([]byte(rec.ID[1:17])), id))
			}
		}
		if len(keys) == 0 {
			return nil
		}
		values, err := b.store.Get(ctx, keys...)
		if err != nil {
			return err
		}
		for _, v := range values {
			if v == nil {
				continue // it has just been delivered
			}
			d, err := decodeDelivery(v)
			if err := add(d.queued, err); err != nil {
				return err
			}
		}
		return nil
	})
	return found, err
}

// removeDue removes those that may go.
func (b *books) removeDue(ctx context.Context, now time.Time, awaited map[uuid.UUID]bool) error {
	due := agendaOf(unpaidOver)
	due.To = agendaKey(unpaidOver, now.Add(-b.terms.keepUnpaid), uuid.Nil).ID
	removed := 0
	err := eachPage(ctx, b.store, due, func(page []Record) error {
		for some := range slices.Chunk(page, removeAtOnce) {
			var left omissions
			n := 0
			err := b.update(ctx, now, func(l *ledger) error {
				left, n = nil, 0
				for _, rec := range some {
					gone, err := l.removeUnpaid(Key{TableAgenda, rec.ID}, awaited)
					if unreadable(err) {
						left.add(Key{TableAgenda, rec.ID}, err)
					} else if err != nil {
						return err
					}
					if gone {
						n++
					}
				}
				return nil
			})
			b.omit(ctx, left)
			if err != nil {
				return err
			}
			removed += n
		}
		return nil
	})
	if removed > 0 {
		b.log.Info("unpaid bookings were removed", "bookings", removed, "after", b.terms.keepUnpaid)
	}
	return err
}

// removeUnpaid removes the booking of an item, with its attempts to pay, if it ended
// unpaid and nothing waits for it. It has read all before it changes anything.
func (l *ledger) removeUnpaid(item Key, awaited map[uuid.UUID]bool) (gone bool, err error) {
	if len(item.ID) != agendaKeySize {
		return false, nil // Check reports it
	}
	id := uuid.UUID([]byte(item.ID[9:]))
	v, err := l.tx.Get(l.ctx, item, bookingKey(id))
	if err != nil || v[0] == nil { // somebody else did it
		return false, err
	}
	if v[1] == nil {
		l.delete(item)
		return false, nil
	}
	b, err := decodeBooking(v[1], l.books.zones)
	if err != nil {
		return false, err
	}
	records, err := l.tx.List(l.ctx, paymentsOf(id))
	if err != nil {
		return false, err
	}
	payments := make([]payment, len(records))
	for i, rec := range records {
		if payments[i], err = decodePayment(rec.Value); err != nil {
			return false, err
		}
	}
	switch {
	case b.PaidBy != uuid.Nil || slices.ContainsFunc(payments, payment.kept):
		l.delete(item)
		return false, nil
	case !finished(&b, payments, l.now) || awaited[id]:
		l.delete(item)
		l.put(agendaKey(unpaidOver, l.now.Add(postponed-l.books.terms.keepUnpaid), id), nil)
		return false, nil
	}
	for _, rec := range records {
		l.delete(Key{TablePayments, rec.ID})
	}
	l.delete(bookingKey(id))
	l.delete(item)
	return true, nil
}

// finished says whether an unpaid booking and its payments have not changed for so long
// that no request is answered with them any more, and cannot change again.
func finished(b *Booking, payments []payment, now time.Time) bool {
	open := func(p payment) bool {
		return p.Status == Pending || !p.next.IsZero() || now.Sub(p.Settled) < leastUnpaid
	}
	return !b.Status.live() && b.OpenPayment == uuid.Nil && now.Sub(b.Changed) >= leastUnpaid && !slices.ContainsFunc(payments, open)
}
