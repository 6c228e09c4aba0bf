package ledger

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// Earlier versions gave bookings no reference, and no longer listed them when they were
// cancelled. In a store with such bookings, one pass completes them: bookings that are still to
// be travelled on get a reference, and those that have ended are added to the lists of their
// owners. A second pass runs a day later, because a server of the earlier version may have sold
// beside this one until then. After that the item stays on the agenda, never due, as the record
// that all is done.

var (
	secondPass = uuid.UUID{15: 1}
	passesDone = uuid.UUID{15: 2}
	never      = time.Unix(0, math.MaxInt64)
)

// betweenPasses is the time between the first pass and the second.
const betweenPasses = 24 * time.Hour

// completedAtOnce is the number of bookings that are completed in one update.
const completedAtOnce = 32

// CompleteEarlier makes one pass. The value of the item is the booking before which all are
// complete: an interrupted pass continues there.
func (b *Books) CompleteEarlier(ctx context.Context, it records.Item) error {
	if it.ID == passesDone {
		return nil
	}
	now := b.Now()
	rg := store.Range{Table: store.TableBookings, From: string(it.Value), Limit: records.Batch}
	err := store.EachPage(ctx, b.Store, rg, func(page []store.Record) error {
		var earlier []uuid.UUID
		var left records.Omissions
		for _, rec := range page {
			is, err := b.BookingOf(rec)
			if err != nil {
				left.Add(store.Key{Table: store.TableBookings, ID: rec.ID}, err)
			} else if incomplete(&is, now) {
				earlier = append(earlier, is.ID)
			}
		}
		b.Omit(ctx, left)
		for some := range slices.Chunk(earlier, completedAtOnce) {
			if err := b.completeSome(ctx, now, it, some); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	next := records.AgendaKey(records.EarlierPass, now.Add(betweenPasses), secondPass)
	if it.ID == secondPass {
		next = records.AgendaKey(records.EarlierPass, never, passesDone)
	}
	return b.Update(ctx, now, func(l *Ledger) error {
		v, err := l.Tx.Get(l.Ctx, it.Key)
		if err != nil || v[0] == nil { // another server did it
			return err
		}
		l.Delete(it.Key)
		l.Put(next, nil)
		return nil
	})
}

// hasEarlier says whether a store has bookings of earlier versions, from its oldest bookings.
func (b *Books) hasEarlier(ctx context.Context) (bool, error) {
	oldest, err := b.Store.List(ctx, store.Range{Table: store.TableBookings, Limit: records.Batch})
	return slices.ContainsFunc(oldest, func(rec store.Record) bool {
		is, err := b.BookingOf(rec)
		return err == nil && is.Reference == ""
	}), err
}

// incomplete says whether a booking of an earlier version must be completed.
func incomplete(b *rail.Booking, now time.Time) bool {
	if b.Reference != "" || b.Erased() {
		return false
	}
	switch b.Status {
	case rail.Cancelled:
		return true
	case rail.Expired:
		return b.LatestPayment != uuid.Nil && !b.GivenBack
	}
	return !b.Over(now)
}

// completeSome completes bookings in one update, and records its progress. It skips those with
// a record that cannot be read.
func (b *Books) completeSome(ctx context.Context, now time.Time, it records.Item, some []uuid.UUID) error {
	var left records.Omissions
	err := b.Update(ctx, now, func(l *Ledger) error {
		left = nil
		keys := []store.Key{it.Key}
		for _, id := range some {
			keys = append(keys, records.BookingKey(id), records.ReferenceKey(records.DrawReference(id, 0)))
		}
		if err := l.fetch(keys...); err != nil {
			return err
		}
		if v, err := l.get(it.Key); err != nil || v == nil {
			return err
		}
		for _, id := range some {
			if err := l.complete(id); records.Unreadable(err) {
				left.Add(records.BookingKey(id), err)
			} else if err != nil {
				return err
			}
		}
		last := some[len(some)-1]
		l.Put(it.Key, append(last[:], 0))
		return nil
	})
	b.Omit(ctx, left)
	return err
}

// complete adds the reference and the list entry that a booking of an earlier version lacks.
func (l *Ledger) complete(id uuid.UUID) error {
	b, err := l.Booking(id)
	if errors.Is(err, rail.ErrNotFound) {
		return nil
	}
	if err != nil || !incomplete(b, l.Now) {
		return err
	}
	switch {
	case b.Status.Live():
		b.Reference, err = l.newReference(b.ID)
		return err
	case b.Status == rail.Expired:
		payments, err := l.Tx.List(l.Ctx, records.PaymentsOf(id))
		if err != nil {
			return err
		}
		for _, rec := range payments {
			p, err := records.DecodePayment(rec.Value)
			if err != nil {
				return err
			}
			b.GivenBack = b.GivenBack || p.RefundOf != uuid.Nil
		}
	case b.Status == rail.Cancelled:
		l.Put(records.OwnedKey(b), nil)
	}
	return nil
}
