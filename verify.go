package traintravel

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
)

// What is posted goes to machines that are perhaps not the subscriber's. So a subscription
// is unverified until its receiver answers a ping with a status of 2xx, and nothing but
// pings is posted to it. Events wait for that, as many as may wait and no longer than
// verifyWithin. See docs/decisions/0037-webhooks-of-strangers.md.

const (
	// verifyWithin is how long events wait for their subscription to be verified.
	verifyWithin = 24 * time.Hour
	// verifyTries is how often the ping that verifies is posted by itself.
	verifyTries = 5
)

// ErrUnverified: nothing but pings is posted to a subscription whose receiver has not
// answered one yet.
var ErrUnverified = errors.New("the subscription is not verified: have a ping posted that its receiver answers with 2xx")

// VerifyBy is until when events wait for the subscription to be verified. The time is zero
// if it is verified. From that instant on, what waits is given up and nothing more is kept
// for it, until it is verified.
func (s *Subscription) VerifyBy() time.Time {
	if s.Unverified.IsZero() {
		return time.Time{}
	}
	return s.Unverified.Add(verifyWithin)
}

// lapsed says that a subscription gets no events for want of verification.
func (s *Subscription) lapsed(now time.Time) bool {
	return !s.Unverified.IsZero() && !now.Before(s.VerifyBy())
}

// challenge is the event of the ping that verifies a subscription by itself.
func (s *Subscription) challenge() uuid.UUID {
	if s.Unverified.IsZero() {
		return uuid.Nil
	}
	return hashID("verify", s.ID, s.URL, int(s.Unverified.UnixNano()))
}

// verifies says that a ping is the one that verifies a subscription by itself, and is
// tried again.
func (s *subscription) verifies(d *delivery) bool {
	return d.Event == s.challenge() && d.Attempts < verifyTries && d.LastStatus != 410
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

// A HostLimitError refuses a subscription because the user has as many to its host as
// there may be.
type HostLimitError struct {
	Host string // without its port
	Most int
}

// Error names the host and what to do.
func (e *HostLimitError) Error() string {
	return fmt.Sprintf("there are %d subscriptions to %s already: delete one, or have one get more events", e.Most, e.Host)
}

// host is that of a subscription's URL without a port, spelled in one way: an address has
// many spellings in IPv6.
func (s *subscription) host() string {
	u, err := url.Parse(s.URL)
	if err != nil {
		return "" // no sender takes such a URL
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().WithZone("").String()
	}
	return host
}

// hasRoom refuses one more subscription to a host beside those that its owner has.
func (o *WebhookOptions) hasRoom(host string, others []subscription) error {
	n := 0
	for i := range others {
		if others[i].host() == host {
			n++
		}
	}
	if n >= o.perHost() {
		return &HostLimitError{host, n}
	}
	return nil
}
