package webhooks

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/agenda"
	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// FanOuts is the number of batches of events that are distributed at a time: one while the one
// before is being committed.
const FanOuts = 4

// FanOut distributes events to the subscriptions to them. An event does not go to subscriptions
// that were made long after it; a tolerance covers servers whose clocks are behind. An event that
// cannot be read does not delay others, and the events of a subscription that cannot be read are
// kept for it.
func (p *Poster) FanOut(ctx context.Context, items ...records.Item) error {
	damaged := agenda.FailedItems{}
	var events []fanned
	var keys []store.Key
	for _, it := range items {
		q, err := records.DecodeQueued(it.Value)
		if err != nil {
			damaged[it.Key] = fmt.Errorf("event %v: %w", it.ID, err)
			continue
		}
		events = append(events, fanned{it, q})
		keys = append(keys, it.Key, records.BookingKey(q.Booking))
	}
	var failed agenda.FailedItems
	err := p.Books.Update(ctx, p.Books.Now(), func(l *ledger.Ledger) error {
		failed = maps.Clone(damaged)
		v, err := l.Tx.Get(l.Ctx, keys...)
		if err != nil {
			return err
		}
		audience, err := newAudience(l, p.Opts.Operator)
		if err != nil {
			return err
		}
		told := map[uuid.UUID]bool{}
		for i, e := range events {
			if v[2*i] == nil { // another server did it after the agenda was read
				continue
			}
			var subs []records.Subscription
			var owed []uuid.UUID
			if v[2*i+1] != nil {
				b, err := records.DecodeBooking(v[2*i+1], p.Books.Zones)
				if err != nil {
					failed[e.Key] = fmt.Errorf("event %v: %w", e.ID, err)
					continue
				}
				if subs, owed, err = audience.of(&b); err != nil {
					return err
				}
			}
			l.Delete(e.Key)
			if len(owed) > 0 {
				l.Put(records.AgendaKey(records.OwedDue, l.Now, e.ID), records.OwedEvent{To: owed, Queued: e.Queued}.Encode())
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

// give queues an event for the subscriptions to it. told has those with an item on the agenda
// already.
func (e *fanned) give(l *ledger.Ledger, subs []records.Subscription, told map[uuid.UUID]bool) {
	for i := range subs {
		sub := &subs[i]
		if sub.Disabled || sub.Lapsed(l.Now) || !sub.Wants(e.Kind) || sub.Created.After(e.Created.Add(agenda.ClocksOff)) {
			continue
		}
		d := records.NewDelivery(sub.ID, e.ID, e.Queued)
		if d.Next = sub.VerifyBy(); d.Next.IsZero() {
			d.Next = l.Now
		}
		l.Arrive(sub, d, false)
		if !told[sub.ID] {
			told[sub.ID] = true
			l.Put(records.EndpointKey(l.Now, sub.ID), nil)
		}
	}
}

// fanned is an event that is being distributed.
type fanned struct {
	records.Item
	records.Queued
}

// An audience has the subscriptions that an update reads, each once.
type audience struct {
	l         *ledger.Ledger
	operators []records.Subscription
	known     map[marked]marks
}

// marked is the owner of marks of subscriptions: a user or a client.
type marked struct {
	rail.Subject
	client bool
}

// marks are the subscriptions that have one of those, and the IDs of those that cannot
// be read.
type marks struct {
	subs []records.Subscription
	owed []uuid.UUID
}

// newAudience begins with the operator's endpoints, and makes the records of new ones. The
// options define these endpoints, so that it does not matter if their records cannot be read.
func newAudience(l *ledger.Ledger, operators []rail.OperatorWebhook) (*audience, error) {
	a := &audience{l: l, known: map[marked]marks{}}
	for _, op := range operators {
		sub := records.Subscription{Operator: true, Subscription: rail.Subscription{ID: records.OperatorID(op.URL), URL: op.URL, Events: op.Events}}
		v, err := l.Tx.Get(l.Ctx, records.SubscriptionKey(sub.ID))
		if err != nil {
			return nil, err
		}
		if v[0] == nil {
			l.NewSubscription(&sub)
		} else if is, err := records.DecodeSubscription(v[0]); err == nil && !slices.Equal(is.Events, sub.Events) { // the options have changed
			l.PutSubscription(&sub)
		}
		a.operators = append(a.operators, sub)
	}
	return a, nil
}

// of returns the subscriptions that get the events of a booking, and those for which this is
// unknown because their records cannot be read.
func (a *audience) of(b *rail.Booking) (subs []records.Subscription, owed []uuid.UUID, err error) {
	subs = slices.Clone(a.operators)
	by := []marked{{b.Owner, false}}
	if b.Client != "" {
		by = append(by, marked{rail.Subject{Issuer: b.Owner.Issuer, ID: b.Client}, true})
	}
	for _, by := range by {
		m, err := a.read(by)
		if err != nil {
			return nil, nil, err
		}
		for _, sub := range m.subs {
			if sub.ByClient == by.client && sub.IsFor(b) {
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
	prefix := records.SubjectPrefix(by.Subject)
	if by.client {
		prefix = records.ClientPrefix(by.Issuer, by.ID)
	}
	subs, left, err := records.ReadMarked(a.l.Ctx, a.l.Tx, prefix, "")
	if err != nil {
		return marks{}, err
	}
	m := marks{subs, owedTo(left)}
	a.known[by] = m
	return m, nil
}

// owedTo returns the IDs of existing subscriptions that cannot be read.
func owedTo(left records.Omissions) (ids []uuid.UUID) {
	for _, o := range left {
		if !errors.Is(o.Err, records.ErrMissing) {
			ids = append(ids, uuid.UUID([]byte(o.Key.ID[1:])))
		}
	}
	return ids
}

// FanOutOwed gives an event to subscriptions that could not be read, once they can.
func (p *Poster) FanOutOwed(ctx context.Context, it records.Item) error {
	o, err := records.DecodeOwed(it.Value)
	if err != nil {
		return fmt.Errorf("event %v: %w", it.ID, err)
	}
	var left records.Omissions
	err = p.Books.Update(ctx, p.Books.Now(), func(l *ledger.Ledger) error {
		left = nil
		v, err := l.Tx.Get(l.Ctx, it.Key, records.BookingKey(o.Booking))
		if err != nil || v[0] == nil { // another server did it after the agenda was read
			return err
		}
		var subs []records.Subscription
		if v[1] != nil {
			b, err := records.DecodeBooking(v[1], p.Books.Zones)
			if err != nil {
				return fmt.Errorf("event %v: %w", it.ID, err)
			}
			if subs, left, err = records.ReadSubscriptions(l.Ctx, l.Tx, o.To); err != nil {
				return err
			}
			left = slices.DeleteFunc(left, func(o records.Omission) bool { return errors.Is(o.Err, records.ErrMissing) })
			subs = slices.DeleteFunc(subs, func(sub records.Subscription) bool { return !sub.IsFor(&b) })
		}
		switch owed := owedTo(left); {
		case len(owed) == 0:
			l.Delete(it.Key)
		case len(owed) < len(o.To):
			l.Put(it.Key, records.OwedEvent{To: owed, Queued: o.Queued}.Encode())
		}
		(&fanned{it, o.Queued}).give(l, subs, map[uuid.UUID]bool{})
		return nil
	})
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("event %v is owed to subscription %v: %w", it.ID, owedTo(left)[0], left[0].Err)
	}
	return err
}
