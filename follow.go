package traintravel

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
)

// What Run does about payments whose outcome is not known, and refunds to be made.

// followPayment asks the gateway what became of a charge, or makes a refund.
func (f *flow) followPayment(ctx context.Context, it item) error {
	booking, err := uuid.FromBytes(it.value)
	if err != nil {
		return fmt.Errorf("the agenda entry of payment %v names no booking: %w", it.id, err)
	}
	p, err := f.books.payment(ctx, f.books.store, booking, it.id)
	if err != nil {
		return damaged(err)
	}
	if p.agendaKey() != it.key {
		return f.books.update(ctx, f.books.now(), func(l *ledger) error {
			l.delete(it.key)
			return nil
		})
	}
	if p.RefundOf != uuid.Nil {
		return f.followRefund(ctx, p)
	}
	return f.followCharge(ctx, p)
}

// followRefund asks the gateway for a refund until it is settled.
func (f *flow) followRefund(ctx context.Context, p payment) error {
	var out Outcome
	err := f.ask(ctx, func(ctx context.Context) (err error) {
		out, err = f.gateway.Refund(ctx, Refund{ID: p.ID, Charge: p.RefundOf, Amount: Money{-p.Amount.Amount, p.Amount.Currency}})
		return validRefund(out, err)
	})
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		out = Outcome{}
	}
	log := f.books.log.With("refund", p.ID, "payment", p.RefundOf, "failure", hideNumbers(out.Failure.Code, ""))
	switch {
	case out.Resolution == RefundImpossible:
		log.ErrorContext(ctx, "a refund is impossible; a person has to see to it", "booking", p.Booking)
	case out.Resolution == RefundedElsewhere:
		log.WarnContext(ctx, "a refund had been made elsewhere")
	case err != nil || out.Status == Failed:
		log.ErrorContext(ctx, "a refund was not made; it is tried again", "error", said(err))
	}
	return f.books.update(ctx, f.books.now(), func(l *ledger) error {
		r, err2 := l.payment(p.Booking, p.ID)
		if err2 != nil {
			return damaged(err2)
		}
		l.followRefund(r, out, err)
		return nil
	})
}

// followCharge asks the gateway what became of a charge, and to cancel one that has
// ended for its payer.
func (f *flow) followCharge(ctx context.Context, p payment) error {
	b, err := f.books.booking(ctx, f.books.store, p.Booking)
	if err != nil {
		return damaged(err)
	}
	found := f.lookUp(ctx, p.ID)
	if found.toCancel(&p, &b) && ctx.Err() == nil {
		found = f.cancel(ctx, &p, found)
	}
	if ctx.Err() != nil {
		return nil
	}
	return f.onPayment(ctx, p.Booking, p.ID, func(l *ledger, sn *snapshot, p *payment, b *Booking) error {
		return l.followCharge(sn, p, b, found)
	})
}

// followOpen follows the open attempt of a booking for a payer who wants to make another,
// and says whether it has: if the charge was lost, and nothing is missing but that the
// gateway has cancelled it. Run asks for that at longer and longer intervals. Half of the
// time that a charge may take is left.
func (f *flow) followOpen(ctx context.Context, booking uuid.UUID) bool {
	b, err := f.books.booking(ctx, f.books.store, booking)
	if err != nil || b.OpenPayment == uuid.Nil {
		return err == nil // it has just been settled
	}
	p, err := f.books.payment(ctx, f.books.store, booking, b.OpenPayment)
	if err != nil || !p.unfenced {
		return false
	}
	ctx, stop := context.WithTimeout(ctx, f.timeout/2)
	defer stop()
	if err := f.followCharge(ctx, p); err != nil {
		f.books.log.WarnContext(ctx, "an open payment could not be followed; Run does so later", "payment", p.ID, "error", err)
		return false
	}
	return ctx.Err() == nil
}

// lookUp asks the gateway what became of a charge.
func (f *flow) lookUp(ctx context.Context, id uuid.UUID) finding {
	found := finding{asked: f.books.now()}
	err := f.ask(ctx, func(ctx context.Context) (err error) {
		found.Outcome, err = f.gateway.Lookup(ctx, id)
		return valid(found.Outcome, err)
	})
	if err != nil {
		found.Outcome, found.unheard = Outcome{Status: Pending}, errors.Is(err, ErrNotFound)
		if !found.unheard {
			found.trouble = lastError(Failure{}, err)
		}
		if !found.unheard && ctx.Err() == nil {
			f.books.log.WarnContext(ctx, "the gateway does not say what became of a charge; it is asked again", "payment", id, "error", said(err))
		}
	}
	return found
}

// cancel has the gateway cancel a charge that was not final when it was looked up, if the
// gateway can. Only an outcome settles it. After Pending or an error the charge may still
// succeed, even if the gateway had not heard of it before.
func (f *flow) cancel(ctx context.Context, p *payment, found finding) finding {
	c, ok := f.gateway.(Canceller)
	if !ok {
		return found
	}
	var out Outcome
	err := f.ask(ctx, func(ctx context.Context) (err error) {
		out, err = c.Cancel(ctx, p.ID)
		return valid(out, err)
	})
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return found
	case err != nil:
		if ctx.Err() == nil {
			f.books.log.WarnContext(ctx, "the gateway has not cancelled a charge; it is asked again", "payment", p.ID, "error", said(err))
		}
		out = Outcome{Status: Pending}
	case out.Status == Failed && found.unheard:
		out.Failure = neverArrived
	}
	told := finding{Outcome: out, asked: found.asked, unfenced: found.lost(p)}
	if err != nil {
		told.trouble = lastError(Failure{}, err)
	}
	return told
}

// said is what a gateway's error says, nil if there is none.
func said(err error) any {
	if err == nil {
		return nil
	}
	return hideNumbers(err.Error(), "")
}
