package traintravel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// A Booking is one passenger's hold on a trip and, once paid, the right to
// travel.
type Booking struct {
	ID            uuid.UUID // version 7: orders by creation
	TripID        uuid.UUID
	Owner         Subject
	Client        string // the program through which it was made
	PassengerName string
	HasBicycle    bool
	HasDog        bool

	Status  BookingStatus
	Created time.Time
	// Changed is when Status became what it is, zero if that is not known. It is
	// Created for a hold.
	Changed time.Time
	// Confirmed is when it was paid, zero if it never was or that is not known.
	Confirmed time.Time
	// ByOperator says that [Service.CancelRun] cancelled it, and not its owner.
	ByOperator bool
	// Expires is when the hold ends if it is not paid, fixed at creation. A
	// payment under way keeps the hold until it is settled, at most until
	// PinnedUntil, which is zero otherwise.
	Expires     time.Time
	PinnedUntil time.Time

	// Price is frozen at creation. Legs are the trip as sold, with places;
	// later timetables do not change them.
	Price Money
	Legs  []Leg

	// Hooks says for each leg whether one of the train's places for bicycles is kept
	// for the booking. It is nil if the booking has no bicycle, or if an older version
	// made it, which did not write that down.
	Hooks []bool

	// Refund is what the payer was to get back when a booking that was paid was
	// cancelled, perhaps zero of a currency. It is the zero Money for others, and if an
	// older version cancelled it, which did not write that down.
	Refund Money

	// LatestPayment is the last attempt to pay, nil before the first.
	LatestPayment uuid.UUID
	// OpenPayment is the attempt whose outcome is not known yet, if any.
	OpenPayment uuid.UUID
	// PaidBy is the payment that confirmed the booking.
	PaidBy uuid.UUID
	// PaymentCount is how many attempts and refunds there are, without those that an
	// earlier version recorded.
	PaymentCount int

	// Replayed says that CreateBooking answered again what it answered before
	// to the same idempotency key. It is not stored.
	Replayed bool
}

// A Subject is a user: the issuer of tokens that vouches for it and the name
// that it goes by there. It owns bookings. Both are compared byte for byte.
type Subject struct {
	Issuer string
	ID     string
}

// A Caller is on whose behalf a method of [Service] acts: a user, and the
// client program the user acts through, which may be empty.
type Caller struct {
	Subject
	Client string
	// ForItself says that the client acts for itself, without a user. Who authenticates a
	// caller sets it, by what no user can bring about: a subject that has the client's
	// name proves nothing.
	ForItself bool
	operator  bool // see Operator
}

// Operator is the caller whose subscriptions are the endpoints of the operator.
//
// Deprecated: use [Service.Desk], which needs no caller.
func Operator() Caller { return Caller{operator: true} }

func (c Caller) isOperator() bool { return c.operator }

// maxCaller bounds each part of a Caller, in bytes.
const maxCaller = 1024

// check refuses a Caller that is nobody, lest all who are share their bookings.
func (c Caller) check() error {
	switch {
	case c.ID == "":
		return invalid("caller", "has no subject ID")
	case len(c.ID) > maxCaller || len(c.Issuer) > maxCaller || len(c.Client) > maxCaller:
		return invalid("caller", "has a part of more than %d bytes", maxCaller)
	}
	return nil
}

// A BookingStatus is where a booking stands: held, then confirmed, expired or
// cancelled; a confirmed booking may still be cancelled. Expired and cancelled
// bookings are over for good, with one exception: a payment that succeeds within
// 24 hours confirms an expired booking if it can have its places again.
type BookingStatus uint8

// The statuses of a booking.
const (
	Held BookingStatus = iota + 1
	Confirmed
	Expired
	Cancelled
)

// live says whether a booking of the status has its places and is in its owner's list,
// its hold lapsed or not.
func (s BookingStatus) live() bool { return s == Held || s == Confirmed }

// String returns held, confirmed, expired or cancelled.
func (s BookingStatus) String() string {
	switch s {
	case Held:
		return "held"
	case Confirmed:
		return "confirmed"
	case Expired:
		return "expired"
	case Cancelled:
		return "cancelled"
	}
	return "unknown"
}

// A NewBooking asks for a hold on a trip.
type NewBooking struct {
	TripID        uuid.UUID
	PassengerName string // 1 to 200 characters after trimming, no control characters
	HasBicycle    bool
	HasDog        bool
	// IdempotencyKey makes it safe to ask again: for 24 hours the same key
	// from the same caller gets the first answer again, and a different
	// request under it ErrKeyReused. Empty is none; at most 255 bytes.
	IdempotencyKey string
}

