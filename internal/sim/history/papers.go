package history

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/world"
)

// paperKinds are questions for what is written down of bookings, by their owners, by
// strangers and by the operator.
func paperKinds() []kind {
	return []kind{
		{"past", 1, (*operation).past},
		{"payments", 3, (*operation).payments},
		{"ticket", 2, (*operation).ticket},
		{"look up", 2, (*operation).lookUp},
		{"stranger", 2, (*operation).stranger},
		{"settle", 1, (*operation).settleStuck},
		{"state", 1, (*operation).state},
	}
}

// pages asks for all pages of a list.
func pages[T any](limit int, ask func(traintravel.Page) (traintravel.List[T], error)) (all []T, err error) {
	page := traintravel.Page{Limit: limit}
	for range 1000 {
		l, err := ask(page)
		if err != nil {
			return all, err
		}
		if all = append(all, l.Items...); l.Next == "" {
			return all, nil
		}
		page.After = l.Next
	}
	return all, errors.New("a list of more than 1,000 pages")
}

// past asks for a user's bookings that are over.
func (op *operation) past() {
	by, limit, seldom := op.user(), 1+op.r.IntN(30), op.seldom()
	if !seldom {
		return
	}
	var all []traintravel.PastBooking
	var err error
	told := op.told(func(ctx context.Context, s *server) {
		all, err = pages(limit, func(p traintravel.Page) (traintravel.List[traintravel.PastBooking], error) {
			return s.PastBookings(ctx, by, p)
		})
	})
	op.say("%s lists past bookings: %d, %s", by.ID, len(all), result(err))
	op.m.Past(told, by.ID, all, err)
}

// payments asks for the payments of a booking.
func (op *operation) payments() {
	o, limit := op.target(op.n, op.r), 1+op.r.IntN(4)
	if o == nil || o.Booking == nil {
		return
	}
	var all []traintravel.Payment
	var err error
	told := op.told(func(ctx context.Context, s *server) {
		all, err = pages(limit, func(p traintravel.Page) (traintravel.List[traintravel.Payment], error) {
			return s.Payments(ctx, o.by, o.Booking.ID, p)
		})
	})
	op.say("%s lists the payments of booking %s: %d, %s", o.by.ID, world.Short(o.Booking.ID), len(all), result(err))
	op.m.Payments(told, o.Booking, all, err)
}

// ticket asks for a ticket, and an inspector for its status.
func (op *operation) ticket() {
	o := op.target(op.n, op.r)
	if o == nil || o.Booking == nil {
		return
	}
	var t traintravel.Ticket
	var status traintravel.TicketStatus
	var err error
	told := op.told(func(ctx context.Context, s *server) { t, err = s.Ticket(ctx, o.by, o.Booking.ID) })
	op.say("%s asks for the ticket of booking %s: %s", o.by.ID, world.Short(o.Booking.ID), result(err))
	op.m.Ticket(told, o.Booking, t, err)
	told = op.told(func(ctx context.Context, s *server) { status, err = s.TicketStatus(ctx, o.Booking.ID) })
	op.say("an inspector checks the ticket of booking %s: %v, %s", world.Short(o.Booking.ID), status, result(err))
	op.m.Inspected(told, o.Booking, status, err)
}

// lookUp lets the operator look for a booking by its reference or its ID.
func (op *operation) lookUp() {
	o, byID := op.target(op.n, op.r), op.r.IntN(3) == 0
	if o == nil || o.Booking == nil {
		return
	}
	text := o.Booking.Reference
	if byID {
		text = o.Booking.ID.String()
	}
	var found traintravel.FoundBookings
	var err error
	told := op.told(func(ctx context.Context, s *server) { found, err = s.LookUpBookings(ctx, text, 5) })
	op.say("the operator looks up booking %s: %d found, %s", world.Short(o.Booking.ID), len(found.Bookings), result(err))
	op.m.LookedUp(told, o.Booking, found, err)
}

// stranger lets a user ask for what is written down of a booking of another one.
func (op *operation) stranger() {
	o, what := op.target(op.n, op.r), op.r.IntN(4)
	if o == nil || o.Booking == nil {
		return
	}
	by := traintravel.Caller{Subject: traintravel.Subject{ID: "a stranger"}}
	if other := op.orders[op.n-1]; op.r.IntN(2) == 0 && other != nil && other.by.ID != o.by.ID {
		by = other.by
	}
	id := o.Booking.ID
	var err error
	names := []string{"lists the payments of", "asks for the ticket of", "asks for the last payment of", "reads as past"}
	op.told(func(ctx context.Context, s *server) {
		switch what {
		case 0:
			_, err = s.Payments(ctx, by, id, traintravel.Page{})
		case 1:
			_, err = s.Ticket(ctx, by, id)
		case 2:
			_, err = s.Payment(ctx, by, id)
		default:
			_, err = s.PastBooking(ctx, by, id)
		}
	})
	op.say("%s %s booking %s of %s: %s", by.ID, names[what], world.Short(id), o.by.ID, result(err))
	op.m.Refused("a question by another user, who "+names[what]+" it,", o.Booking, err, traintravel.ErrNotFound)
}

// settleStuck lets the operator settle what has been pending for long, as the bank says.
func (op *operation) settleStuck() {
	age, seldom := []time.Duration{time.Hour, 6 * time.Hour, 24 * time.Hour}[op.r.IntN(3)], op.seldom()
	if !seldom {
		return
	}
	var stuck []traintravel.Payment
	var err error
	told := op.told(func(ctx context.Context, s *server) { stuck, _, err = s.StuckPayments(ctx, age) })
	op.say("the operator asks for payments that are stuck: %d, %s", len(stuck), result(err))
	op.m.Stuck(told, age, stuck, err)
	for _, p := range stuck {
		verdict, known := op.verdict(p)
		if !known {
			continue
		}
		var settled traintravel.Payment
		op.m.Settling(p, verdict)
		told := op.told(func(ctx context.Context, s *server) {
			settled, err = s.SettlePayment(ctx, p.Booking, p.ID, traintravel.Settlement{As: verdict, By: "Otto Operator", Reason: "the bank says so"})
		})
		op.say("the operator settles payment %s of booking %s as %s: %s", world.Short(p.ID), world.Short(p.Booking), verdict, result(err))
		op.m.SettledByHand(told, settled, verdict, err)
	}
}

// verdict is what the bank knows of a payment or refund for good.
func (op *operation) verdict(p traintravel.Payment) (traintravel.Verdict, bool) {
	if p.RefundOf != uuid.Nil {
		return traintravel.AsSucceeded, op.w.Bank.Refunded(p.ID)
	}
	t := op.w.Bank.Taking(p.ID)
	switch {
	case op.w.Bank.OnTheWay(p.ID), t != nil && t.Status == traintravel.Pending:
		return "", false
	case t != nil && t.Status == traintravel.Succeeded:
		return traintravel.AsSucceeded, true
	}
	return traintravel.AsFailed, true
}

// state asks for the state of the store.
func (op *operation) state() {
	var got traintravel.State
	var err error
	told := op.told(func(ctx context.Context, s *server) { got, err = s.State(ctx) })
	op.say("the operator asks for the state: %d holds, %s", got.Holds, result(err))
	op.m.State(told, got, err)
}
