package paymenttest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/traintravel/traintravel"
)

// losing is what becomes of a call whose answer nobody hears.
var losing = []check{
	{"LostAnswer", lostAnswer, []need{answersLost}},
	{"LostRefund", lostRefund, []need{answersLost}},
	{"LostCancel", lostCancel, []need{answersLost, canceller}},
	{"CutShort", cutShort, nil},
	{"CutShortRefund", cutShortRefund, nil},
	{"Ended", ended, nil},
}

// lost returns an error unless an answer was lost.
func lost(call string, out traintravel.Outcome, err error) error {
	if err == nil {
		return fmt.Errorf("%s of which the answer was lost returns %s, not an error", call, told(out))
	}
	return nil
}

// known looks up what was asked although no answer came. That nobody has heard
// of it would be a mistake.
func (g Gateway) known(ctx context.Context, call string, c traintravel.Charge, want traintravel.PaymentStatus) error {
	out, err := g.Lookup(ctx, c.ID)
	_, err = g.ends(ctx, "Lookup", c.ID, out, err, want)
	if err != nil {
		return fmt.Errorf("after %s of which the answer was lost: %w", call, err)
	}
	return nil
}

func lostAnswer(ctx context.Context, g Gateway) error {
	c := g.ask(g.Succeeds)
	for range 2 {
		out, err := g.AnswersLost.Charge(ctx, c)
		if err := lost("a Charge", out, err); err != nil {
			return err
		}
		if err := g.known(ctx, "a Charge", c, traintravel.Succeeded); err != nil {
			return err
		}
	}
	if _, err := g.becomes(ctx, c, traintravel.Succeeded); err != nil {
		return fmt.Errorf("once more: %w", err)
	}
	return g.hasMoved(ctx, c, c.Amount.Amount)
}

func lostRefund(ctx context.Context, g Gateway) error {
	c, err := g.paid(ctx)
	if err != nil {
		return err
	}
	part := back(c, c.Amount.Amount/2)
	for range 2 {
		out, err := g.AnswersLost.Refund(ctx, part)
		if err := lost("a Refund", out, err); err != nil {
			return err
		}
	}
	if err := g.refunds(ctx, part); err != nil {
		return fmt.Errorf("once more: %w", err)
	}
	if err := g.finds(ctx, part.ID, traintravel.Outcome{Status: traintravel.Succeeded}); err != nil {
		return err
	}
	return g.hasMoved(ctx, c, c.Amount.Amount-part.Amount.Amount)
}

func lostCancel(ctx context.Context, g Gateway) error {
	canceller, ok := g.AnswersLost.(traintravel.Canceller)
	if !ok {
		return wrong("AnswersLost is not a Canceller, though the gateway is one")
	}
	c := g.ask(g.Succeeds)
	out, err := canceller.Cancel(ctx, c.ID)
	if err := lost("a Cancel", out, err); err != nil {
		return err
	}
	out, err = g.cancels(ctx, c)
	if err != nil {
		return err
	}
	if out.Status != traintravel.Failed {
		return wrong("Cancel once more: %s", told(out))
	}
	return g.fenced(ctx, c, 1)
}

// cutShort ends contexts at moments from before the gateway has begun to after
// it has answered.
func cutShort(ctx context.Context, g Gateway) error {
	begun := time.Now()
	if _, err := g.Charge(ctx, g.ask(g.Succeeds)); err != nil {
		return wrong("Charge: %w", err)
	}
	return moments(ctx, time.Since(begun), func(short context.Context) error {
		c := g.ask(g.Succeeds)
		if out, err := g.Charge(short, c); err == nil && out.Status == traintravel.Failed {
			return fmt.Errorf("a Charge cut short is failed, though its outcome is not known: %s", told(out))
		}
		switch out, err := g.Lookup(ctx, c.ID); {
		case err != nil && !errors.Is(err, traintravel.ErrNotFound):
			return wrong("Lookup of a Charge cut short: %w", err)
		case err == nil && out.Status == traintravel.Failed:
			return wrong("Lookup of a Charge cut short: %s", told(out))
		}
		if _, err := g.becomes(ctx, c, traintravel.Succeeded); err != nil {
			return fmt.Errorf("a Charge cut short, once more: %w", err)
		}
		return g.hasMoved(ctx, c, c.Amount.Amount)
	})
}

func cutShortRefund(ctx context.Context, g Gateway) error {
	c, err := g.paid(ctx)
	if err != nil {
		return err
	}
	begun := time.Now()
	if err := g.refunds(ctx, back(c, 1)); err != nil {
		return err
	}
	return moments(ctx, time.Since(begun), func(short context.Context) error {
		c, err := g.paid(ctx)
		if err != nil {
			return err
		}
		part := back(c, c.Amount.Amount/2)
		if out, err := g.Refund(short, part); err == nil && out.Status == traintravel.Failed {
			return fmt.Errorf("a Refund cut short is failed, though its outcome is not known: %s", told(out))
		}
		if err := g.refunds(ctx, part); err != nil {
			return fmt.Errorf("a Refund cut short, once more: %w", err)
		}
		return g.hasMoved(ctx, c, c.Amount.Amount-part.Amount.Amount)
	})
}

// moments runs try with contexts that end at moments up to twice as late as a
// call takes.
func moments(ctx context.Context, takes time.Duration, try func(short context.Context) error) error {
	const n = 16
	return together(n, func(i int) error {
		short, stop := context.WithTimeout(ctx, takes*time.Duration(2*i)/n)
		defer stop()
		return try(short)
	})
}

func ended(ctx context.Context, g Gateway) error {
	over, end := context.WithCancel(ctx)
	end()
	c := g.ask(g.Succeeds)
	refused := func(call string, out traintravel.Outcome, err error) error {
		if err == nil {
			return fmt.Errorf("%s with a context that has ended: %s, not an error", call, told(out))
		}
		return nil
	}
	out, err := g.Charge(over, c)
	if err := refused("Charge", out, err); err != nil {
		return err
	}
	if err := g.unheard(ctx, c.ID); err != nil {
		return fmt.Errorf("after a Charge with a context that had ended: %w", err)
	}
	out, err = g.Lookup(over, c.ID)
	if err := refused("Lookup", out, err); err != nil {
		return err
	}
	if errors.Is(err, traintravel.ErrNotFound) {
		return wrong("Lookup with a context that has ended returns ErrNotFound: %w", err)
	}
	if canceller := g.canceller(); canceller != nil {
		out, err = canceller.Cancel(over, c.ID)
		if err := refused("Cancel", out, err); err != nil {
			return err
		}
	}
	if err := g.hasMoved(ctx, c, 0); err != nil {
		return err
	}
	if _, err := g.becomes(ctx, c, traintravel.Succeeded); err != nil {
		return fmt.Errorf("after calls with a context that had ended: %w", err)
	}
	out, err = g.Refund(over, back(c, 1))
	if err := refused("Refund", out, err); err != nil {
		return err
	}
	return g.hasMoved(ctx, c, c.Amount.Amount)
}