func (n NewBooking) normalize() (NewBooking, error) {
	n.PassengerName = strings.TrimSpace(n.PassengerName)
	if reason := badText(n.PassengerName, true); reason != "" {
		return n, invalid("passenger_name", "%s", reason)
	}
	if holdsCardNumber(n.PassengerName) {
		return n, invalid("passenger_name", cardInText)
	}
	return n, nil
}

// HeldUntil is when the hold of a held booking ends: Expires, or PinnedUntil
// while a payment is under way.
func (b *Booking) HeldUntil() time.Time {
	if b.OpenPayment != uuid.Nil {
		return b.PinnedUntil
	}
	return b.Expires
}

// departs is when the trip begins.
func (b *Booking) departs() time.Time { return b.Legs[0].Origin.Time }

// lapsed says whether the hold has run out, swept or not.
func (b *Booking) lapsed(now time.Time) bool {
	return b.Status == Held && !now.Before(b.HeldUntil())
}

// live says whether the booking exists for its owner.
func (b *Booking) live(now time.Time) bool {
	return b.Status == Confirmed || b.Status == Held && !b.lapsed(now)
}

// listed says whether the booking is in its owner's list.
func (b *Booking) listed() bool { return b.Status.live() && !b.Erased() }

// ownedBy compares the caller with the owner. What is erased is nobody's.
func (b *Booking) ownedBy(by Caller) bool { return b.Owner == by.Subject && !b.Erased() }

// runsOf are the runs of a booking's legs.
func runsOf(b *Booking) []RunID {
	ids := make([]RunID, len(b.Legs))
	for i := range b.Legs {
		ids[i] = b.Legs[i].Run
	}
	return ids
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
	if err := by.check(); err != nil {
		return Booking{}, err
	}
	n, err = n.normalize()
	if err != nil {
		return Booking{}, err
	}
	idem, err := s.books.idempotency(by, n.IdempotencyKey, "bookings", func(f *fingerprint) {
		f.id(n.TripID)
		f.str(n.PassengerName)
		f.flags(n.HasBicycle, n.HasDog)
	})
	if err != nil {
		return Booking{}, err
	}
	now := s.now()
	own := s.books.booker(by, now, s.newID())
	for {
		sn, err := s.timetable.snapshot(ctx)
		if err != nil {
			return Booking{}, err
		}
		o, refusal := s.order(sn, n, now)
		if refusal != nil && idem.none() {
			return Booking{}, refusal
		}
		o.booking.Owner, o.booking.Client = by.Subject, by.Client
		var b Booking
		err = s.books.update(ctx, now, func(l *ledger) (err error) {
			b, err = l.create(sn, o, refusal, own, idem)
			return err
		})
		if errors.Is(err, errStale) {
			s.timetable.expire()
			continue
		}
		if err != nil {
			return Booking{}, err
		}
		return b, nil
	}
}

// order checks a request against the timetable and prices it.
func (s *Service) order(sn *snapshot, n NewBooking, now time.Time) (order, error) {
	rides, err := sn.resolve(n.TripID)
	if err != nil {
		return order{}, err
	}
	trip := sn.trip(rides)
	departs := trip.Origin().Time
	switch {
	case departs.After(now.Add(s.opts.Horizon)):
		return order{}, ErrNotFound
	case !departs.After(now):
		return order{}, ErrDeparted
	case n.HasBicycle && trip.Bicycles != Allowed:
		return order{}, ErrBicyclesNotAllowed
	case n.HasDog && trip.Dogs != Allowed:
		return order{}, ErrDogsNotAllowed
	}
	price, ok, err := s.finder.price(rides, trip)
	if err != nil {
		return order{}, err
	}
	if !ok {
		return order{}, ErrNotFound
	}
	b := Booking{
		TripID: n.TripID, PassengerName: n.PassengerName, HasBicycle: n.HasBicycle, HasDog: n.HasDog,
		Status: Held, Created: now, Changed: now, Expires: now.Add(s.opts.HoldFor), Price: price, Legs: trip.Legs,
	}
	if departs.Before(b.Expires) {
		b.Expires = departs
	}
	return order{rides: rides, booking: b}, nil
}

