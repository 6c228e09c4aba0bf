package traintravel

import (
	"context"

	"github.com/google/uuid"
)

// The methods about webhooks are their contract and one call.

// HasWebhooks says whether the service posts events to those who subscribe to them:
// without, all that has to do with subscriptions is ErrNoWebhooks.
func (s *Service) HasWebhooks() bool { return s.opts.Webhooks != nil }

// subscriberOf says whose subscriptions a caller asks for.
func subscriberOf(by Caller) subscriber { return subscriber{by, by.isOperator()} }

// Subscribe has events posted to a URL from now on, those of the caller's bookings,
// and returns the secret that signs them, which is not to be had again. A client that
// acts for itself and is one of [WebhookOptions].Clients gets the events of all
// bookings made through it.
//
// Events wait until the subscription is verified, which a ping that is posted now does:
// see [Subscription].Unverified.
//
// It returns ErrNoWebhooks, ErrTooManySubscriptions, a [*HostLimitError], ErrKeyReused or
// an [*InvalidError].
func (s *Service) Subscribe(ctx context.Context, by Caller, n NewSubscription) (_ Subscription, _ Secret, err error) {
	ctx, end := s.begin(ctx, "Subscribe")
	defer end(&err)
	return s.webhooks.subscribe(ctx, by, n)
}

// Subscriptions lists the caller's subscriptions, the newest first.
func (s *Service) Subscriptions(ctx context.Context, by Caller, page Page) (_ List[Subscription], err error) {
	ctx, end := s.begin(ctx, "Subscriptions")
	defer end(&err)
	return s.webhooks.list(ctx, subscriberOf(by), page)
}

// Subscription returns a subscription of the caller's, or ErrNotFound.
func (s *Service) Subscription(ctx context.Context, by Caller, id uuid.UUID) (_ Subscription, err error) {
	ctx, end := s.begin(ctx, "Subscription")
	defer end(&err)
	return s.webhooks.read(ctx, subscriberOf(by), id)
}

// ChangeSubscription changes a subscription of the caller's. One that is disabled gets
// no new events, and what was waiting for it becomes dead letters; one that is enabled
// again gets those that happen from then on. One with another URL has to be verified
// anew: what waits is posted once it is. Its errors are those of Subscribe and ErrNotFound.
func (s *Service) ChangeSubscription(ctx context.Context, by Caller, id uuid.UUID, c SubscriptionChange) (_ Subscription, err error) {
	ctx, end := s.begin(ctx, "ChangeSubscription")
	defer end(&err)
	return s.webhooks.changeFor(ctx, by, id, c)
}

// Unsubscribe ends a subscription of the caller's. Nothing is posted that was not on
// its way already, and its deliveries are forgotten.
func (s *Service) Unsubscribe(ctx context.Context, by Caller, id uuid.UUID) (err error) {
	ctx, end := s.begin(ctx, "Unsubscribe")
	defer end(&err)
	return s.webhooks.unsubscribe(ctx, by, id)
}

// Deliveries lists what was, or is to be, posted to a subscription of the caller's, the
// newest first by the time of its event. Delivered ones are kept for a week, dead ones for 30
// days; of those that are no endpoint of the operator's, about ten times
// [WebhookOptions].Backlog, dead ones rather than delivered ones.
func (s *Service) Deliveries(ctx context.Context, by Caller, sub uuid.UUID, page Page) (_ List[Delivery], err error) {
	ctx, end := s.begin(ctx, "Deliveries")
	defer end(&err)
	return s.webhooks.deliveries(ctx, subscriberOf(by), sub, page)
}

// RetryDelivery has a delivery of the caller's tried now: a dead one gets all its tries
// anew. key is an idempotency key as in [NewBooking]. It returns ErrNotFound, also if the
// booking that it is about has been removed (Options.KeepUnpaid), ErrDelivered
// for one that has arrived, ErrDisabled if the subscription is disabled and it is no ping,
// or is removed, or ErrUnverified if the subscription is not verified and it is no ping.
func (s *Service) RetryDelivery(ctx context.Context, by Caller, sub, id uuid.UUID, key string) (d Delivery, err error) {
	ctx, end := s.begin(ctx, "RetryDelivery")
	defer end(&err)
	return s.webhooks.retry(ctx, subscriberOf(by), sub, id, key)
}

// PingSubscription has a ping posted to a subscription of the caller's, once. If its
// receiver answers with a status of 2xx, the subscription is verified. While it is not, the
// ping is dead if there were too many to its host (DeadByPings). key is an idempotency key
// as in [NewBooking].
func (s *Service) PingSubscription(ctx context.Context, by Caller, sub uuid.UUID, key string) (_ Delivery, err error) {
	ctx, end := s.begin(ctx, "PingSubscription")
	defer end(&err)
	return s.webhooks.ping(ctx, subscriberOf(by), sub, key)
}

// RetryDead has all dead deliveries of a subscription of the caller's tried now, as
// [Service.RetryDelivery] does with one, and returns how many. It returns ErrNotFound
// if there is no such subscription, ErrDisabled if it is disabled or removed, or ErrUnverified
// if it is not verified. Those about bookings that have been removed (Options.KeepUnpaid)
// stay dead, and so do those for which there is no room ([WebhookOptions].Backlog), the
// newest: they can be retried when others have been posted. After another error, as many are
// tried. Deliveries that cannot be read are left out.
func (s *Service) RetryDead(ctx context.Context, by Caller, sub uuid.UUID) (retried int, err error) {
	ctx, end := s.begin(ctx, "RetryDead")
	defer end(&err)
	return s.webhooks.retryDead(ctx, subscriberOf(by), sub)
}

// NewSubscriptionSecret replaces the secret of a subscription of the caller's. The one
// before signs along for 24 hours; one before that does not any more. key is an
// idempotency key as in [NewBooking].
func (s *Service) NewSubscriptionSecret(ctx context.Context, by Caller, id uuid.UUID, key string) (_ Subscription, _ Secret, err error) {
	ctx, end := s.begin(ctx, "NewSubscriptionSecret")
	defer end(&err)
	return s.webhooks.newSecret(ctx, by, id, key)
}

// StoppedSubscriptions lists the subscriptions of all callers that somebody has stopped,
// those of the operator included, the newest first. It is for the operator, and looks
// through all subscriptions.
func (s *Service) StoppedSubscriptions(ctx context.Context, page Page) (_ List[Subscription], err error) {
	ctx, end := s.begin(ctx, "StoppedSubscriptions")
	defer end(&err)
	return s.webhooks.stopped(ctx, page)
}
