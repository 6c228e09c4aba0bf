package payments

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/ledger"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/redact"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/rail"
)

// The work of Run on payments whose outcome is unknown, and on refunds.

// FollowPayment looks up a charge at the gateway, or makes a refund.
func (f *Flow) FollowPayment(ctx context.Context, it records.Item) error {
	booking, err := uuid.FromBytes(it.Value)
	if err != nil {
		return fmt.Errorf("the agenda entry of payment %v does not name its booking: %w", it.ID, err)
	}
	p, err := f.Books.Payment(ctx, f.Books.Store, booking, it.ID)
	if err != nil {
		return records.Damaged(err)
	}
	if p.AgendaKey() != it.Key {
		return f.Books.Update(ctx, f.Books.Now(), func(l *ledger.Ledger) error {
			l.Delete(it.Key)
			return nil
		})
	}
	if p.RefundOf != uuid.Nil {
		return f.followRefund(ctx, p)
	}
	return f.followCharge(ctx, p)
}

// followRefund asks the gateway for a refund until it is settled.
func (f *Flow) followRefund(ctx context.Context, p records.Payment) error {
	var out rail.Outcome
	err := f.ask(ctx, func(ctx context.Context) (err error) {
		out, err = f.Gateway.Refund(ctx, rail.Refund{ID: p.ID, Charge: p.RefundOf, Amount: rail.Money{Amount: -p.Amount.Amount, Currency: p.Amount.Currency}})
		return validRefund(out, err)
	})
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		out = rail.Outcome{}
	}
	log := f.Books.Log.With("refund", p.ID, "payment", p.RefundOf, "failure", redact.HideNumbers(out.Failure.Code, ""))
	switch {
	case out.Resolution == rail.RefundImpossible:
		log.ErrorContext(ctx, "refund impossible; find another way to refund the payer", "booking", p.Booking)
	case out.Resolution == rail.RefundedElsewhere:
		log.WarnContext(ctx, "refund was made elsewhere")
	case err != nil || out.Status == rail.Failed:
		log.ErrorContext(ctx, "refund failed; will retry", "error", said(err))
	}
	return f.Books.Update(ctx, f.Books.Now(), func(l *ledger.Ledger) error {
		r, err2 := l.Payment(p.Booking, p.ID)
		if err2 != nil {
			return records.Damaged(err2)
		}
		l.FollowRefund(r, out, err)
		return nil
	})
}

// followCharge looks up a charge at the gateway, and requests the cancellation of one that has
// ended for its payer.
func (f *Flow) followCharge(ctx context.Context, p records.Payment) error {
	b, err := f.Books.Booking(ctx, f.Books.Store, p.Booking)
	if err != nil {
		return records.Damaged(err)
	}
	found := f.lookUp(ctx, p.ID)
	if found.ToCancel(&p, &b) && ctx.Err() == nil {
		found = f.cancel(ctx, &p, found)
	}
	if ctx.Err() != nil {
		return nil
	}
	return f.onPayment(ctx, p.Booking, p.ID, func(l *ledger.Ledger, sn *timetable.Snapshot, p *records.Payment, b *rail.Booking) error {
		return l.FollowCharge(sn, p, b, found)
	})
}

// followOpen follows the open attempt of a booking for a payer who wants to make another, and
// says whether it has done so: it does if the charge was lost and only its cancellation by the
// gateway is missing, which Run requests at growing intervals. It leaves half of the time that a
// charge may take.
func (f *Flow) followOpen(ctx context.Context, booking uuid.UUID) bool {
	b, err := f.Books.Booking(ctx, f.Books.Store, booking)
	if err != nil || b.OpenPayment == uuid.Nil {
		return err == nil // it has just been settled
	}
	p, err := f.Books.Payment(ctx, f.Books.Store, booking, b.OpenPayment)
	if err != nil || !p.Unfenced {
		return false
	}
	ctx, stop := context.WithTimeout(ctx, f.Timeout/2)
	defer stop()
	if err := f.followCharge(ctx, p); err != nil {
		f.Books.Log.WarnContext(ctx, "looking up an open payment failed; Run will retry", "payment", p.ID, "error", err)
		return false
	}
	return ctx.Err() == nil
}

// lookUp asks the gateway for the outcome of a charge.
func (f *Flow) lookUp(ctx context.Context, id uuid.UUID) ledger.Finding {
	found := ledger.Finding{Asked: f.Books.Now()}
	err := f.ask(ctx, func(ctx context.Context) (err error) {
		found.Outcome, err = f.Gateway.Lookup(ctx, id)
		return valid(found.Outcome, err)
	})
	if err != nil {
		found.Outcome, found.Unheard = rail.Outcome{Status: rail.Pending}, errors.Is(err, rail.ErrNotFound)
		if !found.Unheard {
			found.Trouble = ledger.LastError(rail.Failure{}, err)
		}
		if !found.Unheard && ctx.Err() == nil {
			f.Books.Log.WarnContext(ctx, "the gateway does not know the outcome of a charge; will ask again", "payment", id, "error", said(err))
		}
	}
	return found
}

// cancel asks the gateway, if it can, to cancel a charge that was not final when it was looked
// up. Only an outcome settles it. After Pending or an error the charge may still succeed, even if
// the gateway did not know it before.
func (f *Flow) cancel(ctx context.Context, p *records.Payment, found ledger.Finding) ledger.Finding {
	c, ok := f.Gateway.(rail.Canceller)
	if !ok {
		return found
	}
	var out rail.Outcome
	err := f.ask(ctx, func(ctx context.Context) (err error) {
		out, err = c.Cancel(ctx, p.ID)
		return valid(out, err)
	})
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return found
	case err != nil:
		if ctx.Err() == nil {
			f.Books.Log.WarnContext(ctx, "the gateway has not cancelled a charge; will ask again", "payment", p.ID, "error", said(err))
		}
		out = rail.Outcome{Status: rail.Pending}
	case out.Status == rail.Failed && found.Unheard:
		out.Failure = rail.NeverArrived()
	}
	told := ledger.Finding{Outcome: out, Asked: found.Asked, Unfenced: found.Lost(p)}
	if err != nil {
		told.Trouble = ledger.LastError(rail.Failure{}, err)
	}
	return told
}

// said returns the text of a gateway's error, nil without an error.
func said(err error) any {
	if err == nil {
		return nil
	}
	return redact.HideNumbers(err.Error(), "")
}
