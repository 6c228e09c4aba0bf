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
// The nouns are those of package rail, and of package schedule for timetables; this
// package names them too. The rules stand in packages below it. A [Store] keeps bytes, a
// [PaymentGateway] moves money, a [Notifier] takes events away; all three can
// be supplied. Nothing starts in New: the only background work is
// [Service.Run]. The package reads no environment, keeps no globals, logs
// nothing unless given a logger, and any number of services live in one process.
package traintravel

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/agenda"
	"github.com/traintravel/traintravel/internal/desk"
	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/internal/loading"
	"github.com/traintravel/traintravel/internal/payments"
	"github.com/traintravel/traintravel/internal/search"
	"github.com/traintravel/traintravel/internal/seats"
	"github.com/traintravel/traintravel/internal/stations"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/internal/tz"
	"github.com/traintravel/traintravel/internal/webhooks"
	"github.com/traintravel/traintravel/rail"
)

// A Service sells trips. Make one with New; its methods are safe for
// concurrent use. Several services, in one process or in many, may share a
// store that allows it.
type Service struct {
	given     Store // to New
	store     Store // the same, which may be closed: see Guard
	opts      Options
	log       *slog.Logger
	flow      *payments.Flow // of payments
	books     *ledger.Books
	timetable *timetable.Source
	stock     *seats.Stock
	finder    *search.Finder
	desk      *desk.Desk
	loader    *loading.Loader
	wakeup    *agenda.Wakeup // tells Run that there may be something to do
	webhooks  *webhooks.Subscriptions
	poster    *webhooks.Poster
	clocked   bool // the clock was supplied
}

const longestCharge = 24 * time.Hour

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
			return nil, rail.Invalid("Options."+d.name, "%v is negative", *d.value)
		}
		if *d.value == 0 {
			*d.value = d.zero
		}
		*d.value = min(*d.value, webhooks.Longest)
	}
	if opts.ChargeTimeout > longestCharge {
		return nil, rail.Invalid("Options.ChargeTimeout", "%v is longer than %v", opts.ChargeTimeout, longestCharge)
	}
	if opts.Retain != 0 && opts.Retain < time.Hour {
		return nil, rail.Invalid("Options.Retain", "%v is less than an hour", opts.Retain)
	}
	opts.Retain = min(opts.Retain, webhooks.Longest)
	for _, err := range []error{checkTerms(opts.RefundTerms), stations.CheckCities(opts.Cities), opts.Declines.Check(), opts.Holds.Check()} {
		if err != nil {
			return nil, err
		}
	}
	if opts.RefundTerms == "" && opts.Cancel == nil {
		opts.RefundTerms = wholeRefund
	}
	switch {
	case opts.KeepUnpaid == 0:
		opts.KeepUnpaid = ledger.KeepUnpaid
	case opts.KeepUnpaid > 0 && opts.KeepUnpaid < ledger.LeastUnpaid:
		return nil, rail.Invalid("Options.KeepUnpaid", "%v is less than %v", opts.KeepUnpaid, ledger.LeastUnpaid)
	}
	opts.KeepUnpaid = min(opts.KeepUnpaid, webhooks.Longest)
	if opts.Webhooks != nil {
		w := *opts.Webhooks
		w.Operator = slices.Clone(w.Operator)
		if err := w.Check(); err != nil {
			return nil, err
		}
		opts.Webhooks = &w
	}
	if store == nil {
		return nil, rail.Invalid("store", "is nil")
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
	s := &Service{given: store, store: Guard(store), opts: opts, log: opts.Logger, wakeup: agenda.NewWakeup(), clocked: clocked}
	s.books = s.newBooks()
	s.timetable = timetable.NewSource(s.store, s.books.Zones, slices.Clone(opts.Cities), opts.Price != nil)
	s.stock = seats.NewStock()
	s.finder = &search.Finder{Store: s.store, Stock: s.stock, Hook: opts.Price, Log: s.log, Omit: s.books.Omit}
	s.desk = &desk.Desk{Books: s.books, Timetable: s.timetable, Inventories: s.finder.Inventories, Retain: opts.Retain}
	s.loader = &loading.Loader{Books: s.books, Timetable: s.timetable, NewID: opts.NewID}
	s.flow = &payments.Flow{Books: s.books, Timetable: s.timetable, Gateway: opts.Gateway, Timeout: opts.ChargeTimeout, NewID: opts.NewID}
	s.webhooks = &webhooks.Subscriptions{Books: s.books, Opts: opts.Webhooks, NewID: s.newID}
	s.poster = &webhooks.Poster{Books: s.books, Opts: opts.Webhooks}
	return s, nil
}

