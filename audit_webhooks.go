package traintravel

import (
	"slices"

	"github.com/google/uuid"
)

// webhooks checks subscriptions and their marks.
func (a *auditor) webhooks(key Key, value []byte, l *cited) func() {
	switch key.ID[0] {
	case 's':
		return a.subscription(key, value, l)
	case 'o', 'c':
		return a.mark(key, 1+8+16, l)
	case operatorPrefix[0]:
		return a.mark(key, 1+16, l)
	}
	a.say(faultUnknownKey, key, "nothing is known of the kind %q", key.ID[0])
	return nil
}

// subscription checks that a subscription has its marks.
func (a *auditor) subscription(key Key, value []byte, l *cited) func() {
	s, err := decodeSubscription(value)
	switch {
	case !a.readable(key, err):
		if a.shaped(key, 1+16) { // it is there, whatever it says
			a.subscriptions[uuid.UUID([]byte(key.ID[1:]))] = true
		}
		return nil
	case subscriptionKey(s.ID) != key:
		a.say(faultMisplaced, key, "subscription %v stands under another key than its own", s.ID)
		return nil
	}
	a.subscriptions[s.ID] = true
	l.want(s.marks()...)
	return func() {
		for _, m := range s.marks() {
			if !l.has(m) {
				a.say(faultSubscriptionUnmarked, key, "subscription %v lacks its mark %v", s.ID, m)
			}
		}
	}
}

// mark checks that a mark is of a subscription that has it.
func (a *auditor) mark(key Key, length int, l *cited) func() {
	if !a.shaped(key, length) {
		return nil
	}
	of := subscriptionKey(uuid.UUID([]byte(key.ID[length-16:])))
	l.want(of)
	return func() {
		v := l.at(of)
		if v == nil {
			a.say(faultSubscriptionMark, key, "the mark is of a subscription that is not there")
			return
		}
		if s, err := decodeSubscription(v); err == nil && !slices.Contains(s.marks(), key) {
			a.say(faultSubscriptionMark, key, "the mark is of subscription %v, which is another's", s.ID)
		}
	}
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
func (a *auditor) deliveries(key Key, value []byte, l *cited) func() {
	switch key.ID[0] {
	case 'd':
		return a.delivery(key, value, l)
	case 'q':
		return a.queue(key, l)
	}
	a.say(faultUnknownKey, key, "nothing is known of the kind %q", key.ID[0])
	return nil
}

// queue checks that an entry of a queue has its delivery.
func (a *auditor) queue(key Key, l *cited) func() {
	if !a.shaped(key, queueKeySize) {
		return nil
	}
	sub := uuid.UUID([]byte(key.ID[1:17]))
	of := deliveryKey(sub, uuid.UUID([]byte(key.ID[25:])))
	l.want(of)
	return func() {
		if !a.subscriptions[sub] && a.served[sub] != 0 {
			return // it is being cleared
		}
		v := l.at(of)
		d, err := decodeDelivery(v)
		if v == nil || err == nil && (d.Status != DeliveryPending || d.queueKey() != key) {
			a.say(faultQueueOrphan, key, "the queue of subscription %v has delivery %x at %v, which is not pending so", sub, key.ID[25:], queuedFor(key.ID))
		}
	}
}

// delivery checks that a delivery is of a subscription and, if it is pending, in its queue.
func (a *auditor) delivery(key Key, value []byte, l *cited) func() {
	d, err := decodeDelivery(value)
	if !a.readable(key, err) {
		return nil
	}
	if deliveryKey(d.Subscription, d.ID) != key {
		a.say(faultMisplaced, key, "delivery %v stands under another key than its own", d.ID)
		return nil
	}
	l.want(d.queued.records()...)
	if d.Status == DeliveryPending {
		l.want(d.queueKey())
	}
	return func() { a.delivered(key, &d, l) }
}

func (a *auditor) delivered(key Key, d *delivery, l *cited) {
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
		return // the booking has been removed since: see books.removeUnpaid
	}
	a.event(key, &d.queued, l)
}
