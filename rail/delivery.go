package rail

import (
	"time"

	"github.com/google/uuid"
)

// A Delivery is an event for a subscription, and its state.
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
	// DeliveryDead: the delivery is not attempted again unless it is retried by hand.
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
	// DeadByPings: the delivery is a requested ping, and its host had too many pings without
	// a verified subscription.
	DeadByPings DeadReason = "too-many-pings"
	// DeadByRemoval: the booking that it is about was removed (Options.KeepUnpaid).
	DeadByRemoval DeadReason = "removed"
)

// Ping is the type of the event that Service.PingSubscription sends. It is about no
// booking.
const Ping EventType = "ping"
