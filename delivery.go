package traintravel

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/uuid"
)

// A Delivery is an event on its way to a subscription.
type Delivery struct {
	ID           uuid.UUID // version 7: orders by the event's time
	Subscription uuid.UUID
	Event        uuid.UUID // webhook-id, the same for all who get the event
	Type         EventType
	Created      time.Time // when it happened
	Status       DeliveryStatus
	Attempts     int
	LastStatus   int       // what the receiver answered last; zero if it did not
	Next         time.Time // when it is tried next; zero unless it is pending
}

// A DeliveryStatus is how far a delivery has got, as the API spells it.
type DeliveryStatus string

// The statuses of a delivery.
const (
	DeliveryPending   DeliveryStatus = "pending"
	DeliveryDelivered DeliveryStatus = "delivered"
	// DeliveryDead is one that is not tried any more, unless somebody asks for it.
	DeliveryDead DeliveryStatus = "dead"
)

// Ping is the type of the event that [Service.PingSubscription] sends. It is about no
// booking.
const Ping EventType = "ping"

const (
	// sendTimeout is how long a receiver may take.
	sendTimeout = 15 * time.Second
	// atOnce is how many deliveries are under way to one endpoint.
	atOnce = 16
	// turns is how many batches an endpoint gets before others have their turn.
	turns = 16
	// endpoints is how many endpoints are worked on at a time.
	endpoints = 256
	// sweepEvery is how often old deliveries are looked for.
	sweepEvery = 6 * time.Hour
	// keepDelivered and keepDead are how long deliveries are listed once they are over.
	keepDelivered = 7 * 24 * time.Hour
	keepDead      = 30 * 24 * time.Hour
)

// Deliveries lists what was, or is to be, posted to a subscription of the caller's, the
// newest first. Delivered ones are kept for a week, dead ones for 30 days.
func (s *Service) Deliveries(ctx context.Context, by Caller, sub uuid.UUID, page Page) (List[Delivery], error) {
	if err := s.webhooks(by); err != nil {
		return List[Delivery]{}, err
	}
	page, err := page.normalize()
	if err != nil {
		return List[Delivery]{}, err
	}
	after, err := page.cursor(deliveryList, 16)
	if err != nil {
		return List[Delivery]{}, err
	}
	var found []Delivery
	err = s.store.View(ctx, func(r Reader) error {
		if _, err := s.ownSubscription(ctx, r, by, sub); err != nil {
			return err
		}
		q := deliveriesOf(sub, uuid.Nil, page.skip()+page.Limit+1)
		q.Reverse = true
		if after != "" {
			q.To = q.From[:17] + after
		}
		records, err := r.List(ctx, q)
		if err != nil {
			return err
		}
		found = make([]Delivery, len(records))
		for i, rec := range records {
			d, err := decodeDelivery(rec.Value)
			if err != nil {
				return err
			}
			found[i] = d.Delivery
		}
		return nil
	})
	if err != nil {
		return List[Delivery]{}, err
	}
	return cut(deliveryList, found, page.skip(), page.Limit, func(d Delivery) string { return string(d.ID[:]) }), nil
}

// RetryDelivery has a delivery of the caller's tried now: a dead one gets all its tries
// anew. It returns ErrNotFound, or ErrDelivered for one that has arrived.
func (s *Service) RetryDelivery(ctx context.Context, by Caller, sub, id uuid.UUID) (d Delivery, err error) {
	if err := s.webhooks(by); err != nil {
		return d, err
	}
	now := s.now()
	err = s.update(ctx, now, func(l *ledger) error {
		if _, err := s.ownSubscription(l.ctx, l.tx, by, sub); err != nil {
			return err
		}
		is, err := l.delivery(sub, id)
		if err != nil {
			return err
		}
		switch is.Status {
		case DeliveryDelivered:
			return ErrDelivered
		case DeliveryDead:
			is.Attempts, is.Status = 0, DeliveryPending
		default:
			l.delete(is.queueKey())
		}
		l.schedule(&is, now)
		d = is.Delivery
		return nil
	})
	return d, err
}

// PingSubscription has a ping posted to a subscription of the caller's, once. key is an
// idempotency key as in [NewBooking].
func (s *Service) PingSubscription(ctx context.Context, by Caller, sub uuid.UUID, key string) (Delivery, error) {
	if err := s.webhooks(by); err != nil {
		return Delivery{}, err
	}
	idem, err := s.idempotency(by, key, "ping "+sub.String(), func(*fingerprint) {})
	if err != nil {
		return Delivery{}, err
	}
	now := s.now()
	event := stamp(s.newID(), 8)
	d := newDelivery(sub, event, queued{kind: Ping, created: now})
	err = s.update(ctx, now, func(l *ledger) error {
		first, err := l.replay(idem, nil, nil)
		if err != nil {
			return err
		}
		if _, err := s.ownSubscription(l.ctx, l.tx, by, sub); err != nil {
			return err
		}
		if first != nil {
			d, err = l.delivery(sub, first.payment)
			return err
		}
		l.schedule(&d, now)
		l.remember(idem, answer{booking: sub, payment: d.ID})
		return nil
	})
	return d.Delivery, err
}

