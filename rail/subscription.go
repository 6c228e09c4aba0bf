package rail

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// A Subscription makes the service post events to a URL. It belongs to the caller that made
// it: a user, and the client program that the user acted through.
type Subscription struct {
	ID     uuid.UUID // version 7: orders by creation
	URL    string
	Events []EventType // never empty
	Owner  Subject
	Client string
	// ByClient says that the subscription gets the events of all bookings made through
	// Client at the owner's issuer, and not those of the owner's bookings.
	ByClient bool
	// Disabled says that no events are posted: the owner disabled the subscription, or the
	// receiver responded with 410.
	Disabled bool
	// Disabling says who disabled the subscription; it is zero unless Disabled is set.
	Disabling Disabling
	// Unverified is the time since when only pings are posted, because the receiver has not
	// responded to one with a 2xx status: when the subscription was made, its URL was
	// changed, or it was enabled again while unverified. It is zero once the receiver has,
	// and for endpoints of the operator. Events wait until VerifyBy.
	Unverified time.Time
	// Removed says that WebhookOptions of this service no longer has the operator's
	// endpoint, or the client that made the subscription for itself. Nothing is posted
	// there, and waiting deliveries become dead letters. It is not stored.
	Removed bool
	Created time.Time
	// Replayed reports that the call repeated an idempotency key. It is not stored.
	Replayed bool
}

// A NewSubscription asks for events to be posted to a URL.
type NewSubscription struct {
	URL string
	// Events are the types of events to post; empty means NewBooking only.
	Events []EventType
	// Disabled makes the service post nothing but pings until it is changed.
	Disabled bool
	// IdempotencyKey is as in NewBooking.
	IdempotencyKey string
}

// A SubscriptionChange contains the changes to a subscription. Nil members do not change.
type SubscriptionChange struct {
	URL      *string
	Events   []EventType
	Disabled *bool
}

// An OperatorWebhook is an endpoint of the operator's own.
type OperatorWebhook struct {
	URL     string
	Secrets []Secret    // sign each delivery, at least one
	Events  []EventType // empty means newBooking only
}

// A WebhookSender posts events; package httpserver has one. Its methods are called
// from several goroutines at once.
type WebhookSender interface {
	// CheckURL returns an [*InvalidError] if it is already known that events cannot be
	// posted to a subscriber's URL.
	CheckURL(url string) error
	// Send posts once and returns the response. An error means that there was no
	// response; it is logged and not shown to users.
	Send(ctx context.Context, p WebhookPost) (WebhookAnswer, error)
}

// A WebhookPost is an event to be posted to an endpoint.
type WebhookPost struct {
	URL string
	// Secrets sign it, the newest first.
	Secrets []Secret
	// Operator reports that the endpoint is the operator's, which may have any address.
	Operator bool
	Event    Event
}

// A WebhookAnswer is the response of a receiver. Only the status 200 acknowledges an
// event; for a ping, any 2xx status does.
type WebhookAnswer struct {
	Status int // of HTTP
	// RetryAfter is how long the receiver asks to wait; zero if it does not.
	RetryAfter time.Duration
}

var (
	// ErrNoWebhooks: the service is not configured to post events to subscribers.
	ErrNoWebhooks = errors.New("no webhooks are configured")
	// ErrTooManySubscriptions: the caller has reached the limit of subscriptions.
	ErrTooManySubscriptions = fmt.Errorf("the caller has %d subscriptions, the maximum: delete one", MaxSubscriptions)
	// ErrDelivered: the event was delivered, so it is not delivered again.
	ErrDelivered = errors.New("the event was delivered")
	// ErrDisabled: the subscription is disabled and gets nothing but pings, or is an
	// endpoint that the operator has removed and gets nothing.
	ErrDisabled = errors.New("the subscription is disabled")
)

// EventTypes returns the types of events that can be subscribed to, in an order that never
// changes, because records identify them by their position.
func EventTypes() []EventType {
	return []EventType{BookingCreated, BookingConfirmed, BookingCancelled, BookingExpired, PaymentFailed}
}

// Bounds of subscriptions.
const (
	MaxSubscriptions = 100 // of a user through one client
)
