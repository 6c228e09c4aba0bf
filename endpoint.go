package traintravel

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"
)

const (
	// turn is how many deliveries an endpoint gets before others have their turn.
	turn = 1024
	// endpoints is how many endpoints are worked on at a time, slow ones among them.
	endpoints = 256 + slowAtOnce
	// sweepEvery is how often old deliveries are looked for.
	sweepEvery = 6 * time.Hour
	// keepDelivered and keepDead are how long deliveries are listed once they are over.
	keepDelivered = 7 * 24 * time.Hour
	keepDead      = 30 * 24 * time.Hour
	// queuePages is how many batches of a queue are looked through at once for a delivery,
	// and lookLater is when to look again after that.
	queuePages = 16
	lookLater  = time.Minute
)

// serveEndpoint posts what is due to an endpoint, until there is nothing left or others
// have to have their turn.
func (p *poster) serveEndpoint(ctx context.Context, it item) error {
	defer p.pace.begin()()
	work, stop := context.WithCancel(ctx)
	defer stop()
	t := &endpointWorker{p: p, sub: it.id, floor: p.books.floors.of(it)}
	t.slow.Store(p.slow.has(it.id))
	t.patience = time.AfterFunc(longest, func() { t.markSlow(work, stop) })
	t.patience.Reset(patience) // only now: what it calls uses it
	defer t.patience.Stop()
	for n := 0; !t.enough(n) && !t.hopeless() && !t.left.Load(); {
		posted, found, err := t.round(work, n)
		switch {
		case ctx.Err() != nil:
			return nil // told to stop: the next Run goes on
		case err != nil:
			return err
		case t.left.Load():
		case !found:
			p.slow.clear(it.id)
			return p.forgetDeliveries(ctx, it)
		case posted == 0:
			p.pace.wait()
			if done, err := p.leaveEndpoint(ctx, it, t.floor); done || err != nil {
				return err
			}
		}
		n += max(posted, atOnce)
	}
	now := p.books.now()
	err := p.books.update(ctx, now, func(l *ledger) error {
		l.delete(it.key)
		l.put(endpointKey(now, it.id), nil)
		return nil
	})
	if err == nil && ctx.Err() == nil { // what came with this item meanwhile is not due before it
		due := queueKey(it.id, it.due)
		p.books.floors.set(it.id, min(cmp.Or(t.first, due), due))
	}
	return err
}

// leaveEndpoint takes an endpoint from the agenda, or puts it there for when its next
// delivery is due. What waits for one that is disabled, it gives up. It returns false if
// there is one now, or perhaps more to be given up.
func (p *poster) leaveEndpoint(ctx context.Context, it item, floor string) (done bool, err error) {
	now := p.books.now()
	var left omissions
	var first string
	err = p.books.update(ctx, now, func(l *ledger) error {
		done = false
		var due time.Time
		var err error
		if due, first, left, err = nextDue(l, it.id, floor); err != nil {
			return err
		}
		if !due.IsZero() && !due.After(now) {
			return nil
		}
		if again := now.Add(lookLater); len(left) > 0 && (due.IsZero() || again.Before(due)) {
			due = again // it may be that they can be read then
		}
		if !due.IsZero() {
			if some, err := giveUp(l, it.id, floor); some || err != nil {
				return err
			}
			l.put(agendaKey(endpointDue, due, it.id), nil) // not a moment before
		}
		l.delete(it.key) // unless it was just put: see ledger.write
		done = true
		return nil
	})
	if err == nil && done {
		p.books.omit(ctx, left)
		if ctx.Err() == nil {
			p.books.floors.set(it.id, cmp.Or(first, queueKey(it.id, now)))
		}
	}
	return done, err
}

