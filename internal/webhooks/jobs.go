package webhooks

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// A job is a delivery with all data for posting it.
type job struct {
	delivery records.Delivery
	event    rail.Event
	err      error // why the event is missing
	to       *target
}

// A target is an endpoint as it was at an instant.
type target struct {
	records.Subscription
	keys   []rail.Secret
	err    error // why the keys are missing
	read   time.Time
	change uint64
}

// stale says whether the endpoint may have changed: changes by other services are seen soon,
// those by this service immediately.
func (p *Poster) stale(a *target) bool {
	return a.change != p.Changes.Load() || time.Since(a.read) > goodFor
}

// goodFor is how long a target is used, unless this service changes the endpoint before.
const goodFor = time.Second

// jobs reads deliveries to an endpoint, except those that must no longer be posted. It returns
// false if the endpoint no longer exists.
func (p *Poster) jobs(ctx context.Context, r store.Reader, sub uuid.UUID, ids ...uuid.UUID) (due []*job, found bool, err error) {
	to := &target{read: time.Now(), change: p.Changes.Load()}
	keys := []store.Key{records.SubscriptionKey(sub)}
	for _, id := range ids {
		keys = append(keys, records.DeliveryKey(sub, id))
	}
	v, err := r.Get(ctx, keys...)
	if err != nil || v[0] == nil {
		return nil, false, err
	}
	if to.Subscription, err = records.DecodeSubscription(v[0]); err != nil {
		return nil, false, err
	}
	to.keys, to.err = p.secretsOf(&to.Subscription)
	keys = keys[:0]
	for _, v := range v[1:] {
		if v == nil { // it was read between two updates
			continue
		}
		d, err := records.DecodeDelivery(v) // if it cannot be read, leaveEndpoint handles it
		if err == nil && d.Status == rail.DeliveryPending {
			due = append(due, &job{delivery: d, to: to})
			keys = append(keys, d.Queued.Records()...)
		}
	}
	if len(keys) > 0 {
		if v, err = r.Get(ctx, keys...); err != nil {
			return nil, false, err
		}
	}
	at := 0
	for _, d := range due {
		n := len(d.delivery.Queued.Records())
		d.event, d.err = p.Books.EventOf(d.delivery.Event, d.delivery.Queued, v[at:at+n])
		at += n
	}
	return due, true, nil
}

// secretsOf returns the secrets of an endpoint: none if this service must not post there.
func (p *Poster) secretsOf(sub *records.Subscription) (keys []rail.Secret, err error) {
	w := p.Opts
	if sub.Operator {
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
	now := p.Books.Now()
	for _, secret := range sub.Secrets {
		if !secret.Until.IsZero() && !now.Before(secret.Until) {
			continue
		}
		key, err := p.Opts.unseal(secret.Sealed, sub.ID)
		if err != nil && len(keys) == 0 {
			return nil, err
		}
		if err == nil { // otherwise it was replaced because its key is lost
			keys = append(keys, key)
		}
	}
	return keys, nil
}
