package traintravel

import (
	"context"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
)

// HasWebhooks says whether the service posts events to those who subscribe to them:
// without, all that has to do with subscriptions is ErrNoWebhooks.
func (s *Service) HasWebhooks() bool { return s.opts.Webhooks != nil }

// subscriberOf says whose subscriptions a caller asks for.
func subscriberOf(by Caller) records.Subscriber {
	return records.Subscriber{Caller: by, Operator: by.IsOperator()}
}

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

// ChangeSubscription changes a subscription of the caller's. One that is disabled gets
// no new events, and what was waiting for it becomes dead letters; one that is enabled
// again gets those that happen from then on. One with another URL has to be verified
// anew: what waits is posted once it is. Its errors are those of Subscribe and ErrNotFound.
func (s *Service) ChangeSubscription(ctx context.Context, by Caller, id uuid.UUID, c SubscriptionChange) (_ Subscription, err error) {
	ctx, end := s.begin(ctx, "ChangeSubscription")
	defer end(&err)
	return s.webhooks.ChangeFor(ctx, by, id, c)
}

// Unsubscribe ends a subscription of the caller's. Nothing is posted that was not on
// its way already, and its deliveries are forgotten.
func (s *Service) Unsubscribe(ctx context.Context, by Caller, id uuid.UUID) (err error) {
	ctx, end := s.begin(ctx, "Unsubscribe")
	defer end(&err)
	return s.webhooks.Unsubscribe(ctx, by, id)
}

// Deliveries lists what was, or is to be, posted to a subscription of the caller's, the
// newest first by the time of its event. Delivered ones are kept for a week, dead ones for 30
// days; of those that are no endpoint of the operator's, about ten times
// [WebhookOptions].Backlog, dead ones rather than delivered ones.
func (s *Service) Deliveries(ctx context.Context, by Caller, sub uuid.UUID, page Page) (_ List[Delivery], err error) {
	ctx, end := s.begin(ctx, "Deliveries")
	defer end(&err)
	return s.webhooks.Deliveries(ctx, subscriberOf(by), sub, page)
}

// RetryDelivery has a delivery of the caller's tried now: a dead one gets all its tries
// anew. key is an idempotency key as in [NewBooking]. It returns ErrNotFound, also if the
// booking that it is about has been removed (Options.KeepUnpaid), ErrDelivered
// for one that has arrived, ErrDisabled if the subscription is disabled and it is not a ping,
// or is removed, or ErrUnverified if the subscription is not verified and it is not a ping.
func (s *Service) RetryDelivery(ctx context.Context, by Caller, sub, id uuid.UUID, key string) (d Delivery, err error) {
	ctx, end := s.begin(ctx, "RetryDelivery")
	defer end(&err)
	return s.webhooks.Retry(ctx, subscriberOf(by), sub, id, key)
}

// PingSubscription has a ping posted to a subscription of the caller's, once. If its
// receiver answers with a status of 2xx, the subscription is verified. While it is not, the
// ping is dead if there were too many to its host (DeadByPings). key is an idempotency key
// as in [NewBooking].
func (s *Service) PingSubscription(ctx context.Context, by Caller, sub uuid.UUID, key string) (_ Delivery, err error) {
	ctx, end := s.begin(ctx, "PingSubscription")
	defer end(&err)
	return s.webhooks.Ping(ctx, subscriberOf(by), sub, key)
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
	return s.webhooks.RetryDead(ctx, subscriberOf(by), sub)
}

// NewSubscriptionSecret replaces the secret of a subscription of the caller's. The one
// before signs along for 24 hours; one before that does not any more. key is an
// idempotency key as in [NewBooking].
func (s *Service) NewSubscriptionSecret(ctx context.Context, by Caller, id uuid.UUID, key string) (_ Subscription, _ Secret, err error) {
	ctx, end := s.begin(ctx, "NewSubscriptionSecret")
	defer end(&err)
	return s.webhooks.NewSecret(ctx, by, id, key)
}

// StoppedSubscriptions lists the subscriptions of all callers that somebody has stopped,
// those of the operator included, the newest first. It is for the operator, and looks
// through all subscriptions.
func (s *Service) StoppedSubscriptions(ctx context.Context, page Page) (_ List[Subscription], err error) {
	ctx, end := s.begin(ctx, "StoppedSubscriptions")
	defer end(&err)
	return s.webhooks.Stopped(ctx, page)
}

