package ticket_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
)

// A ticket is worth something from payment to cancellation, to whoever asks.
func TestTicketStatus(t *testing.T) {
	officetest.OnEveryStore(t, func(t *testing.T, store traintravel.Store) {
		o := officetest.New(t, store)
		ctx := t.Context()
		status := func(what string, id uuid.UUID, want traintravel.TicketStatus) {
			t.Helper()
			if got, err := o.TicketStatus(ctx, id); err != nil || got != want {
				t.Errorf("%s: %v, %v, want %v", what, got, err, want)
			}
		}
		trip := o.TripID('A', 'D', "R 1")
		b, free := o.Book(officetest.Anna, trip), o.Book(officetest.Anna, trip)
		status("nobody's", uuid.New(), traintravel.TicketUnknown)
		status("held", b.ID, traintravel.TicketUnknown)
		_, err := o.Ticket(ctx, officetest.Anna, b.ID)
		o.Expect("the ticket of a hold", err, traintravel.ErrNotPaid)

		p := o.MustPay(b, traintravel.Succeeded)
		status("paid", b.ID, traintravel.TicketValid)
		ticket, err := o.Ticket(ctx, officetest.Anna, b.ID)
		if err != nil || ticket.Booking.ID != b.ID || !ticket.Paid.Equal(p.Created) || len(ticket.Stations) != 2 {
			t.Errorf("%+v, %v", ticket, err)
		}
		_, err = o.Ticket(ctx, officetest.Berta, b.ID)
		o.Expect("somebody else's ticket", err, traintravel.ErrNotFound)

		o.Expect("cancelling a hold", o.CancelBooking(ctx, officetest.Anna, free.ID), nil)
		status("cancelled before it was paid", free.ID, traintravel.TicketUnknown)
		o.Expect("cancelling", o.CancelBooking(ctx, officetest.Anna, b.ID), nil)
		status("cancelled", b.ID, traintravel.TicketVoided)
		_, err = o.Ticket(ctx, officetest.Anna, b.ID)
		o.Expect("the ticket of what is cancelled", err, traintravel.ErrNotFound)

		lapsed := o.Book(officetest.Berta, trip)
		o.Clock.Set(lapsed.Expires)
		o.Do()
		status("expired", lapsed.ID, traintravel.TicketUnknown)
	})
	for s, want := range map[traintravel.TicketStatus]string{traintravel.TicketUnknown: "unknown", traintravel.TicketValid: "valid", traintravel.TicketVoided: "voided", 9: "unknown"} {
		if s.String() != want {
			t.Errorf("%d is %s, want %s", s, s, want)
		}
	}
}
