package webhooks

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/ids"
	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// Deliveries lists the deliveries of a subscription of the subscriber's.
func (s *Subscriptions) Deliveries(ctx context.Context, by records.Subscriber, sub uuid.UUID, page rail.Page) (_ rail.List[rail.Delivery], err error) {
	if err := s.check(by); err != nil {
		return rail.List[rail.Delivery]{}, err
	}
	page, err = page.Normalize()
	if err != nil {
		return rail.List[rail.Delivery]{}, err
	}
	after, err := page.Cursor(rail.DeliveryList, 16)
	if err != nil {
		return rail.List[rail.Delivery]{}, err
	}
	var found []rail.Delivery
	var left records.Omissions
	err = s.Books.Store.View(ctx, func(r store.Reader) error {
		if _, err := s.ownSubscription(ctx, r, by, sub); err != nil {
			return err
		}
		q := records.DeliveriesOf(sub, uuid.Nil, page.Skip()+page.Limit+1)
		q.Reverse = true
		if after != "" {
			q.To = q.From[:17] + after
		}
		var err error
		left, err = records.EachOf(ctx, r, q, records.DeliveryOf, func(d records.Delivery) bool {
			found = append(found, d.Delivery)
			return len(found) < q.Limit
		})
		return err
	})
	s.Books.Omit(ctx, left)
	if err != nil {
		return rail.List[rail.Delivery]{}, err
	}
	return rail.Cut(rail.DeliveryList, found, page.Skip(), page.Limit, func(d rail.Delivery) string { return string(d.ID[:]) }), nil
}

// Retry schedules a delivery to be posted again now.
func (s *Subscriptions) Retry(ctx context.Context, by records.Subscriber, sub, id uuid.UUID, key string) (d rail.Delivery, err error) {
	if err := s.check(by); err != nil {
		return d, err
	}
	idem, err := s.Books.Idempotency(by.Caller, key, "retry "+sub.String()+" "+id.String(), func(*records.Fingerprint) {})
	if err != nil {
		return d, err
	}
	now := s.Books.Now()
	err = s.Books.Update(ctx, now, func(l *ledger.Ledger) error {
		first, err := l.Recall(idem)
		if err != nil {
			return err
		}
		to, err := s.ownSubscription(l.Ctx, l.Tx, by, sub)
		if err != nil {
			return err
		}
		is, err := l.Delivery(sub, id)
		if err != nil {
			return err
		}
		if first != nil {
			d = is.Delivery
			d.Replayed = true
			return nil
		}
		told, err := l.Told(is)
		if err != nil {
			return err
		}
		switch {
		case is.Status == rail.DeliveryDelivered:
			return rail.ErrDelivered
		case to.Disabled && is.Type != rail.Ping || to.Removed:
			return rail.ErrDisabled
		case !to.Unverified.IsZero() && is.Type != rail.Ping:
			return rail.ErrUnverified
		case len(told) == 0:
			return rail.ErrNotFound
		case is.Status == rail.DeliveryDead:
			l.Revive(&to, &is)
		default:
			l.Delete(is.QueueKey())
			l.Schedule(&is)
		}
		l.Remember(idem, records.Answer{About: sub, Payment: id})
		d = is.Delivery
		return nil
	})
	return d, err
}

// Ping schedules a ping to the receiver of a subscription.
func (s *Subscriptions) Ping(ctx context.Context, by records.Subscriber, sub uuid.UUID, key string) (_ rail.Delivery, err error) {
	if err := s.check(by); err != nil {
		return rail.Delivery{}, err
	}
	idem, err := s.Books.Idempotency(by.Caller, key, "ping "+sub.String(), func(*records.Fingerprint) {})
	if err != nil {
		return rail.Delivery{}, err
	}
	now := s.Books.Now()
	event := ids.Stamp(s.NewID(), 8)
	d := records.NewDelivery(sub, event, records.Queued{Kind: rail.Ping, Created: now})
	err = s.Books.Update(ctx, now, func(l *ledger.Ledger) error {
		first, err := l.Recall(idem)
		if err != nil {
			return err
		}
		to, err := s.ownSubscription(l.Ctx, l.Tx, by, sub)
		if err != nil {
			return err
		}
		if first != nil {
			d, err = l.Delivery(sub, first.Payment)
			d.Replayed = true
			return err
		}
		d.Next = now
		l.Ping(&to, d)
		l.Remember(idem, records.Answer{About: sub, Payment: d.ID})
		return nil
	})
	return d.Delivery, err
}

// RetryDead schedules the dead letters of a subscription to be posted again, and returns their
// number.
func (s *Subscriptions) RetryDead(ctx context.Context, by records.Subscriber, sub uuid.UUID) (retried int, err error) {
	switch to, err := s.Read(ctx, by, sub); {
	case err != nil:
		return 0, err
	case to.Disabled || to.Removed:
		return 0, rail.ErrDisabled
	case !to.Unverified.IsZero():
		return 0, rail.ErrUnverified
	}
	now := s.Books.Now()
	err = store.EachPage(ctx, s.Books.Store, records.DeliveriesOf(sub, uuid.Nil, records.Batch), func(page []store.Record) error {
		dead, left := deadOf(page)
		s.Books.Omit(ctx, left)
		if len(dead) == 0 {
			return nil
		}
		var n int
		var full bool
		err := s.Books.Update(ctx, now, func(l *ledger.Ledger) (err error) {
			n, full, err = reviveDead(l, sub, dead)
			return err
		})
		if err != nil {
			return err
		}
		if retried += n; full {
			return errBacklogFull
		}
		return nil
	})
	if errors.Is(err, errBacklogFull) {
		err = nil
	}
	return retried, err
}

// errBacklogFull ends RetryDead before it has retried all.
var errBacklogFull = errors.New("the subscription has the maximum number of waiting deliveries")

// deadOf returns the keys of the dead letters among some deliveries, and the unreadable records.
func deadOf(page []store.Record) (dead []store.Key, left records.Omissions) {
	for _, rec := range page {
		key := store.Key{Table: store.TableDeliveries, ID: rec.ID}
		if d, err := records.DecodeDelivery(rec.Value); err != nil {
			left.Add(key, err)
		} else if d.Status == rail.DeliveryDead {
			dead = append(dead, key)
		}
	}
	return dead, left
}

// reviveDead schedules as many of some dead letters as may wait for their subscription. It
// returns their number, and whether there is no room for the others.
func reviveDead(l *ledger.Ledger, sub uuid.UUID, dead []store.Key) (n int, full bool, err error) {
	values, err := l.Tx.Get(l.Ctx, append(slices.Clone(dead), records.SubscriptionKey(sub))...)
	if err != nil {
		return 0, false, err
	}
	if values[len(dead)] == nil { // otherwise nobody would clear them
		return 0, false, rail.ErrNotFound
	}
	to, err := records.DecodeSubscription(values[len(dead)])
	if err != nil {
		return 0, false, err
	}
	room, err := l.Room(&to)
	if err != nil {
		return 0, false, err
	}
	var still []records.Delivery
	for _, v := range values[:len(dead)] {
		if v == nil {
			continue
		}
		if d, err := records.DecodeDelivery(v); err == nil && d.Status == rail.DeliveryDead { // nobody has retried it meanwhile
			still = append(still, d)
		}
	}
	told, err := l.Told(still...)
	full = len(told) > room
	told = told[:min(len(told), room)]
	for i := range told {
		l.Revive(&to, &told[i])
	}
	return len(told), full, err
}
