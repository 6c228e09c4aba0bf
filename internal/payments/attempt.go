// Package payments asks the gateway to charge and to refund, and looks up charges whose responses
// were lost. It must not know how a payment changes a booking; package ledger has those rules.
package payments

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/agenda"
	"github.com/traintravel/traintravel/internal/ids"
	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/rail"
)

// A Flow asks the gateway for charges and refunds, and records their outcomes.
type Flow struct {
	Books     *ledger.Books
	Timetable *timetable.Source
	Gateway   rail.PaymentGateway
	Timeout   time.Duration // how long the gateway may take: see Options.ChargeTimeout
	NewID     func() uuid.UUID
	turns     turns
}

// An Attempt is an attempt to pay. It is recorded before the gateway is asked.
type Attempt struct {
	records.Payment
	source rail.Source // complete, as the payer gave it; the record has it masked
	begun  time.Time   // by the computer's clock: the gateway's time runs from here
}

// Attempt returns a new attempt to pay, which has already failed if the card has expired.
func (f *Flow) Attempt(booking uuid.UUID, amount rail.Money, source rail.Source) Attempt {
	a := Attempt{source: source, begun: time.Now()}
	now := f.Books.Now()
	a.Payment = records.Payment{
		Payment: rail.Payment{
			ID: ids.TimeID(now, f.NewID()), Booking: booking, Amount: amount, Source: source.Masked(), Status: rail.Pending, Created: now,
		},
		Charging: true,
		Deadline: now.Add(f.Timeout),
	}
	a.Next = a.Deadline.Add(time.Second)
	if source.Card != nil && source.Card.Expired(now) {
		a.Status, a.Settled, a.Failure = rail.Failed, now, rail.Failure{Code: rail.ExpiredCard, Message: "The card has expired."}
		a.Charging, a.Next = false, time.Time{}
	}
	return a
}

// Start records an attempt to pay for a booking when its turn comes. If an earlier attempt blocks
// it whose charge was lost, it follows that one first and retries.
func (f *Flow) Start(ctx context.Context, booking uuid.UUID, record func() error) error {
	err := f.inTurn(ctx, record)
	if errors.Is(err, rail.ErrPaymentInProgress) && f.followOpen(ctx, booking) {
		return f.inTurn(ctx, record)
	}
	return err
}

// Charge asks the gateway to charge a recorded attempt, unless it is too late. The outcome is
// Pending if it is unknown.
func (f *Flow) Charge(ctx context.Context, a *Attempt) rail.Outcome {
	ctx, stop := context.WithDeadline(ctx, a.begun.Add(f.Timeout))
	defer stop()
	if ctx.Err() != nil {
		return rail.Outcome{Status: rail.Failed, Failure: rail.NotAttempted()}
	}
	var out rail.Outcome
	err := f.ask(ctx, func(ctx context.Context) (err error) {
		out, err = f.Gateway.Charge(ctx, rail.Charge{ID: a.ID, Booking: a.Booking, Amount: a.Amount, Source: a.source})
		return valid(out, err)
	})
	if err != nil {
		f.Books.Log.WarnContext(ctx, "the outcome of a charge is unknown; it is looked up later", "payment", a.ID, "error", a.source.Hide(err.Error()))
		return rail.Outcome{Status: rail.Pending}
	}
	out.Failure = rail.Failure{Code: a.source.Hide(out.Failure.Code), Message: a.source.Hide(out.Failure.Message)}
	return out
}

// ask calls the gateway with its time limit. A gateway that panics has an unknown outcome
// like one that fails.
func (f *Flow) ask(ctx context.Context, call func(context.Context) error) (err error) {
	ctx, stop := context.WithTimeout(ctx, f.Timeout)
	defer stop()
	defer agenda.Recovered(&err)
	return call(ctx)
}

// Settle records the gateway's outcome of an attempt, and returns the payment in its new state,
// with ErrPaidTooLate if it succeeded but has not confirmed its booking.
func (f *Flow) Settle(ctx context.Context, a *Attempt, out rail.Outcome) (rail.Payment, error) {
	var settled rail.Payment
	var confirmed bool
	err := f.onPayment(ctx, a.Booking, a.ID, func(l *ledger.Ledger, sn *timetable.Snapshot, p *records.Payment, b *rail.Booking) error {
		if err := l.Settle(sn, p, b, out); err != nil {
			return err
		}
		settled, confirmed = p.Payment, b.PaidBy == p.ID
		return nil
	})
	if err != nil {
		f.Books.Log.ErrorContext(ctx, "recording the outcome of a charge failed; will look it up later", "payment", a.ID, "error", err)
		return a.Payment.Payment, nil // pending, as recorded
	}
	return settled, inTime(settled, confirmed)
}

// onPayment runs rules on a payment and its booking, which exist. The snapshot is nil if no
// timetable can be read: the outcome of a payment is recorded nevertheless.
func (f *Flow) onPayment(ctx context.Context, booking, id uuid.UUID, rules func(*ledger.Ledger, *timetable.Snapshot, *records.Payment, *rail.Booking) error) error {
	record := func(sn *timetable.Snapshot) error {
		return f.Books.Update(ctx, f.Books.Now(), func(l *ledger.Ledger) error {
			p, err := l.Payment(booking, id)
			if err != nil {
				return records.Damaged(err)
			}
			b, err := l.Booking(booking)
			if err != nil {
				return records.Damaged(err)
			}
			return rules(l, sn, p, b)
		})
	}
	if _, err := f.Timetable.Snapshot(ctx); records.Unreadable(err) || errors.Is(err, rail.ErrNoTimetable) {
		return record(nil)
	}
	return f.Timetable.WhileCurrent(ctx, record)
}

// Repeated returns the payment of a repeated request in its current state. A pending payment may
// be in progress at the gateway now, or the process that asked may have died: it is pending
// either way.
func (f *Flow) Repeated(ctx context.Context, first records.Answer) (rail.Payment, error) {
	v, err := f.Books.Store.Get(ctx, records.PaymentKey(first.About, first.Payment), records.BookingKey(first.About))
	if err != nil {
		return rail.Payment{}, err
	}
	p, err := records.DecodePayment(v[0])
	if err != nil {
		return rail.Payment{}, err
	}
	b, err := records.DecodeBooking(v[1], f.Books.Zones)
	if err != nil {
		return rail.Payment{}, err
	}
	p.Replayed = true
	return p.Payment, inTime(p.Payment, b.PaidBy == p.ID)
}

// inTime returns an error for a payment that succeeded but has not confirmed its booking.
func inTime(p rail.Payment, confirmed bool) error {
	if p.Status == rail.Succeeded && !confirmed {
		return rail.ErrPaidTooLate
	}
	return nil
}

// valid returns an error for an outcome that a charge cannot have.
func valid(out rail.Outcome, err error) error {
	if err == nil && out.Resolution != "" {
		return fmt.Errorf("the gateway returned the resolution %q for a charge", out.Resolution)
	}
	return validRefund(out, err)
}

// validRefund returns an error for an outcome that a refund cannot have.
func validRefund(out rail.Outcome, err error) error {
	switch {
	case err != nil:
		return err
	case out.Status != rail.Pending && out.Status != rail.Succeeded && out.Status != rail.Failed:
		return fmt.Errorf("the gateway returned the unknown status %q", out.Status)
	case !out.Resolution.Fits(out.Status):
		return fmt.Errorf("the gateway returned the status %q with the resolution %q", out.Status, out.Resolution)
	}
	return nil
}
