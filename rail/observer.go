package rail

import (
	"context"
	"time"

	"github.com/traintravel/traintravel/store"
)

// An Observer receives reports of what a Service does, for metrics and traces. Each function
// may be nil. The functions are called on the goroutines that do the work, from many at once,
// so they must be quick and safe for concurrent use. Their arguments never contain a
// passenger's name or any part of a card, a token or a secret.
//
// A change is reported after the update that recorded it is durable, by the service that made
// the update: over all services of a store each change once, except if the process ends in
// between. Service.State returns the current state.
type Observer struct {
	// Begin is called as an operation begins: a method of Service, by its name, or of Desk,
	// such as "Desk.Deliveries", or a piece of work of Run or RunDue, such as "Run.endHold";
	// not those two methods themselves. The operation goes on with the context that is
	// returned, and the function is called with its error as it ends.
	Begin func(ctx context.Context, operation string) (context.Context, func(error))

	// Booking is called when a booking is created or its status changes.
	Booking func(ctx context.Context, c BookingChange)

	// Payment is called when a payment or refund is created or its status changes.
	Payment func(ctx context.Context, c PaymentChange)

	// Attempt is called after each attempt to deliver an event, to the Notifier or to a
	// subscriber.
	Attempt func(ctx context.Context, a Attempt)

	// Dead is called when a delivery to a subscriber becomes dead, with the reason.
	Dead func(ctx context.Context, why DeadReason)

	// Disabled is called when a subscription is disabled, with who disabled it.
	Disabled func(ctx context.Context, by DisabledBy)

	// Failing is called with the number of items of one kind of work that failed at the latest
	// attempt in this service's Run: when Run begins, and whenever the number changes. Run
	// retries each of them.
	Failing func(f FailingWork)

	// Unreadable is called each time that an operation skips a record because it is damaged or
	// was written by a newer version.
	Unreadable func(ctx context.Context, u UnreadableRecord)
}

// FailingWork is the number of items of one kind of work that fail.
type FailingWork struct {
	// Work is the name of the operation, as in Begin but without "Run.", such as endHold.
	Work  string
	Items int // 65,536 at most
}

// An UnreadableRecord describes a record that was skipped.
type UnreadableRecord struct {
	Table store.Table
	Newer bool // a newer version wrote it; otherwise it is damaged
}

// A BookingChange is a change of a booking's status. From is zero for a new booking.
type BookingChange struct {
	From, To BookingStatus
}

// A PaymentChange is a change of the status of a payment or refund. From is empty for a new
// one.
type PaymentChange struct {
	Refund   bool
	From, To PaymentStatus
}

// An Attempt is the result of one attempt to deliver an event.
type Attempt struct {
	// Notifier says that the attempt was to the Notifier, and not to a subscriber.
	Notifier bool
	// Status is Delivered if the event arrived, Dead if it was given up, and Pending if
	// another attempt follows.
	Status DeliveryStatus
	// Answered is the status of the subscriber's response; zero without a response.
	Answered int
	// Lag is how long ago the event happened.
	Lag time.Duration
}
