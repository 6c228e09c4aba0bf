package ledger

import (
	"cmp"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

const (
	// queuePages is the number of batches of a queue that are searched at once for a
	// delivery, and LookLater the time until the search continues.
	queuePages = 16
	LookLater  = time.Minute
)

// NextDue returns when the next delivery to an endpoint is due, zero if none waits, and the
// first entry of its queue. left are the deliveries before it that cannot be read. It ignores
// entries of the queue without a delivery.
func NextDue(l *Ledger, sub uuid.UUID, floor string) (due time.Time, first string, left records.Omissions, err error) {
	rg := records.QueueOf(sub, time.Time{}, 1) // as a rule it tells all
	rg.From = max(rg.From, floor)
	for range queuePages {
		queue, err := l.Tx.List(l.Ctx, rg)
		if err != nil || len(queue) == 0 {
			return time.Time{}, first, left, err
		}
		first = cmp.Or(first, queue[0].ID)
		keys := make([]store.Key, len(queue))
		for i, rec := range queue {
			if keys[i] = records.DeliveryKey(sub, records.QueuedDelivery(rec.ID)); records.QueuedFor(rec.ID).After(l.Now) && i == 0 {
				return records.QueuedFor(rec.ID), first, left, nil // it need not be decoded before then
			}
		}
		values, err := l.Tx.Get(l.Ctx, keys...)
		if err != nil {
			return time.Time{}, "", nil, err
		}
		for i, v := range values {
			switch d, err := records.DecodeDelivery(v); {
			case v == nil:
			case err != nil:
				left.Add(keys[i], err)
			case d.Status == rail.DeliveryPending && d.QueueKey().ID == queue[i].ID:
				return records.QueuedFor(queue[i].ID), first, left, nil
			}
		}
		if len(queue) < rg.Limit {
			return time.Time{}, first, left, nil
		}
		rg.From, rg.Limit = queue[len(queue)-1].ID+"\x00", records.Batch
	}
	return l.Now.Add(LookLater), first, left, nil // look again later
}

// GiveUp ends the next waiting deliveries of a disabled endpoint. It returns false if none
// wait.
func GiveUp(l *Ledger, sub uuid.UUID, floor string) (some bool, err error) {
	v, err := l.Tx.Get(l.Ctx, records.SubscriptionKey(sub))
	if err != nil || v[0] == nil {
		return false, err
	}
	if is, err := records.DecodeSubscription(v[0]); err != nil || !is.Disabled {
		return false, err
	}
	rg := records.QueueOf(sub, time.Time{}, records.Batch)
	rg.From = max(rg.From, floor)
	queue, err := l.Tx.List(l.Ctx, rg)
	if err != nil {
		return false, err
	}
	keys := make([]store.Key, len(queue))
	for i, rec := range queue {
		keys[i] = records.DeliveryKey(sub, records.QueuedDelivery(rec.ID))
	}
	if v, err = l.Tx.Get(l.Ctx, keys...); err != nil {
		return false, err
	}
	for _, v := range v {
		d, err := records.DecodeDelivery(v)
		if err == nil && d.Type != rail.Ping {
			l.bury(&d, rail.DeadByDisabling)
			some = true
		}
	}
	return some, nil
}
