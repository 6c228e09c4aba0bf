package traintravel_test

import (
	"context"
	"sync"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/sandbox"
)

// debits are charges that are pending at a bank until they are settled or cancelled.
// The zero value has none: each charge has its outcome at once.
type debits struct {
	mu     sync.Mutex
	slow   bool // charges that come now are pending
	firm   bool // a pending charge cannot be cancelled any more
	open   map[uuid.UUID]traintravel.Charge
	banned int // how many were cancelled while they were pending
}

var isPending = traintravel.Outcome{Status: traintravel.Pending}

func (d *debits) charge(ctx context.Context, g *sandbox.Gateway, c traintravel.Charge) (traintravel.Outcome, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.open[c.ID]; ok {
		return isPending, nil
	}
	if out, err := g.Lookup(ctx, c.ID); err == nil || !d.slow { // it came before, or was cancelled
		if err == nil {
			return out, nil
		}
		return g.Charge(ctx, c)
	}
	if d.open == nil {
		d.open = map[uuid.UUID]traintravel.Charge{}
	}
	d.open[c.ID] = c
	return isPending, nil
}

func (d *debits) lookup(ctx context.Context, g *sandbox.Gateway, id uuid.UUID) (traintravel.Outcome, error) {
	if d.pending(id) {
		return isPending, nil
	}
	return g.Lookup(ctx, id)
}

func (d *debits) pending(id uuid.UUID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, ok := d.open[id]
	return ok
}

func (d *debits) cancel(ctx context.Context, g *sandbox.Gateway, id uuid.UUID) (traintravel.Outcome, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.open[id]; ok {
		if d.firm {
			return isPending, nil
		}
		delete(d.open, id)
		d.banned++
	}
	return g.Cancel(ctx, id)
}

// settle gives all pending charges the outcome that their source has.
func (d *debits) settle(g *sandbox.Gateway) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.open {
		if _, err := g.Charge(context.Background(), c); err != nil {
			return err
		}
	}
	clear(d.open)
	return nil
}

// settle has the bank settle all pending charges.
func (o *office) settle() {
	o.t.Helper()
	if err := o.bank.debits.settle(o.bank.Gateway); err != nil {
		o.t.Fatal(err)
	}
}
