package traintravel

import (
	"context"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/webhooks"
	"github.com/traintravel/traintravel/rail"
)

// HasWebhooks reports whether the service posts events to subscribers. If it does not,
// the methods for subscriptions return ErrNoWebhooks.
func (s *Service) HasWebhooks() bool { return s.opts.Webhooks != nil }

// subscriberOf says whose subscriptions a caller asks for.
func subscriberOf(by Caller) records.Subscriber {
	return records.Subscriber{Caller: by, Operator: by.IsOperator()}
}

// Subscribe subscribes a URL to future events of the caller's bookings, and returns the
// secret that signs them, which cannot be retrieved later. A client that acts for itself
// and is in [WebhookOptions].Clients gets the events of all bookings made through it.
//
// Events wait until the receiver verifies the subscription by responding to a ping, which
// is posted now: see [Subscription].Unverified.
//
// It returns ErrNoWebhooks, ErrTooManySubscriptions, a [*HostLimitError], ErrKeyReused or
// an [*InvalidError].
func (s *Service) Subscribe(ctx context.Context, by Caller, n NewSubscription) (_ Subscription, _ Secret, err error) {
	ctx, end := s.begin(ctx, "Subscribe")
	defer end(&err)
	return s.webhooks.Subscribe(ctx, by, n)
}

// Subscriptions lists the caller's subscriptions, the newest first.
func (s *Service) Subscriptions(ctx context.Context, by Caller, page Page) (_ List[Subscription], err error) {
	ctx, end := s.begin(ctx, "Subscriptions")
	defer end(&err)
	return s.webhooks.List(ctx, subscriberOf(by), page)
}

// Subscription returns a subscription of the caller's, or ErrNotFound.
func (s *Service) Subscription(ctx context.Context, by Caller, id uuid.UUID) (_ Subscription, err error) {
	ctx, end := s.begin(ctx, "Subscription")
	defer end(&err)
	return s.webhooks.Read(ctx, subscriberOf(by), id)
}

// ChangeSubscription changes one of the caller's subscriptions. A disabled subscription
// gets no new events, and its waiting deliveries become dead letters; after it is enabled,
// it gets new events. If its URL changes, it must be verified again before waiting events
// are posted. It returns the errors of Subscribe, and ErrNotFound.
func (s *Service) ChangeSubscription(ctx context.Context, by Caller, id uuid.UUID, c SubscriptionChange) (_ Subscription, err error) {
	ctx, end := s.begin(ctx, "ChangeSubscription")
	defer end(&err)
	return s.webhooks.ChangeFor(ctx, by, id, c)
}

// Unsubscribe ends a subscription of the caller's. No attempt is started after that, and its
// deliveries are deleted.
func (s *Service) Unsubscribe(ctx context.Context, by Caller, id uuid.UUID) (err error) {
	ctx, end := s.begin(ctx, "Unsubscribe")
	defer end(&err)
	return s.webhooks.Unsubscribe(ctx, by, id)
}

// Deliveries lists the deliveries of one of the caller's subscriptions, newest event
// first. Delivered ones are kept for a week and dead ones for 30 days, but, except for the
// operator's endpoints, only about ten times [WebhookOptions].Backlog of them, dead ones in
// preference to delivered ones.
func (s *Service) Deliveries(ctx context.Context, by Caller, sub uuid.UUID, page Page) (_ List[Delivery], err error) {
	ctx, end := s.begin(ctx, "Deliveries")
	defer end(&err)
	return s.webhooks.Deliveries(ctx, subscriberOf(by), sub, page)
}

