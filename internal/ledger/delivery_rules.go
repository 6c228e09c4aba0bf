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

// SweepEvery is how often old deliveries are looked for.
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

// Told are those of some deliveries whose booking is still there to be told of.
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

// Schedule writes a delivery that is due now, and has somebody see to it.
func (l *Ledger) Schedule(d *records.Delivery) {
	l.wait(d, l.Now)
	l.Put(records.EndpointKey(l.Now, d.Subscription), nil)
}

// Revive has a dead delivery tried now, with all its tries anew.
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

// bury writes a delivery that is given up.
func (l *Ledger) bury(d *records.Delivery, why rail.DeadReason) { l.finish(d, rail.DeliveryDead, why) }

// finish writes a delivery that is not tried any more.
func (l *Ledger) finish(d *records.Delivery, status rail.DeliveryStatus, why rail.DeadReason) {
	l.Delete(d.QueueKey())
	d.Status, d.Next, d.Dead, d.Ended = status, time.Time{}, why, l.Now
	if why != "" {
		l.dead = append(l.dead, why)
	}
	l.bound(d)
	l.Put(records.DeliveryKey(d.Subscription, d.ID), d.Encode())
}

// An Outcome is what came of an attempt.
type Outcome struct {
	Delivery *records.Delivery // as it was before
	Dropped  rail.DeadReason   // why it is not posted, nor ever; empty if it is
	Kept     bool              // it is not posted before its subscription is verified
	Rationed bool              // it is a ping for which there is no ration
	URL      string            // where it was posted to; empty if it was not
	Answer   rail.WebhookAnswer
	Wait     time.Duration // until it is tried again
	Err      error
}

// Attempted decides what becomes of a delivery that is pending. Who works at the
// endpoint sees to it that the agenda has it for the next attempt.
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
	case !is.Next.Equal(o.Delivery.Next): // somebody wants it tried at another time
		l.Put(records.DeliveryKey(sub.ID, is.ID), is.Encode())
	default:
		l.Delete(is.QueueKey())
		// On full seconds, so that what is due at about the same time is done in one go.
		l.wait(is, l.Now.Add(o.Wait+time.Second-1).Truncate(time.Second))
	}
	return err
}

// MustVerify has a subscription verified from now on. One that is disabled is pinged when
// it is enabled.
func (l *Ledger) MustVerify(sub *records.Subscription) {
	if sub.Unverified = l.Now; sub.Disabled {
		return
	}
	d := records.NewDelivery(sub.ID, sub.Challenge(), records.Queued{Kind: rail.Ping, Created: l.Now})
	l.Ping(sub, d)
}

// Ping has a ping posted.
func (l *Ledger) Ping(sub *records.Subscription, d records.Delivery) {
	d.Next = l.Now
	l.Arrive(sub, d, true)
	l.Put(records.EndpointKey(l.Now, sub.ID), nil)
}

// ration has the ping that verifies a subscription by itself wait until there is a ration
// for it, and gives up one that somebody asked for.
func (l *Ledger) ration(sub *records.Subscription, is *records.Delivery, wait time.Duration) {
	if !sub.Verifies(is) {
		l.bury(is, rail.DeadByPings)
		return
	}
	l.Delete(is.QueueKey())
	l.wait(is, l.Now.Add(wait))
}

// Verified ends the wait of the events of a subscription whose receiver has answered a
// ping: also of those that wait for another instant, because the URL was changed more than
// once, or because the receiver before did not take them.
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

// keep has a delivery that is due wait for its subscription to be verified, or gives it up
// if that has taken too long.
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

// Received says whether an answer says that a delivery has arrived: of pings any status of
// 2xx, of events 200 alone.
func Received(t rail.EventType, status int) bool {
	return status == 200 || t == rail.Ping && status/100 == 2
}

// Each event of a user makes a delivery for each of the user's subscriptions, and those
// that are over are listed for weeks. So of a subscription they are bounded in number too.

// KeptPerWaiting is how many deliveries that are over are listed of a subscription for each
// that may wait.
const KeptPerWaiting = 10

// bound has somebody see to it that a subscription does not list too many deliveries, after
// about as many have ended as may wait: that is so for one ID in so many.
func (l *Ledger) bound(d *records.Delivery) {
	if often := uint32(l.books.Terms.Backlog); often > 0 && binary.BigEndian.Uint32(d.ID[12:])%often == 0 {
		l.Put(records.AgendaKey(records.SurplusDue, l.Now.Truncate(time.Second), d.Subscription), nil)
	}
}

// Forget removes deliveries unless somebody has asked for them meanwhile, and says how many
// of them were dead.
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
	l.Put(records.EndpointKey(l.Now, sub.ID), nil) // whoever works there next clears it
}
