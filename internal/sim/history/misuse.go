package history

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/world"
)

// misuseKinds are what users do that they may not, or that makes no sense. Nothing of it has an
// effect.
func misuseKinds() []kind {
	return []kind{
		{"reach for another's", 3, (*operation).reach},
		{"reuse a key", 2, (*operation).reuseKey},
		{"pay another price", 1, (*operation).payOtherPrice},
	}
}

// reach has another user read, pay for or cancel a booking.
func (op *operation) reach() {
	o, what := op.target(op.n, op.r), op.r.IntN(3)
	other := traintravel.Caller{Subject: traintravel.Subject{ID: "stranger"}}
	if op.r.IntN(2) == 0 && o != nil {
		other = traintravel.Caller{Subject: traintravel.Subject{Issuer: "https://issuer.example", ID: o.Owner}}
	}
	if o == nil || o.Booking == nil {
		return
	}
	b, name := o.Booking, []string{"a read", "a payment", "a cancellation"}[what]
	var err error
	op.told(func(ctx context.Context, s *server) {
		switch what {
		case 0:
			_, err = s.Booking(ctx, other, b.ID)
		case 1:
			_, err = s.PayBooking(ctx, other, b.ID, traintravel.NewPayment{Amount: b.Price, Source: card, IdempotencyKey: fmt.Sprint("stranger ", op.n)})
		default:
			err = s.CancelBooking(ctx, other, b.ID)
		}
	})
	op.say("another user tries %s of booking %s: %s", name, world.Short(b.ID), result(err))
	op.m.Refused(name+" by another user", b, err, traintravel.ErrNotFound)
}

// reuseKey asks for another passenger's booking under a key that is in use.
func (op *operation) reuseKey() {
	o := op.target(op.n, op.r)
	if o == nil || o.Booking == nil || o.Pending() || !op.m.Remembers(o.Booking, time.Now().Add(time.Minute)) {
		return
	}
	want := o.want
	want.PassengerName = "Berta Example"
	var err error
	op.told(func(ctx context.Context, s *server) { _, err = s.CreateBooking(ctx, o.by, want) })
	op.say("%s asks for another booking under the key of booking %s: %s", o.by.ID, world.Short(o.Booking.ID), result(err))
	op.m.Refused("another request under the key", o.Booking, err, traintravel.ErrKeyReused)
}

// payOtherPrice offers a little more or less than a booking costs.
func (op *operation) payOtherPrice() {
	o, more := op.target(op.n, op.r), op.r.IntN(2) == 0
	if o == nil || o.Booking == nil {
		return
	}
	amount := o.Booking.Price
	if amount.Amount--; more {
		amount.Amount += 2
	}
	var err error
	op.told(func(ctx context.Context, s *server) {
		_, err = s.PayBooking(ctx, o.by, o.Booking.ID, traintravel.NewPayment{Amount: amount, Source: card})
	})
	op.say("%s offers %d for booking %s: %s", o.by.ID, amount.Amount, world.Short(o.Booking.ID), result(err))
	if _, ok := errors.AsType[*traintravel.AmountError](err); !ok {
		op.m.Refused("a payment of another amount", o.Booking, err, traintravel.ErrNotFound, traintravel.ErrHoldExpired, traintravel.ErrAlreadyPaid,
			traintravel.ErrPaymentInProgress, traintravel.ErrCancelled)
	}
}
