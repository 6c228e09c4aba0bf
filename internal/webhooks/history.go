package webhooks

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// ForgetSurplus deletes the oldest completed deliveries of a subscription if it has too many:
// it keeps a limited number of completed ones, and of dead ones. The operator's own endpoints
// keep all.
func (p *Poster) ForgetSurplus(ctx context.Context, it records.Item) error {
	v, err := p.Books.Store.Get(ctx, records.SubscriptionKey(it.ID))
	if err != nil {
		return err
	}
	if v[0] != nil {
		sub, err := records.DecodeSubscription(v[0])
		if err != nil {
			return err
		}
		if !sub.Operator {
			dead, err := p.forgetBeyond(ctx, it.ID, ledger.KeptPerWaiting*p.Books.Terms.Backlog)
			if dead > 0 {
				if ok, unsaid := p.Books.Forgotten.Take(time.Now()); ok {
					p.Books.Log.WarnContext(ctx, "webhook has too many dead letters; removed the oldest", "webhook", it.ID, "deliveries", dead, "kept", ledger.KeptPerWaiting*p.Books.Terms.Backlog, "not_logged", unsaid)
				}
			}
			if err != nil {
				return err
			}
		}
	}
	return p.Books.Update(ctx, p.Books.Now(), func(l *ledger.Ledger) error {
		l.Delete(it.Key)
		return nil
	})
}

// forgetBeyond deletes the completed deliveries of a subscription except the newest, and returns
// how many of them were dead.
func (p *Poster) forgetBeyond(ctx context.Context, sub uuid.UUID, most int) (dead int, err error) {
	over, given := 0, 0
	rg := records.DeliveriesOf(sub, uuid.Nil, records.Batch)
	rg.Reverse = true
	for {
		found, err := p.Books.Store.List(ctx, rg)
		if err != nil {
			return dead, err
		}
		var surplus []store.Key
		for _, rec := range found {
			rg.To = rec.ID
			d, err := records.DecodeDelivery(rec.Value)
			if err != nil || d.Status == rail.DeliveryPending {
				continue
			}
			over++
			if d.Status == rail.DeliveryDead {
				given++
			}
			if given > most || over > most && d.Status == rail.DeliveryDelivered {
				surplus = append(surplus, store.Key{Table: store.TableDeliveries, ID: rec.ID})
			}
		}
		if len(surplus) > 0 {
			n := 0
			err := p.Books.Update(ctx, p.Books.Now(), func(l *ledger.Ledger) (err error) {
				n, err = l.Forget(surplus)
				return err
			})
			if err != nil {
				return dead, err
			}
			dead += n
		}
		if len(found) < records.Batch || ctx.Err() != nil {
			return dead, ctx.Err()
		}
	}
}
