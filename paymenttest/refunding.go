package paymenttest

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// refunding is what a refund does: once for each ID, and never more than the
// charge.
var refunding = []check{
	{"Refund", refund, nil},
	{"RefundParts", refundParts, nil},
	{"RefundAtOnce", refundAtOnce, nil},
	{"RefundOtherAmount", refundOtherAmount, nil},
	{"RefundTooMuch", refundTooMuch, nil},
	{"RefundTooMuchAtOnce", refundTooMuchAtOnce, []need{moved}},
	{"RefundNothing", refundNothing, nil},
	{"RefundUnknown", refundUnknown, nil},
	{"RefundDeclined", refundDeclined, []need{declines}},
	{"RefundPending", refundPending, []need{settlesLater}},
	{"RefundedElsewhere", refundedElsewhere, []need{chargedBack}},
	{"RefundImpossible", refundImpossible, []need{notRefundable}},
}

func refund(ctx context.Context, g Gateway) error {
	c, err := g.paid(ctx)
	if err != nil {
		return err
	}
	all := back(c, c.Amount.Amount)
	for range 3 {
		if err := g.refunds(ctx, all); err != nil {
			return err
		}
		if err := g.hasMoved(ctx, c, 0); err != nil {
			return err
		}
	}
	if err := g.finds(ctx, c.ID, traintravel.Outcome{Status: traintravel.Succeeded}); err != nil {
		return fmt.Errorf("the charge that was given back: %w", err)
	}
	_, err = g.becomes(ctx, c, traintravel.Succeeded)
	if err != nil {
		return fmt.Errorf("the charge that was given back, asked for again: %w", err)
	}
	return g.hasMoved(ctx, c, 0)
}

func refundParts(ctx context.Context, g Gateway) error {
	c, err := g.paid(ctx)
	if err != nil {
		return err
	}
	third := c.Amount.Amount / 3
	left := c.Amount.Amount
	for _, part := range []int64{third, third, left - 2*third} { // two of the same amount are two
		r := back(c, part)
		left -= part
		for range 2 {
			if err := g.refunds(ctx, r); err != nil {
				return fmt.Errorf("%s of %s: %w", r.Amount, c.Amount, err)
			}
			if err := g.hasMoved(ctx, c, left); err != nil {
				return fmt.Errorf("%s of %s: %w", r.Amount, c.Amount, err)
			}
		}
	}
	// Nothing is left: there is no better way to say so than that it was made elsewhere.
	last := back(c, 1)
	if out, err := g.Refund(ctx, last); err == nil && out.Resolution == traintravel.RefundedElsewhere {
		return g.hasMoved(ctx, c, 0)
	}
	return g.refusesRefund(ctx, c, last, 0)
}

// refusesRefund returns an error if a refund is made that must not be.
func (g Gateway) refusesRefund(ctx context.Context, c traintravel.Charge, r traintravel.Refund, left int64) error {
	for range 2 {
		out, err := g.Refund(ctx, r)
		if err == nil && out.Status == traintravel.Pending {
			out, err = g.wait(ctx, r.ID, out)
		}
		if err := refuses(fmt.Sprintf("Refund of %s of %s", r.Amount, c.Amount), out, err); err != nil {
			return err
		}
		if err := g.hasMoved(ctx, c, left); err != nil {
			return fmt.Errorf("after Refund of %s of %s was refused: %w", r.Amount, c.Amount, err)
		}
	}
	return nil
}

