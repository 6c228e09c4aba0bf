package audit

import (
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/codec"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// webhooks checks subscriptions and their marks.
func (a *auditor) webhooks(key store.Key, value []byte, l *cited) func() {
	switch key.ID[0] {
	case 's':
		return a.subscription(key, value, l)
	case 'o', 'c':
		return a.mark(key, 1+8+16, l)
	case records.OperatorPrefix[0]:
		return a.mark(key, 1+16, l)
	}
	a.say(FaultUnknownKey, key, "unknown kind of webhook record %q", key.ID[0])
	return nil
}

// subscription checks that a subscription has its marks.
func (a *auditor) subscription(key store.Key, value []byte, l *cited) func() {
	s, err := records.DecodeSubscription(value)
	switch {
	case !a.readable(key, err):
		if a.shaped(key, 1+16) { // it exists, even if it cannot be read
			a.subscriptions[uuid.UUID([]byte(key.ID[1:]))] = true
		}
		return nil
	case records.SubscriptionKey(s.ID) != key:
		a.say(FaultMisplaced, key, "subscription %v is stored under the key of another record", s.ID)
		return nil
	}
	a.subscriptions[s.ID] = true
	l.want(s.Marks()...)
	return func() {
		for _, m := range s.Marks() {
			if !l.has(m) {
				a.say(FaultSubscriptionUnmarked, key, "subscription %v is not indexed under %v", s.ID, m)
			}
		}
	}
}

// mark checks that a mark belongs to a subscription that has it.
func (a *auditor) mark(key store.Key, length int, l *cited) func() {
	if !a.shaped(key, length) {
		return nil
	}
	of := records.SubscriptionKey(uuid.UUID([]byte(key.ID[length-16:])))
	l.want(of)
	return func() {
		v := l.at(of)
		if v == nil {
			a.say(FaultSubscriptionMark, key, "the index entry names a subscription that does not exist")
			return
		}
		if s, err := records.DecodeSubscription(v); err == nil && !slices.Contains(s.Marks(), key) {
			a.say(FaultSubscriptionMark, key, "the index entry names subscription %v, which belongs to another owner", s.ID)
		}
	}
}

// sweepless reports subscriptions for which not exactly one sweep is scheduled.
func (a *auditor) sweepless() {
	for id := range a.subscriptions {
		if n := a.sweeps[id]; n != 1 {
			a.say(FaultSubscriptionUnswept, records.SubscriptionKey(id), "the removal of old deliveries of subscription %v is scheduled %d times, not once", id, n)
		}
	}
}

// deliveries checks deliveries, and the queues of pending ones, against each other and
// against the scheduled work of subscriptions.
func (a *auditor) deliveries(key store.Key, value []byte, l *cited) func() {
	switch key.ID[0] {
	case 'd':
		return a.delivery(key, value, l)
	case 'q':
		return a.queue(key, l)
	}
	a.say(FaultUnknownKey, key, "unknown kind of webhook record %q", key.ID[0])
	return nil
}

// queue checks that an entry of a queue has its delivery.
func (a *auditor) queue(key store.Key, l *cited) func() {
	if !a.shaped(key, records.QueueKeySize) {
		return nil
	}
	sub := uuid.UUID([]byte(key.ID[1:17]))
	of := records.DeliveryKey(sub, uuid.UUID([]byte(key.ID[25:])))
	l.want(of)
	return func() {
		if !a.subscriptions[sub] && a.served[sub] != 0 {
			return // the queue is being cleared
		}
		v := l.at(of)
		d, err := records.DecodeDelivery(v)
		if v == nil || err == nil && (d.Status != rail.DeliveryPending || d.QueueKey() != key) {
			a.say(FaultQueueOrphan, key, "the queue of subscription %v has delivery %x at %v, but the delivery does not exist, is not pending or is due at another time", sub, key.ID[25:], records.QueuedFor(key.ID))
		}
	}
}

// delivery checks that a delivery belongs to a subscription and, if pending, is in its queue.
func (a *auditor) delivery(key store.Key, value []byte, l *cited) func() {
	d, err := records.DecodeDelivery(value)
	if !a.readable(key, err) {
		return nil
	}
	if records.DeliveryKey(d.Subscription, d.ID) != key {
		a.say(FaultMisplaced, key, "delivery %v is stored under the key of another record", d.ID)
		return nil
	}
	l.want(d.Queued.Records()...)
	if d.Status == rail.DeliveryPending {
		l.want(d.QueueKey())
	}
	return func() { a.delivered(key, &d, l) }
}

func (a *auditor) delivered(key store.Key, d *records.Delivery, l *cited) {
	served := a.served[d.Subscription]
	if !a.subscriptions[d.Subscription] && served == 0 {
		a.say(FaultDeliveryOrphan, key, "delivery %v belongs to subscription %v, which no longer exists", d.ID, d.Subscription)
	}
	if d.Status != rail.DeliveryPending {
		if !d.Next.IsZero() {
			a.say(FaultDeliveryState, key, "delivery %v is %v, but another attempt is scheduled at %v", d.ID, d.Status, d.Next)
		}
	} else if !l.has(d.QueueKey()) || served == 0 || served > codec.Nanos(d.Next) {
		a.say(FaultDeliveryStuck, key, "delivery %v is pending, but no attempt is scheduled at %v: queued %t, in progress %t", d.ID, d.Next, l.has(d.QueueKey()), served != 0)
	}
	if keys := d.Queued.Records(); d.Status != rail.DeliveryPending && len(keys) > 0 && !l.has(keys[0]) {
		return // the booking has been removed since: see ledger.Books.RemoveUnpaid
	}
	a.event(key, &d.Queued, l)
}
