package webhooks

import (
	"context"
	"time"

	"github.com/traintravel/traintravel/internal/agenda"
	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// notifyTimeout is how long a Notifier may take.
const notifyTimeout = time.Minute

// Notices delivers events to the program's Notifier.
type Notices struct {
	Books    *ledger.Books
	Notifier rail.Notifier
}

// Deliver delivers an event to the Notifier, and postpones it if that fails.
func (n *Notices) Deliver(ctx context.Context, it records.Item) error {
	q, err := records.DecodeQueued(it.Value)
	if err != nil {
		return err
	}
	v, err := n.Books.Store.Get(ctx, append([]store.Key{it.Key}, q.Records()...)...)
	if err != nil || v[0] == nil { // another server delivered it after the agenda was read
		return err
	}
	e, err := n.Books.EventOf(it.ID, q, v[1:])
	if err != nil {
		return err
	}
	failed := n.notify(ctx, e)
	if ctx.Err() != nil {
		return nil // Run is stopping; the next Run delivers it
	}
	now := n.Books.Now()
	err = n.Books.Update(ctx, now, func(l *ledger.Ledger) error {
		l.Delete(it.Key)
		told := rail.Attempt{Notifier: true, Status: rail.DeliveryDelivered, Lag: now.Sub(q.Created)}
		if failed != nil {
			told.Status = rail.DeliveryPending
			again := q
			again.Failures++
			due := now.Add(ledger.RetryAfter(q.Failures))
			l.Put(records.AgendaKey(records.EventDue, due, it.ID), again.Encode())
		}
		l.Attempts = append(l.Attempts, told)
		return nil
	})
	if failed != nil {
		n.Books.Log.WarnContext(ctx, "event delivery to the notifier failed; will retry", "event", it.ID, "type", string(q.Kind), "failures", q.Failures+1, "error", failed)
	}
	return err
}

func (n *Notices) notify(ctx context.Context, e rail.Event) (err error) {
	ctx, stop := context.WithTimeout(ctx, notifyTimeout)
	defer stop()
	defer agenda.Recovered(&err)
	return n.Notifier.Notify(ctx, e)
}
