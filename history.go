package traintravel

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/google/uuid"
)

// Each event of a user makes a delivery for each of the user's subscriptions, and those
// that are over are listed for weeks. So of a subscription they are bounded in number too.

// keptPerWaiting is how many deliveries that are over are listed of a subscription for each
// that may wait.
const keptPerWaiting = 10

// bound has somebody see to it that a subscription does not list too many deliveries, after
// about as many have ended as may wait: that is so for one ID in so many.
func (l *ledger) bound(d *delivery) {
	if often := uint32(l.books.terms.backlog); often > 0 && binary.BigEndian.Uint32(d.ID[12:])%often == 0 {
		l.put(agendaKey(surplusDue, l.now.Truncate(time.Second), d.Subscription), nil)
	}
}

// forgetSurplus forgets the oldest deliveries of a subscription that are over if there are
// too many: of those that are over all but so many, and of the dead all but so many dead.
// The operator's own endpoints keep all.
func (p *poster) forgetSurplus(ctx context.Context, it item) error {
	v, err := p.books.store.Get(ctx, subscriptionKey(it.id))
	if err != nil {
		return err
	}
	if v[0] != nil {
		sub, err := decodeSubscription(v[0])
		if err != nil {
			return err
		}
		if !sub.operator {
			dead, err := p.forgetBeyond(ctx, it.id, keptPerWaiting*p.books.terms.backlog)
			if dead > 0 {
				if ok, unsaid := p.books.forgotten.take(time.Now()); ok {
					p.books.log.WarnContext(ctx, "webhook has too many dead letters; the oldest were forgotten", "webhook", it.id, "deliveries", dead, "kept", keptPerWaiting*p.books.terms.backlog, "not_logged", unsaid)
				}
			}
			if err != nil {
				return err
			}
		}
	}
	return p.books.update(ctx, p.books.now(), func(l *ledger) error {
		l.delete(it.key)
		return nil
	})
}

// forgetBeyond forgets the deliveries of a subscription that are over beyond the newest, and
// says how many of them were dead.
func (p *poster) forgetBeyond(ctx context.Context, sub uuid.UUID, most int) (dead int, err error) {
	over, given := 0, 0
	rg := deliveriesOf(sub, uuid.Nil, batch)
	rg.Reverse = true
	for {
		records, err := p.books.store.List(ctx, rg)
		if err != nil {
			return dead, err
		}
		var surplus []Key
		for _, rec := range records {
			rg.To = rec.ID
			d, err := decodeDelivery(rec.Value)
			if err != nil || d.Status == DeliveryPending {
				continue
			}
			over++
			if d.Status == DeliveryDead {
				given++
			}
			if given > most || over > most && d.Status == DeliveryDelivered {
				surplus = append(surplus, Key{TableDeliveries, rec.ID})
			}
		}
		if len(surplus) > 0 {
			n := 0
			err := p.books.update(ctx, p.books.now(), func(l *ledger) (err error) {
				n, err = l.forget(surplus)
				return err
			})
			if err != nil {
				return dead, err
			}
			dead += n
		}
		if len(records) < batch || ctx.Err() != nil {
			return dead, ctx.Err()
		}
	}
}

// forget removes deliveries unless somebody has asked for them meanwhile, and says how many
// of them were dead.
func (l *ledger) forget(over []Key) (dead int, err error) {
	if len(over) == 0 {
		return 0, nil
	}
	values, err := l.tx.Get(l.ctx, over...)
	if err != nil {
		return 0, err
	}
	for i, v := range values {
		if v == nil {
			continue
		}
		if d, err := decodeDelivery(v); err == nil && d.Status != DeliveryPending {
			l.delete(over[i])
			if d.Status == DeliveryDead {
				dead++
			}
		}
	}
	return dead, nil
}
