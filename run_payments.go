package traintravel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// What Run does about payments whose outcome is not known, and refunds to be made.

// followPayment asks the gateway what became of a charge, or makes a refund.
func (s *Service) followPayment(ctx context.Context, it item) error {
	booking, err := uuid.FromBytes(it.value)
	if err != nil {
		return fmt.Errorf("the agenda entry of payment %v names no booking: %w", it.id, err)
	}
	p, err := s.books.payment(ctx, s.store, booking, it.id)
	if err != nil {
		return damaged(err)
	}
	if p.agendaKey() != it.key {
		err := s.books.update(ctx, s.now(), func(l *ledger) error {
			l.delete(it.key)
			return nil
		})
		return err
	}
	if p.RefundOf != uuid.Nil {
		return s.followRefund(ctx, p)
	}
	return s.followCharge(ctx, p)
}

// lookAfter is how long to wait before asking about a payment again.
func lookAfter(tries int) time.Duration {
	return min(5*time.Second<<min(tries, 10), time.Hour)
}

// followRefund asks the gateway for a refund until it is settled.
func (s *Service) followRefund(ctx context.Context, p payment) error {
	var out Outcome
	err := s.ask(ctx, func(ctx context.Context) (err error) {
		out, err = s.opts.Gateway.Refund(ctx, Refund{ID: p.ID, Charge: p.RefundOf, Amount: Money{-p.Amount.Amount, p.Amount.Currency}})
		return validRefund(out, err)
	})
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		out = Outcome{}
	}
	log := s.log.With("refund", p.ID, "payment", p.RefundOf, "failure", hideNumbers(out.Failure.Code, ""))
	switch {
	case out.Resolution == RefundImpossible:
		log.ErrorContext(ctx, "a refund is impossible; a person has to see to it", "booking", p.Booking)
	case out.Resolution == RefundedElsewhere:
		log.WarnContext(ctx, "a refund had been made elsewhere")
	case err != nil || out.Status == Failed:
		log.ErrorContext(ctx, "a refund was not made; it is tried again", "error", said(err))
	}
	now := s.now()
	return s.books.update(ctx, now, func(l *ledger) error {
		r, err2 := l.payment(p.Booking, p.ID)
		if err2 != nil {
			return damaged(err2)
		}
		l.followedRefund(r, out, err)
		return nil
	})
}

// followedRefund records what the gateway has answered to a refund.
func (l *ledger) followedRefund(r *payment, out Outcome, err error) {
	final := out.Status == Succeeded || out.Resolution == RefundImpossible
	switch {
	case r.Status == Succeeded || r.Status == Failed && out.Status != Succeeded:
		return // it was settled meanwhile
	case final:
		if out.Status == Failed {
			out.Failure.Code = cmp.Or(out.Failure.Code, ProcessingError)
		}
		l.settled(r, out.Status, out.Failure.bounded())
		r.Resolution = out.Resolution
	default:
		r.tries++
		r.next = l.now.Add(lookAfter(r.tries))
		r.LastError = lastError(out.Failure, err)
	}
}

// lastError is what is kept of a gateway's answer that has settled nothing: empty if the
// gateway is still at work.
func lastError(why Failure, err error) string {
	text := why.Code
	switch {
	case err != nil:
		text = err.Error()
	case why.Message != "":
		text += ": " + why.Message
	}
	return Failure{Message: text}.bounded().Message
}

// followCharge asks the gateway what became of a charge, and to cancel one that has
// ended for its payer.
func (s *Service) followCharge(ctx context.Context, p payment) error {
	b, err := s.books.booking(ctx, s.store, p.Booking)
	if err != nil {
		return damaged(err)
	}
	f := s.lookUpCharge(ctx, p.ID)
	if f.toCancel(&p, &b) && ctx.Err() == nil {
		f = s.cancelCharge(ctx, &p, f)
	}
	if ctx.Err() != nil {
		return nil
	}
	return s.onPayment(ctx, p.Booking, p.ID, func(l *ledger, sn *snapshot, p *payment, b *Booking) error {
		return l.follow(sn, p, b, f)
	})
}

// followOpen follows the open attempt of a booking for a payer who wants to make another,
// and says whether it has: if the charge was lost, and nothing is missing but that the
// gateway has cancelled it. Run asks for that at longer and longer intervals. Half of the
// time that a charge may take is left.
func (s *Service) followOpen(ctx context.Context, booking uuid.UUID) bool {
	b, err := s.books.booking(ctx, s.store, booking)
	if err != nil || b.OpenPayment == uuid.Nil {
		return err == nil // it has just been settled
	}
	p, err := s.books.payment(ctx, s.store, booking, b.OpenPayment)
	if err != nil || !p.unfenced {
		return false
	}
	ctx, stop := context.WithTimeout(ctx, s.opts.ChargeTimeout/2)
	defer stop()
	if err := s.followCharge(ctx, p); err != nil {
		s.log.WarnContext(ctx, "an open payment could not be followed; Run does so later", "payment", p.ID, "error", err)
		return false
	}
	return ctx.Err() == nil
}

// lookUpCharge asks the gateway what became of a charge.
func (s *Service) lookUpCharge(ctx context.Context, id uuid.UUID) finding {
	f := finding{asked: s.now()}
	err := s.ask(ctx, func(ctx context.Context) (err error) {
		f.Outcome, err = s.opts.Gateway.Lookup(ctx, id)
		return valid(f.Outcome, err)
	})
	if err != nil {
		f.Outcome, f.unheard = Outcome{Status: Pending}, errors.Is(err, ErrNotFound)
		if !f.unheard {
			f.trouble = lastError(Failure{}, err)
		}
		if !f.unheard && ctx.Err() == nil {
			s.log.WarnContext(ctx, "the gateway does not say what became of a charge; it is asked again", "payment", id, "error", said(err))
		}
	}
	return f
}

// cancelCharge has the gateway cancel a charge that was not final when it was looked up,
// if the gateway can. Only an outcome settles it. After Pending or an error the charge
// may still succeed, even if the gateway had not heard of it before.
func (s *Service) cancelCharge(ctx context.Context, p *payment, f finding) finding {
	c, ok := s.opts.Gateway.(Canceller)
	if !ok {
		return f
	}
	var out Outcome
	err := s.ask(ctx, func(ctx context.Context) (err error) {
		out, err = c.Cancel(ctx, p.ID)
		return valid(out, err)
	})
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return f
	case err != nil:
		if ctx.Err() == nil {
			s.log.WarnContext(ctx, "the gateway has not cancelled a charge; it is asked again", "payment", p.ID, "error", said(err))
		}
		out = Outcome{Status: Pending}
	case out.Status == Failed && f.unheard:
		out.Failure = neverArrived
	}
	told := finding{Outcome: out, asked: f.asked, unfenced: f.lost(p)}
	if err != nil {
		told.trouble = lastError(Failure{}, err)
	}
	return told
}

var neverArrived = Failure{ProcessingError, "The payment did not reach the bank. Nothing was charged."}

// said is what a gateway's error says, nil if there is none.
func said(err error) any {
	if err == nil {
		return nil
	}
	return hideNumbers(err.Error(), "")
}

// ask calls the gateway with its time limit and survives its panics.
func (s *Service) ask(ctx context.Context, call func(context.Context) error) (err error) {
	ctx, stop := context.WithTimeout(ctx, s.opts.ChargeTimeout)
	defer stop()
	defer recovered(&err)
	return call(ctx)
}
