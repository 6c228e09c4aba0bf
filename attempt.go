package traintravel

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// A flow has the gateway make charges and refunds, and records what becomes of them.
type flow struct {
	books     *books
	timetable *source
	gateway   PaymentGateway
	timeout   time.Duration // how long the gateway may take: see Options.ChargeTimeout
	newID     func() uuid.UUID
	turns     turns
}

// An attempt to pay is recorded before the gateway is asked.
type attempt struct {
	payment
	source Source    // as the payer gave it: the record has less of it
	begun  time.Time // by the computer's clock: the gateway's time runs from here
}

// attempt is a new attempt to pay: failed already if the card has expired.
func (f *flow) attempt(booking uuid.UUID, amount Money, source Source) attempt {
	a := attempt{source: source, begun: time.Now()}
	now := f.books.now()
	a.payment = payment{
		Payment: Payment{
			ID: timeID(now, f.newID()), Booking: booking, Amount: amount, Source: source.Masked(), Status: Pending, Created: now,
		},
		charging: true,
		deadline: now.Add(f.timeout),
	}
	a.next = a.deadline.Add(time.Second)
	if source.Card != nil && source.Card.Expired(now) {
		a.Status, a.Settled, a.Failure = Failed, now, Failure{ExpiredCard, "The card has expired."}
		a.charging, a.next = false, time.Time{}
	}
	return a
}

// start records an attempt to pay for a booking when its turn comes. If an earlier attempt
// is in its way, of which the charge was lost, it follows that one first and tries again.
func (f *flow) start(ctx context.Context, booking uuid.UUID, record func() error) error {
	err := f.inTurn(ctx, record)
	if errors.Is(err, ErrPaymentInProgress) && f.followOpen(ctx, booking) {
		return f.inTurn(ctx, record)
	}
	return err
}

// charge asks the gateway for the money of an attempt that is recorded, unless it is too
// late to. The outcome is Pending if it is not known.
func (f *flow) charge(ctx context.Context, a *attempt) Outcome {
	ctx, stop := context.WithDeadline(ctx, a.begun.Add(f.timeout))
	defer stop()
	if ctx.Err() != nil {
		return Outcome{Status: Failed, Failure: notAttempted}
	}
	var out Outcome
	err := f.ask(ctx, func(ctx context.Context) (err error) {
		out, err = f.gateway.Charge(ctx, Charge{ID: a.ID, Booking: a.Booking, Amount: a.Amount, Source: a.source})
		return valid(out, err)
	})
	if err != nil {
		f.books.log.WarnContext(ctx, "the outcome of a charge is unknown; it is looked up later", "payment", a.ID, "error", a.source.hide(err.Error()))
		return Outcome{Status: Pending}
	}
	out.Failure = Failure{a.source.hide(out.Failure.Code), a.source.hide(out.Failure.Message)}
	return out
}

// ask calls the gateway with its time limit. A gateway that panics has an unknown outcome
// like one that fails.
func (f *flow) ask(ctx context.Context, call func(context.Context) error) (err error) {
	ctx, stop := context.WithTimeout(ctx, f.timeout)
	defer stop()
	defer recovered(&err)
	return call(ctx)
}

// settle records what the gateway answered to an attempt, and returns it as it stands then:
// with ErrPaidTooLate if it succeeded and has not confirmed its booking.
func (f *flow) settle(ctx context.Context, a *attempt, out Outcome) (Payment, error) {
	var settled Payment
	var confirmed bool
	err := f.onPayment(ctx, a.Booking, a.ID, func(l *ledger, sn *snapshot, p *payment, b *Booking) error {
		if err := l.settle(sn, p, b, out); err != nil {
			return err
		}
		settled, confirmed = p.Payment, b.PaidBy == p.ID
		return nil
	})
	if err != nil {
		f.books.log.ErrorContext(ctx, "the outcome of a charge was not recorded; it is looked up later", "payment", a.ID, "error", err)
		return a.Payment, nil // pending, as recorded
	}
	return settled, inTime(settled, confirmed)
}

// onPayment runs rules on a payment and its booking, which are there. The snapshot is nil
// if there is no timetable that can be read: what became of money is recorded all the same.
func (f *flow) onPayment(ctx context.Context, booking, id uuid.UUID, rules func(*ledger, *snapshot, *payment, *Booking) error) error {
	record := func(sn *snapshot) error {
		return f.books.update(ctx, f.books.now(), func(l *ledger) error {
			p, err := l.payment(booking, id)
			if err != nil {
				return damaged(err)
			}
			b, err := l.booking(booking)
			if err != nil {
				return damaged(err)
			}
			return rules(l, sn, p, b)
		})
	}
	if _, err := f.timetable.snapshot(ctx); unreadable(err) || errors.Is(err, ErrNoTimetable) {
		return record(nil)
	}
	return f.timetable.whileCurrent(ctx, record)
}

// repeated answers a repeated request with the payment it led to, as it stands now. One
// that is pending may be asked of the gateway at this moment, or the process that did may
// have died: nobody can tell, and it is pending either way.
func (f *flow) repeated(ctx context.Context, first answer) (Payment, error) {
	v, err := f.books.store.Get(ctx, paymentKey(first.about, first.payment), bookingKey(first.about))
	if err != nil {
		return Payment{}, err
	}
	p, err := decodePayment(v[0])
	if err != nil {
		return Payment{}, err
	}
	b, err := decodeBooking(v[1], f.books.zones)
	if err != nil {
		return Payment{}, err
	}
	p.Replayed = true
	return p.Payment, inTime(p.Payment, b.PaidBy == p.ID)
}

// inTime is the error of a payment that succeeded and has not confirmed its
// booking.
func inTime(p Payment, confirmed bool) error {
	if p.Status == Succeeded && !confirmed {
		return ErrPaidTooLate
	}
	return nil
}

// valid refuses an outcome that a charge cannot have.
func valid(out Outcome, err error) error {
	if err == nil && out.Resolution != "" {
		return fmt.Errorf("the gateway answered the resolution %q about a charge", out.Resolution)
	}
	return validRefund(out, err)
}

// validRefund refuses an outcome that a refund cannot have.
func validRefund(out Outcome, err error) error {
	switch {
	case err != nil:
		return err
	case out.Status != Pending && out.Status != Succeeded && out.Status != Failed:
		return fmt.Errorf("the gateway answered the unknown status %q", out.Status)
	case !out.Resolution.Fits(out.Status):
		return fmt.Errorf("the gateway answered the status %q with the resolution %q", out.Status, out.Resolution)
	}
	return nil
}
