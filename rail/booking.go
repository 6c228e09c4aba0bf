package rail

import (
	"time"

	"github.com/google/uuid"
)

// A Booking is one passenger's hold on a trip and, once paid, the right to
// travel.
type Booking struct {
	ID uuid.UUID // version 7: orders by creation
	// Reference is its short name, for people: see ParseReference. It is empty if a version
	// without references sold the booking, and it ended before it got one.
	Reference     string
	TripID        uuid.UUID
	Owner         Subject
	Client        string // the program through which it was made
	PassengerName string
	HasBicycle    bool
	HasDog        bool

	Status  BookingStatus
	Created time.Time
	// Changed is when Status got its current value, zero if unknown. For a hold it is
	// Created.
	Changed time.Time
	// Confirmed is when the booking was paid, zero if it was not or the time is unknown.
	Confirmed time.Time
	// ByOperator reports that Service.CancelRun cancelled the booking, and not its owner.
	// CancelledLeg is the leg, counted from 1, whose run was cancelled: zero if the owner
	// cancelled the booking, or an older version did, which did not record it.
	ByOperator   bool
	CancelledLeg int
	// Expires is when the hold ends if it is not paid, fixed at creation. A
	// payment in progress extends the hold until it is settled, at most until
	// PinnedUntil, which is zero otherwise.
	Expires     time.Time
	PinnedUntil time.Time

	// Price is frozen at creation. Legs are the trip as sold, with places;
	// later timetables do not change them.
	Price Money
	Legs  []Leg

	// Hooks says for each leg whether one of the train's places for bicycles is kept
	// for the booking. It is nil if the booking has no bicycle, or an older version made
	// it, which did not record this.
	Hooks []bool

	// Refund is the amount to refund when the paid booking was cancelled; its Amount may be
	// zero. It is the zero Money for other bookings, and if an older version cancelled the
	// booking, which did not record the refund.
	Refund Money
	// GivenBack reports that a payment that was too late, or one too many, is refunded. It is
	// false if that happened in an older version, which did not record it.
	GivenBack bool

	// LatestPayment is the last attempt to pay, nil before the first.
	LatestPayment uuid.UUID
	// OpenPayment is the attempt whose outcome is not known yet, if any.
	OpenPayment uuid.UUID
	// PaidBy is the payment that confirmed the booking.
	PaidBy uuid.UUID
	// PaymentCount is the number of attempts and refunds, without those that an earlier
	// version recorded.
	PaymentCount int

	// Replayed reports that CreateBooking repeated an earlier result for the same
	// idempotency key. It is not stored.
	Replayed bool
}

// A Subject is a user, identified by the issuer of its tokens and its name
// there. It owns bookings. Both are compared byte for byte.
type Subject struct {
	Issuer string
	ID     string
}

// A Caller is the user on whose behalf a method of Service acts, and the
// client program that the user acts through, which may be empty.
type Caller struct {
	Subject
	Client string
	// ForItself reports that the client acts for itself, without a user. The code that
	// authenticates callers must set it from something that no user controls: a subject
	// with the client's name proves nothing.
	ForItself bool
	operator  bool // see Operator
}

// Operator is the caller whose subscriptions are the endpoints of the operator.
//
// Deprecated: use Service.Desk, which needs no caller.
func Operator() Caller { return Caller{operator: true} }

// IsOperator says whether the caller is the one that Operator returns.
func (c Caller) IsOperator() bool { return c.operator }

// maxCaller bounds each part of a Caller, in bytes.
const maxCaller = 1024

// Check refuses an empty Caller; otherwise all empty callers would share their bookings.
func (c Caller) Check() error {
	switch {
	case c.ID == "":
		return Invalid("caller", "has no subject ID")
	case len(c.ID) > maxCaller || len(c.Issuer) > maxCaller || len(c.Client) > maxCaller:
		return Invalid("caller", "has a part of more than %d bytes", maxCaller)
	}
	return nil
}

// A BookingStatus is the state of a booking: held, then confirmed, expired or
// cancelled; a confirmed booking may still be cancelled. Expired and cancelled are
// final, with one exception: a payment that succeeds within 24 hours confirms an
// expired booking if its places are still free.
type BookingStatus uint8

// The statuses of a booking.
const (
	Held BookingStatus = iota + 1
	Confirmed
	Expired
	Cancelled
)

