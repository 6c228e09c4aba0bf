package rail

import (
	"context"
	"time"

	"github.com/traintravel/traintravel/store"
)

// An Observer is told what a Service does, for metrics and traces. Each function may
// be nil, which costs nothing. They are called on the goroutines that do the work, from
// many at once, so they are quick and safe for concurrent use. Nothing that they are
// given names a passenger, or has anything of a card, a token or a secret in it.
//
// What happened is told after the update that recorded it is durable, and by the
// service that made the update: over all services of a store, each thing once, but for
// those whose process ends between the two. Service.State tells how things stand.
type Observer struct {
	// Begin is called as an operation begins: a method of Service, by its name, or of Desk,
	// such as "Desk.Deliveries", or a piece of work of Run or RunDue, such as "Run.endHold";
	// not those two methods themselves. The operation goes on with the context that is
	// returned, and the function is called with its error as it ends.
	Begin func(ctx context.Context, operation string) (context.Context, func(error))

	// Booking is told of a booking that is new or has another status.
	Booking func(ctx context.Context, c BookingChange)

	// Payment is told of a payment or refund that is new or has another status.
	Payment func(ctx context.Context, c PaymentChange)

	// Attempt is told of an attempt to deliver an event, to the Notifier or to a
	// subscriber.
	Attempt func(ctx context.Context, a Attempt)

	// Dead is told of a delivery to a subscriber that is given up, and why.
	Dead func(ctx context.Context, why DeadReason)

	// Disabled is told that a subscription was disabled, and by whom.
	Disabled func(ctx context.Context, by DisabledBy)

	// Failing is told how many things of one kind of work this service's Run has failed
	// to do at the latest try: as Run begins, and whenever that number changes. Each of
	// them is tried again.
	Failing func(f FailingWork)

	// Unreadable is told of a record that an operation has left out because it is damaged
	// or a newer version has written it, each time that it is met.
	Unreadable func(ctx context.Context, u UnreadableRecord)
}

// FailingWork is how many things of one kind of work fail.
type FailingWork struct {
	// Work is the name of the operation, as in Begin but without "Run.", such as endHold.
	Work  string
	Items int // 65,536 at most
}

// An UnreadableRecord is one that was left out.
type UnreadableRecord struct {
	Table store.Table
	Newer bool // a newer version has written it; or else it is damaged
}

// A BookingChange is what happened to a booking. From is zero if it is new.
type BookingChange struct {
	From, To BookingStatus
}

// A PaymentChange is what happened to a payment, or to a refund. From is empty if it
// is new.
type PaymentChange struct {
	Refund   bool
	From, To PaymentStatus
}

// An Attempt is what came of one attempt to deliver an event.
type Attempt struct {
	// Notifier says that it went to the Notifier, and not to a subscriber.
	Notifier bool
	// Status is Delivered if the event arrived, Dead if it is given up, and Pending if
	// it is tried again.
	Status DeliveryStatus
	// Answered is what a subscriber answered; zero if nothing was.
	Answered int
	// Lag is how long ago the event happened.
	Lag time.Duration
}
