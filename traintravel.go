// Package traintravel searches, books and sells train trips.
//
// A program opens a store, makes a [Service], gives it a timetable, and calls
// its methods:
//
//	store, err := boltstore.Open("trains.db", nil)
//	service, err := traintravel.New(store, traintravel.Options{Gateway: gateway})
//	_, err = service.LoadTimetable(ctx, timetable)
//	go service.Run(ctx)
//	trips, err := service.SearchTrips(ctx, traintravel.TripQuery{…})
//	booking, err := service.CreateBooking(ctx, caller, traintravel.NewBooking{…})
//	payment, err := service.PayBooking(ctx, caller, booking.ID, traintravel.NewPayment{…})
//
// The words are those of the trade: a train of the timetable on one service
// date is a run, a ride on a run is a leg, one to four legs are a trip, and a
// trip with a passenger is a booking: held for an hour, confirmed once paid.
// Each place of a run is sold once for each section of its line.
//
// The rules stand in this package and nowhere else. A [Store] keeps bytes, a
// [PaymentGateway] moves money, a [Notifier] takes events away; all three can
// be supplied. Nothing starts in New: the only background work is
// [Service.Run]. The package reads no environment, keeps no globals, logs
// nothing unless given a logger, and any number of services live in one process.
package traintravel

import (
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"
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

// A Service sells trips. Make one with New; its methods are safe for
// concurrent use. Several services, in one process or in many, may share a
// store that allows it.
type Service struct {
	given     Store // to New
	store     Store // the same, which may be closed: see Guard
	opts      Options
	log       *slog.Logger
	flow      *flow // of payments
	books     *books
	timetable *source
	stock     *stock
	finder    *finder
	desk      *desk
	loader    *loader
	wakeup    *wakeup // tells Run that there may be something to do
	webhooks  *subscriptions
	poster    *poster
	clocked   bool // the clock was supplied
}

const (
	// longest keeps instants within what a time can hold.
	longest = 100 * 365 * 24 * time.Hour

	longestCharge = 24 * time.Hour
)

// New returns a Service on a store. It starts nothing and reads nothing. It
// returns an [*InvalidError] for an option out of its range.
func New(store Store, opts Options) (*Service, error) {
	for _, d := range []struct {
		name  string
		value *time.Duration
		zero  time.Duration
	}{
		{"HoldFor", &opts.HoldFor, time.Hour},
		{"PendingFor", &opts.PendingFor, 24 * time.Hour},
		{"ChargeTimeout", &opts.ChargeTimeout, 30 * time.Second},
		{"Horizon", &opts.Horizon, 365 * 24 * time.Hour},
	} {
		if *d.value < 0 {
			return nil, invalid("Options."+d.name, "%v is negative", *d.value)
		}
		if *d.value == 0 {
			*d.value = d.zero
		}
		*d.value = min(*d.value, longest)
	}
	if opts.ChargeTimeout > longestCharge {
		return nil, invalid("Options.ChargeTimeout", "is longer than %v", longestCharge)
	}
	if opts.Retain != 0 && opts.Retain < time.Hour {
		return nil, invalid("Options.Retain", "%v is less than an hour", opts.Retain)
	}
	opts.Retain = min(opts.Retain, longest)
	if err := checkCities(opts.Cities); err != nil {
		return nil, err
	}
	if err := opts.Declines.check(); err != nil {
		return nil, err
	}
	if err := opts.Holds.check(); err != nil {
		return nil, err
	}
	switch {
	case opts.KeepUnpaid == 0:
		opts.KeepUnpaid = keepUnpaid
	case opts.KeepUnpaid > 0 && opts.KeepUnpaid < leastUnpaid:
		return nil, invalid("Options.KeepUnpaid", "%v is less than %v", opts.KeepUnpaid, leastUnpaid)
	}
	opts.KeepUnpaid = min(opts.KeepUnpaid, longest)
	if opts.Webhooks != nil {
		w := *opts.Webhooks
		w.Operator = slices.Clone(w.Operator)
		if err := w.check(); err != nil {
			return nil, err
		}
		opts.Webhooks = &w
	}
	if store == nil {
		return nil, invalid("store", "is nil")
	}
	clocked := opts.Now != nil
	if !clocked {
		opts.Now = time.Now
	}
	if opts.NewID == nil {
		opts.NewID = uuid.New
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Service{given: store, store: Guard(store), opts: opts, log: opts.Logger, wakeup: newWakeup(), clocked: clocked}
	s.books = s.newBooks()
	s.timetable = newSource(s.store, s.books.zones, slices.Clone(opts.Cities), opts.Price != nil)
	s.stock = newStock()
	s.finder = &finder{store: s.store, stock: s.stock, hook: opts.Price, log: s.log, omit: s.books.omit}
	s.desk = &desk{books: s.books, timetable: s.timetable, inventories: s.finder.inventories, retain: opts.Retain}
	s.loader = &loader{books: s.books, timetable: s.timetable, newID: opts.NewID}
	s.flow = &flow{books: s.books, timetable: s.timetable, gateway: opts.Gateway, timeout: opts.ChargeTimeout, newID: opts.NewID}
	s.webhooks = &subscriptions{books: s.books, opts: opts.Webhooks, newID: s.newID}
	s.poster = &poster{books: s.books, opts: opts.Webhooks}
	return s, nil
}

// newBooks returns the books of the service's store.
func (s *Service) newBooks() *books {
	b := &books{
		store: s.store, zones: new(zones), now: s.now, log: s.log, observer: &s.opts.Observer, committed: s.committed,
		terms: terms{
			anyAmount: s.opts.AnyAmount, holdFor: s.opts.HoldFor, pendingFor: s.opts.PendingFor, keepUnpaid: s.opts.KeepUnpaid, declines: s.opts.Declines, holds: s.opts.Holds,
			cardKey: newCardKey(s.opts.FingerprintKey), fingerprintKey: s.opts.FingerprintKey, notified: s.opts.Notifier != nil,
		},
	}
	if w := s.opts.Webhooks; w != nil {
		b.terms.posted, b.terms.backlog = len(w.Operator) > 0, w.backlog()
	}
	return b
}

// committed does what follows an update that is durable: the next search sees it, and Run
// is woken for what it queued.
func (s *Service) committed(l *ledger) {
	if l.webhooks {
		s.poster.changes.Add(1)
	}
	for _, e := range l.runs {
		if e.changed {
			s.stock.keep(e.id, stocked{e.inv, s.stock.now()})
		}
	}
	s.wakeup.add(l.due)
}

// now is the service's clock, to the nanosecond and in UTC, without the
// monotonic reading, which is not stored.
func (s *Service) now() time.Time { return s.opts.Now().Round(0).UTC() }

func (s *Service) newID() uuid.UUID { return s.opts.NewID() }
