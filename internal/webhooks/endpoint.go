package webhooks

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

const (
	// Endpoints is the number of endpoints that are served at a time, including slow ones.
	Endpoints = 256 + slowAtOnce
	// keepDelivered and keepDead are how long deliveries are listed once they are over.
	keepDelivered = 7 * 24 * time.Hour
	keepDead      = 30 * 24 * time.Hour
)

// ServeEndpoint posts due deliveries to an endpoint, until none is left or the turn is over.
func (p *Poster) ServeEndpoint(ctx context.Context, it records.Item) error {
	defer p.pace.begin()()
	work, stop := context.WithCancel(ctx)
	defer stop()
	t := &endpointWorker{p: p, sub: it.ID, floor: p.Books.Floors.Of(it)}
	t.slow.Store(p.Slow.has(it.ID))
	t.patience = time.AfterFunc(Longest, func() { t.markSlow(work, stop) })
	t.patience.Reset(patience) // only now, as the function that it calls uses it
	defer t.patience.Stop()
	for n := 0; !t.enough(n) && !t.hopeless() && !t.left.Load(); {
		posted, found, err := t.round(work, n)
		switch {
		case ctx.Err() != nil:
			return nil // Run is stopping; the next Run continues
		case err != nil:
			return err
		case t.left.Load():
		case !found:
			p.Slow.clear(it.ID)
			return p.forgetDeliveries(ctx, it)
		case posted == 0:
			p.pace.wait()
			if done, err := p.leaveEndpoint(ctx, it, t.floor); done || err != nil {
				return err
			}
		}
		n += max(posted, atOnce)
	}
	now := p.Books.Now()
	err := p.Books.Update(ctx, now, func(l *ledger.Ledger) error {
		l.Delete(it.Key)
		l.Put(records.EndpointKey(now, it.ID), nil)
		return nil
	})
	if err == nil && ctx.Err() == nil { // deliveries that were added meanwhile are not due earlier
		due := records.QueueKey(it.ID, it.Due)
		p.Books.Floors.Set(it.ID, min(cmp.Or(t.first, due), due))
	}
	return err
}

// leaveEndpoint removes an endpoint from the agenda, or reschedules it for its next delivery.
// It gives up the waiting deliveries of a disabled one. It returns false if a delivery is due
// now, or more deliveries may have to be given up.
func (p *Poster) leaveEndpoint(ctx context.Context, it records.Item, floor string) (done bool, err error) {
	now := p.Books.Now()
	var left records.Omissions
	var first string
	err = p.Books.Update(ctx, now, func(l *ledger.Ledger) error {
		done = false
		var due time.Time
		var err error
		if due, first, left, err = ledger.NextDue(l, it.ID, floor); err != nil {
			return err
		}
		if !due.IsZero() && !due.After(now) {
			return nil
		}
		if again := now.Add(ledger.LookLater); len(left) > 0 && (due.IsZero() || again.Before(due)) {
			due = again // perhaps they can be read then
		}
		if !due.IsZero() {
			if some, err := ledger.GiveUp(l, it.ID, floor); some || err != nil {
				return err
			}
			l.Put(records.AgendaKey(records.EndpointDue, due, it.ID), nil) // not a moment before
		}
		l.Delete(it.Key) // unless it was just put: see ledger.write
		done = true
		return nil
	})
	if err == nil && done {
		p.Books.Omit(ctx, left)
		if ctx.Err() == nil {
			p.Books.Floors.Set(it.ID, cmp.Or(first, records.QueueKey(it.ID, now)))
		}
	}
	return done, err
}

// forgetDeliveries removes all records of a deleted subscription.
func (p *Poster) forgetDeliveries(ctx context.Context, it records.Item) error {
	for more := true; more && ctx.Err() == nil; {
		err := p.Books.Update(ctx, p.Books.Now(), func(l *ledger.Ledger) error {
			more = false
			for _, r := range []store.Range{records.QueueOf(it.ID, time.Time{}, records.Batch), records.DeliveriesOf(it.ID, uuid.Nil, records.Batch)} {
				found, err := l.Tx.List(l.Ctx, r)
				if err != nil {
					return err
				}
				for _, rec := range found {
					l.Delete(store.Key{Table: store.TableDeliveries, ID: rec.ID})
				}
				more = more || len(found) == records.Batch
			}
			if !more {
				l.Delete(it.Key)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Sweep deletes the old deliveries of an endpoint.
func (p *Poster) Sweep(ctx context.Context, it records.Item) error {
	now := p.Books.Now()
	for from := uuid.Nil; ; {
		found, err := p.Books.Store.List(ctx, records.DeliveriesOf(it.ID, from, records.Batch))
		if err != nil {
			return err
		}
		var old []store.Key
		var left records.Omissions
		over := len(found) < records.Batch
		for _, rec := range found {
			from = records.DeliveryID(rec.ID)
			d, err := records.DecodeDelivery(rec.Value)
			if err != nil {
				left.Add(store.Key{Table: store.TableDeliveries, ID: rec.ID}, err)
				continue
			}
			if now.Sub(d.Created) < keepDelivered {
				over = true // the rest is newer
				break
			}
			if d.Status == rail.DeliveryDelivered || d.Status == rail.DeliveryDead && now.Sub(d.Created) >= keepDead {
				old = append(old, store.Key{Table: store.TableDeliveries, ID: rec.ID})
			}
		}
		p.Books.Omit(ctx, left)
		err = p.Books.Update(ctx, now, func(l *ledger.Ledger) error {
			if _, err := l.Forget(old); err != nil || !over {
				return err
			}
			v, err := l.Tx.Get(l.Ctx, records.SubscriptionKey(it.ID))
			if err != nil {
				return err
			}
			l.Delete(it.Key)
			if v[0] != nil {
				l.Put(records.AgendaKey(records.SweepDue, now.Add(ledger.SweepEvery), it.ID), nil)
			}
			return nil
		})
		if over || err != nil || ctx.Err() != nil {
			return err
		}
	}
}

// Longest is a duration that keeps instants within the range of a time.
const Longest = 100 * 365 * 24 * time.Hour
