package rail

import (
	"time"

	"github.com/google/uuid"
)

// A Delivery is an event for a subscription, and its state.
type Delivery struct {
	ID           uuid.UUID // version 7: orders by the event's time
	Subscription uuid.UUID
	Event        uuid.UUID // webhook-id, the same for all subscriptions that get the event
	Type         EventType
	Created      time.Time // when it happened
	Status       DeliveryStatus
	Attempts     int
	LastStatus   int       // of the receiver's latest response; zero if it sent none
	Next         time.Time // when the next attempt is due; zero unless pending
	// Ended is when it was delivered or given up; zero if it is pending, or a version that
	// did not record the time ended it.
	Ended time.Time
	// Dead says why it is given up; empty if it is not, or as for Ended.
	Dead DeadReason
	// Replayed reports that the call repeated an idempotency key. It is not stored.
	Replayed bool
}

// A DeliveryStatus is the state of a delivery, as the API spells it.
type DeliveryStatus string

// The statuses of a delivery.
const (
	DeliveryPending   DeliveryStatus = "pending"
	DeliveryDelivered DeliveryStatus = "delivered"
	// DeliveryDead: the delivery is not attempted again unless somebody retries it.
	DeliveryDead DeliveryStatus = "dead"
)

// A DeadReason says why a delivery was given up, as the API spells it.
type DeadReason string

// The reasons why a delivery is given up.
const (
	// DeadByAttempts: all attempts failed; a ping has only one.
	DeadByAttempts DeadReason = "attempts"
	// DeadByReceiver: the receiver responded with 410.
	DeadByReceiver DeadReason = "gone"
	// DeadByDisabling: its subscription was disabled while it waited.
	DeadByDisabling DeadReason = "disabled"
	// DeadByBacklog: the queue was full (WebhookOptions.Backlog), and this was the oldest.
	DeadByBacklog DeadReason = "overflow"
	// DeadByVerification: the subscription was not verified in time.
	DeadByVerification DeadReason = "unverified"
	// DeadByPings: the delivery is a requested ping, and its host had too many pings without
	// a verified subscription.
	DeadByPings DeadReason = "too-many-pings"
	// DeadByRemoval: the booking of the event was removed (Options.KeepUnpaid).
	DeadByRemoval DeadReason = "removed"
)

// Ping is the type of the event that Service.PingSubscription sends. It is about no
// booking.
const Ping EventType = "ping"
