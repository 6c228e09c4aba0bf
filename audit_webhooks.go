package traintravel

import (
	"slices"

	"github.com/google/uuid"
)

// webhooks checks subscriptions and their marks.
func (a *auditor) webhooks(page []Record) error {
	var l cited
	var subs []subscription
	var marks []Key
	of := func(mark Key) Key { return subscriptionKey(uuid.UUID([]byte(mark.ID[len(mark.ID)-16:]))) }
	for _, rec := range page {
		key := Key{TableWebhooks, rec.ID}
		switch rec.ID[0] {
		case 's':
			s, err := decodeSubscription(rec.Value)
			switch {
			case !a.readable(key, err):
				if a.shaped(key, 1+16) { // it is there, whatever it says
					a.subscriptions[uuid.UUID([]byte(rec.ID[1:]))] = true
				}
			case subscriptionKey(s.ID) != key:
				a.say(faultMisplaced, key, "subscription %v stands under another key than its own", s.ID)
			default:
				a.subscriptions[s.ID] = true
				subs = append(subs, s)
				l.want(s.marks()...)
			}
		case 'o', 'c', operatorPrefix[0]:
			length := 1 + 8 + 16
			if rec.ID[0] == operatorPrefix[0] {
				length = 1 + 16
			}
			if a.shaped(key, length) {
				marks = append(marks, key)
				l.want(of(key))
			}
		default:
			a.say(faultUnknownKey, key, "nothing is known of the kind %q", rec.ID[0])
		}
	}
	if err := a.fetch(&l); err != nil {
		return err
	}
	for i := range subs {
		for _, m := range subs[i].marks() {
			if !l.has(m) {
				a.say(faultSubscriptionUnmarked, subscriptionKey(subs[i].ID), "subscription %v lacks its mark %v", subs[i].ID, m)
			}
		}
	}
	for _, m := range marks {
		v := l.at(of(m))
		if v == nil {
			a.say(faultSubscriptionMark, m, "the mark is of a subscription that is not there")
			continue
		}
		if s, err := decodeSubscription(v); err == nil && !slices.Contains(s.marks(), m) {
			a.say(faultSubscriptionMark, m, "the mark is of subscription %v, which is another's", s.ID)
		}
	}
	return nil
}

// sweepless reports subscriptions that are not on the agenda once to be swept.
func (a *auditor) sweepless() {
	for id := range a.subscriptions {
		if n := a.sweeps[id]; n != 1 {
			a.say(faultSubscriptionUnswept, subscriptionKey(id), "subscription %v is on the agenda %d times to be swept", id, n)
		}
	}
}

// deliveries checks deliveries, and the queues of those that are pending, against each
// other and against what is to be done for subscriptions.
func (a *auditor) deliveries(page []Record) error {
	var l cited
	var found []delivery
	var queues []Key
	of := func(queue Key) Key {
		return deliveryKey(uuid.UUID([]byte(queue.ID[1:17])), uuid.UUID([]byte(queue.ID[25:])))
	}
	for _, rec := range page {
		key := Key{TableDeliveries, rec.ID}
		switch rec.ID[0] {
		case 'd':
			d, err := decodeDelivery(rec.Value)
			switch {
			case !a.readable(key, err):
			case deliveryKey(d.Subscription, d.ID) != key:
				a.say(faultMisplaced, key, "delivery %v stands under another key than its own", d.ID)
			default:
				found = append(found, d)
				l.want(d.queued.records()...)
				if d.Status == DeliveryPending {
					l.want(d.queueKey())
				}
			}
		case 'q':
			if a.shaped(key, 1+16+8+16) {
				queues = append(queues, key)
				l.want(of(key))
			}
		default:
			a.say(faultUnknownKey, key, "nothing is known of the kind %q", rec.ID[0])
		}
	}
	if err := a.fetch(&l); err != nil {
		return err
	}
	for i := range found {
		a.delivery(&found[i], &l)
	}
	for _, q := range queues {
		sub := uuid.UUID([]byte(q.ID[1:17]))
		if !a.subscriptions[sub] && a.served[sub] != 0 {
			continue // it is being cleared
		}
		v := l.at(of(q))
		d, err := decodeDelivery(v)
		if v == nil || err == nil && (d.Status != DeliveryPending || d.queueKey() != q) {
			a.say(faultQueueOrphan, q, "the queue of subscription %v has delivery %x at %v, which is not pending so", sub, q.ID[25:], queuedFor(q.ID))
		}
	}
	return nil
}

func (a *auditor) delivery(d *delivery, l *cited) {
	key := deliveryKey(d.Subscription, d.ID)
	served := a.served[d.Subscription]
	if !a.subscriptions[d.Subscription] && served == 0 {
		a.say(faultDeliveryOrphan, key, "delivery %v is of subscription %v, which is gone, and nobody clears it", d.ID, d.Subscription)
	}
	if d.Status != DeliveryPending {
		if !d.Next.IsZero() {
			a.say(faultDeliveryState, key, "delivery %v is %v and to be tried again at %v", d.ID, d.Status, d.Next)
		}
	} else if !l.has(d.queueKey()) || served == 0 || served > nanos(d.Next) {
		a.say(faultDeliveryStuck, key, "delivery %v is pending, and nobody is going to try it at %v: queued %t, at work %t", d.ID, d.Next, l.has(d.queueKey()), served != 0)
	}
	if keys := d.queued.records(); d.Status != DeliveryPending && len(keys) > 0 && !l.has(keys[0]) {
		return // the booking has been removed since: see [Service.removeUnpaid]
	}
	a.event(key, &d.queued, l)
}
