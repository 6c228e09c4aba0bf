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

// An Event tells that something happened to a booking. It is queued in the
// same update that makes it happen.
type Event struct {
	// ID is the same each time the event is delivered, and no other event's.
	ID      uuid.UUID
	Type    EventType
	Created time.Time
	// Booking is the booking in the status that the event brought about.
	Booking Booking
	// Payment is the payment that bookingConfirmed or paymentFailed is about,
	// nil for other events.
	Payment *Payment
}

// A Notifier takes events to whoever wants them: a queue, a webhook, a mail.
// Service.Run calls Notify for each event until it returns nil, at least
// once and perhaps more than once after a crash, in no promised order, from
// several goroutines at once. Its context ends after a minute or when Run is
// told to stop. An error is logged and the event tried again later: at once,
// after 5 seconds, and more and more rarely up to once a day.
type Notifier interface {
	Notify(ctx context.Context, e Event) error
}

// A NotifierFunc is a function that is a Notifier.
type NotifierFunc func(ctx context.Context, e Event) error

// Notify calls f.
func (f NotifierFunc) Notify(ctx context.Context, e Event) error { return f(ctx, e) }
