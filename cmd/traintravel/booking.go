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

// A bookingRequest asks for bookings by ID or name.
type bookingRequest struct {
	Text  string
	Limit int
}

func (p *program) booking() *cobra.Command {
	var where storage
	var req bookingRequest
	c := &cobra.Command{
		Use:   "booking ID | NAME…",
		Short: "Show bookings with their whole history, by ID or the passenger's name",
		Long: `Show bookings, whatever became of them, with all that was paid and given back: by ID,
or by words that the passenger's name begins words with. The newest come first.

While a server has the data file, it answers. By name all bookings are looked through.`,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, a []string) error {
			if req.Limit < 1 {
				return usagef("--limit: %d is not above zero", req.Limit)
			}
			req.Text = strings.Join(a, " ")
			return p.errand(c, where, "booking", req)
		},
	}
	c.Flags().IntVar(&req.Limit, "limit", 20, "how many at most")
	where.flags(c.Flags())
	return c
}

// onBooking shows bookings.
func onBooking(ctx context.Context, service *traintravel.Service, req bookingRequest, tell teller) error {
	found, err := service.LookUpBookings(ctx, req.Text, req.Limit)
	if err != nil {
		return err
	}
	if left := unreadable(found.Unreadable, " and may be of that name"); left != "" {
		tell.say(left)
	}
	if len(found.Bookings) == 0 {
		return fmt.Errorf("there is no booking of %.200q", req.Text)
	}
	for _, b := range found.Bookings {
		if err := sayBooking(ctx, service, b.ID, tell); err != nil {
			return err
		}
	}
	if found.More {
		tell.say(fmt.Sprintf("There are more than %d: give more of the name, or a greater --limit.", req.Limit))
	}
	return nil
}

// erasedName stands where the name of a passenger was.
const erasedName = "(name erased)"

func sayBooking(ctx context.Context, service *traintravel.Service, id uuid.UUID, tell teller) error {
	h, err := service.BookingHistory(ctx, id)
	if err != nil {
		return err
	}
	b := h.Booking
	who := fmt.Sprintf("%q of %s, for user %q of %s", b.PassengerName, b.Price, b.Owner.ID, b.Owner.Issuer)
	if b.Erased() {
		who = fmt.Sprintf("%s of %s, for a user who was erased,", erasedName, b.Price)
	}
	tell.say(fmt.Sprintf("%v: %s through %q", b.ID, who, b.Client))
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

// An entry is one thing that has become of a booking. One of which nobody knows when it
// was has the time of what led to it.
type entry struct {
	at      time.Time
	unknown bool
	text    string
}

// entriesOf are the history of a booking in order of time, and what happened at one
// instant in the order in which the one led to the other.
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
			status += "; the gateway says: " + p.LastError
		}
		if p.Settled.IsZero() { // it is not, or nobody knows when
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
	add(b.Created, "made, held until "+b.Expires.UTC().Format(time.DateTime+" MST"))
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
