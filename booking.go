package traintravel

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/redact"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/rail"
)

// A NewBooking asks for a hold on a trip.
type NewBooking struct {
	TripID        uuid.UUID
	PassengerName string // 1 to 200 characters after trimming (see [rail.TrimName]), none of them invisible (see [rail.BadName])
	HasBicycle    bool
	HasDog        bool
	// IdempotencyKey makes it safe to retry: for 24 hours, a request of the same
	// caller with the same key gets the first result again, and a different request
	// with that key gets ErrKeyReused. It has at most 255 bytes; empty means no key.
	IdempotencyKey string
}

func (n NewBooking) normalize() (NewBooking, error) {
	n.PassengerName = rail.TrimName(n.PassengerName)
	if reason := rail.BadText(n.PassengerName, true); reason != "" {
		return n, rail.Invalid("passenger_name", "%s", reason)
	}
	if redact.HoldsCardNumber(n.PassengerName) {
		return n, rail.Invalid("passenger_name", rail.CardInText)
	}
	return n, nil
}

func (n NewBooking) checkName() error {
	if reason := rail.BadName(n.PassengerName); reason != "" {
		return rail.Invalid("passenger_name", "%s", reason)
	}
	return nil
}

// CreateBooking holds a trip for the caller: places on all its legs or none,
// for Options.HoldFor and at most until departure, and queues [BookingCreated].
//
// It returns ErrNotFound for a trip that does not exist (any more), the
// refusals ErrSoldOut, ErrBicyclesNotAllowed, ErrNoBicycleSpace,
// ErrDogsNotAllowed and ErrDeparted, a [*HoldsError], ErrKeyReused, ErrNoTimetable, or
// an [*InvalidError].
func (s *Service) CreateBooking(ctx context.Context, by Caller, n NewBooking) (_ Booking, err error) {
	ctx, end := s.begin(ctx, "CreateBooking")
	defer end(&err)
	if err := by.Check(); err != nil {
		return Booking{}, err
	}
	typed := strings.TrimSpace(n.PassengerName) // as fingerprints of earlier versions have it
	n, err = n.normalize()
	if err != nil {
		return Booking{}, err
	}
	// Earlier versions accepted such names: a repeated request gets its first answer.
	badName := n.checkName()
	if check := s.opts.CheckName; check != nil && badName == nil {
		if err := check(n.PassengerName); err != nil {
			return Booking{}, rail.Invalid("passenger_name", "%s", err.Error())
		}
	}
	idem, err := s.books.Idempotency(by, n.IdempotencyKey, "bookings", func(f *records.Fingerprint) {
		f.ID(n.TripID)
		f.Str(typed)
		f.Flags(n.HasBicycle, n.HasDog)
	})
	if err != nil {
		return Booking{}, err
	}
	if badName != nil && idem.None() {
		return Booking{}, badName
	}
	now := s.now()
	own := s.books.Booker(by, now, s.newID())
	for {
		sn, err := s.timetable.Snapshot(ctx)
		if err != nil {
			return Booking{}, err
		}
		o, refusal := s.order(sn, n, now)
		refusal = cmp.Or(badName, refusal)
		if refusal != nil && idem.None() {
			return Booking{}, refusal
		}
		o.Booking.Owner, o.Booking.Client = by.Subject, by.Client
		var b Booking
		err = s.books.Update(ctx, now, func(l *ledger.Ledger) (err error) {
			b, err = l.Create(sn, o, refusal, own, idem)
			return err
		})
		if errors.Is(err, timetable.ErrStale) {
			s.timetable.Expire()
			continue
		}
		if err != nil {
			return Booking{}, err
		}
		return b, nil
	}
}

