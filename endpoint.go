package traintravel

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

const (
	// sendTimeout is how long a receiver may take.
	sendTimeout = 15 * time.Second
	// recordTimeout is how long the store may take to record answers.
	recordTimeout = 10 * time.Second
	// atOnce is how many deliveries are under way to one endpoint.
	atOnce = 16
	// turns is how many batches an endpoint gets before others have their turn.
	turns = 16
	// endpoints is how many endpoints are worked on at a time.
	endpoints = 256
	// fanOuts is how many events are given to subscribers at a time. They share commits.
	fanOuts = 256
	// sweepEvery is how often old deliveries are looked for.
	sweepEvery = 6 * time.Hour
	// keepDelivered and keepDead are how long deliveries are listed once they are over.
	keepDelivered = 7 * 24 * time.Hour
	keepDead      = 30 * 24 * time.Hour
)

// serveEndpoint posts what is due to an endpoint, until there is nothing left or others
// have to have their turn.
func (s *Service) serveEndpoint(ctx context.Context, it item) error {
	for range turns {
		due, found, err := s.dueDeliveries(ctx, it.id)
		if err != nil {
			return err
		}
		if !found {
			return s.forgetDeliveries(ctx, it)
		}
		if len(due) == 0 {
			if done, err := s.leaveEndpoint(ctx, it); done || err != nil {
				return err
			}
			continue
		}
		more, err := s.attemptAll(ctx, it.id, due)
		if ctx.Err() != nil {
			return nil // told to stop: the next Run goes on
		}
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	now := s.now()
	return s.update(ctx, now, func(l *ledger) error {
		l.delete(it.key)
		l.put(endpointKey(now, it.id), nil)
		return nil
	})
}

// dueDeliveries reads what is due to an endpoint. It returns false if that is gone.
func (s *Service) dueDeliveries(ctx context.Context, sub uuid.UUID) (due []delivery, found bool, err error) {
	queue, err := s.store.List(ctx, queueOf(sub, s.now(), 4*atOnce))
	if err != nil {
		return nil, false, err
	}
	keys := []Key{subscriptionKey(sub)}
	for _, rec := range queue {
		keys = append(keys, deliveryKey(sub, uuid.UUID([]byte(rec.ID[25:]))))
	}
	values, err := s.store.Get(ctx, keys...)
	if err != nil || values[0] == nil {
		return nil, false, err
	}
	for _, v := range values[1:] {
		if v == nil { // it was read between two updates
			continue
		}
		d, err := decodeDelivery(v)
		if err != nil {
			return nil, false, err
		}
		if d.Status == DeliveryPending {
			due = append(due, d)
		}
	}
	return due, true, nil
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
			l.put(agendaKey(endpointDue, due, it.id), nil) // not a moment before
		}
		l.delete(it.key) // which a put outdoes
		done = true
		return nil
	})
	return done, err
}

// An outcome is what came of an attempt.
type outcome struct {
	delivery delivery // as it was before
	dropped  bool     // not posted, nor ever: nobody wants it any more
	url      string   // where it was posted to; empty if it was not
	answer   WebhookAnswer
	wait     time.Duration // until it is tried again
	err      error
}

// attemptAll posts deliveries and records what came of them, together what comes
// together. It gives up, and returns false, where nothing arrives: an endpoint that hangs
// would take long.
func (s *Service) attemptAll(ctx context.Context, sub uuid.UUID, due []delivery) (bool, error) {
	todo, outcomes := make(chan delivery, len(due)), make(chan outcome, len(due))
	for _, d := range due {
		todo <- d
	}
	close(todo)
	var posting sync.WaitGroup
	defer posting.Wait() // should recording panic
	var arrived, lost atomic.Int32
	giveUp := func() bool { return lost.Load() >= atOnce && arrived.Load() == 0 }
	for range min(atOnce, len(due)) {
		posting.Go(func() {
			for d := range todo {
				var o outcome
				if !giveUp() {
					o = s.attempt(ctx, sub, d)
				}
				switch {
				case o.answer.Status == 200:
					arrived.Add(1)
				case o.url != "":
					lost.Add(1)
				}
				outcomes <- o
			}
		})
	}
	var errs []error
	for left := len(due); left > 0; {
		some := []outcome{<-outcomes}
		for range len(outcomes) {
			some = append(some, <-outcomes)
		}
		left -= len(some)
		errs = append(errs, s.record(ctx, sub, some))
	}
	return !giveUp(), errors.Join(errs...)
}

