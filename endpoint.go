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
	// endpoints is how many endpoints are worked on at a time, suspects among them.
	endpoints = 256 + suspected
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
func (s *Service) serveEndpoint(ctx context.Context, it item) error {
	defer s.pace.begin()()
	work, stop := context.WithCancel(ctx)
	defer stop()
	p := &posting{s: s, sub: it.id, floor: s.books.floors.of(it)}
	p.slow.Store(s.suspects.has(it.id))
	p.patience = time.AfterFunc(longest, func() { p.suspect(work, stop) })
	p.patience.Reset(patience) // only now: what it calls uses it
	defer p.patience.Stop()
	for n := 0; !p.enough(n) && !p.hopeless() && !p.left.Load(); {
		posted, found, err := p.round(work, n)
		switch {
		case ctx.Err() != nil:
			return nil // told to stop: the next Run goes on
		case err != nil:
			return err
		case p.left.Load():
		case !found:
			s.suspects.clear(it.id)
			return s.forgetDeliveries(ctx, it)
		case posted == 0:
			s.pace.wait()
			if done, err := s.leaveEndpoint(ctx, it, p.floor); done || err != nil {
				return err
			}
		}
		n += max(posted, atOnce)
	}
	now := s.now()
	err := s.books.update(ctx, now, func(l *ledger) error {
		l.delete(it.key)
		l.put(endpointKey(now, it.id), nil)
		return nil
	})
	if err == nil && ctx.Err() == nil { // what came with this item meanwhile is not due before it
		due := queueKey(it.id, it.due)
		s.books.floors.set(it.id, min(cmp.Or(p.first, due), due))
	}
	return err
}

// leaveEndpoint takes an endpoint from the agenda, or puts it there for when its next
// delivery is due. What waits for one that is disabled, it gives up. It returns false if
// there is one now, or perhaps more to be given up.
func (s *Service) leaveEndpoint(ctx context.Context, it item, floor string) (done bool, err error) {
	now := s.now()
	var left omissions
	var first string
	err = s.books.update(ctx, now, func(l *ledger) error {
		done = false
		var due time.Time
		var err error
		if due, first, left, err = l.nextDue(it.id, floor); err != nil {
			return err
		}
		if !due.IsZero() && !due.After(now) {
			return nil
		}
		if again := now.Add(lookLater); len(left) > 0 && (due.IsZero() || again.Before(due)) {
			due = again // it may be that they can be read then
		}
		if !due.IsZero() {
			if some, err := l.giveUp(it.id, floor); some || err != nil {
				return err
			}
			l.put(agendaKey(endpointDue, due, it.id), nil) // not a moment before
		}
		l.delete(it.key) // unless it was just put: see ledger.write
		done = true
		return nil
	})
	if err == nil && done {
		s.books.omit(ctx, left)
		if ctx.Err() == nil {
			s.books.floors.set(it.id, cmp.Or(first, queueKey(it.id, now)))
		}
	}
	return done, err
}

// nextDue says when the next delivery to an endpoint is due, zero if there is none, and
// what is the first entry of its queue. left are those due before it that cannot be read.
// Entries of the queue that lead to no delivery count for nothing.
func (l *ledger) nextDue(sub uuid.UUID, floor string) (due time.Time, first string, left omissions, err error) {
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
func (l *ledger) giveUp(sub uuid.UUID, floor string) (some bool, err error) {
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
func (s *Service) forgetDeliveries(ctx context.Context, it item) error {
	for more := true; more && ctx.Err() == nil; {
		err := s.books.update(ctx, s.now(), func(l *ledger) error {
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
func (s *Service) sweep(ctx context.Context, it item) error {
	now := s.now()
	for from := uuid.Nil; ; {
		records, err := s.store.List(ctx, deliveriesOf(it.id, from, batch))
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
		s.books.omit(ctx, left)
		err = s.books.update(ctx, now, func(l *ledger) error {
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
