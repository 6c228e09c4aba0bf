package ledger

import (
	"encoding/binary"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
)

// The rules of deliveries and of the subscriptions that get them.

// SweepEvery is how often old deliveries are removed.
const SweepEvery = 6 * time.Hour

// NewSubscription writes a subscription and its marks.
func (l *Ledger) NewSubscription(s *records.Subscription) {
	l.PutSubscription(s)
	for _, m := range s.Marks() {
		l.Put(m, nil)
	}
	l.Put(records.AgendaKey(records.SweepDue, l.Now.Add(SweepEvery), s.ID), nil)
	l.Put(records.SubscribedKey(), []byte{1})
}

// PutSubscription writes a subscription that has its marks already.
func (l *Ledger) PutSubscription(s *records.Subscription) {
	l.Put(records.SubscriptionKey(s.ID), s.Encode())
}

// Delivery reads a delivery of a subscription to be changed.
func (l *Ledger) Delivery(sub, id uuid.UUID) (records.Delivery, error) {
	return readOne(l.Ctx, l.Tx, records.DeliveryKey(sub, id), records.DecodeDelivery)
}

// Told returns those of some deliveries whose booking still exists.
func (l *Ledger) Told(some ...records.Delivery) ([]records.Delivery, error) {
	keys := make([]store.Key, len(some))
	for i := range some {
		keys[i] = records.BookingKey(some[i].Queued.Booking)
	}
	if len(keys) == 0 {
		return nil, nil
	}
	v, err := l.Tx.Get(l.Ctx, keys...)
	if err != nil {
		return nil, err
	}
	var left []records.Delivery
	for i, d := range some {
		if d.Queued.Booking == uuid.Nil || v[i] != nil {
			left = append(left, d)
		}
	}
	return left, nil
}

// Schedule writes a delivery that is due now, and schedules its endpoint.
func (l *Ledger) Schedule(d *records.Delivery) {
	l.wait(d, l.Now)
	l.Put(records.EndpointKey(l.Now, d.Subscription), nil)
}

// Revive schedules a dead delivery to be posted now, with all its attempts again.
func (l *Ledger) Revive(sub *records.Subscription, d *records.Delivery) {
	d.Attempts, d.Status, d.Dead, d.Ended, d.Next = 0, rail.DeliveryPending, "", time.Time{}, l.Now
	l.Arrive(sub, *d, true)
	l.Put(records.EndpointKey(l.Now, d.Subscription), nil)
}

// wait writes a delivery that is due at an instant.
func (l *Ledger) wait(d *records.Delivery, due time.Time) {
	d.Next = due
	l.Put(records.DeliveryKey(d.Subscription, d.ID), d.Encode())
	l.Put(d.QueueKey(), nil)
}

// bury writes a delivery that was given up.
func (l *Ledger) bury(d *records.Delivery, why rail.DeadReason) { l.finish(d, rail.DeliveryDead, why) }

// finish writes a delivery without further attempts.
func (l *Ledger) finish(d *records.Delivery, status rail.DeliveryStatus, why rail.DeadReason) {
	l.Delete(d.QueueKey())
	d.Status, d.Next, d.Dead, d.Ended = status, time.Time{}, why, l.Now
	if why != "" {
		l.dead = append(l.dead, why)
	}
	l.bound(d)
	l.Put(records.DeliveryKey(d.Subscription, d.ID), d.Encode())
}

// An Outcome is the result of an attempt.
type Outcome struct {
	Delivery *records.Delivery // the delivery before the attempt
	Dropped  rail.DeadReason   // why it will never be posted; empty if it may be
	Kept     bool              // it is not posted before its subscription is verified
	Rationed bool              // it is a ping beyond the ration of its host
	URL      string            // the URL it was posted to; empty if it was not posted
	Answer   rail.WebhookAnswer
	Wait     time.Duration // the time until the next attempt
	Err      error
}

// Attempted records the outcome of an attempt in a pending delivery. The worker at the endpoint
// schedules the next attempt.
func (l *Ledger) Attempted(sub *records.Subscription, is *records.Delivery, o Outcome) (err error) {
	switch {
	case o.Dropped != "":
		l.bury(is, o.Dropped)
		return nil
	case o.Kept:
		l.keep(sub, is)
		return nil
	case o.Rationed:
		l.ration(sub, is, o.Wait)
		return nil
	}
	is.Attempts++
	is.LastStatus = o.Answer.Status
	defer func() {
		l.Attempts = append(l.Attempts, rail.Attempt{Status: is.Status, Answered: is.LastStatus, Lag: l.Now.Sub(is.Created)})
	}()
	switch {
	case Received(is.Type, o.Answer.Status):
		l.finish(is, rail.DeliveryDelivered, "")
		if is.Type == rail.Ping && !sub.Unverified.IsZero() && sub.URL == o.URL {
			err = l.Verified(sub)
		}
	case o.Answer.Status == 410 && is.Type != rail.Ping && !sub.Operator:
		l.bury(is, rail.DeadByReceiver)
		if sub.URL == o.URL {
			if sub.Disable(rail.DisabledByReceiver, l.Now) {
				l.Stopped = append(l.Stopped, sub.Subscription)
			}
			l.PutSubscription(sub)
		}
	case is.Type == rail.Ping && !sub.Verifies(is) || is.Attempts > len(retryAfter):
		l.bury(is, rail.DeadByAttempts)
	case !is.Next.Equal(o.Delivery.Next): // the delivery was rescheduled meanwhile
		l.Put(records.DeliveryKey(sub.ID, is.ID), is.Encode())
	default:
		l.Delete(is.QueueKey())
		// Round to seconds, so that deliveries due at about the same time are posted in one batch.
		l.wait(is, l.Now.Add(o.Wait+time.Second-1).Truncate(time.Second))
	}
	return err
}

