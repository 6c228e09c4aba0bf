package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/traintravel/traintravel"
)

// A bookingRequest asks for bookings by reference, ID or name.
type bookingRequest struct {
	Text  string
	Limit int
	JSON  bool
}

func (p *program) booking() *cobra.Command {
	var where storage
	var req bookingRequest
	c := &cobra.Command{
		Use:   "booking REFERENCE | ID | NAME…",
		Short: "Show bookings with their history, by reference, ID or passenger name",
		Long: `Show bookings of any status with their payments and refunds: by the reference on the
ticket, by ID, or by the beginnings of words of the passenger's name. The newest come first.
A reference may be typed in small letters, and with Z for 2, S for 5, B for 8 or U for V.

If a server has the data file open, it answers. By name, all bookings are searched.`,
		Args: takes("REFERENCE, ID or NAME…"),
		RunE: func(c *cobra.Command, a []string) error {
			if req.Limit < 1 {
				return usagef("invalid --limit %d: want 1 or more", req.Limit)
			}
			req.Text = strings.Join(a, " ")
			return p.errand(c, where, "booking", req)
		},
	}
	c.Flags().IntVar(&req.Limit, "limit", 20, "maximum `number` of bookings to show")
	jsonFlag(c.Flags(), &req.JSON)
	where.flags(c.Flags())
	return c
}

// onBooking shows bookings.
func onBooking(ctx context.Context, service *traintravel.Service, req bookingRequest, tell teller) error {
	found, err := service.LookUpBookings(ctx, req.Text, req.Limit)
	if err != nil {
		return err
	}
	if left := unreadable(found.Unreadable, " and may match"); left != "" && !req.JSON {
		tell.say(left)
	}
	if len(found.Bookings) == 0 {
		return fmt.Errorf("no booking found with the reference, ID or passenger name %.200q", req.Text)
	}
	if req.JSON {
		return foundJSON(ctx, service, found, tell)
	}
	for _, b := range found.Bookings {
		if err := sayBooking(ctx, service, b.ID, tell); err != nil {
			return err
		}
	}
	if found.More {
		tell.say(fmt.Sprintf("Only %d bookings are shown: give more of the name, or a higher --limit.", req.Limit))
	}
	return nil
}

// foundJSON says bookings as JSON.
func foundJSON(ctx context.Context, service *traintravel.Service, found traintravel.FoundBookings, tell teller) error {
	all := []object{}
	for _, b := range found.Bookings {
		h, err := service.BookingHistory(ctx, b.ID)
		if err != nil {
			return err
		}
		all = append(all, ownedBookingJSON(h))
	}
	return sayJSON(tell, object{"bookings": all, "more": found.More, "unreadable": found.Unreadable})
}

// erasedName stands where the name of a passenger was.
const erasedName = "(name erased)"

func sayBooking(ctx context.Context, service *traintravel.Service, id uuid.UUID, tell teller) error {
	h, err := service.BookingHistory(ctx, id)
	if err != nil {
		return err
	}
	b := h.Booking
	who := fmt.Sprintf("passenger %q, price %s, user %q of %s", b.PassengerName, b.Price, b.Owner.ID, b.Owner.Issuer)
	if b.Erased() {
		who = fmt.Sprintf("passenger %s, price %s, user erased", erasedName, b.Price)
	}
	if b.Reference != "" {
		who += ", reference " + b.Reference
	}
	tell.say(fmt.Sprintf("%v: %s, client %q", b.ID, who, b.Client))
	for _, l := range b.Legs {
		place := "no numbered seat"
		if l.Seat > 0 {
			place = fmt.Sprintf("coach %s, seat %d", l.Coach, l.Seat)
		}
		tell.say(fmt.Sprintf("  %s %s: %s %s to %s %s, %s", l.Run.Date, l.Number, l.Origin.Name, l.Origin.Time.Format("15:04"),
			l.Destination.Name, l.Destination.Time.Format("15:04"), place))
	}
	const stamp = "2006-01-02 15:04:05 MST"
	for _, e := range entriesOf(h) {
		at := strings.Repeat(" ", len(stamp))
		if !e.unknown {
			at = e.at.UTC().Format(stamp)
		}
		tell.say("  " + at + "  " + e.text)
	}
	if left := unreadable(h.Unreadable, " of its payments"); left != "" {
		tell.say("  " + left)
	}
	return nil
}

// An entry is one event in the history of a booking. One whose time is unknown has the time of
// the event before it.
type entry struct {
	at      time.Time
	unknown bool
	text    string
}

// entriesOf is the history of a booking in order of time; entries of the same time are in
// order of cause and effect.
func entriesOf(h traintravel.BookingHistory) []entry {
	b := h.Booking
	var entries []entry
	add := func(at time.Time, text string) {
		e := entry{at, at.IsZero(), text}
		if e.unknown {
			e.at = entries[len(entries)-1].at
		}
		entries = append(entries, e)
	}
	pay := func(what string, p traintravel.Payment) {
		status := endOf(p)
		if p.Failure.Code != "" {
			status += ": " + p.Failure.Code
		}
		if p.LastError != "" {
			status += "; gateway: " + p.LastError
		}
		if p.Settled.IsZero() { // it is not settled, or its time is unknown
			add(p.Created, fmt.Sprintf("%s of %s (%v) %s", what, p.Amount, p.ID, status))
			return
		}
		add(p.Created, fmt.Sprintf("%s of %s (%v)", what, p.Amount, p.ID))
		add(p.Settled, fmt.Sprintf("%s (%v) %s", what, p.ID, status))
	}
	byHand := func(what string, p traintravel.Payment) {
		for _, d := range p.Settlements {
			add(d.At, fmt.Sprintf("%s (%v) settled as %s by %q: %q", what, p.ID, strings.ReplaceAll(string(d.As), "_", " "), d.By, d.Reason))
		}
	}
	add(b.Created, "created, held until "+b.Expires.UTC().Format(time.DateTime+" MST"))
	for _, p := range h.Payments {
		if p.RefundOf == uuid.Nil {
			pay("payment", p)
			byHand("payment", p)
		}
		if p.ID == b.PaidBy {
			add(b.Confirmed, "confirmed")
		}
	}
	switch {
	case b.Status == traintravel.Cancelled && b.ByOperator:
		add(b.Changed, "cancelled with its train by the operator")
	case b.Status == traintravel.Cancelled || b.Status == traintravel.Expired:
		add(b.Changed, b.Status.String())
	}
	for _, p := range h.Payments {
		if p.RefundOf != uuid.Nil {
			pay("refund", p)
			byHand("refund", p)
		}
	}
	slices.SortStableFunc(entries, func(x, y entry) int { return x.at.Compare(y.at) })
	return entries
}
