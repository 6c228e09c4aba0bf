package ledger

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/internal/ids"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// Bookings that ended unpaid are removed when they are no longer needed: see
// Options.KeepUnpaid. The agenda has an item for each of them from a day after it was made, in
// the order of their removal. An item for the store has the time of the next pass and the booking
// before which all unpaid ones are on the agenda, so that each booking is read once.

const (
	// ForgetEvery is how often Run looks for bookings to erase or to remove.
	ForgetEvery = 6 * time.Hour
	// KeepUnpaid is the default of Options.KeepUnpaid, and LeastUnpaid its minimum: for 24
	// hours requests can be repeated, and lost charges are looked up.
	KeepUnpaid  = 7 * 24 * time.Hour
	LeastUnpaid = 48 * time.Hour
	// farAhead is the time after the end of a hold at which its journey counts as ended, so
	// that nobody can fill the store with holds of journeys a year ahead.
	farAhead = 30 * 24 * time.Hour
	// settling is the age at which a pass puts a booking on the agenda: more than the
	// difference between the clocks of servers.
	settling = 24 * time.Hour
	// postponed is the time until the next attempt for a booking that cannot be removed yet.
	postponed = 24 * time.Hour
	// removeAtOnce is the number of bookings that are removed in one update.
	removeAtOnce = 32
	// mostAwaited is the maximum number of waiting old events while bookings are removed.
	mostAwaited = 100_000
)

// unpaidKey returns the agenda key of an unpaid booking: at the end of its journey, or farAhead
// after its hold if that is earlier. The booking is removed Options.KeepUnpaid after that, so that
// a changed setting applies immediately.
func unpaidKey(b *rail.Booking) store.Key {
	over := b.Arrives()
	if early := b.Expires.Add(farAhead); early.Before(over) {
		over = early
	}
	return records.AgendaKey(records.UnpaidOver, over, b.ID)
}

// RemoveUnpaid makes one pass. If it is interrupted, the next one continues.
func (b *Books) RemoveUnpaid(ctx context.Context, it records.Item) error {
	now := b.Now()
	from, err := b.listUnpaid(ctx, it, now)
	if err != nil {
		return err
	}
	awaited, err := b.awaited(ctx, now.Add(-LeastUnpaid/2))
	switch {
	case errors.Is(err, errManyAwaited) || records.Unreadable(err):
		b.Log.WarnContext(ctx, "removing unpaid bookings failed; will retry", "after", ForgetEvery, "error", err)
	case err != nil:
		return err
	default:
		if err := b.removeDue(ctx, now, awaited); err != nil {
			return err
		}
	}
	return b.Update(ctx, now, func(l *Ledger) error {
		v, err := l.Tx.Get(l.Ctx, it.Key)
		if err != nil || v[0] == nil { // another server did it
			return err
		}
		l.Delete(it.Key)
		l.Put(records.AgendaKey(records.UnpaidPass, now.Add(ForgetEvery), it.ID), []byte(from))
		return nil
	})
}

// listUnpaid puts the unpaid bookings that were made since the last pass on the agenda, and
// returns the booking before which all are on it.
func (b *Books) listUnpaid(ctx context.Context, it records.Item, now time.Time) (string, error) {
	from, to := string(it.Value), firstID(now.Add(-settling))
	if from >= to {
		return from, nil
	}
	rg := store.Range{Table: store.TableBookings, From: from, To: to, Limit: records.Batch}
	return to, store.EachPage(ctx, b.Store, rg, func(page []store.Record) error {
		var unpaid []rail.Booking
		var left records.Omissions
		for _, rec := range page {
			is, err := b.BookingOf(rec)
			if err != nil {
				left.Add(store.Key{Table: store.TableBookings, ID: rec.ID}, err)
			} else if is.PaidBy == uuid.Nil {
				unpaid = append(unpaid, is)
			}
		}
		b.Omit(ctx, left)
		if len(unpaid) == 0 {
			return nil
		}
		return b.Update(ctx, now, func(l *Ledger) error {
			v, err := l.Tx.Get(l.Ctx, it.Key)
			if err != nil || v[0] == nil {
				return err
			}
			for i := range unpaid {
				l.Put(unpaidKey(&unpaid[i]), nil)
			}
			l.Put(it.Key, []byte(page[len(page)-1].ID+"\x00"))
			return nil
		})
	})
}

// firstID returns a key before the IDs of all bookings made from an instant on.
func firstID(t time.Time) string {
	return string(binary.BigEndian.AppendUint64(nil, uint64(max(0, t.UnixMilli()))<<16)[:6])
}

var errManyAwaited = errors.New("too many old events are waiting for delivery")

