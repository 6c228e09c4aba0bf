package main

import (
	"context"
	"sync"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// till is a payment gateway in a few lines. All charges and refunds succeed, once for
// each ID. A real gateway calls a payment provider.
type till struct{ done sync.Map }

func (t *till) act(id uuid.UUID) (traintravel.Outcome, error) {
	t.done.Store(id, true)
	return traintravel.Outcome{Status: traintravel.Succeeded}, nil
}

// Charge takes the money.
func (t *till) Charge(_ context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
	return t.act(c.ID)
}

// Refund gives it back.
func (t *till) Refund(_ context.Context, r traintravel.Refund) (traintravel.Outcome, error) {
	return t.act(r.ID)
}

// Lookup returns the outcome, after a crash.
func (t *till) Lookup(_ context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	if _, ok := t.done.Load(id); !ok {
		return traintravel.Outcome{}, traintravel.ErrNotFound
	}
	return traintravel.Outcome{Status: traintravel.Succeeded}, nil
}
