package ledger

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// EndHold expires a booking whose hold is over.
func (b *Books) EndHold(ctx context.Context, it records.Item) error {
	return b.Update(ctx, b.Now(), func(l *Ledger) error {
		held, err := l.Booking(it.ID)
		if err != nil && !errors.Is(err, rail.ErrNotFound) {
			return err
		}
		if err != nil || records.HoldKey(held) != it.Key { // its state has changed
			l.Delete(it.Key)
			return nil
		}
		if !held.Lapsed(l.Now) {
			return nil
		}
		return l.Expire(held.ID)
	})
}

// ForgetKey removes an expired idempotency record.
func (b *Books) ForgetKey(ctx context.Context, it records.Item) error {
	key := store.Key{Table: store.TableIdempotency, ID: string(it.Value)}
	return b.Update(ctx, b.Now(), func(l *Ledger) error {
		v, err := l.Tx.Get(ctx, key)
		if err != nil {
			return err
		}
		if v[0] != nil {
			r, err := records.DecodeRemembered(v[0])
			if err != nil {
				return err
			}
			if r.Expired(l.Now) { // else the key was used anew
				l.Delete(key)
			}
		}
		l.Delete(it.Key)
		return nil
	})
}

// SchedulePass schedules the next pass of a kind, unless it is scheduled or not needed.
func (b *Books) SchedulePass(ctx context.Context, k records.Kind) error {
	first := records.AgendaOf(k)
	first.Limit = 1
	there, err := b.Store.List(ctx, first)
	if err != nil || len(there) > 0 {
		return err
	}
	if k == records.EarlierPass {
		if earlier, err := b.hasEarlier(ctx); err != nil || !earlier {
			return err
		}
	}
	now := b.Now()
	return b.Update(ctx, now, func(l *Ledger) error {
		there, err := l.Tx.List(l.Ctx, first)
		if err == nil && len(there) == 0 {
			l.Put(records.AgendaKey(k, now, uuid.Nil), nil)
		}
		return err
	})
}
