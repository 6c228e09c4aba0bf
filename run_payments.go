package traintravel

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
)

// What Run does about payments whose outcome is not known, and refunds to be made.

// followPayment asks the gateway what became of a charge, or makes a refund.
func (s *Service) followPayment(ctx context.Context, it item) error {
	booking := uuid.UUID(bytes.Clone(it.value))
	p, err := s.readPayment(ctx, s.store, booking, it.id)
	if err != nil {
		return damaged(err)
	}
	if p.agendaKey() != it.key {
		err := s.update(ctx, s.now(), func(l *ledger) error {
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

func (s *Service) followRefund(ctx context.Context, p payment) error {
	var out Outcome
	err := s.ask(ctx, func(ctx context.Context) (err error) {
		out, err = s.opts.Gateway.Refund(ctx, Refund{ID: p.ID, Charge: p.RefundOf, Amount: Money{-p.Amount.Amount, p.Amount.Currency}})
		return valid(out, err)
	})
	if ctx.Err() != nil {
		return nil
	}
	if err != nil || out.Status == Failed {
		s.log.ErrorContext(ctx, "a refund was not made; it is tried again", "refund", p.ID, "payment", p.RefundOf, "failure", hideNumbers(out.Failure.Code, ""), "error", said(err))
	}
	now := s.now()
	err = s.update(ctx, now, func(l *ledger) error {
		r, err := l.payment(p.Booking, p.ID)
		if err != nil {
			return damaged(err)
		}
		if r.Status == Succeeded {
			l.payments = nil
			return nil
		}
		if out.Status == Succeeded {
			l.settled(r, Succeeded, Failure{})
			return nil
		}
		r.tries++
		r.next = now.Add(lookAfter(r.tries))
		return nil
	})
	return err
}

// followCharge looks a charge up. One that the gateway has not heard of fails
// once it cannot arrive any more; if the gateway cannot promise that, it is
// watched for a day.
func (s *Service) followCharge(ctx context.Context, p payment) error {
	var out Outcome
	heard := true
	err := s.ask(ctx, func(ctx context.Context) (err error) {
		out, err = s.opts.Gateway.Lookup(ctx, p.ID)
		if errors.Is(err, ErrNotFound) {
			heard, out = false, Outcome{Status: Pending}
			return nil
		}
		return valid(out, err)
	})
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		s.log.WarnContext(ctx, "the gateway does not say what became of a charge; it is asked again", "payment", p.ID, "error", said(err))
		heard, out = true, Outcome{Status: Pending}
	}
	now := s.now()
	gone := !heard && !now.Before(p.deadline.Add(lateCharge))
	fenced := false
	if c, ok := s.opts.Gateway.(Canceller); ok && gone {
		var answer Outcome
		err := s.ask(ctx, func(ctx context.Context) (err error) {
			answer, err = c.Cancel(ctx, p.ID)
			return valid(answer, err)
		})
		if err == nil { // it is known now, be it that it arrived this very moment
			out, heard, gone, fenced = answer, true, false, answer.Status == Failed
		}
	}
	definite := heard && out.Status != Pending
	if fenced {
		out.Failure = neverArrived
	}
	if gone {
		out = Outcome{Status: Failed, Failure: neverArrived}
	}
	_, _, err = s.settle(ctx, p.Booking, p.ID, out, func(q *payment) {
		if definite || q.Status == Failed && !now.Before(q.Created.Add(watchFor)) {
			q.next = time.Time{}
			return
		}
		q.tries++
		q.next = now.Add(lookAfter(q.tries))
		if arrives := p.deadline.Add(lateCharge); !heard && !gone && arrives.Before(q.next) {
			q.next = arrives
		}
	})
	return err
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