// RetryDelivery retries one of the caller's deliveries now: a dead one gets all its attempts
// again. key is an idempotency key as in [NewBooking]. It returns ErrNotFound, also if the
// delivery's booking has been removed (Options.KeepUnpaid), ErrDelivered if the event was
// delivered, and, unless it is a ping, ErrDisabled if the subscription is disabled and
// ErrUnverified if it is not verified. It also returns ErrDisabled if the subscription has
// been removed.
func (s *Service) RetryDelivery(ctx context.Context, by Caller, sub, id uuid.UUID, key string) (d Delivery, err error) {
	ctx, end := s.begin(ctx, "RetryDelivery")
	defer end(&err)
	return s.webhooks.Retry(ctx, subscriberOf(by), sub, id, key)
}

// PingSubscription posts a ping to a subscription of the caller's, once. If the receiver
// responds with a 2xx status, the subscription is verified. While it is not verified, the
// ping becomes dead if its host had too many (DeadByPings). key is an idempotency key as in
// [NewBooking].
func (s *Service) PingSubscription(ctx context.Context, by Caller, sub uuid.UUID, key string) (_ Delivery, err error) {
	ctx, end := s.begin(ctx, "PingSubscription")
	defer end(&err)
	return s.webhooks.Ping(ctx, subscriberOf(by), sub, key)
}

// RetryDead retries all dead deliveries of one of the caller's subscriptions, like
// [Service.RetryDelivery], and returns their number. It returns ErrNotFound if the
// subscription does not exist, ErrDisabled if it is disabled or removed, and ErrUnverified
// if it is not verified. Deliveries of removed bookings (Options.KeepUnpaid) stay dead. If
// there are more than fit into the queue ([WebhookOptions].Backlog), the newest stay dead;
// retry them when others have been posted. After another error, the returned number has been
// retried. Deliveries that cannot be read are skipped.
func (s *Service) RetryDead(ctx context.Context, by Caller, sub uuid.UUID) (retried int, err error) {
	ctx, end := s.begin(ctx, "RetryDead")
	defer end(&err)
	return s.webhooks.RetryDead(ctx, subscriberOf(by), sub)
}

// NewSubscriptionSecret replaces the secret of a subscription of the caller's. For 24 hours,
// deliveries are signed with the previous secret too, but not with one before that. key is an
// idempotency key as in [NewBooking].
func (s *Service) NewSubscriptionSecret(ctx context.Context, by Caller, id uuid.UUID, key string) (_ Subscription, _ Secret, err error) {
	ctx, end := s.begin(ctx, "NewSubscriptionSecret")
	defer end(&err)
	return s.webhooks.NewSecret(ctx, by, id, key)
}

// StoppedSubscriptions lists the disabled and removed subscriptions of all callers and of
// the operator, newest first. It is for the operator, and scans all subscriptions.
func (s *Service) StoppedSubscriptions(ctx context.Context, page Page) (_ List[Subscription], err error) {
	ctx, end := s.begin(ctx, "StoppedSubscriptions")
	defer end(&err)
	return s.webhooks.Stopped(ctx, page)
}

type (
	// A Delivery is an event for a subscription, and its state.
	Delivery = rail.Delivery
	// A DeliveryStatus is the state of a delivery, as the API spells it.
	DeliveryStatus = rail.DeliveryStatus
)

// The statuses of a delivery.
const (
	DeliveryPending   = rail.DeliveryPending
	DeliveryDelivered = rail.DeliveryDelivered
	// DeliveryDead: the delivery is not attempted again unless somebody retries it.
	DeliveryDead = rail.DeliveryDead
)

// A DeadReason says why a delivery was given up, as the API spells it.
type DeadReason = rail.DeadReason

// The reasons why a delivery is given up.
const (
	// DeadByAttempts: all attempts failed; a ping has only one.
	DeadByAttempts = rail.DeadByAttempts
	// DeadByReceiver: the receiver responded with 410.
	DeadByReceiver = rail.DeadByReceiver
	// DeadByDisabling: its subscription was disabled while it waited.
	DeadByDisabling = rail.DeadByDisabling
	// DeadByBacklog: the queue was full (WebhookOptions.Backlog), and this was the oldest.
	DeadByBacklog = rail.DeadByBacklog
	// DeadByVerification: the subscription was not verified in time.
	DeadByVerification = rail.DeadByVerification
	// DeadByPings: the delivery is a requested ping, and its host had too many pings without
	// a verified subscription.
	DeadByPings = rail.DeadByPings
	// DeadByRemoval: the booking of the event was removed (Options.KeepUnpaid).
	DeadByRemoval = rail.DeadByRemoval
)

