package traintravel

import (
	"context"
	"slices"
)

// fanOut gives an event to those who have subscribed to it. One that has waited does
// not go to those who subscribed long after it; but it was perhaps another server that
// wrote it, whose clock is behind.
func (s *Service) fanOut(ctx context.Context, it item) error {
	q, err := decodeQueued(it.value)
	if err != nil {
		return err
	}
	now := s.now()
	return s.update(ctx, now, func(l *ledger) error {
		v, err := l.tx.Get(l.ctx, it.key, bookingKey(q.booking))
		if err != nil || v[0] == nil { // the agenda was read before somebody did it
			return err
		}
		l.delete(it.key)
		if v[1] == nil {
			return nil
		}
		b, err := decodeBooking(v[1], &s.zones)
		if err != nil {
			return err
		}
		subs, err := l.subscribers(&b)
		if err != nil {
			return err
		}
		for i := range subs {
			sub := &subs[i]
			if sub.Disabled || !sub.wants(q.kind) || sub.Created.After(q.created.Add(clocksOff)) {
				continue
			}
			d := newDelivery(sub.ID, it.id, q)
			l.schedule(&d)
		}
		return nil
	})
}

// subscribers are those who get the events of a booking.
func (l *ledger) subscribers(b *Booking) (subs []subscription, err error) {
	for _, op := range l.s.opts.Webhooks.Operator {
		sub := subscription{operator: true, Subscription: Subscription{ID: operatorID(op.URL), URL: op.URL, Events: op.Events}}
		v, err := l.tx.Get(l.ctx, subscriptionKey(sub.ID))
		if err != nil {
			return nil, err
		}
		if v[0] == nil {
			l.newSubscription(&sub)
		} else if is, err := decodeSubscription(v[0]); err != nil {
			return nil, err
		} else if !slices.Equal(is.Events, sub.Events) { // the operator wants others now
			l.putSubscription(&sub)
		}
		subs = append(subs, sub)
	}
	own, err := readMarked(l.ctx, l.tx, subjectPrefix(b.Owner), "")
	if err != nil {
		return nil, err
	}
	for _, sub := range own {
		if sub.Owner == b.Owner && !sub.ByClient {
			subs = append(subs, sub)
		}
	}
	if b.Client == "" {
		return subs, nil
	}
	all, err := readMarked(l.ctx, l.tx, clientPrefix(b.Owner.Issuer, b.Client), "")
	if err != nil {
		return nil, err
	}
	for _, sub := range all {
		if sub.Owner.Issuer == b.Owner.Issuer && sub.Client == b.Client {
			subs = append(subs, sub)
		}
	}
	return subs, nil
}
