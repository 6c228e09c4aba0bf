package traintravel

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
)

// fanOut gives events to those who have subscribed to them. One that has waited does
// not go to those who subscribed long after it; but it was perhaps another server that
// wrote it, whose clock is behind. An event that is damaged is in no other's way.
func (s *Service) fanOut(ctx context.Context, items ...item) error {
	var damaged []error
	var events []fanned
	var keys []Key
	for _, it := range items {
		q, err := decodeQueued(it.value)
		if err != nil {
			damaged = append(damaged, fmt.Errorf("event %v: %w", it.id, err))
			continue
		}
		events = append(events, fanned{it, q})
		keys = append(keys, it.key, bookingKey(q.booking))
	}
	var unread []error
	err := s.update(ctx, s.now(), func(l *ledger) error {
		unread = nil
		v, err := l.tx.Get(l.ctx, keys...)
		if err != nil {
			return err
		}
		audience, err := l.audience()
		if err != nil {
			return err
		}
		told := map[uuid.UUID]bool{}
		for i, e := range events {
			if v[2*i] == nil { // the agenda was read before somebody did it
				continue
			}
			var subs []subscription
			if v[2*i+1] != nil {
				b, err := decodeBooking(v[2*i+1], &s.zones)
				if err != nil {
					unread = append(unread, fmt.Errorf("event %v: %w", e.id, err))
					continue
				}
				if subs, err = audience.of(&b); err != nil {
					return err
				}
			}
			l.delete(e.key)
			for i := range subs {
				sub := &subs[i]
				if sub.Disabled || !sub.wants(e.kind) || sub.Created.After(e.created.Add(clocksOff)) {
					continue
				}
				d := newDelivery(sub.ID, e.id, e.queued)
				l.wait(&d, l.now)
				if !told[sub.ID] {
					told[sub.ID] = true
					l.put(endpointKey(l.now, sub.ID), nil)
				}
			}
		}
		return nil
	})
	return errors.Join(append(append(damaged, unread...), err)...)
}

// fanned is an event that is given to subscribers.
type fanned struct {
	item
	queued
}

// An audience is the subscriptions that an update looks through, each read once.
type audience struct {
	l         *ledger
	operators []subscription
	marked    map[marked][]subscription
}

// marked is whose marks subscriptions have: a user's, or a client's.
type marked struct {
	Subject
	client bool
}

// audience begins with the operator's endpoints, and makes those that are new.
func (l *ledger) audience() (*audience, error) {
	a := &audience{l: l, marked: map[marked][]subscription{}}
	for _, op := range l.s.opts.Webhooks.Operator {
		sub := subscription{operator: true, Subscription: Subscription{ID: operatorID(op.URL), URL: op.URL, Events: op.Events}}
		v, err := l.tx.Get(l.ctx, subscriptionKey(sub.ID))
		if err != nil {
			return nil, err
		}
		if v[0] == nil {
			l.newSubscription(&sub)
		} else if is, err := decodeSubscription(v[0]); err != nil {
			return nil, err
		} else if !slices.Equal(is.Events, sub.Events) { // the operator wants others now
			l.putSubscription(&sub)
		}
		a.operators = append(a.operators, sub)
	}
	return a, nil
}

// of finds those who get the events of a booking.
func (a *audience) of(b *Booking) ([]subscription, error) {
	subs := slices.Clone(a.operators)
	own, err := a.read(marked{b.Owner, false})
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
	all, err := a.read(marked{Subject{b.Owner.Issuer, b.Client}, true})
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

func (a *audience) read(by marked) ([]subscription, error) {
	if subs, ok := a.marked[by]; ok {
		return subs, nil
	}
	prefix := subjectPrefix(by.Subject)
	if by.client {
		prefix = clientPrefix(by.Issuer, by.ID)
	}
	subs, err := readMarked(a.l.ctx, a.l.tx, prefix, "")
	if err == nil {
		a.marked[by] = subs
	}
	return subs, err
}