// order checks a request against the timetable and prices it.
func (s *Service) order(sn *timetable.Snapshot, n NewBooking, now time.Time) (ledger.Order, error) {
	rides, err := sn.Resolve(n.TripID)
	if err != nil {
		return ledger.Order{}, err
	}
	trip := sn.Trip(rides)
	departs := trip.Origin().Time
	switch {
	case departs.After(now.Add(s.opts.Horizon)):
		return ledger.Order{}, ErrNotFound
	case !departs.After(now):
		return ledger.Order{}, ErrDeparted
	case n.HasBicycle && trip.Bicycles != rail.Allowed:
		return ledger.Order{}, ErrBicyclesNotAllowed
	case n.HasDog && trip.Dogs != rail.Allowed:
		return ledger.Order{}, ErrDogsNotAllowed
	}
	price, ok, err := s.finder.Price(rides, trip)
	if err != nil {
		return ledger.Order{}, err
	}
	if !ok {
		return ledger.Order{}, ErrNotFound
	}
	b := Booking{
		TripID: n.TripID, PassengerName: n.PassengerName, HasBicycle: n.HasBicycle, HasDog: n.HasDog,
		Status: Held, Created: now, Changed: now, Expires: now.Add(s.opts.HoldFor), Price: price, Legs: trip.Legs,
	}
	if departs.Before(b.Expires) {
		b.Expires = departs
	}
	return ledger.Order{Rides: rides, Booking: b}, nil
}

// Booking returns one of the caller's bookings. It returns ErrNotFound for expired and
// cancelled bookings and those of other users; but it returns a booking that the operator
// has cancelled (see [Service.CancelRun]) until 30 days after its departure, or until Run
// removes it because it was not paid (see [Options].KeepUnpaid).
func (s *Service) Booking(ctx context.Context, by Caller, id uuid.UUID) (_ Booking, err error) {
	ctx, end := s.begin(ctx, "Booking")
	defer end(&err)
	b, err := s.books.OwnBooking(ctx, s.store, by, id)
	if err != nil {
		return Booking{}, err
	}
	if !b.Shown(s.now()) {
		return Booking{}, ErrNotFound
	}
	return b, nil
}

// Bookings lists the caller's bookings that [Service.Booking] returns, newest first. It
// skips bookings that cannot be read, and returns an [*InvalidError] for an invalid page.
func (s *Service) Bookings(ctx context.Context, by Caller, p Page) (_ List[Booking], err error) {
	ctx, end := s.begin(ctx, "Bookings")
	defer end(&err)
	l, left, err := s.lister(by).Bookings(ctx, p)
	s.books.Omit(ctx, left)
	return l, err
}

// PastBookings lists the caller's bookings that have ended, newest first: those that were
// travelled, those that were cancelled by anybody, and those paid too late. It omits expired
// holds. Bookings are listed as long as they are kept: see Options.Retain and
// Options.KeepUnpaid. Bookings of earlier versions are listed once [Service.Run] has found
// them, which it does first.
//
// It returns an [*InvalidError] for an invalid page.
func (s *Service) PastBookings(ctx context.Context, by Caller, p Page) (_ List[PastBooking], err error) {
	ctx, end := s.begin(ctx, "PastBookings")
	defer end(&err)
	l, left, err := s.lister(by).Past(ctx, p)
	s.books.Omit(ctx, left)
	return l, err
}

// PastBooking returns one of the bookings that [Service.PastBookings] lists, or ErrNotFound.
func (s *Service) PastBooking(ctx context.Context, by Caller, id uuid.UUID) (_ PastBooking, err error) {
	ctx, end := s.begin(ctx, "PastBooking")
	defer end(&err)
	b, err := s.books.OwnBooking(ctx, s.store, by, id)
	if err != nil {
		return PastBooking{}, err
	}
	if !b.Told(s.now()) {
		return PastBooking{}, ErrNotFound
	}
	var left records.Omissions
	past, err := records.PastOf(ctx, s.store, []Booking{b}, &left)
	s.books.Omit(ctx, left)
	if err != nil {
		return PastBooking{}, err
	}
	return past[0], nil
}

func (s *Service) lister(by Caller) *records.Lister {
	return &records.Lister{Store: s.store, By: by, Now: s.now(), Zones: s.books.Zones}
}

