package rail

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// An EventType names what happened to a booking.
type EventType string

// The events. The first is the documented one.
const (
	BookingCreated   EventType = "newBooking"
	BookingConfirmed EventType = "bookingConfirmed"
	BookingCancelled EventType = "bookingCancelled"
	BookingExpired   EventType = "bookingExpired"
	PaymentFailed    EventType = "paymentFailed"
)

// An Event reports that something happened to a booking. The update that makes
// it happen also queues it.
type Event struct {
	// ID is the same each time the event is delivered, and unique to the event.
	ID      uuid.UUID
	Type    EventType
	Created time.Time
	// Booking is the booking in the status that it had after the event.
	Booking Booking
	// Payment is the payment that bookingConfirmed or paymentFailed is about,
	// nil for other events.
	Payment *Payment
}

// A Notifier forwards events, for example to a queue, a webhook or mail.
// Service.Run calls Notify for each event until it returns nil: at least once,
// perhaps more than once after a crash, in no particular order, and from several
// goroutines at once. The context ends after a minute or when Run stops. Run logs
// an error and retries the event: immediately, after 5 seconds, then at growing
// intervals of up to a day.
type Notifier interface {
	Notify(ctx context.Context, e Event) error
}

// A NotifierFunc is a function that is a Notifier.
type NotifierFunc func(ctx context.Context, e Event) error

// Notify calls f.
func (f NotifierFunc) Notify(ctx context.Context, e Event) error { return f(ctx, e) }