// MustVerify makes a subscription unverified from now on. A disabled one is pinged when it is
// enabled.
func (l *Ledger) MustVerify(sub *records.Subscription) {
	if sub.Unverified = l.Now; sub.Disabled {
		return
	}
	d := records.NewDelivery(sub.ID, sub.Challenge(), records.Queued{Kind: rail.Ping, Created: l.Now})
	l.Ping(sub, d)
}

// Ping schedules a ping.
func (l *Ledger) Ping(sub *records.Subscription, d records.Delivery) {
	d.Next = l.Now
	l.Arrive(sub, d, true)
	l.Put(records.EndpointKey(l.Now, sub.ID), nil)
}

// ration postpones the automatic ping that verifies a subscription until its host may get
// another one, and gives up a ping that somebody requested.
func (l *Ledger) ration(sub *records.Subscription, is *records.Delivery, wait time.Duration) {
	if !sub.Verifies(is) {
		l.bury(is, rail.DeadByPings)
		return
	}
	l.Delete(is.QueueKey())
	l.wait(is, l.Now.Add(wait))
}

// Verified makes the waiting events of a subscription due once its receiver has responded to a
// ping: also those that wait for another instant, because the URL was changed more than once or
// an earlier receiver did not accept them.
func (l *Ledger) Verified(sub *records.Subscription) error {
	sub.Unverified = time.Time{}
	l.PutSubscription(sub)
	rg := records.QueueOf(sub.ID, time.Time{}, 0)
	rg.From = records.QueueKey(sub.ID, l.Now.Add(1))
	queue, err := l.Tx.List(l.Ctx, rg)
	if err != nil || len(queue) == 0 {
		return err
	}
	keys := make([]store.Key, len(queue))
	for i, rec := range queue {
		keys[i] = records.DeliveryKey(sub.ID, records.QueuedDelivery(rec.ID))
	}
	values, err := l.Tx.Get(l.Ctx, keys...)
	if err != nil {
		return err
	}
	for i, v := range values {
		if d, err := records.DecodeDelivery(v); err == nil && d.Type != rail.Ping && d.Status == rail.DeliveryPending && d.QueueKey().ID == queue[i].ID {
			l.Delete(d.QueueKey())
			l.wait(&d, l.Now)
		}
	}
	l.Put(records.EndpointKey(l.Now, sub.ID), nil)
	return nil
}

// keep makes a due delivery wait until its subscription is verified, or gives it up if that has
// taken too long.
func (l *Ledger) keep(sub *records.Subscription, is *records.Delivery) {
	switch {
	case sub.Unverified.IsZero(): // meanwhile: it is due
	case sub.Lapsed(l.Now):
		l.bury(is, rail.DeadByVerification)
	default:
		l.Delete(is.QueueKey())
		l.wait(is, sub.VerifyBy())
	}
}

// Received says whether a status means that a delivery has arrived: any 2xx status for a ping,
// only 200 for an event.
func Received(t rail.EventType, status int) bool {
	return status == 200 || t == rail.Ping && status/100 == 2
}

// Each event of a user makes a delivery for each of the user's subscriptions, and completed
// deliveries are listed for weeks. So their number is limited for each subscription too.

// KeptPerWaiting is the number of completed deliveries that a subscription keeps for each one
// that may wait.
const KeptPerWaiting = 10

// bound schedules the removal of surplus deliveries of a subscription, on average each time that
// as many have ended as may wait: it chooses by the delivery's ID.
func (l *Ledger) bound(d *records.Delivery) {
	if often := uint32(l.books.Terms.Backlog); often > 0 && binary.BigEndian.Uint32(d.ID[12:])%often == 0 {
		l.Put(records.AgendaKey(records.SurplusDue, l.Now.Truncate(time.Second), d.Subscription), nil)
	}
}

// Forget removes deliveries unless they were retried meanwhile, and returns how many of them
// were dead.
func (l *Ledger) Forget(over []store.Key) (dead int, err error) {
	if len(over) == 0 {
		return 0, nil
	}
	values, err := l.Tx.Get(l.Ctx, over...)
	if err != nil {
		return 0, err
	}
	for i, v := range values {
		if v == nil {
			continue
		}
		if d, err := records.DecodeDelivery(v); err == nil && d.Status != rail.DeliveryPending {
			l.Delete(over[i])
			if d.Status == rail.DeliveryDead {
				dead++
			}
		}
	}
	return dead, nil
}

// Unsubscribe ends a subscription.
func (l *Ledger) Unsubscribe(sub *records.Subscription) {
	l.Webhooks = true
	l.Delete(records.SubscriptionKey(sub.ID))
	for _, m := range sub.Marks() {
		l.Delete(m)
	}
	l.Put(records.EndpointKey(l.Now, sub.ID), nil) // the next worker at the endpoint clears it
}
