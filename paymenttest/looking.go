package paymenttest

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// looking is what Lookup tells.
var looking = []check{
	{"Lookup", lookup, nil},
	{"Unknown", unknown, nil},
}

func lookup(ctx context.Context, g Gateway) error {
	c, err := g.paid(ctx)
	if err != nil {
		return err
	}
	part := back(c, c.Amount.Amount/2)
	if err := g.refunds(ctx, part); err != nil {
		return err
	}
	for range 3 {
		for what, id := range map[string]uuid.UUID{"a charge": c.ID, "a refund": part.ID} {
			if err := g.finds(ctx, id, traintravel.Outcome{Status: traintravel.Succeeded}); err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
		}
	}
	return g.hasMoved(ctx, c, c.Amount.Amount-part.Amount.Amount)
}

func unknown(ctx context.Context, g Gateway) error {
	c := g.ask(g.Succeeds)
	for range 2 {
		if err := g.unheard(ctx, c.ID); err != nil {
			return err
		}
	}
	if _, err := g.becomes(ctx, c, traintravel.Succeeded); err != nil {
		return fmt.Errorf("after its ID was looked up: %w", err)
	}
	return g.hasMoved(ctx, c, c.Amount.Amount)
}