func refundAtOnce(ctx context.Context, g Gateway) error {
	c, err := g.paid(ctx)
	if err != nil {
		return err
	}
	part := back(c, c.Amount.Amount/4)
	err = together(many, func(int) error {
		if out, err := g.Refund(ctx, part); err == nil && out.Status == traintravel.Failed {
			return wrong("Refund with one ID, many times at once: %s", told(out))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := g.refunds(ctx, part); err != nil {
		return fmt.Errorf("once more: %w", err)
	}
	return g.hasMoved(ctx, c, c.Amount.Amount-part.Amount.Amount)
}

func refundOtherAmount(ctx context.Context, g Gateway) error {
	c, err := g.paid(ctx)
	if err != nil {
		return err
	}
	part := back(c, c.Amount.Amount/4)
	if err := g.refunds(ctx, part); err != nil {
		return err
	}
	other := part
	other.Amount.Amount++
	if out, err := g.Refund(ctx, other); err == nil {
		return fmt.Errorf("the ID of a refund of %s with %s: %s, not an error", part.Amount, other.Amount, told(out))
	}
	return g.hasMoved(ctx, c, c.Amount.Amount-part.Amount.Amount)
}

func refundTooMuch(ctx context.Context, g Gateway) error {
	c, err := g.paid(ctx)
	if err != nil {
		return err
	}
	if err := g.refusesRefund(ctx, c, back(c, c.Amount.Amount+1), c.Amount.Amount); err != nil {
		return err
	}
	half := c.Amount.Amount / 2
	if err := g.refunds(ctx, back(c, half)); err != nil {
		return fmt.Errorf("a part after too much was refused: %w", err)
	}
	return g.refusesRefund(ctx, c, back(c, c.Amount.Amount-half+1), c.Amount.Amount-half)
}

// refundTooMuchAtOnce asks many times at once for a third.
func refundTooMuchAtOnce(ctx context.Context, g Gateway) error {
	c, err := g.paid(ctx)
	if err != nil {
		return err
	}
	third := c.Amount.Amount / 3
	_ = together(many, func(int) error {
		r := back(c, third)
		if out, err := g.Refund(ctx, r); err == nil {
			_, _ = g.wait(ctx, r.ID, out)
		}
		return nil
	})
	return g.hasMoved(ctx, c, c.Amount.Amount-3*third)
}

func refundNothing(ctx context.Context, g Gateway) error {
	c, err := g.paid(ctx)
	if err != nil {
		return err
	}
	for _, amount := range []int64{0, -1} {
		if err := g.refusesRefund(ctx, c, back(c, amount), c.Amount.Amount); err != nil {
			return err
		}
	}
	foreign := back(c, 1)
	foreign.Amount.Currency = "chf"
	if c.Amount.Currency == "chf" {
		foreign.Amount.Currency = "eur"
	}
	return g.refusesRefund(ctx, c, foreign, c.Amount.Amount)
}

func refundUnknown(ctx context.Context, g Gateway) error {
	c := traintravel.Charge{ID: uuid.New(), Amount: g.Price}
	return g.refusesRefund(ctx, c, back(c, 1), 0)
}

func refundDeclined(ctx context.Context, g Gateway) error {
	c := g.ask(g.Declines)
	if _, err := g.becomes(ctx, c, traintravel.Failed); err != nil {
		return err
	}
	return g.refusesRefund(ctx, c, back(c, 1), 0)
}

// refundPending: there is nothing to give back yet. One that settles while it
// is asked proves nothing.
func refundPending(ctx context.Context, g Gateway) error {
	c := g.ask(g.SettlesLater)
	if _, err := g.Charge(ctx, c); err != nil {
		return wrong("Charge: %w", err)
	}
	out, err := g.Refund(ctx, back(c, 1))
	now, errLookup := g.Lookup(ctx, c.ID)
	if errLookup != nil {
		return wrong("Lookup: %w", errLookup)
	}
	if now.Status != traintravel.Pending {
		return nil
	}
	if err == nil && out.Status == traintravel.Succeeded {
		return wrong("Refund of a charge that is pending: %s", told(out))
	}
	return g.hasMoved(ctx, c, 0)
}

// refundedElsewhere: the payer has the money already.
func refundedElsewhere(ctx context.Context, g Gateway) error {
	return g.resolves(ctx, g.ChargedBack, traintravel.Succeeded, traintravel.RefundedElsewhere)
}

// refundImpossible: whoever asks again and again is told so.
func refundImpossible(ctx context.Context, g Gateway) error {
	return g.resolves(ctx, g.NotRefundable, traintravel.Failed, traintravel.RefundImpossible)
}

// resolves returns an error unless a refund of a charge of this source ends with a
// resolution, and stays so.
func (g Gateway) resolves(ctx context.Context, source traintravel.Source, status traintravel.PaymentStatus, want traintravel.Resolution) error {
	c := g.ask(source)
	if _, err := g.becomes(ctx, c, traintravel.Succeeded); err != nil {
		return err
	}
	r := back(c, c.Amount.Amount)
	var first traintravel.Outcome
	for i := range 3 {
		out, err := g.Refund(ctx, r)
		if out, err = g.ends(ctx, "Refund", r.ID, out, err, status); err != nil {
			return err
		}
		if out.Resolution != want {
			return wrong("Refund: %s, not with the resolution %q", told(out), want)
		}
		if i == 0 {
			first = out
		}
		if out != first {
			return wrong("Refund once more: %s, and before %s", told(out), told(first))
		}
		if err := g.finds(ctx, r.ID, first); err != nil {
			return err
		}
	}
	return nil
}
