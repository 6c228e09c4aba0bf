package traintravel

import (
	"time"

	"github.com/google/uuid"
)

// The rules of deliveries and of the subscriptions that get them.

// newSubscription writes a subscription and its marks.
func (l *ledger) newSubscription(s *subscription) {
	l.putSubscription(s)
	for _, m := range s.marks() {
		l.put(m, nil)
	}
	l.put(agendaKey(sweepDue, l.now.Add(sweepEvery), s.ID), nil)
	l.put(subscribedKey, []byte{1})
}

func (l *ledger) putSubscription(s *subscription) { l.put(subscriptionKey(s.ID), s.encode()) }

// delivery reads a delivery of a subscription to be changed.
func (l *ledger) delivery(sub, id uuid.UUID) (delivery, error) {
	return readOne(l.ctx, l.tx, deliveryKey(sub, id), decodeDelivery)
}

// told are those of some deliveries whose booking is still there to be told of.
func (l *ledger) told(some ...delivery) ([]delivery, error) {
	keys := make([]Key, len(some))
	for i := range some {
		keys[i] = bookingKey(some[i].queued.booking)
	}
	if len(keys) == 0 {
		return nil, nil
	}
	v, err := l.tx.Get(l.ctx, keys...)
	if err != nil {
		return nil, err
	}
	var left []delivery
	for i, d := range some {
		if d.queued.booking == uuid.Nil || v[i] != nil {
			left = append(left, d)
		}
	}
	return left, nil
}

// schedule writes a delivery that is due now, and has somebody see to it.
func (l *ledger) schedule(d *delivery) {
	l.wait(d, l.now)
	l.put(endpointKey(l.now, d.Subscription), nil)
}

// revive has a dead delivery tried now, with all its tries anew.
func (l *ledger) revive(sub *subscription, d *delivery) {
	d.Attempts, d.Status, d.Dead, d.Ended, d.Next = 0, DeliveryPending, "", time.Time{}, l.now
	l.arrive(sub, *d, true)
	l.put(endpointKey(l.now, d.Subscription), nil)
}

// wait writes a delivery that is due at an instant.
func (l *ledger) wait(d *delivery, due time.Time) {
	d.Next = due
	l.put(deliveryKey(d.Subscription, d.ID), d.encode())
	l.put(d.queueKey(), nil)
}

// bury writes a delivery that is given up.
func (l *ledger) bury(d *delivery, why DeadReason) { l.finish(d, DeliveryDead, why) }

// finish writes a delivery that is not tried any more.
func (l *ledger) finish(d *delivery, status DeliveryStatus, why DeadReason) {
	l.delete(d.queueKey())
	d.Status, d.Next, d.Dead, d.Ended = status, time.Time{}, why, l.now
	if why != "" {
		l.dead = append(l.dead, why)
	}
	l.bound(d)
	l.put(deliveryKey(d.Subscription, d.ID), d.encode())
}

// An outcome is what came of an attempt.
type outcome struct {
	delivery *delivery  // as it was before
	dropped  DeadReason // why it is not posted, nor ever; empty if it is
	kept     bool       // it is not posted before its subscription is verified
	rationed bool       // it is a ping for which there is no ration
	url      string     // where it was posted to; empty if it was not
	answer   WebhookAnswer
	wait     time.Duration // until it is tried again
	err      error
}

