package traintravel

import (
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/webhooks"
	"github.com/traintravel/traintravel/rail"
)

// Options configures a Service. The zero value is valid: such a service takes no
// payments and sends no notifications. A panic in one of its functions reaches the
// caller of the method that called it, and the method has no effect.
type Options struct {
	// Gateway moves money. Nil refuses every payment with ErrNoGateway, and
	// leaves payments in progress to another service on the store.
	Gateway PaymentGateway

	// Notifier receives events from Run. Nil means that no events are queued for
	// a Notifier: set it on every service on a store, or on none.
	Notifier Notifier

	// Logger receives messages for the operator. Nil logs nothing.
	Logger *slog.Logger

	// Observer receives reports of what the service does. The zero value reports nothing.
	Observer Observer

	// Now is the clock that decides what has departed and expired. Nil is
	// time.Now. It must be safe for concurrent use. Keep the clock skew between
	// services on one store to seconds: a service cancels a charge that another one
	// began if the gateway does not know it a minute after its deadline. How services
	// share work does not depend on this clock (see [Service.Run]).
	Now func() time.Time

	// Webhooks posts events to subscribers. Nil refuses new subscriptions with
	// ErrNoWebhooks; events of existing subscriptions wait for a service on the
	// store that has it.
	Webhooks *WebhookOptions

	// NewID returns random UUIDs (version 4). The service takes the random
	// bits of its IDs from them. Nil is uuid.New.
	NewID func() uuid.UUID

	// Price returns the price of a trip from its legs. The trip's own Price is that of
	// the timetable's fares and prices, zero if it has none. False means that the trip
	// is not for sale. A price must be above zero and at most 1e16 minor units. A search
	// omits a trip with any other price, and logs its train once; getting such a trip by
	// its ID, or booking it, is an error. Nil uses the fares. Price is called for each trip
	// found and each booking made.
	Price func(Trip) (Money, bool)

	// Cancel returns the refund of a confirmed booking that is cancelled at an instant
	// before departure, from zero to its price. Nil refunds the whole price.
	Cancel func(Booking, time.Time) (Money, error)

	// CheckName refuses passenger names, in addition to the built-in checks. Its error
	// gives the reason and continues a sentence that begins with the field, such as
	// "has a digit". Nil accepts all others. Package ticket has a function that refuses
	// names that its tickets cannot show.
	CheckName func(name string) error

	// RefundTerms tells travellers how much Cancel refunds, in a sentence or two of at most
	// 500 bytes; they see it before they pay, and on their tickets. If it is empty, a
	// service with a nil Cancel describes the default, and one with a Cancel says nothing.
	RefundTerms string

	// HoldFor is how long a booking may wait for its payment. Zero is one
	// hour; the maximum is a hundred years. A hold ends at departure at the
	// latest.
	HoldFor time.Duration

	// PendingFor is how long a payment with an unknown outcome keeps the
	// places, until departure at the latest. Then the booking expires, and the
	// service asks the gateway to cancel the charge if it is a [Canceller]. Zero is
	// 24 hours; the maximum is a hundred years.
	PendingFor time.Duration

	// ChargeTimeout is how long the gateway may take to answer. Zero is 30
	// seconds; more than 24 hours are refused.
	ChargeTimeout time.Duration

	// Horizon is how far ahead trips are sold. Zero is 365 days; the maximum is a hundred
	// years.
	Horizon time.Duration

	// Retain is how long after the end of a journey Run removes personal data from the
	// booking, as [Service.EraseSubject] does. Zero is never; less than an hour is
	// refused. An event that is not distributed to subscriptions yet delays it, by a week
	// at most.
	Retain time.Duration

	// Declines bounds declined payments. The zero value is sensible.
	Declines DeclineLimits

	// Holds limits the unpaid bookings that a user may hold at a time. The zero value suits
	// people; a program that books for many travellers as one user needs higher limits, or
	// must be in Holds.Clients.
	Holds HoldLimits

	// KeepUnpaid is how long after the end of its journey Run keeps a booking that ended
	// unpaid, because its hold expired or was cancelled. Then Run removes it with its attempts
	// to pay; the journey counts as ended at most 30 days after the hold. Bookings with a
	// payment that succeeded, was refunded, or was settled by an operator are always kept;
	// bookings with a payment that may still succeed, or with an undelivered event, are kept
	// until that is resolved. Zero is a week; a negative value keeps all; less than 48 hours is
	// refused, because idempotent requests can be repeated for 24 hours.
	KeepUnpaid time.Duration

	// Cities have names by which Stations finds their stations, in addition to the names in
	// the timetable: Vienna for Wien in "Wien Hbf". Package cities has those of Europe; add
	// to them or replace them. Nil is none. If a name of a city is part of a station's
	// name, and the station is in the same country and no further from the city than ten
	// times its Radius and 50 km, the city's other names find the station too. Other
	// stations within its Radius match its names as they match an address. A Search
	// that is the name of a city is not corrected to a similar name, even if the city has no
	// station. New refuses an invalid city. It keeps the names, so do not change them
	// afterwards.
	Cities []City

	// AnyAmount accepts any amount in any currency as payment, as the
	// documented API's published examples send it. For trying out.
	AnyAmount bool

	// FingerprintKey keys the fingerprints that distinguish idempotent requests.
	// Without it, two payments with the same idempotency key that differ only in the
	// hidden digits of the card count as the same. It also keys the card hashes that
	// Declines.Card counts by. Services on one store must use the same key.
	FingerprintKey []byte
}

type (
	// HoldLimits bounds how many bookings a user may hold at a time without having paid for
	// them.
	HoldLimits = rail.HoldLimits
	// A HoldsError refuses a booking because the user has reached the limit of unpaid ones.
	// Nothing was booked. After paying for or cancelling one of them, the user can book again.
	HoldsError = rail.HoldsError
	// An Observer receives reports of what a [Service] does, for metrics and traces.
	Observer = rail.Observer
	// FailingWork is the number of items of one kind of work that fail.
	FailingWork = rail.FailingWork
	// An UnreadableRecord describes a record that was skipped.
	UnreadableRecord = rail.UnreadableRecord
	// A BookingChange is a change of a booking's status. From is zero for a new booking.
	BookingChange = rail.BookingChange
	// A PaymentChange is a change of the status of a payment or refund. From is empty for a
	// new one.
	PaymentChange = rail.PaymentChange
	// An Attempt is the result of one attempt to deliver an event.
	Attempt = rail.Attempt
	// A PaymentGateway moves the money.
	PaymentGateway = rail.PaymentGateway
	// DeclineLimits bounds declined attempts to pay.
	DeclineLimits = rail.DeclineLimits
	// A DeclinesError refuses an attempt to pay because too many were declined within an
	// hour. Nothing was charged.
	DeclinesError = rail.DeclinesError
	// A Notifier forwards events, for example to a queue, a webhook or mail.
	Notifier = rail.Notifier
	// A NotifierFunc is a function that is a Notifier.
	NotifierFunc = rail.NotifierFunc
	// WebhookOptions configures how a service posts events to subscribers.
	WebhookOptions = webhooks.WebhookOptions
	// A City is a place with several names, such as its names in several languages.
	// Package cities has Europe's larger railway cities.
	City = rail.City
)