type (
	// A Delivery is an event on its way to a subscription.
	Delivery = rail.Delivery
	// A DeliveryStatus is how far a delivery has got, as the API spells it.
	DeliveryStatus = rail.DeliveryStatus
)

// The statuses of a delivery.
const (
	DeliveryPending   = rail.DeliveryPending
	DeliveryDelivered = rail.DeliveryDelivered
	// DeliveryDead is one that is not tried any more, unless somebody asks for it.
	DeliveryDead = rail.DeliveryDead
)

// A DeadReason says why a delivery is given up, as the API spells it.
type DeadReason = rail.DeadReason

// Why a delivery is given up.
const (
	// DeadByAttempts: it was tried as often as a delivery is, or it is a ping.
	DeadByAttempts = rail.DeadByAttempts
	// DeadByReceiver: the receiver answered 410.
	DeadByReceiver = rail.DeadByReceiver
	// DeadByDisabling: its subscription was disabled while it waited.
	DeadByDisabling = rail.DeadByDisabling
	// DeadByBacklog: as many waited as may (WebhookOptions.Backlog), and it was the oldest.
	DeadByBacklog = rail.DeadByBacklog
	// DeadByVerification: the subscription was not verified in time.
	DeadByVerification = rail.DeadByVerification
	// DeadByPings: it is a ping that somebody asked for, and there were too many to the host
	// of a subscription that is not verified.
	DeadByPings = rail.DeadByPings
	// DeadByRemoval: the booking that it is about was removed (Options.KeepUnpaid).
	DeadByRemoval = rail.DeadByRemoval
)

// Ping is the type of the event that [Service.PingSubscription] sends. It is about no
// booking.
const Ping = rail.Ping

// DisabledBy says who has stopped a subscription, as the API spells it.
type DisabledBy = rail.DisabledBy

// Who stops a subscription.
const (
	// DisabledByOwner: the owner asked for it.
	DisabledByOwner = rail.DisabledByOwner
	// DisabledByReceiver: the receiver answered 410, which says that it wants no more.
	DisabledByReceiver = rail.DisabledByReceiver
	// DisabledByOperator: the endpoint or the client is no longer among those of
	// [WebhookOptions].
	DisabledByOperator = rail.DisabledByOperator
	// DisabledByUnknown: a version that did not record it has disabled the subscription.
	DisabledByUnknown = rail.DisabledByUnknown
)

type (
	// A Disabling says who has stopped a subscription, and when. The zero value says that
	// nobody has.
	Disabling = rail.Disabling
	// A Subscription has events posted to a URL. It belongs to the caller that made it: a
	// user, and the client program through which the user did.
	Subscription = rail.Subscription
	// A NewSubscription asks for events to be posted to a URL.
	NewSubscription = rail.NewSubscription
	// A SubscriptionChange says what of a subscription is to be another. Nil leaves it.
	SubscriptionChange = rail.SubscriptionChange
	// An OperatorWebhook is an endpoint of the operator's own.
	OperatorWebhook = rail.OperatorWebhook
	// A WebhookSender posts events; package httpserver has one. Its methods are called from
	// several goroutines at once.
	WebhookSender = rail.WebhookSender
	// A WebhookPost is an event on its way to an endpoint.
	WebhookPost = rail.WebhookPost
	// A WebhookAnswer is what a receiver said. Only the status 200 means that it has the
	// event; to a ping any of 2xx.
	WebhookAnswer = rail.WebhookAnswer
)

var (
	// ErrNoWebhooks: the service posts nothing to subscribers.
	ErrNoWebhooks = rail.ErrNoWebhooks
	// ErrTooManySubscriptions: the caller has as many as there may be.
	ErrTooManySubscriptions = rail.ErrTooManySubscriptions
	// ErrDelivered: what was delivered is not delivered again.
	ErrDelivered = rail.ErrDelivered
	// ErrDisabled: nothing but a ping is posted to a subscription that is disabled, and
	// nothing to an endpoint that the operator has removed.
	ErrDisabled = rail.ErrDisabled
)

// EventTypes are the types of events that one can subscribe to.
func EventTypes() []EventType { return rail.EventTypes() }

// ErrUnverified: nothing but pings is posted to a subscription whose receiver has not
// answered one yet.
var ErrUnverified = rail.ErrUnverified

type (
	// A HostLimitError refuses a subscription because the user has as many to its host as
	// there may be.
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

// An Event tells that something happened to a booking. It is queued in the same update
// that makes it happen.
type Event = rail.Event
