package ledger

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// Arrive has a delivery wait until it is due, at d.Next. When the rules have run,
// fillQueues makes room for it.
func (l *Ledger) Arrive(sub *records.Subscription, d records.Delivery, asked bool) {
	if sub.Operator {
		l.wait(&d, d.Next)
		return
	}
	if l.arrivals == nil {
		l.arrivals = map[uuid.UUID][]incoming{}
	}
	if len(l.arrivals[sub.ID]) == 0 {
		l.receivers = append(l.receivers, sub)
	}
	l.arrivals[sub.ID] = append(l.arrivals[sub.ID], incoming{d, asked})
}

// fillQueues writes the deliveries that have come to the queues of subscriptions. Where
// more would wait than may, the oldest of all go to the dead letters. On a store that is
// shared, a server that does not work on a queue counts it seldom, so that some more may
// wait for a while: see records.QueueFloors.
func (l *Ledger) fillQueues() error {
	for _, sub := range l.receivers {
		come := l.arrivals[sub.ID]
		most := l.books.Terms.Backlog
		var queue []store.Record
		if head, look := l.books.Floors.Head(sub.ID, come[0].Delivery); look || len(come) > records.Batch {
			all := records.QueueOf(sub.ID, time.Time{}, most+records.Batch)
			all.From = max(all.From, head)
			var err error
			if queue, err = l.Tx.List(l.Ctx, all); err != nil {
				return err
			}
		}
		dead := map[uuid.UUID]bool{}
		if surplus := len(queue) + len(come) - most; surplus > 0 {
			var err error
			if dead, err = l.overflow(sub, queue, come, surplus); err != nil {
				return err
			}
		}
		for i := range come {
			d := &come[i].Delivery
			if dead[d.ID] {
				l.bury(d, rail.DeadByBacklog)
			} else {
				l.wait(d, d.Next)
			}
		}
	}
	return nil
}

// Room says how many more deliveries may wait for a subscription.
func (l *Ledger) Room(sub *records.Subscription) (int, error) {
	if sub.Operator {
		return records.Batch, nil // as many as are looked at together
	}
	most := l.books.Terms.Backlog
	queue, err := l.Tx.List(l.Ctx, records.QueueOf(sub.ID, time.Time{}, most))
	return most - len(queue), err
}

// overflow gives up as many deliveries as are too many, the oldest by their events, of
// those that wait and those that have come. It returns the IDs of those that have come:
// they are not written yet. What somebody has just asked for, the ping that verifies the
// subscription, and what cannot be read stay.
func (l *Ledger) overflow(sub *records.Subscription, queue []store.Record, come []incoming, surplus int) (dead map[uuid.UUID]bool, err error) {
	var ids []uuid.UUID
	fresh := map[uuid.UUID]*incoming{}
	for _, rec := range queue {
		ids = append(ids, records.QueuedDelivery(rec.ID))
	}
	for i := range come {
		ids = append(ids, come[i].ID)
		fresh[come[i].ID] = &come[i]
	}
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	dead = map[uuid.UUID]bool{}
	given := 0
	for given < surplus && len(ids) > 0 {
		n := min(surplus-given, len(ids))
		keys := make([]store.Key, n)
		for i, id := range ids[:n] {
			keys[i] = records.DeliveryKey(sub.ID, id)
		}
		values, err := l.Tx.Get(l.Ctx, keys...)
		if err != nil {
			return nil, err
		}
		for i, id := range ids[:n] {
			if a := fresh[id]; a != nil {
				if a.asked || a.Event == sub.Challenge() {
					continue
				}
				dead[id] = true
			} else {
				d, err := records.DecodeDelivery(values[i])
				if err != nil || d.Status != rail.DeliveryPending || d.Event == sub.Challenge() {
					continue
				}
				l.bury(&d, rail.DeadByBacklog)
			}
			given++
		}
		ids = ids[n:]
	}
	if given > 0 {
		l.overflows = append(l.overflows, overflow{sub.ID, given})
	}
	return dead, nil
}

// tellDead logs and tells the observer which deliveries an update that is durable has
// given up.
func (l *Ledger) tellDead() {
	for _, o := range l.overflows {
		if ok, unsaid := l.books.overflows.Take(time.Now()); ok {
			l.books.Log.WarnContext(l.Ctx, "webhook backlog full; oldest deliveries became dead letters", "webhook", o.sub, "deliveries", o.n, "backlog", l.books.Terms.Backlog, "not_logged", unsaid)
		}
	}
	if told := l.books.Observer.Dead; told != nil {
		for _, why := range l.dead {
			told(l.Ctx, why)
		}
	}
}
