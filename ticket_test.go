package traintravel_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// A ticket is worth something from payment to cancellation, to whoever asks.
func TestTicketStatus(t *testing.T) {
	onEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := newOffice(t, store)
		ctx := t.Context()
		status := func(what string, id uuid.UUID, want traintravel.TicketStatus) {
			t.Helper()
			if got, err := o.TicketStatus(ctx, id); err != nil || got != want {
				t.Errorf("%s: %v, %v, want %v", what, got, err, want)
			}
		}
		trip := o.trip('A', 'D', "R 1")
		b, free := o.book(anna, trip), o.book(anna, trip)
		status("nobody's", uuid.New(), traintravel.TicketUnknown)
		status("held", b.ID, traintravel.TicketUnknown)
		_, err := o.Ticket(ctx, anna, b.ID)
		o.expect("the ticket of a hold", err, traintravel.ErrNotPaid)

		p := o.mustPay(b, traintravel.Succeeded)
		status("paid", b.ID, traintravel.TicketValid)
		ticket, err := o.Ticket(ctx, anna, b.ID)
		if err != nil || ticket.Booking.ID != b.ID || !ticket.Paid.Equal(p.Created) || len(ticket.Stations) != 2 {
			t.Errorf("%+v, %v", ticket, err)
		}
		_, err = o.Ticket(ctx, berta, b.ID)
		o.expect("somebody else's ticket", err, traintravel.ErrNotFound)

		o.expect("cancelling a hold", o.CancelBooking(ctx, anna, free.ID), nil)
		status("cancelled before it was paid", free.ID, traintravel.TicketUnknown)
		o.expect("cancelling", o.CancelBooking(ctx, anna, b.ID), nil)
		status("cancelled", b.ID, traintravel.TicketVoided)
		_, err = o.Ticket(ctx, anna, b.ID)
		o.expect("the ticket of what is cancelled", err, traintravel.ErrNotFound)

		lapsed := o.book(berta, trip)
		o.clock.set(lapsed.Expires)
		o.do()
		status("expired", lapsed.ID, traintravel.TicketUnknown)
	})
	for s, want := range map[traintravel.TicketStatus]string{traintravel.TicketUnknown: "unknown", traintravel.TicketValid: "valid", traintravel.TicketVoided: "voided", 9: "unknown"} {
		if s.String() != want {
			t.Errorf("%d is %s, want %s", s, s, want)
		}
	}
}