// fanOut gives an event to those who have subscribed to it.
func (s *Service) fanOut(ctx context.Context, it item) error {
	q, err := decodeQueued(it.value)
	if err != nil {
		return err
	}
	now := s.now()
	return s.update(ctx, now, func(l *ledger) error {
		v, err := l.tx.Get(l.ctx, it.key, bookingKey(q.booking))
		if err != nil || v[0] == nil { // the agenda was read before somebody did it
			return err
		}
		l.delete(it.key)
		if v[1] == nil {
			return nil
		}
		b, err := decodeBooking(v[1], &s.zones)
		if err != nil {
			return err
		}
		subs, err := l.subscribers(&b)
		if err != nil {
			return err
		}
		for i := range subs {
			sub := &subs[i]
			if sub.Disabled || !sub.wants(q.kind) || sub.Created.After(q.created) {
				continue
			}
			d := newDelivery(sub.ID, it.id, q)
			l.schedule(&d, now)
		}
		return nil
	})
}

// subscribers are those who get the events of a booking.
func (l *ledger) subscribers(b *Booking) (subs []subscription, err error) {
	for _, op := range l.s.opts.Webhooks.Operator {
		sub := subscription{operator: true, Subscription: Subscription{ID: operatorID(op.URL), URL: op.URL, Events: op.Events}}
		v, err := l.tx.Get(l.ctx, subscriptionKey(sub.ID))
		if err != nil {
			return nil, err
		}
		if v[0] == nil {
			l.newSubscription(&sub)
		}
		subs = append(subs, sub)
	}
	own, err := readMarked(l.ctx, l.tx, subjectPrefix(b.Owner), "")
	if err != nil {
		return nil, err
	}
	for _, sub := range own {
		if sub.Owner == b.Owner && !sub.ByClient {
			subs = append(subs, sub)
		}
	}
	if b.Client == "" {
		return subs, nil
	}
	all, err := readMarked(l.ctx, l.tx, clientPrefix(b.Owner.Issuer, b.Client), "")
	if err != nil {
		return nil, err
	}
	for _, sub := range all {
		if sub.Owner.Issuer == b.Owner.Issuer && sub.Client == b.Client {
			subs = append(subs, sub)
		}
	}
	return subs, nil
}

// serveEndpoint posts what is due to an endpoint, until there is nothing left or others
// have to have their turn.
func (s *Service) serveEndpoint(ctx context.Context, it item) error {
	for range turns {
		sub, found, err := s.endpoint(ctx, it.id)
		if err != nil {
			return err
		}
		if !found {
			return s.forgetDeliveries(ctx, it)
		}
		due, err := s.dueDeliveries(ctx, it.id)
		if err != nil {
			return err
		}
		if len(due) == 0 {
			if done, err := s.leaveEndpoint(ctx, it); done || err != nil {
				return err
			}
			continue
		}
		errs := make([]error, len(due))
		var wg sync.WaitGroup
		slots := make(chan struct{}, atOnce)
		for i, d := range due {
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				errs[i] = s.attempt(ctx, sub, d)
			})
		}
		wg.Wait()
		if ctx.Err() != nil {
			return nil // told to stop: the next Run goes on
		}
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
	now := s.now()
	return s.update(ctx, now, func(l *ledger) error {
		l.delete(it.key)
		l.put(endpointKey(now, it.id), nil)
		return nil
	})
}

// endpoint reads a subscription, and what the operator says of his own.
func (s *Service) endpoint(ctx context.Context, id uuid.UUID) (endpoint, bool, error) {
	v, err := s.store.Get(ctx, subscriptionKey(id))
	if err != nil || v[0] == nil {
		return endpoint{}, false, err
	}
	sub, err := decodeSubscription(v[0])
	if err != nil {
		return endpoint{}, false, err
	}
	e := endpoint{subscription: sub}
	if sub.operator {
		e.Disabled = true // unless it is still wanted
		for _, op := range s.opts.Webhooks.Operator {
			if op.URL == sub.URL {
				e.Disabled, e.keys = false, op.Secrets
			}
		}
		return e, true, nil
	}
	now := s.now()
	for _, secret := range sub.secrets {
		if !secret.until.IsZero() && !now.Before(secret.until) {
			continue
		}
		key, err := s.unseal(secret.sealed, id)
		if err != nil {
			return endpoint{}, false, err
		}
		e.keys = append(e.keys, key)
	}
	return e, true, nil
}

// An endpoint is a subscription with the secrets that sign now.
type endpoint struct {
	subscription
	keys []Secret
}

func (s *Service) dueDeliveries(ctx context.Context, sub uuid.UUID) ([]delivery, error) {
	queue, err := s.store.List(ctx, queueOf(sub, s.now(), 4*atOnce))
	if err != nil || len(queue) == 0 {
		return nil, err
	}
	keys := make([]Key, len(queue))
	for i, rec := range queue {
		keys[i] = deliveryKey(sub, uuid.UUID([]byte(rec.ID[25:])))
	}
	values, err := s.store.Get(ctx, keys...)
	if err != nil {
		return nil, err
	}
	var due []delivery
	for _, v := range values {
		if v == nil { // it was read between two updates
			continue
		}
		d, err := decodeDelivery(v)
		if err != nil {
			return nil, err
		}
		if d.Status == DeliveryPending {
			due = append(due, d)
		}
	}
	return due, nil
}

