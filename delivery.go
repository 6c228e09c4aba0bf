package traintravel

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// A Delivery is an event on its way to a subscription.
type Delivery struct {
	ID           uuid.UUID // version 7: orders by the event's time
	Subscription uuid.UUID
	Event        uuid.UUID // webhook-id, the same for all who get the event
	Type         EventType
	Created      time.Time // when it happened
	Status       DeliveryStatus
	Attempts     int
	LastStatus   int       // what the receiver answered last; zero if it did not
	Next         time.Time // when it is tried next; zero unless it is pending
	// Ended is when it was delivered or given up; zero if it is pending, or ended under a
	// version that did not record it.
	Ended time.Time
	// Dead says why it is given up; empty if it is not, or as for Ended.
	Dead DeadReason
	// Replayed says that a repeated idempotency key was answered. It is not stored.
	Replayed bool
}

// A DeliveryStatus is how far a delivery has got, as the API spells it.
type DeliveryStatus string

// The statuses of a delivery.
const (
	DeliveryPending   DeliveryStatus = "pending"
	DeliveryDelivered DeliveryStatus = "delivered"
	// DeliveryDead is one that is not tried any more, unless somebody asks for it.
	DeliveryDead DeliveryStatus = "dead"
)

// A DeadReason says why a delivery is given up, as the API spells it.
type DeadReason string

// Why a delivery is given up.
const (
	// DeadByAttempts: it was tried as often as a delivery is, or it is a ping.
	DeadByAttempts DeadReason = "attempts"
	// DeadByReceiver: the receiver answered 410.
	DeadByReceiver DeadReason = "gone"
	// DeadByDisabling: its subscription was disabled while it waited.
	DeadByDisabling DeadReason = "disabled"
	// DeadByBacklog: as many waited as may (WebhookOptions.Backlog), and it was the oldest.
	DeadByBacklog DeadReason = "overflow"
	// DeadByVerification: the subscription was not verified in time.
	DeadByVerification DeadReason = "unverified"
	// DeadByPings: it is a ping that somebody asked for, and there were too many to the host
	// of a subscription that is not verified.
	DeadByPings DeadReason = "too-many-pings"
	// DeadByRemoval: the booking that it is about was removed (Options.KeepUnpaid).
	DeadByRemoval DeadReason = "removed"
)

// deadReasons are those of records, by their byte.
var deadReasons = [...]DeadReason{"", DeadByAttempts, DeadByReceiver, DeadByDisabling, DeadByRemoval, DeadByBacklog, DeadByVerification, DeadByPings}

// Ping is the type of the event that [Service.PingSubscription] sends. It is about no
// booking.
const Ping EventType = "ping"

// Deliveries lists what was, or is to be, posted to a subscription of the caller's, the
// newest first by the time of its event. Delivered ones are kept for a week, dead ones for 30
// days; of those that are no endpoint of the operator's, about ten times
// [WebhookOptions].Backlog, dead ones rather than delivered ones.
func (s *Service) Deliveries(ctx context.Context, by Caller, sub uuid.UUID, page Page) (_ List[Delivery], err error) {
	ctx, end := s.begin(ctx, "Deliveries")
	defer end(&err)
	if err := s.webhooks(by); err != nil {
		return List[Delivery]{}, err
	}
	page, err = page.normalize()
	if err != nil {
		return List[Delivery]{}, err
	}
	after, err := page.cursor(deliveryList, 16)
	if err != nil {
		return List[Delivery]{}, err
	}
	var found []Delivery
	var left omissions
	err = s.store.View(ctx, func(r Reader) error {
		if _, err := s.ownSubscription(ctx, r, by, sub); err != nil {
			return err
		}
		q := deliveriesOf(sub, uuid.Nil, page.skip()+page.Limit+1)
		q.Reverse = true
		if after != "" {
			q.To = q.From[:17] + after
		}
		var err error
		left, err = eachOf(ctx, r, q, deliveryOf, func(d delivery) bool {
			found = append(found, d.Delivery)
			return len(found) < q.Limit
		})
		return err
	})
	s.books.omit(ctx, left)
	if err != nil {
		return List[Delivery]{}, err
	}
	return cut(deliveryList, found, page.skip(), page.Limit, func(d Delivery) string { return string(d.ID[:]) }), nil
}

// RetryDelivery has a delivery of the caller's tried now: a dead one gets all its tries
// anew. key is an idempotency key as in [NewBooking]. It returns ErrNotFound, also if the
// booking that it is about has been removed (Options.KeepUnpaid), ErrDelivered
// for one that has arrived, ErrDisabled if the subscription is disabled and it is no ping,
// or is removed, or ErrUnverified if the subscription is not verified and it is no ping.
func (s *Service) RetryDelivery(ctx context.Context, by Caller, sub, id uuid.UUID, key string) (d Delivery, err error) {
	ctx, end := s.begin(ctx, "RetryDelivery")
	defer end(&err)
	if err := s.webhooks(by); err != nil {
		return d, err
	}
	idem, err := s.books.idempotency(by, key, "retry "+sub.String()+" "+id.String(), func(*fingerprint) {})
	if err != nil {
		return d, err
	}
	now := s.now()
	err = s.books.update(ctx, now, func(l *ledger) error {
		first, err := l.recall(idem)
		if err != nil {
			return err
		}
		to, err := s.ownSubscription(l.ctx, l.tx, by, sub)
		if err != nil {
			return err
		}
		is, err := l.delivery(sub, id)
		if err != nil {
			return err
		}
		if first != nil {
			d = is.Delivery
			d.Replayed = true
			return nil
		}
		told, err := l.told(is)
		if err != nil {
			return err
		}
		switch {
		case is.Status == DeliveryDelivered:
			return ErrDelivered
		case to.Disabled && is.Type != Ping || to.Removed:
			return ErrDisabled
		case !to.Unverified.IsZero() && is.Type != Ping:
			return ErrUnverified
		case len(told) == 0:
			return ErrNotFound
		case is.Status == DeliveryDead:
			l.revive(&to, &is)
		default:
			l.delete(is.queueKey())
			l.schedule(&is)
		}
		l.remember(idem, answer{about: sub, payment: id})
		d = is.Delivery
		return nil
	})
	return d, err
}

// PingSubscription has a ping posted to a subscription of the caller's, once. If its
// receiver answers with a status of 2xx, the subscription is verified. While it is not, the
// ping is dead if there were too many to its host (DeadByPings). key is an idempotency key
// as in [NewBooking].
func (s *Service) PingSubscription(ctx context.Context, by Caller, sub uuid.UUID, key string) (_ Delivery, err error) {
	ctx, end := s.begin(ctx, "PingSubscription")
	defer end(&err)
	if err := s.webhooks(by); err != nil {
		return Delivery{}, err
	}
	idem, err := s.books.idempotency(by, key, "ping "+sub.String(), func(*fingerprint) {})
	if err != nil {
		return Delivery{}, err
	}
	now := s.now()
	event := stamp(s.newID(), 8)
	d := newDelivery(sub, event, queued{kind: Ping, created: now})
	err = s.books.update(ctx, now, func(l *ledger) error {
		first, err := l.recall(idem)
		if err != nil {
			return err
		}
		to, err := s.ownSubscription(l.ctx, l.tx, by, sub)
		if err != nil {
			return err
		}
		if first != nil {
			d, err = l.delivery(sub, first.payment)
			d.Replayed = true
			return err
		}
		d.Next = now
		l.ping(&to, d)
		l.remember(idem, answer{about: sub, payment: d.ID})
		return nil
	})
	return d.Delivery, err
}