// awaited returns the bookings with undelivered events from before an instant.
func (b *Books) awaited(ctx context.Context, before time.Time) (map[uuid.UUID]bool, error) {
	found := map[uuid.UUID]bool{}
	add := func(q records.Queued, err error) error {
		switch {
		case errors.Is(err, codec.ErrNewerData): // it may be of any booking
			return err
		case err == nil && q.Created.Before(before):
			found[q.Booking] = true
		}
		if len(found) > mostAwaited {
			return errManyAwaited
		}
		return nil
	}
	for _, k := range records.EventKinds() {
		err := store.EachPage(ctx, b.Store, records.AgendaOf(k.Kind), func(page []store.Record) error {
			for _, rec := range page {
				if err := add(k.Decode(rec.Value)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	err := store.EachPage(ctx, b.Store, store.Range{Table: store.TableDeliveries, From: "q", To: "r"}, func(page []store.Record) error {
		var keys []store.Key
		for _, rec := range page {
			if len(rec.ID) != records.QueueKeySize {
				continue // Check reports this
			}
			if id := uuid.UUID([]byte(rec.ID[25:])); ids.TimeOf(id).Before(before) {
				keys = append(keys, records.DeliveryKey(uuid.UUID([]byte(rec.ID[1:17])), id))
			}
		}
		if len(keys) == 0 {
			return nil
		}
		values, err := b.Store.Get(ctx, keys...)
		if err != nil {
			return err
		}
		for _, v := range values {
			if v == nil {
				continue // it has just been delivered
			}
			d, err := records.DecodeDelivery(v)
			if err := add(d.Queued, err); err != nil {
				return err
			}
		}
		return nil
	})
	return found, err
}

// removeDue removes the bookings that are due.
func (b *Books) removeDue(ctx context.Context, now time.Time, awaited map[uuid.UUID]bool) error {
	due := records.AgendaOf(records.UnpaidOver)
	due.To = records.AgendaKey(records.UnpaidOver, now.Add(-b.Terms.KeepUnpaid), uuid.Nil).ID
	removed := 0
	err := store.EachPage(ctx, b.Store, due, func(page []store.Record) error {
		for some := range slices.Chunk(page, removeAtOnce) {
			var left records.Omissions
			n := 0
			err := b.Update(ctx, now, func(l *Ledger) error {
				left, n = nil, 0
				for _, rec := range some {
					gone, err := l.removeUnpaid(store.Key{Table: store.TableAgenda, ID: rec.ID}, awaited)
					if records.Unreadable(err) {
						left.Add(store.Key{Table: store.TableAgenda, ID: rec.ID}, err)
					} else if err != nil {
						return err
					}
					if gone {
						n++
					}
				}
				return nil
			})
			b.Omit(ctx, left)
			if err != nil {
				return err
			}
			removed += n
		}
		return nil
	})
	if removed > 0 {
		b.Log.Info("removed unpaid bookings", "bookings", removed, "after", b.Terms.KeepUnpaid)
	}
	return err
}

// removeUnpaid removes the booking of an item, with its attempts to pay, if it ended unpaid and
// nothing waits for it. It reads all records before it changes any.
func (l *Ledger) removeUnpaid(item store.Key, awaited map[uuid.UUID]bool) (gone bool, err error) {
	if len(item.ID) != records.AgendaKeySize {
		return false, nil // Check reports this
	}
	id := uuid.UUID([]byte(item.ID[9:]))
	v, err := l.Tx.Get(l.Ctx, item, records.BookingKey(id))
	if err != nil || v[0] == nil { // another server did it
		return false, err
	}
	if v[1] == nil {
		l.Delete(item)
		return false, nil
	}
	b, err := records.DecodeBooking(v[1], l.books.Zones)
	if err != nil {
		return false, err
	}
	found, err := l.Tx.List(l.Ctx, records.PaymentsOf(id))
	if err != nil {
		return false, err
	}
	payments := make([]records.Payment, len(found))
	for i, rec := range found {
		if payments[i], err = records.DecodePayment(rec.Value); err != nil {
			return false, err
		}
	}
	switch {
	case b.PaidBy != uuid.Nil || slices.ContainsFunc(payments, records.Payment.Kept):
		l.Delete(item)
		return false, nil
	case !finished(&b, payments, l.Now) || awaited[id]:
		l.Delete(item)
		l.Put(records.AgendaKey(records.UnpaidOver, l.Now.Add(postponed-l.books.Terms.KeepUnpaid), id), nil)
		return false, nil
	}
	for _, rec := range found {
		l.Delete(store.Key{Table: store.TablePayments, ID: rec.ID})
	}
	l.dropIndexes(&b)
	l.Delete(records.BookingKey(id))
	l.Delete(item)
	return true, nil
}

// finished says whether an unpaid booking and its payments cannot change again, and have not
// changed for so long that no request can be repeated.
func finished(b *rail.Booking, payments []records.Payment, now time.Time) bool {
	open := func(p records.Payment) bool {
		return p.Status == rail.Pending || !p.Next.IsZero() || now.Sub(p.Settled) < LeastUnpaid
	}
	return !b.Status.Live() && b.OpenPayment == uuid.Nil && now.Sub(b.Changed) >= LeastUnpaid && !slices.ContainsFunc(payments, open)
}
