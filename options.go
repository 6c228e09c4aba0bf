package traintravel

import (
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/webhooks"
	"github.com/traintravel/traintravel/rail"
)

// Options are the settings of a Service. The zero value works: it cannot take
// payments, and nobody is notified. A panic of a function in them reaches the
// caller of the method that called it, with nothing done.
type Options struct {
	// Gateway moves money. Nil refuses every payment with ErrNoGateway, and
	// leaves those under way to another service of the store.
	Gateway PaymentGateway

	// Notifier is told of events by Run. Nil means that nobody wants to know,
	// and that no events are queued: set it on every service of a store, or
	// on none.
	Notifier Notifier

	// Logger is told what an operator should know. Nil is silent.
	Logger *slog.Logger

	// Observer is told what the service does. The zero value is nobody.
	Observer Observer

	// Now is the clock that decides what has departed and expired. Nil is
	// time.Now. It must be safe for concurrent use. The clocks of services
	// that share a store should agree to seconds: a charge that one has begun
	// and the gateway has not heard of is given up when its deadline has
	// passed by a minute on another's clock. Who does what of the work that
	// they share is decided without it (see [Service.Run]).
	Now func() time.Time

	// Webhooks posts events to those who subscribe to them. Nil refuses to subscribe
	// with ErrNoWebhooks; events for those who have subscribed already wait for a
	// service on the store that has it.
	Webhooks *WebhookOptions

	// NewID returns random UUIDs (version 4). The service takes the random
	// bits of its IDs from them. Nil is uuid.New.
	NewID func() uuid.UUID

	// Price makes the price of a trip from its legs; the trip's own Price is
	// what the fares and prices of the timetable say, zero if they say nothing. False
	// means that the trip is not for sale. A price is above zero and at most
	// 1e16 minor units, the most that can be paid: a search leaves out a trip of which it
	// is another, and the log names its train once; to ask for the trip by its ID, or to book
	// it, is an error. Nil takes the fares. It is
	// called for each trip found and each booking made.
	Price func(Trip) (Money, bool)

	// Cancel says how much of the price a confirmed booking gets back when it
	// is cancelled at an instant before departure, from zero to its price.
	// Nil gives everything back.
	Cancel func(Booking, time.Time) (Money, error)

	// CheckName refuses names of passengers besides those that are refused in any case. Its
	// error says what is wrong, and reads on from the field: "has a digit". Nil takes all
	// others. Package ticket has one, for names that its tickets cannot show.
	CheckName func(name string) error

	// RefundTerms tells travellers what Cancel gives back, in a sentence or two of at most
	// 500 bytes: they read it before they pay, and on their tickets. Empty says what a nil
	// Cancel does, and says nothing beside a Cancel.
	RefundTerms string

	// HoldFor is how long a booking may wait for its payment. Zero is one
	// hour; more than a hundred years are taken as a hundred. A hold ends at
	// departure at the latest.
	HoldFor time.Duration

	// PendingFor is how long a payment whose outcome is unknown keeps the
	// places, until departure at the latest. Then the booking expires, and the
	// gateway is asked to cancel the charge, if it is a [Canceller]. Zero is 24
	// hours; more than a hundred years are taken as a hundred.
	PendingFor time.Duration

	// ChargeTimeout is how long the gateway may take to answer. Zero is 30
	// seconds; more than 24 hours are refused.
	ChargeTimeout time.Duration

	// Horizon is how far ahead trips are sold. Zero is 365 days; more than a
	// hundred years are taken as a hundred.
	Horizon time.Duration

	// Retain is how long after the end of a journey Run removes from a booking who it
	// was for, as [Service.EraseSubject] does. Zero is never; less than an hour is
	// refused.
	Retain time.Duration

	// Declines bounds declined payments. The zero value is sensible.
	Declines DeclineLimits

	// Holds bounds what a user may hold unpaid at a time. The zero value is sensible for
	// people; a program that books for many travellers as one user needs more, or to be
	// one of Holds.Clients.
	Holds HoldLimits

	// KeepUnpaid is how long after the end of its journey Run keeps a booking that ended
	// unpaid: its hold expired, or was cancelled. Then it is removed, with its attempts to
	// pay; the journey counts as over 30 days after the hold ended if it is further ahead.
	// Kept for good are bookings of which a payment has succeeded, was given back, or was
	// settled by an operator; and for the time being those of which a payment may still
	// succeed or an event waits to be delivered. Zero is a week, a negative value is for
	// ever; less than 48 hours is refused, because requests are answered again for 24.
	KeepUnpaid time.Duration

	// Cities have names by which Stations finds the stations in them, beside those that
	// the timetable gives: Vienna for Wien in "Wien Hbf". Package cities has those of
	// Europe; add to them or replace them. Nil is none. Where one of a city's names is
	// part of a station's name, and the station lies in the same country, no further
	// from the city than ten times its Radius and 50 km, the others are found in its
	// place. Other stations within its Radius are found by its names as they are by an
	// address. A Search that is the name of a city is not taken for another name that
	// is misspelt, even if the city has no station. New refuses a city that is not
	// well-formed; it keeps the names, so do not change them afterwards.
	Cities []City

	// AnyAmount accepts any amount in any currency as payment, as the
	// documented API's published examples send it. For trying out.
	AnyAmount bool

	// FingerprintKey keys the fingerprints by which idempotent requests are
	// told apart. Without it, two payments under one idempotency key that
	// differ only in the hidden digits of the card are taken for the same. It also keys
	// the hashes of cards by which Declines.Card counts.
	// Services on one store share it.
	FingerprintKey []byte
}

type (
	// HoldLimits bounds how many bookings a user may hold at a time without having paid for
	// them.
	HoldLimits = rail.HoldLimits
	// A HoldsError refuses a booking because the user holds as many unpaid ones as may be.
	// Nothing was booked. To pay for one of them, or to cancel one, makes room at once.
	HoldsError = rail.HoldsError
	// An Observer is told what a [Service] does, for metrics and traces.
	Observer = rail.Observer
	// FailingWork is how many things of one kind of work fail.
	FailingWork = rail.FailingWork
	// An UnreadableRecord is one that was left out.
	UnreadableRecord = rail.UnreadableRecord
	// A BookingChange is what happened to a booking. From is zero if it is new.
	BookingChange = rail.BookingChange
	// A PaymentChange is what happened to a payment, or to a refund. From is empty if it is
	// new.
	PaymentChange = rail.PaymentChange
	// An Attempt is what came of one attempt to deliver an event.
	Attempt = rail.Attempt
	// A PaymentGateway moves the money.
	PaymentGateway = rail.PaymentGateway
	// DeclineLimits bounds declined attempts to pay.
	DeclineLimits = rail.DeclineLimits
	// A DeclinesError refuses an attempt to pay because too many were declined within an
	// hour. Nothing was charged.
	DeclinesError = rail.DeclinesError
	// A Notifier takes events to whoever wants them: a queue, a webhook, a mail.
	Notifier = rail.Notifier
	// A NotifierFunc is a function that is a Notifier.
	NotifierFunc = rail.NotifierFunc
	// WebhookOptions are how a service posts events to those who have subscribed.
	WebhookOptions = webhooks.WebhookOptions
	// A City is a place that people know by several names, such as its names in several
	// languages. Package cities has those of Europe's larger railway cities.
	City = rail.City
)
