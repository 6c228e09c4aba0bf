package traintravel

import (
	"context"

	"github.com/google/uuid"
)

// RetryDead has all dead deliveries of a subscription of the caller's tried now, as
// [Service.RetryDelivery] does with one, and returns how many. It returns ErrNotFound
// if there is no such subscription, ErrDisabled if it is disabled or removed, or ErrUnverified
// if it is not verified. Those about bookings that have been removed (Options.KeepUnpaid)
// stay dead, and so do those for which there is no room ([WebhookOptions].Backlog), the
// newest: they can be retried when others have been posted. After another error, as many are
// tried. Deliveries that cannot be read are left out.
func (s *Service) RetryDead(ctx context.Context, by Caller, sub uuid.UUID) (retried int, err error) {
	ctx, end := s.begin(ctx, "RetryDead")
	defer end(&err)
	switch to, err := s.Subscription(ctx, by, sub); {
	case err != nil:
		return 0, err
	case to.Disabled || to.Removed:
		return 0, ErrDisabled
	case !to.Unverified.IsZero():
		return 0, ErrUnverified
	}
	now := s.now()
	for after, more := uuid.Nil, true; more; {
		records, err := s.store.List(ctx, deliveriesOf(sub, after, batch))
		if err != nil {
			return retried, err
		}
		more = len(records) == batch
		var dead []Key
		var left omissions
		for _, rec := range records {
			key := Key{TableDeliveries, rec.ID}
			after = deliveryID(rec.ID)
			if d, err := decodeDelivery(rec.Value); err != nil {
				left.add(key, err)
			} else if d.Status == DeliveryDead {
				dead = append(dead, key)
			}
		}
		s.books.omit(ctx, left)
		if len(dead) == 0 {
			continue
		}
		n, full := 0, false
		err = s.books.update(ctx, now, func(l *ledger) error {
			values, err := l.tx.Get(l.ctx, append(dead, subscriptionKey(sub))...)
			if err != nil {
				return err
			}
			if n = 0; values[len(dead)] == nil { // or else nobody would clear them
				return ErrNotFound
			}
			to, err := decodeSubscription(values[len(dead)])
			if err != nil {
				return err
			}
			room, err := l.room(&to)
			if err != nil {
				return err
			}
			var still []delivery
			for _, v := range values[:len(dead)] {
				if v == nil {
					continue
				}
				if d, err := decodeDelivery(v); err == nil && d.Status == DeliveryDead { // nobody has asked for it meanwhile
					still = append(still, d)
				}
			}
			told, err := l.told(still...)
			full = len(told) > room
			told = told[:min(len(told), room)]
			for i := range told {
				l.revive(&to, &told[i])
			}
			n = len(told)
			return err
		})
		if err != nil {
			return retried, err
		}
		if retried += n; full {
			break
		}
	}
	return retried, nil
}
