package traintravel_test

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/agenda"
	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/tz"
)

// newBooks are books on a store, as a service has them.
func newBooks(store traintravel.Store, now func() time.Time) *ledger.Books {
	return &ledger.Books{
		Store: store, Zones: new(tz.Zones), Now: now, Log: slog.New(slog.DiscardHandler),
		Observer: new(traintravel.Observer), Committed: func(*ledger.Ledger) {}, Terms: ledger.Terms{KeepUnpaid: ledger.KeepUnpaid},
	}
}

// verify verifies a subscription as a receiver does that answers its ping, and leaves
// nothing of the ping.
func verify(ctx context.Context, store traintravel.Store, now func() time.Time, id uuid.UUID) error {
	return newBooks(store, now).Update(ctx, now(), func(l *ledger.Ledger) error {
		v, err := l.Tx.Get(ctx, records.SubscriptionKey(id))
		if err != nil {
			return err
		}
		sub, err := records.DecodeSubscription(v[0])
		if err != nil {
			return err
		}
		ping := records.NewDelivery(id, sub.Challenge(), records.Queued{Kind: traintravel.Ping, Created: sub.Unverified})
		d, err := l.Delivery(id, ping.ID)
		if err != nil {
			return err
		}
		l.Delete(d.QueueKey())
		l.Delete(records.DeliveryKey(id, d.ID))
		l.Delete(records.EndpointKey(sub.Unverified, id))
		return l.Verified(&sub)
	})
}

// removePasses are the passes over unpaid bookings that are due.
func removePasses(ctx context.Context, store traintravel.Store, now func() time.Time) (passes []func(context.Context) error) {
	due, _, _, err := agenda.ListDue(ctx, store, records.UnpaidPass, "", now(), records.Batch)
	if err != nil {
		panic(err)
	}
	for _, it := range due {
		passes = append(passes, func(ctx context.Context) error { return newBooks(store, now).RemoveUnpaid(ctx, it) })
	}
	return passes
}