// wholeRefund is the text for travellers of a service that refunds the whole price.
const wholeRefund = "You can cancel until departure and get the whole price back."

// maxTerms is the maximum length of Options.RefundTerms in bytes.
const maxTerms = 500

func checkTerms(terms string) error {
	if len(terms) > maxTerms || !utf8.ValidString(terms) || strings.ContainsFunc(terms, unicode.IsControl) {
		return rail.Invalid("Options.RefundTerms", "is not valid: want one line of UTF-8 text of at most %d bytes", maxTerms)
	}
	return nil
}

// RefundTerms returns the text about refunds for travellers: Options.RefundTerms, or a
// description of the default without Options.Cancel. It is empty if not known.
func (s *Service) RefundTerms() string { return s.opts.RefundTerms }

// newBooks returns the books of the service's store.
func (s *Service) newBooks() *ledger.Books {
	b := &ledger.Books{
		Store: s.store, Zones: new(tz.Zones), Now: s.now, Log: s.log, Observer: &s.opts.Observer, Committed: s.committed,
		Terms: ledger.Terms{
			AnyAmount: s.opts.AnyAmount, HoldFor: s.opts.HoldFor, PendingFor: s.opts.PendingFor, KeepUnpaid: s.opts.KeepUnpaid, Declines: s.opts.Declines, Holds: s.opts.Holds,
			CardKey: ledger.NewCardKey(s.opts.FingerprintKey), FingerprintKey: s.opts.FingerprintKey, Notified: s.opts.Notifier != nil,
		},
	}
	if w := s.opts.Webhooks; w != nil {
		b.Terms.Posted, b.Terms.Backlog = len(w.Operator) > 0, w.MaxBacklog()
	}
	return b
}

// committed does what follows an update that is durable: the next search sees it, and Run
// is woken for what it queued.
func (s *Service) committed(l *ledger.Ledger) {
	if l.Webhooks {
		s.poster.Changes.Add(1)
	}
	for _, e := range l.Runs {
		if e.Changed {
			s.stock.Keep(e.ID, seats.Stocked{Inv: e.Inv, At: s.stock.Now()})
		}
	}
	s.wakeup.Add(l.Due)
}

// now is the service's clock, to the nanosecond and in UTC, without the
// monotonic reading, which is not stored.
func (s *Service) now() time.Time { return s.opts.Now().Round(0).UTC() }

func (s *Service) newID() uuid.UUID { return s.opts.NewID() }

// begin tells the observer of an operation. What it returns is deferred:
//
//	ctx, end := s.begin(ctx, "Trip")
//	defer end(&err)
func (s *Service) begin(ctx context.Context, operation string) (context.Context, func(*error)) {
	if s.opts.Observer.Begin == nil {
		return ctx, unobserved
	}
	ctx, end := s.opts.Observer.Begin(ctx, operation)
	return ctx, func(err *error) { end(*err) }
}

func unobserved(*error) {}

// Ready returns nil if the service can sell: its store can be read and has a timetable
// (otherwise the error wraps [ErrNoTimetable]), and takes updates, as far as a [ReadyStore]
// can tell. It is for health checks: cheap enough to call every second, and safe for
// concurrent use.
func (s *Service) Ready(ctx context.Context) (err error) {
	ctx, end := s.begin(ctx, "Ready")
	defer end(&err)
	if _, err := s.timetable.Snapshot(ctx); err != nil {
		return err
	}
	if r, ok := s.given.(ReadyStore); ok {
		return r.Ready(ctx)
	}
	return nil
}
