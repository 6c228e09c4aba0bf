package traintravel

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
)

// A Ticket is what a confirmed booking entitles to, and what a ticket on paper or
// on a screen shows of it. Package ticket renders and verifies tickets.
type Ticket struct {
	Booking Booking // confirmed; its legs are the trip as sold
	Paid    time.Time
	// Stations are those of the legs as they are now, by ID. One that the
	// timetable does not have any more is missing: the legs have its name.
	Stations map[uuid.UUID]Station
}

// Ticket returns the ticket of a booking of the caller's. It returns ErrNotPaid
// while the booking is held, and ErrNotFound if it is over: who has cancelled has
// no ticket.
func (s *Service) Ticket(ctx context.Context, by Caller, booking uuid.UUID) (_ Ticket, err error) {
	ctx, end := s.begin(ctx, "Ticket")
	defer end(&err)
	sn, err := s.timetable.snapshot(ctx)
	if unreadable(err) {
		sn = &snapshot{} // the ticket is good without more about its stations
	} else if err != nil {
		return Ticket{}, err
	}
	b, err := s.Booking(ctx, by, booking)
	switch {
	case err != nil:
		return Ticket{}, err
	case b.Status != Confirmed:
		return Ticket{}, ErrNotPaid
	}
	paid, err := s.books.payment(ctx, s.store, b.ID, b.PaidBy)
	if err != nil {
		return Ticket{}, damaged(err)
	}
	t := Ticket{Booking: b, Paid: paid.Created, Stations: map[uuid.UUID]Station{}}
	for _, leg := range b.Legs {
		for _, id := range []uuid.UUID{leg.Origin.Station, leg.Destination.Station} {
			if at, ok := sn.stationAt[id]; ok {
				t.Stations[id] = sn.stations[at]
			}
		}
	}
	return t, nil
}

// A TicketStatus is what a genuine ticket is worth.
type TicketStatus uint8

// The statuses of a ticket.
const (
	// TicketUnknown: the service has no paid booking of this ID. It may be
	// another service's, or be from before data was restored.
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

// TicketStatus says what a ticket of a booking is worth now. It is for whoever
// inspects tickets, and so asks for no caller: whether the ticket is genuine is to
// be found out before, lest anybody learn which bookings there are.
func (s *Service) TicketStatus(ctx context.Context, booking uuid.UUID) (_ TicketStatus, err error) {
	ctx, end := s.begin(ctx, "TicketStatus")
	defer end(&err)
	b, err := s.books.booking(ctx, s.store, booking)
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
