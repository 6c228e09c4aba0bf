package traintravel

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
)

// fanOut gives events to those who have subscribed to them. One that has waited does
// not go to those who subscribed long after it; but it was perhaps another server that
// wrote it, whose clock is behind. An event that cannot be read is in no other's way, and
// what is due to a subscription that cannot be read is owed to that one alone.
func (p *poster) fanOut(ctx context.Context, items ...item) error {
	damaged := failedItems{}
	var events []fanned
	var keys []Key
	for _, it := range items {
		q, err := decodeQueued(it.value)
		if err != nil {
			damaged[it.key] = fmt.Errorf("event %v: %w", it.id, err)
			continue
		}
		events = append(events, fanned{it, q})
		keys = append(keys, it.key, bookingKey(q.booking))
	}
	var failed failedItems
	err := p.books.update(ctx, p.books.now(), func(l *ledger) error {
		failed = maps.Clone(damaged)
		v, err := l.tx.Get(l.ctx, keys...)
		if err != nil {
			return err
		}
		audience, err := newAudience(l, p.opts.Operator)
		if err != nil {
			return err
		}
		told := map[uuid.UUID]bool{}
		for i, e := range events {
			if v[2*i] == nil { // the agenda was read before somebody did it
				continue
			}
			var subs []subscription
			var owed []uuid.UUID
			if v[2*i+1] != nil {
				b, err := decodeBooking(v[2*i+1], p.books.zones)
				if err != nil {
					failed[e.key] = fmt.Errorf("event %v: %w", e.id, err)
					continue
				}
				if subs, owed, err = audience.of(&b); err != nil {
					return err
				}
			}
			l.delete(e.key)
			if len(owed) > 0 {
				l.put(agendaKey(owedDue, l.now, e.id), owedEvent{owed, e.queued}.encode())
			}
			e.give(l, subs, told)
		}
		return nil
	})
	if err == nil && len(failed) > 0 {
		return failed
	}
	return err
}

// give has an event delivered to subscriptions that want it. told are those for which
// there is something on the agenda already.
func (e *fanned) give(l *ledger, subs []subscription, told map[uuid.UUID]bool) {
	for i := range subs {
		sub := &subs[i]
		if sub.Disabled || sub.lapsed(l.now) || !sub.wants(e.kind) || sub.Created.After(e.created.Add(clocksOff)) {
			continue
		}
		d := newDelivery(sub.ID, e.id, e.queued)
		if d.Next = sub.VerifyBy(); d.Next.IsZero() {
			d.Next = l.now
		}
		l.arrive(sub, d, false)
		if !told[sub.ID] {
			told[sub.ID] = true
			l.put(endpointKey(l.now, sub.ID), nil)
		}
	}
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
	known     map[marked]marks
}

// marked is whose marks subscriptions have: a user's, or a client's.
type marked struct {
	Subject
	client bool
}

// marks are the subscriptions that have one of those, and the IDs of those that cannot
// be read.
type marks struct {
	subs []subscription
	owed []uuid.UUID
}

// newAudience begins with the operator's endpoints, and makes those that are new. What they
// are the options say, so that it does not matter if their records cannot be read.
func newAudience(l *ledger, operators []OperatorWebhook) (*audience, error) {
	a := &audience{l: l, known: map[marked]marks{}}
	for _, op := range operators {
		sub := subscription{operator: true, Subscription: Subscription{ID: operatorID(op.URL), URL: op.URL, Events: op.Events}}
		v, err := l.tx.Get(l.ctx, subscriptionKey(sub.ID))
		if err != nil {
			return nil, err
		}
		if v[0] == nil {
			l.newSubscription(&sub)
		} else if is, err := decodeSubscription(v[0]); err == nil && !slices.Equal(is.Events, sub.Events) { // the operator wants others now
			l.putSubscription(&sub)
		}
		a.operators = append(a.operators, sub)
	}
	return a, nil
}

// of finds those who get the events of a booking, and those of whom that is not known
// because their records cannot be read.
func (a *audience) of(b *Booking) (subs []subscription, owed []uuid.UUID, err error) {
	subs = slices.Clone(a.operators)
	by := []marked{{b.Owner, false}}
	if b.Client != "" {
		by = append(by, marked{Subject{b.Owner.Issuer, b.Client}, true})
	}
	for _, by := range by {
		m, err := a.read(by)
		if err != nil {
			return nil, nil, err
		}
		for _, sub := range m.subs {
			if sub.ByClient == by.client && sub.isFor(b) {
				subs = append(subs, sub)
			}
		}
		owed = append(owed, m.owed...)
	}
	slices.SortFunc(owed, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	return subs, slices.Compact(owed), nil
}

func (a *audience) read(by marked) (marks, error) {
	if m, ok := a.known[by]; ok {
		return m, nil
	}
	prefix := subjectPrefix(by.Subject)
	if by.client {
		prefix = clientPrefix(by.Issuer, by.ID)
	}
	subs, left, err := readMarked(a.l.ctx, a.l.tx, prefix, "")
	if err != nil {
		return marks{}, err
	}
	m := marks{subs, owedTo(left)}
	a.known[by] = m
	return m, nil
}

// owedTo is the IDs of subscriptions that are there and cannot be read.
func owedTo(left omissions) (ids []uuid.UUID) {
	for _, o := range left {
		if !errors.Is(o.err, errMissing) {
			ids = append(ids, uuid.UUID([]byte(o.key.ID[1:])))
		}
	}
	return ids
}

// fanOutOwed gives an event to subscriptions that could not be read, once they can.
func (p *poster) fanOutOwed(ctx context.Context, it item) error {
	o, err := decodeOwed(it.value)
	if err != nil {
		return fmt.Errorf("event %v: %w", it.id, err)
	}
	var left omissions
	err = p.books.update(ctx, p.books.now(), func(l *ledger) error {
		left = nil
		v, err := l.tx.Get(l.ctx, it.key, bookingKey(o.booking))
		if err != nil || v[0] == nil { // the agenda was read before somebody did it
			return err
		}
		var subs []subscription
		if v[1] != nil {
			b, err := decodeBooking(v[1], p.books.zones)
			if err != nil {
				return fmt.Errorf("event %v: %w", it.id, err)
			}
			if subs, left, err = readSubscriptions(l.ctx, l.tx, o.to); err != nil {
				return err
			}
			left = slices.DeleteFunc(left, func(o omission) bool { return errors.Is(o.err, errMissing) })
			subs = slices.DeleteFunc(subs, func(sub subscription) bool { return !sub.isFor(&b) })
		}
		switch owed := owedTo(left); {
		case len(owed) == 0:
			l.delete(it.key)
		case len(owed) < len(o.to):
			l.put(it.key, owedEvent{owed, o.queued}.encode())
		}
		(&fanned{it, o.queued}).give(l, subs, map[uuid.UUID]bool{})
		return nil
	})
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("event %v is owed to subscription %v: %w", it.id, owedTo(left)[0], left[0].err)
	}
	return err
}