// leaveEndpoint takes an endpoint from the agenda, or puts it there for when its next
// delivery is due. It returns false if there is one now.
func (s *Service) leaveEndpoint(ctx context.Context, it item) (done bool, err error) {
	now := s.now()
	err = s.update(ctx, now, func(l *ledger) error {
		done = false
		next, err := l.tx.List(l.ctx, queueOf(it.id, time.Time{}, 1))
		if err != nil {
			return err
		}
		if len(next) > 0 {
			due := queuedFor(next[0].ID)
			if !due.After(now) {
				return nil
			}
			l.put(endpointKey(due, it.id), nil)
		}
		l.delete(it.key) // which a put outdoes
		done = true
		return nil
	})
	return done, err
}

// attempt posts a delivery once and records what came of it.
func (s *Service) attempt(ctx context.Context, sub endpoint, d delivery) error {
	var answer WebhookAnswer
	gone := sub.Disabled && d.Type != Ping
	if !gone {
		e, ok, err := s.eventOf(ctx, d.Event, d.queued, d.queueKey())
		if err != nil || !ok { // the queue was read before somebody changed it
			return err
		}
		answer, err = s.post(ctx, WebhookPost{URL: sub.URL, Secrets: sub.keys, Operator: sub.operator, Event: e})
		if ctx.Err() != nil {
			return nil
		}
		if err != nil || answer.Status != 200 {
			s.log.Info("an event was not delivered", "event", d.Event, "type", string(d.Type), "webhook", sub.ID, "attempt", d.Attempts+1, "status", answer.Status, "error", err)
		}
	}
	now := s.now()
	wait := max(jittered(d.Attempts), min(answer.RetryAfter, 24*time.Hour))
	return s.update(ctx, now, func(l *ledger) error {
		v, err := l.tx.Get(l.ctx, subscriptionKey(sub.ID), deliveryKey(sub.ID, d.ID))
		if err != nil || v[0] == nil || v[1] == nil { // deleted meanwhile
			return err
		}
		is, err := decodeDelivery(v[1])
		if err != nil || is.Status != DeliveryPending {
			return err
		}
		if gone {
			l.finish(&is, DeliveryDead)
			return nil
		}
		is.Attempts++
		is.LastStatus = answer.Status
		switch {
		case answer.Status == 200:
			l.finish(&is, DeliveryDelivered)
		case answer.Status == 410 && d.Type != Ping:
			l.finish(&is, DeliveryDead)
			stands, err := decodeSubscription(v[0])
			if err != nil {
				return err
			}
			if stands.URL == sub.URL && !stands.operator {
				stands.Disabled = true
				l.putSubscription(&stands)
			}
		case d.Type == Ping || is.Attempts > len(retryAfter):
			l.finish(&is, DeliveryDead)
		case !is.Next.Equal(d.Next): // somebody wants it tried at another time
			l.put(deliveryKey(sub.ID, d.ID), is.encode())
		default:
			l.delete(is.queueKey())
			l.schedule(&is, now.Add(wait))
		}
		return nil
	})
}

// jittered is how long to wait after a failure, give or take a fifth.
func jittered(failures int) time.Duration {
	wait := retryAfter[min(failures, len(retryAfter)-1)]
	return wait - wait/5 + rand.N(2*wait/5)
}

// post calls the sender with its time limit and survives its panics.
func (s *Service) post(ctx context.Context, p WebhookPost) (a WebhookAnswer, err error) {
	ctx, stop := context.WithTimeout(ctx, sendTimeout)
	defer stop()
	defer recovered(&err)
	return s.opts.Webhooks.Sender.Send(ctx, p)
}

// forgetDeliveries removes what there is of a subscription that is deleted.
func (s *Service) forgetDeliveries(ctx context.Context, it item) error {
	for more := true; more && ctx.Err() == nil; {
		err := s.update(ctx, s.now(), func(l *ledger) error {
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
		over := len(records) < batch
		for _, rec := range records {
			d, err := decodeDelivery(rec.Value)
			if err != nil {
				return err
			}
			if from = d.ID; now.Sub(d.Created) < keepDelivered {
				over = true // the rest is newer
				break
			}
			if d.Status == DeliveryDelivered || d.Status == DeliveryDead && now.Sub(d.Created) >= keepDead {
				old = append(old, Key{TableDeliveries, rec.ID})
			}
		}
		err = s.update(ctx, now, func(l *ledger) error {
			if len(old) > 0 {
				values, err := l.tx.Get(l.ctx, old...)
				if err != nil {
					return err
				}
				for i, v := range values {
					if v == nil {
						continue
					}
					if d, err := decodeDelivery(v); err != nil {
						return err
					} else if d.Status != DeliveryPending { // nobody has asked for it meanwhile
						l.delete(old[i])
					}
				}
			}
			if !over {
				return nil
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