// nextDue says when the next delivery to an endpoint is due, zero if there is none, and
// what is the first entry of its queue. left are those due before it that cannot be read.
// Entries of the queue that lead to no delivery count for nothing.
func nextDue(l *ledger, sub uuid.UUID, floor string) (due time.Time, first string, left omissions, err error) {
	rg := queueOf(sub, time.Time{}, 1) // as a rule it tells all
	rg.From = max(rg.From, floor)
	for range queuePages {
		queue, err := l.tx.List(l.ctx, rg)
		if err != nil || len(queue) == 0 {
			return time.Time{}, first, left, err
		}
		first = cmp.Or(first, queue[0].ID)
		keys := make([]Key, len(queue))
		for i, rec := range queue {
			if keys[i] = deliveryKey(sub, queuedDelivery(rec.ID)); queuedFor(rec.ID).After(l.now) && i == 0 {
				return queuedFor(rec.ID), first, left, nil // what it is has time until then
			}
		}
		values, err := l.tx.Get(l.ctx, keys...)
		if err != nil {
			return time.Time{}, "", nil, err
		}
		for i, v := range values {
			switch d, err := decodeDelivery(v); {
			case v == nil:
			case err != nil:
				left.add(keys[i], err)
			case d.Status == DeliveryPending && d.queueKey().ID == queue[i].ID:
				return queuedFor(queue[i].ID), first, left, nil
			}
		}
		if len(queue) < rg.Limit {
			return time.Time{}, first, left, nil
		}
		rg.From, rg.Limit = queue[len(queue)-1].ID+"\x00", batch
	}
	return l.now.Add(lookLater), first, left, nil // to be looked at again
}

// giveUp ends the next deliveries that wait for an endpoint if it is disabled. It returns
// false if there are none.
func giveUp(l *ledger, sub uuid.UUID, floor string) (some bool, err error) {
	v, err := l.tx.Get(l.ctx, subscriptionKey(sub))
	if err != nil || v[0] == nil {
		return false, err
	}
	if is, err := decodeSubscription(v[0]); err != nil || !is.Disabled {
		return false, err
	}
	rg := queueOf(sub, time.Time{}, batch)
	rg.From = max(rg.From, floor)
	queue, err := l.tx.List(l.ctx, rg)
	if err != nil {
		return false, err
	}
	keys := make([]Key, len(queue))
	for i, rec := range queue {
		keys[i] = deliveryKey(sub, queuedDelivery(rec.ID))
	}
	if v, err = l.tx.Get(l.ctx, keys...); err != nil {
		return false, err
	}
	for _, v := range v {
		d, err := decodeDelivery(v)
		if err == nil && d.Type != Ping {
			l.bury(&d, DeadByDisabling)
			some = true
		}
	}
	return some, nil
}

// forgetDeliveries removes what there is of a subscription that is deleted.
func (p *poster) forgetDeliveries(ctx context.Context, it item) error {
	for more := true; more && ctx.Err() == nil; {
		err := p.books.update(ctx, p.books.now(), func(l *ledger) error {
			more = false
			for _, r := range []Range{queueOf(it.id, time.Time{}, batch), deliveriesOf(it.id, uuid.Nil, batch)} {
				records, err := l.tx.List(l.ctx, r)
				if err != nil {
					return err
				}
				for _, rec := range records {
					l.delete(Key{TableDeliveries, rec.ID})
				}
				more = more || len(records) == batch
			}
			if !more {
				l.delete(it.key)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// sweep forgets the old deliveries of an endpoint.
func (p *poster) sweep(ctx context.Context, it item) error {
	now := p.books.now()
	for from := uuid.Nil; ; {
		records, err := p.books.store.List(ctx, deliveriesOf(it.id, from, batch))
		if err != nil {
			return err
		}
		var old []Key
		var left omissions
		over := len(records) < batch
		for _, rec := range records {
			from = deliveryID(rec.ID)
			d, err := decodeDelivery(rec.Value)
			if err != nil {
				left.add(Key{TableDeliveries, rec.ID}, err)
				continue
			}
			if now.Sub(d.Created) < keepDelivered {
				over = true // the rest is newer
				break
			}
			if d.Status == DeliveryDelivered || d.Status == DeliveryDead && now.Sub(d.Created) >= keepDead {
				old = append(old, Key{TableDeliveries, rec.ID})
			}
		}
		p.books.omit(ctx, left)
		err = p.books.update(ctx, now, func(l *ledger) error {
			if _, err := l.forget(old); err != nil || !over {
				return err
			}
			v, err := l.tx.Get(l.ctx, subscriptionKey(it.id))
			if err != nil {
				return err
			}
			l.delete(it.key)
			if v[0] != nil {
				l.put(agendaKey(sweepDue, now.Add(sweepEvery), it.id), nil)
			}
			return nil
		})
		if over || err != nil || ctx.Err() != nil {
			return err
		}
	}
}