// Ping is the type of the event that [Service.PingSubscription] sends. It has no booking.
const Ping = rail.Ping

// DisabledBy says who disabled a subscription, as spelled in the API.
type DisabledBy = rail.DisabledBy

// The values of DisabledBy.
const (
	// DisabledByOwner: the owner asked for it.
	DisabledByOwner = rail.DisabledByOwner
	// DisabledByReceiver: the receiver responded with 410, which means that it wants no more.
	DisabledByReceiver = rail.DisabledByReceiver
	// DisabledByOperator: [WebhookOptions] no longer has the endpoint or the client.
	DisabledByOperator = rail.DisabledByOperator
	// DisabledByUnknown: a version that did not record who did it disabled the subscription.
	DisabledByUnknown = rail.DisabledByUnknown
)

type (
	// A Disabling says who disabled a subscription, and when. The zero value means that
	// the subscription is not disabled.
	Disabling = rail.Disabling
	// A Subscription makes the service post events to a URL. It belongs to the caller that
	// made it: a user, and the client program that the user acted through.
	Subscription = rail.Subscription
	// A NewSubscription asks for events to be posted to a URL.
	NewSubscription = rail.NewSubscription
	// A SubscriptionChange contains the changes to a subscription. Nil members do not change.
	SubscriptionChange = rail.SubscriptionChange
	// An OperatorWebhook is an endpoint of the operator's own.
	OperatorWebhook = rail.OperatorWebhook
	// A WebhookSender posts events; package httpserver has one. Its methods are called from
	// several goroutines at once.
	WebhookSender = rail.WebhookSender
	// A WebhookPost is an event to be posted to an endpoint.
	WebhookPost = rail.WebhookPost
	// A WebhookAnswer is the response of a receiver. Only the status 200 acknowledges an
	// event; for a ping, any 2xx status does.
	WebhookAnswer = rail.WebhookAnswer
)

var (
	// ErrNoWebhooks: the service is not configured to post events to subscribers.
	ErrNoWebhooks = rail.ErrNoWebhooks
	// ErrTooManySubscriptions: the caller has reached the limit of subscriptions.
	ErrTooManySubscriptions = rail.ErrTooManySubscriptions
	// ErrDelivered: the event was delivered, so it is not delivered again.
	ErrDelivered = rail.ErrDelivered
	// ErrDisabled: the subscription is disabled and gets nothing but pings, or is an
	// endpoint that the operator has removed and gets nothing.
	ErrDisabled = rail.ErrDisabled
)

// LongestBacklog is the largest [WebhookOptions].Backlog.
const LongestBacklog = webhooks.LongestBacklog

// EventTypes returns the types of events that can be subscribed to.
func EventTypes() []EventType { return rail.EventTypes() }

// ErrUnverified: the subscription gets nothing but pings, because its receiver has not
// responded to one yet.
var ErrUnverified = rail.ErrUnverified

type (
	// A HostLimitError refuses a subscription because the user has reached the limit of
	// subscriptions to its host.
	HostLimitError = rail.HostLimitError
	// An EventType names what happened to a booking.
	EventType = rail.EventType
)

// The events. The first is the documented one.
const (
	BookingCreated   = rail.BookingCreated
	BookingConfirmed = rail.BookingConfirmed
	BookingCancelled = rail.BookingCancelled
	BookingExpired   = rail.BookingExpired
	PaymentFailed    = rail.PaymentFailed
)

// An Event reports that something happened to a booking. The update that makes it
// happen also queues it.
type Event = rail.Event