// CancelBooking cancels one of the caller's bookings and frees its places. A hold
// ends; for a confirmed booking before departure, the same update records the
// refund that Options.Cancel grants, and [Service.Run] makes it. It queues
// [BookingCancelled].
//
// It returns ErrNotFound if the booking has ended or is not the caller's,
// ErrCancelled if the operator has cancelled it and [Service.Booking] still returns
// it, ErrPaymentInProgress while a payment is in progress, and ErrDeparted for a
// confirmed booking after departure.
func (s *Service) CancelBooking(ctx context.Context, by Caller, id uuid.UUID) (err error) {
	ctx, end := s.begin(ctx, "CancelBooking")
	defer end(&err)
	return s.cancelBooking(ctx, by, id, nil)
}

// CancelUnchanged is like [Service.CancelBooking], but only if the booking is still as
// the caller read it, with no payment made or begun since. Otherwise it returns
// ErrChanged and changes nothing.
func (s *Service) CancelUnchanged(ctx context.Context, by Caller, was Booking) (err error) {
	ctx, end := s.begin(ctx, "CancelUnchanged")
	defer end(&err)
	return s.cancelBooking(ctx, by, was.ID, records.EncodeBooking(&was))
}

// cancelBooking cancels a booking, whatever it was if was is nil.
func (s *Service) cancelBooking(ctx context.Context, by Caller, id uuid.UUID, was []byte) error {
	now := s.now()
	b, err := s.books.OwnBooking(ctx, s.store, by, id)
	if err != nil {
		return err
	}
	refund, refused := s.terms(b, now)
	err = s.books.Update(ctx, now, func(l *ledger.Ledger) error {
		b, err := l.Booking(id)
		if err != nil {
			return err
		}
		switch {
		case !b.OwnedBy(by):
			return ErrNotFound
		case was != nil && !bytes.Equal(was, records.EncodeBooking(b)):
			return ErrChanged
		}
		return l.Cancel(b, refund, refused)
	})
	return err
}

// terms asks Options.Cancel what a confirmed booking is worth when cancelled.
func (s *Service) terms(b Booking, now time.Time) (Money, error) {
	if s.opts.Cancel == nil {
		return b.Price, nil
	}
	b.Status = Confirmed // it may be confirmed before it is cancelled
	b.Legs = slices.Clone(b.Legs)
	refund, err := s.opts.Cancel(b, now)
	if err != nil {
		return Money{}, err
	}
	if refund.Amount < 0 || refund.Amount > b.Price.Amount || refund.Amount > 0 && refund.Currency != b.Price.Currency {
		return Money{}, fmt.Errorf("Options.Cancel returned the refund %v for the price %v", refund, b.Price)
	}
	return Money{Amount: refund.Amount, Currency: b.Price.Currency}, nil
}

// Ticket returns the ticket of a booking of the caller's. It returns ErrNotPaid
// while the booking is held, ErrCancelled if the operator has cancelled it and
// [Service.Booking] still returns it, and ErrNotFound after it has otherwise ended.
func (s *Service) Ticket(ctx context.Context, by Caller, booking uuid.UUID) (_ Ticket, err error) {
	ctx, end := s.begin(ctx, "Ticket")
	defer end(&err)
	sn, err := s.timetable.Snapshot(ctx)
	if records.Unreadable(err) {
		sn = &timetable.Snapshot{} // the ticket is good without more about its stations
	} else if err != nil {
		return Ticket{}, err
	}
	b, err := s.Booking(ctx, by, booking)
	switch {
	case err != nil:
		return Ticket{}, err
	case b.Status == Cancelled: // by the operator, as Booking returns it
		return Ticket{}, ErrCancelled
	case b.Status != Confirmed:
		return Ticket{}, ErrNotPaid
	}
	paid, err := s.books.Payment(ctx, s.store, b.ID, b.PaidBy)
	if err != nil {
		return Ticket{}, records.Damaged(err)
	}
	t := Ticket{Booking: b, Paid: paid.Created, Stations: map[uuid.UUID]Station{}, RefundTerms: s.RefundTerms()}
	for _, leg := range b.Legs {
		for _, id := range []uuid.UUID{leg.Origin.Station, leg.Destination.Station} {
			if at, ok := sn.StationAt[id]; ok {
				t.Stations[id] = sn.Stations[at]
			}
		}
	}
	return t, nil
}

