package officetest

import (
	"context"
	"errors"
	"sync"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/sandbox"
)

// debits are charges that are pending at a bank until they are settled or cancelled.
// The zero value has none: each charge has its outcome at once.
type debits struct {
	mu     sync.Mutex
	Slow   bool // charges that come now are pending
	Firm   bool // a pending charge cannot be cancelled any more
	open   map[uuid.UUID]traintravel.Charge
	Banned int // how many were cancelled while they were pending
}

var IsPending = traintravel.Outcome{Status: traintravel.Pending}

func (d *debits) Charge(ctx context.Context, g *sandbox.Gateway, c traintravel.Charge) (traintravel.Outcome, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.open[c.ID]; ok {
		return IsPending, nil
	}
	if out, err := g.Lookup(ctx, c.ID); err == nil || !d.Slow { // it came before, or was cancelled
		if err == nil {
			return out, nil
		}
		return g.Charge(ctx, c)
	}
	if d.open == nil {
		d.open = map[uuid.UUID]traintravel.Charge{}
	}
	d.open[c.ID] = c
	return IsPending, nil
}

func (d *debits) lookup(ctx context.Context, g *sandbox.Gateway, id uuid.UUID) (traintravel.Outcome, error) {
	if d.Pending(id) {
		return IsPending, nil
	}
	return g.Lookup(ctx, id)
}

func (d *debits) Pending(id uuid.UUID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, ok := d.open[id]
	return ok
}

func (d *debits) cancel(ctx context.Context, g *sandbox.Gateway, id uuid.UUID) (traintravel.Outcome, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.open[id]; ok {
		if d.Firm {
			return IsPending, nil
		}
		delete(d.open, id)
		d.Banned++
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

// Settle has the bank settle all pending charges.
func (o *Office) Settle() {
	o.T.Helper()
	if err := o.Bank.Debits.settle(o.Bank.Gateway); err != nil {
		o.T.Fatal(err)
	}
}

var ErrLine = errors.New("the line is dead")

// During sets what the bank does before or after an operation, once.
func (b *Bank) During(op string, before, after func() error) {
	b.Before = func(got string, _ uuid.UUID) error {
		if got != op || before == nil {
			return nil
		}
		f := before
		before = nil
		return f()
	}
	b.After = func(got string, _ uuid.UUID, _ *traintravel.Outcome) error {
		if got != op || after == nil {
			return nil
		}
		f := after
		after = nil
		return f()
	}
}

func Iban(number traintravel.Secret) traintravel.Source {
	return traintravel.Source{Bank: &traintravel.BankAccount{
		Name: "Anna", Number: number, AccountType: traintravel.Individual, BankName: "Bank", Country: "AT",
	}}
}

// A Bank is the sandbox, with a say before and after everything that it is
// asked. Both are told charge, lookup, refund or cancel.
type Bank struct {
	*sandbox.Gateway
	Debits debits
	Before func(op string, id uuid.UUID) error
	After  func(op string, id uuid.UUID, out *traintravel.Outcome) error
}

func (b *Bank) ask(op string, id uuid.UUID, act func() (traintravel.Outcome, error)) (traintravel.Outcome, error) {
	if b.Before != nil {
		if err := b.Before(op, id); err != nil {
			return traintravel.Outcome{}, err
		}
	}
	out, err := act()
	if b.After != nil && err == nil {
		if err := b.After(op, id, &out); err != nil {
			return traintravel.Outcome{}, err
		}
	}
	return out, err
}

func (b *Bank) Charge(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
	return b.ask("charge", c.ID, func() (traintravel.Outcome, error) { return b.Debits.Charge(ctx, b.Gateway, c) })
}

func (b *Bank) Lookup(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	return b.ask("lookup", id, func() (traintravel.Outcome, error) { return b.Debits.lookup(ctx, b.Gateway, id) })
}

func (b *Bank) Refund(ctx context.Context, r traintravel.Refund) (traintravel.Outcome, error) {
	return b.ask("refund", r.ID, func() (traintravel.Outcome, error) { return b.Gateway.Refund(ctx, r) })
}

func (b *Bank) Cancel(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	return b.ask("cancel", id, func() (traintravel.Outcome, error) { return b.Debits.cancel(ctx, b.Gateway, id) })
}

// Movements and Balance are the sandbox's, which is in memory and does not fail.
func (b *Bank) Movements() []sandbox.Movement {
	all, err := b.Gateway.Movements(context.Background())
	if err != nil {
		panic(err)
	}
	return all
}

func (b *Bank) Balance(currency string) traintravel.Money {
	sum, err := b.Gateway.Balance(context.Background(), currency)
	if err != nil {
		panic(err)
	}
	return sum
}

// unfenced is a gateway that cannot cancel.
type unfenced struct{ traintravel.PaymentGateway }

func WithoutCancel(o *traintravel.Options) { o.Gateway = unfenced{o.Gateway} }