// attempt posts a delivery once.
func (s *Service) attempt(ctx context.Context, id uuid.UUID, d delivery) (o outcome) {
	o.delivery = d
	v, err := s.store.Get(ctx, append([]Key{subscriptionKey(id), d.queueKey()}, d.queued.records()...)...)
	if err != nil || v[0] == nil || v[1] == nil { // the queue was read before somebody changed it
		o.err = err
		return o
	}
	sub, err := decodeSubscription(v[0])
	if err != nil {
		o.err = err
		return o
	}
	if sub.Disabled && d.Type != Ping {
		o.dropped = true
		return o
	}
	p := WebhookPost{URL: sub.URL, Operator: sub.operator}
	if p.Secrets, o.err = s.secretsOf(&sub); o.err != nil {
		return o
	}
	if p.Event, o.err = s.eventOf(d.Event, d.queued, v[2:]); o.err != nil {
		return o
	}
	err = errNotHere
	if len(p.Secrets) > 0 {
		o.answer, err = s.post(ctx, p)
	}
	if err != nil && ctx.Err() != nil {
		return o
	}
	o.url, o.wait = sub.URL, max(jittered(d.Attempts), min(o.answer.RetryAfter, 24*time.Hour))
	if err != nil || o.answer.Status != 200 {
		s.log.Info("an event was not delivered", "event", d.Event, "type", string(d.Type), "webhook", id, "attempt", d.Attempts+1, "status", o.answer.Status, "error", err)
	}
	return o
}

// errNotHere is a failure like others: another service on the store may do it the next
// time.
var errNotHere = errors.New("the options of this service do not name that operator's endpoint, or that client, any more")

// secretsOf returns what signs for an endpoint now: nothing if this service is not to
// post there.
func (s *Service) secretsOf(sub *subscription) (keys []Secret, err error) {
	w := s.opts.Webhooks
	if sub.operator {
		for _, op := range w.Operator {
			if op.URL == sub.URL {
				keys = op.Secrets
			}
		}
		return keys, nil
	}
	if sub.ByClient && !slices.Contains(w.Clients, sub.Client) {
		return nil, nil
	}
	now := s.now()
	for _, secret := range sub.secrets {
		if !secret.until.IsZero() && !now.Before(secret.until) {
			continue
		}
		key, err := s.unseal(secret.sealed, sub.ID)
		if err != nil && len(keys) == 0 {
			return nil, err
		}
		if err == nil { // or else it was replaced because its key is lost
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// record writes what came of attempts, even if Run has been told to stop meanwhile.
func (s *Service) record(ctx context.Context, id uuid.UUID, outcomes []outcome) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer stop()
	var errs []error
	keys := []Key{subscriptionKey(id)}
	var made []outcome
	for _, o := range outcomes {
		if errs = append(errs, o.err); o.dropped || o.url != "" {
			made, keys = append(made, o), append(keys, deliveryKey(id, o.delivery.ID))
		}
	}
	if len(made) == 0 {
		return errors.Join(errs...)
	}
	err := s.update(ctx, s.now(), func(l *ledger) error {
		v, err := l.tx.Get(l.ctx, keys...)
		if err != nil || v[0] == nil {
			return err
		}
		sub, err := decodeSubscription(v[0])
		if err != nil {
			return err
		}
		for i, o := range made {
			if v[i+1] == nil {
				continue
			}
			is, err := decodeDelivery(v[i+1])
			if err != nil {
				return err
			}
			if is.Status == DeliveryPending {
				l.attempted(&sub, &is, o)
			}
		}
		return nil
	})
	return errors.Join(append(errs, err)...)
}

// attempted decides what becomes of a delivery that is pending. Who works at the
// endpoint sees to it that the agenda has it for the next attempt.
func (l *ledger) attempted(sub *subscription, is *delivery, o outcome) {
	if o.dropped {
		l.finish(is, DeliveryDead)
		return
	}
	is.Attempts++
	is.LastStatus = o.answer.Status
	switch {
	case o.answer.Status == 200:
		l.finish(is, DeliveryDelivered)
	case o.answer.Status == 410 && is.Type != Ping && !sub.operator:
		l.finish(is, DeliveryDead)
		if sub.URL == o.url {
			sub.Disabled = true
			l.putSubscription(sub)
		}
	case is.Type == Ping || is.Attempts > len(retryAfter):
		l.finish(is, DeliveryDead)
	case !is.Next.Equal(o.delivery.Next): // somebody wants it tried at another time
		l.put(deliveryKey(sub.ID, is.ID), is.encode())
	default:
		l.delete(is.queueKey())
		// On full seconds, so that what is due at about the same time is done in one go.
		l.wait(is, l.now.Add(o.wait+time.Second-1).Truncate(time.Second))
	}
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
