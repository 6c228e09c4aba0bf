package traintravel

import (
	"bytes"
	"encoding/binary"

	"github.com/google/uuid"
)

// webhooks checks subscriptions, deliveries and what the agenda has of them.
func (a *auditor) webhooks() {
	at := func(k Key) int64 { return int64(binary.BigEndian.Uint64([]byte(k.ID[1:9]))) }
	first := map[uuid.UUID]int64{} // when somebody works at an endpoint
	sweeps := map[uuid.UUID]int{}
	for key, value := range a.agenda {
		id := uuid.UUID([]byte(key.ID[9:25]))
		switch kind(key.ID[0]) {
		case endpointDue:
			if due, ok := first[id]; !ok || at(key) < due {
				first[id] = at(key)
			}
		case sweepDue:
			sweeps[id]++
		case fanOutDue:
			a.Events++
			if q, err := decodeQueued(value); err != nil || a.Bookings[q.booking].ID != q.booking {
				a.say("an event to be given to subscribers is of no booking: %v", err)
			}
		default:
			continue
		}
		delete(a.agenda, key)
	}
	for id, s := range a.subscriptions {
		for _, m := range s.marks() {
			if !a.marks[m] {
				a.say("subscription %v lacks its mark %x", id, m.ID)
			}
			delete(a.marks, m)
		}
		if sweeps[id] != 1 {
			a.say("subscription %v is on the agenda %d times to be swept", id, sweeps[id])
		}
	}
	for m := range a.marks {
		a.say("the mark %x is of no subscription", m.ID)
	}
	for key, d := range a.deliveries {
		if deliveryKey(d.Subscription, d.ID) != key {
			a.say("delivery %v stands under the key %x", d.ID, key.ID)
		}
		due, served := first[d.Subscription]
		if _, ok := a.subscriptions[d.Subscription]; !ok && !served {
			a.say("delivery %v is of a subscription that is gone, and nobody clears it", d.ID)
		}
		if d.Status == DeliveryPending && (!a.queues[d.queueKey()] || !served || due > nanos(d.Next)) {
			a.say("delivery %v is pending and nobody is going to try it: queued %t, at work %t", d.ID, a.queues[d.queueKey()], served)
		}
		if d.Status != DeliveryPending && !d.Next.IsZero() {
			a.say("delivery %v is %v and to be tried again", d.ID, d.Status)
		}
		if d.Status == DeliveryPending {
			a.Deliveries++
			delete(a.queues, d.queueKey())
		}
	}
	for q := range a.queues {
		if _, ok := first[uuid.UUID([]byte(q.ID[1:17]))]; !ok || a.subscriptions[uuid.UUID([]byte(q.ID[1:17]))].ID != uuid.Nil {
			a.say("a queue has %x, which is no pending delivery", q.ID)
		}
	}
}

// readWebhooks decodes a record of TableWebhooks or TableDeliveries.
func (a *auditor) readWebhooks(key Key, value []byte) error {
	switch key.ID[0] {
	case 's':
		s, err := decodeSubscription(value)
		if a.subscriptions[s.ID] = s; err == nil && subscriptionKey(s.ID) != key {
			a.say("subscription %v stands under the key %x", s.ID, key.ID)
		}
		return err
	case 'd':
		d, err := decodeDelivery(value)
		a.deliveries[key] = d
		if again := d.encode(); err == nil && !bytes.Equal(again, value) {
			a.say("delivery %v is written otherwise than it is read", d.ID)
		}
		return err
	case 'q':
		a.queues[key] = true
	default:
		a.marks[key] = true
	}
	return nil
}