// Booking returns a booking of the caller's. Expired and cancelled ones, and
// other people's, are ErrNotFound.
func (s *Service) Booking(ctx context.Context, by Caller, id uuid.UUID) (_ Booking, err error) {
	ctx, end := s.begin(ctx, "Booking")
	defer end(&err)
	b, err := s.books.ownBooking(ctx, s.store, by, id)
	if err != nil {
		return Booking{}, err
	}
	if !b.live(s.now()) {
		return Booking{}, ErrNotFound
	}
	return b, nil
}

// Bookings lists the caller's bookings, newest first: those that are held or
// confirmed, and can be read. It returns an [*InvalidError] for a page that cannot be.
func (s *Service) Bookings(ctx context.Context, by Caller, p Page) (_ List[Booking], err error) {
	ctx, end := s.begin(ctx, "Bookings")
	defer end(&err)
	p, err = p.normalize()
	if err != nil {
		return List[Booking]{}, err
	}
	after, err := p.cursor(bookingList, 16)
	if err != nil {
		return List[Booking]{}, err
	}
	now, skip := s.now(), p.skip()
	var found []Booking
	var left omissions
	err = s.store.View(ctx, func(r Reader) error {
		found = nil
		listed, err := readOwned(ctx, r, by.Subject, after)
		for err == nil && len(found) <= skip+p.Limit {
			var keys []Key
			if keys, err = listed.next(min(skip+p.Limit+1, 100)); err != nil || len(keys) == 0 {
				break
			}
			var values [][]byte
			if values, err = r.Get(ctx, keys...); err != nil {
				break
			}
			for i, v := range values {
				b, err := decodeBooking(v, s.books.zones)
				if err != nil {
					left.add(keys[i], err)
					continue
				}
				if b.ownedBy(by) && b.live(now) {
					found = append(found, b)
				}
			}
		}
		return err
	})
	s.books.omit(ctx, left)
	if err != nil {
		return List[Booking]{}, err
	}
	return cut(bookingList, found, skip, p.Limit, func(b Booking) string { return string(b.ID[:]) }), nil
}

// CancelBooking cancels a booking of the caller's and frees its places. A hold
// is gone; for a confirmed booking before departure the refund that
// Options.Cancel grants is recorded in the same step and [Service.Run] makes
// it. It queues [BookingCancelled].
//
// It returns ErrNotFound for a booking that is over or not the caller's,
// ErrPaymentInProgress while a payment is under way, and ErrDeparted for a
// confirmed booking after departure.
func (s *Service) CancelBooking(ctx context.Context, by Caller, id uuid.UUID) (err error) {
	ctx, end := s.begin(ctx, "CancelBooking")
	defer end(&err)
	return s.cancelBooking(ctx, by, id, nil)
}

// CancelUnchanged is [Service.CancelBooking] of a booking that is still as it was
// when the caller read it: not paid meanwhile, nor its payment under way. If it is
// another now, it returns ErrChanged and changes nothing.
func (s *Service) CancelUnchanged(ctx context.Context, by Caller, was Booking) (err error) {
	ctx, end := s.begin(ctx, "CancelUnchanged")
	defer end(&err)
	return s.cancelBooking(ctx, by, was.ID, encodeBooking(&was))
}

// cancelBooking cancels a booking, whatever it was if was is nil.
func (s *Service) cancelBooking(ctx context.Context, by Caller, id uuid.UUID, was []byte) error {
	now := s.now()
	b, err := s.books.ownBooking(ctx, s.store, by, id)
	if err != nil {
		return err
	}
	refund, refused := s.terms(b, now)
	err = s.books.update(ctx, now, func(l *ledger) error {
		b, err := l.booking(id)
		if err != nil {
			return err
		}
		switch {
		case !b.ownedBy(by):
			return ErrNotFound
		case was != nil && !bytes.Equal(was, encodeBooking(b)):
			return ErrChanged
		}
		return l.cancel(b, refund, refused)
	})
	return err
}

// terms asks Options.Cancel what a confirmed booking is worth when cancelled.
func (s *Service) terms(b Booking, now time.Time) (Money, error) {
	if s.opts.Cancel == nil {
		return b.Price, nil
	}
	b.Status = Confirmed // it may become so before it is cancelled
	b.Legs = slices.Clone(b.Legs)
	refund, err := s.opts.Cancel(b, now)
	if err != nil {
		return Money{}, err
	}
	if refund.Amount < 0 || refund.Amount > b.Price.Amount || refund.Amount > 0 && refund.Currency != b.Price.Currency {
		return Money{}, fmt.Errorf("Options.Cancel gave back %v of %v", refund, b.Price)
	}
	return Money{refund.Amount, b.Price.Currency}, nil
}
