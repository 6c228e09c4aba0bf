package main

import (
	"context"
	"sync"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// till is a payment gateway of one's own in a few lines: it takes everybody's
// money, once for each ID, and gives it back. A real one asks a provider.
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

// Lookup tells what became of it, after a crash.
func (t *till) Lookup(_ context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	if _, ok := t.done.Load(id); !ok {
		return traintravel.Outcome{}, traintravel.ErrNotFound
	}
	return traintravel.Outcome{Status: traintravel.Succeeded}, nil
}