// attempted decides what becomes of a delivery that is pending. Who works at the
// endpoint sees to it that the agenda has it for the next attempt.
func (l *ledger) attempted(sub *subscription, is *delivery, o outcome) (err error) {
	switch {
	case o.dropped != "":
		l.bury(is, o.dropped)
		return nil
	case o.kept:
		l.keep(sub, is)
		return nil
	case o.rationed:
		l.ration(sub, is, o.wait)
		return nil
	}
	is.Attempts++
	is.LastStatus = o.answer.Status
	defer func() {
		l.attempts = append(l.attempts, Attempt{Status: is.Status, Answered: is.LastStatus, Lag: l.now.Sub(is.Created)})
	}()
	switch {
	case received(is.Type, o.answer.Status):
		l.finish(is, DeliveryDelivered, "")
		if is.Type == Ping && !sub.Unverified.IsZero() && sub.URL == o.url {
			err = l.verified(sub)
		}
	case o.answer.Status == 410 && is.Type != Ping && !sub.operator:
		l.bury(is, DeadByReceiver)
		if sub.URL == o.url {
			if sub.disable(DisabledByReceiver, l.now) {
				l.stopped = append(l.stopped, sub.Subscription)
			}
			l.putSubscription(sub)
		}
	case is.Type == Ping && !sub.verifies(is) || is.Attempts > len(retryAfter):
		l.bury(is, DeadByAttempts)
	case !is.Next.Equal(o.delivery.Next): // somebody wants it tried at another time
		l.put(deliveryKey(sub.ID, is.ID), is.encode())
	default:
		l.delete(is.queueKey())
		// On full seconds, so that what is due at about the same time is done in one go.
		l.wait(is, l.now.Add(o.wait+time.Second-1).Truncate(time.Second))
	}
	return err
}

// mustVerify has a subscription verified from now on. One that is disabled is pinged when
// it is enabled.
func (l *ledger) mustVerify(sub *subscription) {
	if sub.Unverified = l.now; sub.Disabled {
		return
	}
	d := newDelivery(sub.ID, sub.challenge(), queued{kind: Ping, created: l.now})
	l.ping(sub, d)
}

// ping has a ping posted.
func (l *ledger) ping(sub *subscription, d delivery) {
	d.Next = l.now
	l.arrive(sub, d, true)
	l.put(endpointKey(l.now, sub.ID), nil)
}

// ration has the ping that verifies a subscription by itself wait until there is a ration
// for it, and gives up one that somebody asked for.
func (l *ledger) ration(sub *subscription, is *delivery, wait time.Duration) {
	if !sub.verifies(is) {
		l.bury(is, DeadByPings)
		return
	}
	l.delete(is.queueKey())
	l.wait(is, l.now.Add(wait))
}

// verified ends the wait of the events of a subscription whose receiver has answered a
// ping: also of those that wait for another instant, because the URL was changed more than
// once, or because the receiver before did not take them.
func (l *ledger) verified(sub *subscription) error {
	sub.Unverified = time.Time{}
	l.putSubscription(sub)
	rg := queueOf(sub.ID, time.Time{}, 0)
	rg.From = queueKey(sub.ID, l.now.Add(1))
	queue, err := l.tx.List(l.ctx, rg)
	if err != nil || len(queue) == 0 {
		return err
	}
	keys := make([]Key, len(queue))
	for i, rec := range queue {
		keys[i] = deliveryKey(sub.ID, queuedDelivery(rec.ID))
	}
	values, err := l.tx.Get(l.ctx, keys...)
	if err != nil {
		return err
	}
	for i, v := range values {
		if d, err := decodeDelivery(v); err == nil && d.Type != Ping && d.Status == DeliveryPending && d.queueKey().ID == queue[i].ID {
			l.delete(d.queueKey())
			l.wait(&d, l.now)
		}
	}
	l.put(endpointKey(l.now, sub.ID), nil)
	return nil
}

// keep has a delivery that is due wait for its subscription to be verified, or gives it up
// if that has taken too long.
func (l *ledger) keep(sub *subscription, is *delivery) {
	switch {
	case sub.Unverified.IsZero(): // meanwhile: it is due
	case sub.lapsed(l.now):
		l.bury(is, DeadByVerification)
	default:
		l.delete(is.queueKey())
		l.wait(is, sub.VerifyBy())
	}
}

// received says whether an answer says that a delivery has arrived: of pings any status of
// 2xx, of events 200 alone.
func received(t EventType, status int) bool {
	return status == 200 || t == Ping && status/100 == 2
}
