package paymenttest

import (
	"context"
	"fmt"

	"github.com/traintravel/traintravel"
)

// settling is what becomes of a charge whose outcome is known later.
var settling = []check{
	{"SettlesLater", settles, []need{settlesLater}},
	{"FailsLater", fails, []need{failsLater}},
}

func settles(ctx context.Context, g Gateway) error {
	return g.later(ctx, g.SettlesLater, traintravel.Succeeded, g.Price.Amount)
}

func fails(ctx context.Context, g Gateway) error {
	return g.later(ctx, g.FailsLater, traintravel.Failed, 0)
}

// later charges a source whose charge is pending and then ends.
func (g Gateway) later(ctx context.Context, source traintravel.Source, want traintravel.PaymentStatus, amount int64) error {
	c := g.ask(source)
	pending, err := g.Charge(ctx, c)
	if err != nil {
		return wrong("Charge: %w", err)
	}
	if err := sane(pending); err != nil {
		return wrong("Charge: %w", err)
	}
	if pending.Status != traintravel.Pending {
		return wrong("Charge with a source that settles later: %s, not pending", told(pending))
	}
	if _, err := g.Charge(ctx, c); err != nil {
		return wrong("Charge once more while it is pending: %w", err)
	}
	out, err := g.ends(ctx, "Charge", c.ID, pending, nil, want)
	if err != nil {
		return err
	}
	for range 2 {
		if err := g.finds(ctx, c.ID, out); err != nil {
			return fmt.Errorf("after it has settled: %w", err)
		}
		next, err := g.Charge(ctx, c)
		if err != nil {
			return wrong("Charge once more after it has settled: %w", err)
		}
		if next != out {
			return wrong("Charge once more after it has settled with %s: %s", told(out), told(next))
		}
		if err := g.hasMoved(ctx, c, amount); err != nil {
			return err
		}
	}
	return nil
}
