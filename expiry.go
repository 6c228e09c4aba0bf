package traintravel

import (
	"context"
	"errors"

	"github.com/google/uuid"
)

// endHold expires a booking whose hold is over.
func (b *books) endHold(ctx context.Context, it item) error {
	return b.update(ctx, b.now(), func(l *ledger) error {
		held, err := l.booking(it.id)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		if err != nil || holdKey(held) != it.key { // it has moved on
			l.delete(it.key)
			return nil
		}
		if !held.lapsed(l.now) {
			return nil
		}
		return l.expire(held.ID)
	})
}

// forgetKey removes an idempotency record whose time is over.
func (b *books) forgetKey(ctx context.Context, it item) error {
	key := Key{TableIdempotency, string(it.value)}
	return b.update(ctx, b.now(), func(l *ledger) error {
		v, err := l.tx.Get(ctx, key)
		if err != nil {
			return err
		}
		if v[0] != nil {
			r, err := decodeRemembered(v[0])
			if err != nil {
				return err
			}
			if r.expired(l.now) { // else the key was used anew
				l.delete(key)
			}
		}
		l.delete(it.key)
		return nil
	})
}

// schedulePass puts the next pass of a kind on the agenda, unless it is there.
func (b *books) schedulePass(ctx context.Context, k kind) error {
	first := agendaOf(k)
	first.Limit = 1
	there, err := b.store.List(ctx, first)
	if err != nil || len(there) > 0 {
		return err
	}
	now := b.now()
	return b.update(ctx, now, func(l *ledger) error {
		there, err := l.tx.List(l.ctx, first)
		if err == nil && len(there) == 0 {
			l.put(agendaKey(k, now, uuid.Nil), nil)
		}
		return err
	})
}
