package paymenttest

import (
	"context"
	"fmt"

	"github.com/traintravel/traintravel"
)

// charging is what a charge does: once for each ID.
var charging = []check{
	{"Charge", charge, nil},
	{"Apart", apart, nil},
	{"Amounts", amounts, nil},
	{"Again", again, nil},
	{"AtOnce", atOnce, nil},
	{"OtherAmount", otherAmount, nil},
	{"Declined", declined, []need{declines}},
	{"DeclinedForGood", declinedForGood, []need{declines}},
	{"Moved", onlyOnce, []need{moved}},
}

func charge(ctx context.Context, g Gateway) error {
	c, err := g.paid(ctx)
	if err != nil {
		return err
	}
	return g.hasMoved(ctx, c, c.Amount.Amount)
}

// apart charges many times at once, each for itself.
func apart(ctx context.Context, g Gateway) error {
	return together(many, func(i int) error {
		c := g.ask(g.Succeeds)
		c.Amount.Amount += int64(i)
		if _, err := g.becomes(ctx, c, traintravel.Succeeded); err != nil {
			return err
		}
		return g.hasMoved(ctx, c, c.Amount.Amount)
	})
}

func amounts(ctx context.Context, g Gateway) error {
	for _, amount := range g.Amounts {
		c := g.ask(g.Succeeds)
		c.Amount = amount
		err := first(
			step{"charge", func() error {
				if _, err := g.becomes(ctx, c, traintravel.Succeeded); err != nil {
					return err
				}
				return g.hasMoved(ctx, c, amount.Amount)
			}},
			step{"the same again", func() error {
				if _, err := g.becomes(ctx, c, traintravel.Succeeded); err != nil {
					return err
				}
				return g.hasMoved(ctx, c, amount.Amount)
			}},
			step{"refund", func() error {
				if err := g.refunds(ctx, back(c, amount.Amount)); err != nil {
					return err
				}
				return g.hasMoved(ctx, c, 0)
			}},
		)
		if err != nil {
			return fmt.Errorf("%s: %w", amount, err)
		}
	}
	return nil
}

func again(ctx context.Context, g Gateway) error {
	c := g.ask(g.Succeeds)
	for range 5 {
		if _, err := g.becomes(ctx, c, traintravel.Succeeded); err != nil {
			return err
		}
	}
	return g.hasMoved(ctx, c, c.Amount.Amount)
}

// atOnce: whoever comes while the first is at work may get an error or be told
// to wait, but not that it failed.
func atOnce(ctx context.Context, g Gateway) error {
	c := g.ask(g.Succeeds)
	err := together(many, func(int) error {
		out, err := g.Charge(ctx, c)
		if err != nil {
			return nil
		}
		if out.Status == traintravel.Failed {
			return wrong("Charge with one ID, many times at once: %s", told(out))
		}
		return sane(out)
	})
	if err != nil {
		return err
	}
	if _, err := g.becomes(ctx, c, traintravel.Succeeded); err != nil {
		return fmt.Errorf("once more: %w", err)
	}
	return g.hasMoved(ctx, c, c.Amount.Amount)
}

// onlyOnce is there to be skipped, and to say so, where nothing tells what
// moved; otherwise to find who charges the first time twice.
func onlyOnce(ctx context.Context, g Gateway) error {
	c := g.ask(g.Succeeds)
	if err := g.hasMoved(ctx, c, 0); err != nil {
		return fmt.Errorf("before the charge: %w", err)
	}
	if _, err := g.becomes(ctx, c, traintravel.Succeeded); err != nil {
		return err
	}
	return g.hasMoved(ctx, c, c.Amount.Amount)
}

func otherAmount(ctx context.Context, g Gateway) error {
	c, err := g.paid(ctx)
	if err != nil {
		return err
	}
	more, less, other := c, c, c
	more.Amount.Amount++
	less.Amount.Amount--
	other.Amount.Currency = "chf"
	if c.Amount.Currency == "chf" {
		other.Amount.Currency = "eur"
	}
	for _, d := range []traintravel.Charge{more, less, other} {
		if out, err := g.Charge(ctx, d); err == nil {
			return fmt.Errorf("the ID of a charge of %s with %s: %s, not an error", c.Amount, d.Amount, told(out))
		}
		if err := g.finds(ctx, c.ID, traintravel.Outcome{Status: traintravel.Succeeded}); err != nil {
			return fmt.Errorf("after its ID came with %s: %w", d.Amount, err)
		}
		if err := g.hasMoved(ctx, c, c.Amount.Amount); err != nil {
			return fmt.Errorf("after its ID came with %s: %w", d.Amount, err)
		}
	}
	return nil
}

func declined(ctx context.Context, g Gateway) error {
	c := g.ask(g.Declines)
	out, err := g.becomes(ctx, c, traintravel.Failed)
	if err != nil {
		return err
	}
	for range 3 {
		next, err := g.becomes(ctx, c, traintravel.Failed)
		if err != nil {
			return fmt.Errorf("once more: %w", err)
		}
		if next != out {
			return fmt.Errorf("declined with %s, and once more with %s", told(out), told(next))
		}
	}
	if err := g.finds(ctx, c.ID, out); err != nil {
		return err
	}
	return g.hasMoved(ctx, c, 0)
}

// declinedForGood: another try has another ID.
func declinedForGood(ctx context.Context, g Gateway) error {
	c := g.ask(g.Declines)
	out, err := g.becomes(ctx, c, traintravel.Failed)
	if err != nil {
		return err
	}
	better := c
	better.Source = g.Succeeds
	next, err := g.Charge(ctx, better)
	if err := refuses("the ID of a declined charge with a source that succeeds", next, err); err != nil {
		return err
	}
	if err := g.finds(ctx, c.ID, out); err != nil {
		return err
	}
	return g.hasMoved(ctx, c, 0)
}
