package traintravel

import (
	"context"

	"github.com/google/uuid"
)

// A Desk shows the operator what was posted, or is to be, to its own endpoints: those of
// [WebhookOptions].Operator. It can have that posted again and ping them, also at a service
// without Webhooks, which leaves the posting to others on its store. Nobody else sees them.
// What the endpoints are, the options say alone. Get one from [Service.Desk].
type Desk struct{ service *Service }

// Desk is for the operator: a program gives it to nobody else.
func (s *Service) Desk() Desk { return Desk{s} }

// theOperator is whose the endpoints are.
func (d Desk) theOperator() subscriber { return subscriber{operator: true} }

// Subscriptions lists the endpoints to which something was posted, or was to be, the newest
// first.
func (d Desk) Subscriptions(ctx context.Context, page Page) (_ List[Subscription], err error) {
	ctx, end := d.service.begin(ctx, "Desk.Subscriptions")
	defer end(&err)
	return d.service.webhooks.list(ctx, d.theOperator(), page)
}

// Subscription returns one of the endpoints, or ErrNotFound.
func (d Desk) Subscription(ctx context.Context, id uuid.UUID) (_ Subscription, err error) {
	ctx, end := d.service.begin(ctx, "Desk.Subscription")
	defer end(&err)
	return d.service.webhooks.read(ctx, d.theOperator(), id)
}

// Deliveries is [Service.Deliveries] of one of the endpoints.
func (d Desk) Deliveries(ctx context.Context, sub uuid.UUID, page Page) (_ List[Delivery], err error) {
	ctx, end := d.service.begin(ctx, "Desk.Deliveries")
	defer end(&err)
	return d.service.webhooks.deliveries(ctx, d.theOperator(), sub, page)
}

// RetryDelivery is [Service.RetryDelivery] to one of the endpoints.
func (d Desk) RetryDelivery(ctx context.Context, sub, id uuid.UUID, key string) (_ Delivery, err error) {
	ctx, end := d.service.begin(ctx, "Desk.RetryDelivery")
	defer end(&err)
	return d.service.webhooks.retry(ctx, d.theOperator(), sub, id, key)
}

// RetryDead is [Service.RetryDead] to one of the endpoints.
func (d Desk) RetryDead(ctx context.Context, sub uuid.UUID) (retried int, err error) {
	ctx, end := d.service.begin(ctx, "Desk.RetryDead")
	defer end(&err)
	return d.service.webhooks.retryDead(ctx, d.theOperator(), sub)
}

// PingSubscription is [Service.PingSubscription] of one of the endpoints.
func (d Desk) PingSubscription(ctx context.Context, sub uuid.UUID, key string) (_ Delivery, err error) {
	ctx, end := d.service.begin(ctx, "Desk.PingSubscription")
	defer end(&err)
	return d.service.webhooks.ping(ctx, d.theOperator(), sub, key)
}