// Live says whether a booking of the status has its places and is in its owner's list; a
// hold that has lapsed counts.
func (s BookingStatus) Live() bool { return s == Held || s == Confirmed }

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

// HeldUntil returns when the hold of a held booking ends: Expires, or PinnedUntil
// while a payment is in progress.
func (b *Booking) HeldUntil() time.Time {
	if b.OpenPayment != uuid.Nil {
		return b.PinnedUntil
	}
	return b.Expires
}

// Departs returns when the trip begins.
func (b *Booking) Departs() time.Time { return b.Legs[0].Origin.Time }

// Lapsed says whether the hold is past its end, recorded as expired or not.
func (b *Booking) Lapsed(now time.Time) bool {
	return b.Status == Held && !now.Before(b.HeldUntil())
}

// Live says whether the booking exists for its owner.
func (b *Booking) Live(now time.Time) bool {
	return b.Status == Confirmed || b.Status == Held && !b.Lapsed(now)
}

// ShownAfter is how long after its departure a booking that the operator cancelled is shown
// to its owner where it was: see Shown.
const ShownAfter = 30 * 24 * time.Hour

// Shown says whether the owner sees the booking in their list and at its URL: it exists for
// them, or the operator has cancelled it and its departure was less than ShownAfter ago.
func (b *Booking) Shown(now time.Time) bool {
	return b.Live(now) || b.cancelledByOperator() && now.Before(b.Departs().Add(ShownAfter))
}

func (b *Booking) cancelledByOperator() bool { return b.Status == Cancelled && b.ByOperator }

// Listed says whether the owner's index has the booking. It includes all that are Shown.
func (b *Booking) Listed() bool {
	return (b.Status.Live() || b.cancelledByOperator()) && !b.Erased()
}

// Told says whether the owner sees the booking as one that has ended: it was travelled on or
// cancelled, or a late payment is refunded. Expired holds are not shown.
func (b *Booking) Told(now time.Time) bool {
	switch b.Status {
	case Confirmed:
		return !now.Before(b.Arrives())
	case Expired:
		return b.GivenBack
	}
	return b.Status == Cancelled
}

// OwnedBy reports whether the caller owns the booking. Erased bookings have no owner.
func (b *Booking) OwnedBy(by Caller) bool { return b.Owner == by.Subject && !b.Erased() }

// RunsOf returns the runs of a booking's legs.
func RunsOf(b *Booking) []RunID {
	ids := make([]RunID, len(b.Legs))
	for i := range b.Legs {
		ids[i] = b.Legs[i].Run
	}
	return ids
}

// Erased reports whether the personal data of the booking, its name and its owner, was
// removed by Service.EraseSubject or Options.Retain.
func (b *Booking) Erased() bool { return b.Owner == Subject{} && b.PassengerName == "" }

// Over says whether nobody travels on the booking any more.
func (b *Booking) Over(now time.Time) bool {
	return !b.Live(now) && b.OpenPayment == uuid.Nil || b.Status == Confirmed && !now.Before(b.Arrives())
}

// Arrives returns when the trip ends.
func (b *Booking) Arrives() time.Time { return b.Legs[len(b.Legs)-1].Destination.Time }

// A Ticket contains what a ticket of a confirmed booking shows, on paper or
// on a screen. Package ticket renders and verifies tickets.
type Ticket struct {
	Booking Booking // confirmed; its legs are the trip as sold
	Paid    time.Time
	// Stations has the current stations of the legs by ID. A station that is no longer in
	// the timetable is missing; the legs have its name.
	Stations map[uuid.UUID]Station
	// RefundTerms tells the traveller how much is refunded on cancellation. It may be empty.
	RefundTerms string
}

// A TicketStatus says whether a genuine ticket is still valid.
type TicketStatus uint8

// The statuses of a ticket.
const (
	// TicketUnknown: the service has no paid booking with this ID. The ticket may be of
	// another service, or older than the backup that was restored.
	TicketUnknown TicketStatus = iota
	// TicketValid: the booking is confirmed.
	TicketValid
	// TicketVoided: the booking was cancelled after the ticket was issued.
	TicketVoided
)

// String returns unknown, valid or voided.
func (s TicketStatus) String() string {
	switch s {
	case TicketValid:
		return "valid"
	case TicketVoided:
		return "voided"
	}
	return "unknown"
}
