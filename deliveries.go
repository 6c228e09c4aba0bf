package traintravel

import (
	"context"

	"github.com/google/uuid"
)

func (s *subscriptions) deliveries(ctx context.Context, by subscriber, sub uuid.UUID, page Page) (_ List[Delivery], err error) {
	if err := s.check(by); err != nil {
		return List[Delivery]{}, err
	}
	page, err = page.normalize()
	if err != nil {
		return List[Delivery]{}, err
	}
	after, err := page.cursor(deliveryList, 16)
	if err != nil {
		return List[Delivery]{}, err
	}
	var found []Delivery
	var left omissions
	err = s.books.store.View(ctx, func(r Reader) error {
		if _, err := s.ownSubscription(ctx, r, by, sub); err != nil {
			return err
		}
		q := deliveriesOf(sub, uuid.Nil, page.skip()+page.Limit+1)
		q.Reverse = true
		if after != "" {
			q.To = q.From[:17] + after
		}
		var err error
		left, err = eachOf(ctx, r, q, deliveryOf, func(d delivery) bool {
			found = append(found, d.Delivery)
			return len(found) < q.Limit
		})
		return err
	})
	s.books.omit(ctx, left)
	if err != nil {
		return List[Delivery]{}, err
	}
	return cut(deliveryList, found, page.skip(), page.Limit, func(d Delivery) string { return string(d.ID[:]) }), nil
}

func (s *subscriptions) retry(ctx context.Context, by subscriber, sub, id uuid.UUID, key string) (d Delivery, err error) {
	if err := s.check(by); err != nil {
		return d, err
	}
	idem, err := s.books.idempotency(by.Caller, key, "retry "+sub.String()+" "+id.String(), func(*fingerprint) {})
	if err != nil {
		return d, err
	}
	now := s.books.now()
	err = s.books.update(ctx, now, func(l *ledger) error {
		first, err := l.recall(idem)
		if err != nil {
			return err
		}
		to, err := s.ownSubscription(l.ctx, l.tx, by, sub)
		if err != nil {
			return err
		}
		is, err := l.delivery(sub, id)
		if err != nil {
			return err
		}
		if first != nil {
			d = is.Delivery
			d.Replayed = true
			return nil
		}
		told, err := l.told(is)
		if err != nil {
			return err
		}
		switch {
		case is.Status == DeliveryDelivered:
			return ErrDelivered
		case to.Disabled && is.Type != Ping || to.Removed:
			return ErrDisabled
		case !to.Unverified.IsZero() && is.Type != Ping:
			return ErrUnverified
		case len(told) == 0:
			return ErrNotFound
		case is.Status == DeliveryDead:
			l.revive(&to, &is)
		default:
			l.delete(is.queueKey())
			l.schedule(&is)
		}
		l.remember(idem, answer{about: sub, payment: id})
		d = is.Delivery
		return nil
	})
	return d, err
}

func (s *subscriptions) ping(ctx context.Context, by subscriber, sub uuid.UUID, key string) (_ Delivery, err error) {
	if err := s.check(by); err != nil {
		return Delivery{}, err
	}
	idem, err := s.books.idempotency(by.Caller, key, "ping "+sub.String(), func(*fingerprint) {})
	if err != nil {
		return Delivery{}, err
	}
	now := s.books.now()
	event := stamp(s.newID(), 8)
	d := newDelivery(sub, event, queued{kind: Ping, created: now})
	err = s.books.update(ctx, now, func(l *ledger) error {
		first, err := l.recall(idem)
		if err != nil {
			return err
		}
		to, err := s.ownSubscription(l.ctx, l.tx, by, sub)
		if err != nil {
			return err
		}
		if first != nil {
			d, err = l.delivery(sub, first.payment)
			d.Replayed = true
			return err
		}
		d.Next = now
		l.ping(&to, d)
		l.remember(idem, answer{about: sub, payment: d.ID})
		return nil
	})
	return d.Delivery, err
}

func (s *subscriptions) retryDead(ctx context.Context, by subscriber, sub uuid.UUID) (retried int, err error) {
	switch to, err := s.read(ctx, by, sub); {
	case err != nil:
		return 0, err
	case to.Disabled || to.Removed:
		return 0, ErrDisabled
	case !to.Unverified.IsZero():
		return 0, ErrUnverified
	}
	now := s.books.now()
	for after, more := uuid.Nil, true; more; {
		records, err := s.books.store.List(ctx, deliveriesOf(sub, after, batch))
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