// TicketStatus returns whether a ticket of a booking is still valid. It is for ticket
// inspectors, so it does not check the caller. Verify that the ticket is genuine first;
// otherwise anybody could find out which bookings exist.
func (s *Service) TicketStatus(ctx context.Context, booking uuid.UUID) (_ TicketStatus, err error) {
	ctx, end := s.begin(ctx, "TicketStatus")
	defer end(&err)
	b, err := s.books.Booking(ctx, s.store, booking)
	switch {
	case errors.Is(err, ErrNotFound):
		return TicketUnknown, nil
	case err != nil:
		return TicketUnknown, err
	case b.Status == Confirmed:
		return TicketValid, nil
	case b.Status == Cancelled && b.PaidBy != uuid.Nil:
		return TicketVoided, nil
	}
	return TicketUnknown, nil
}

type (
	// A Booking is one passenger's hold on a trip and, once paid, the right to travel.
	Booking = rail.Booking
	// A PastBooking is a booking that has ended, as shown to its owner.
	PastBooking = rail.PastBooking
	// A BookingOutcome says how a booking ended.
	BookingOutcome = rail.BookingOutcome
	// A Subject is a user, identified by the issuer of its tokens and its name there. It owns
	// bookings. Both are compared byte for byte.
	Subject = rail.Subject
	// A Caller is the user on whose behalf a method of [Service] acts, and the client program
	// that the user acts through, which may be empty.
	Caller = rail.Caller
)

// ParseReference parses the reference of a booking as people write it, and reports whether
// the text can be one. Letters may be in either case, with blanks or hyphens between, and
// with Z for 2, S for 5, B for 8 or U for V, because references do not contain these.
func ParseReference(text string) (reference string, ok bool) { return rail.ParseReference(text) }

// Operator is the caller whose subscriptions are the endpoints of the operator.
//
// Deprecated: use [Service.Desk], which needs no caller.
func Operator() Caller { return rail.Operator() }

// A BookingStatus is the state of a booking: held, then confirmed, expired or cancelled;
// a confirmed booking may still be cancelled.
type BookingStatus = rail.BookingStatus

// A BookingStatus is the state of a booking: held, then confirmed, expired or cancelled;
// a confirmed booking may still be cancelled.
const (
	Held      = rail.Held
	Confirmed = rail.Confirmed
	Expired   = rail.Expired
	Cancelled = rail.Cancelled
)

// The outcomes of bookings.
const (
	// Travelled: the booking was paid, and its trip has ended.
	Travelled = rail.Travelled
	// WasCancelled: the owner or the operator cancelled the booking.
	WasCancelled = rail.WasCancelled
	// WasTooLate: the booking was paid after its hold had ended; the charge is refunded.
	WasTooLate = rail.WasTooLate
)

type (
	// A Ticket contains what a ticket of a confirmed booking shows, on paper or on a
	// screen. Package ticket renders and verifies tickets.
	Ticket = rail.Ticket
	// A TicketStatus says whether a genuine ticket is still valid.
	TicketStatus = rail.TicketStatus
)

// The statuses of a ticket.
const (
	// TicketUnknown: the service has no paid booking with this ID. The ticket may be of
	// another service, or older than the backup that was restored.
	TicketUnknown = rail.TicketUnknown
	// TicketValid: the booking is confirmed.
	TicketValid = rail.TicketValid
	// TicketVoided: the booking was cancelled after the ticket was issued.
	TicketVoided = rail.TicketVoided
)
