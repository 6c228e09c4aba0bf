// Package sandbox is a payment gateway for trying out and for tests. It moves
// no money and remembers outcomes only, never numbers, names or codes, in
// memory and for as long as the [Gateway] lives.
//
// The outcome of a charge depends on the number alone, as in Stripe's test
// mode:
//
//	4242 4242 4242 4242        succeeds, like any valid card not listed here
//	4000 0000 0000 0002        card_declined
//	4000 0000 0000 9995        insufficient_funds
//	4000 0000 0000 0069        expired_card
//	4000 0000 0000 0127        incorrect_cvc
//	4000 0000 0000 0119        processing_error
//
//	AT61 1904 3002 3457 3201   succeeds, like any valid account not listed here
//	AT32 1904 3002 3547 3204   is pending, and succeeds after SettleAfter
//	AT86 1904 3002 3547 3202   debit_not_authorized
//	AT05 1904 3002 3547 3205   is pending, and fails likewise after SettleAfter
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// SettleAfter is how long a bank account that settles later keeps a charge
// pending.
const SettleAfter = 10 * time.Second

// A Movement is a charge, or a refund, that the gateway was asked for.
type Movement struct {
	ID      uuid.UUID
	Charge  uuid.UUID // what a refund gives back; zero for a charge
	Booking uuid.UUID // what a charge is for; zero for a refund
	Amount  traintravel.Money
	Outcome traintravel.Outcome
}

// A Gateway is a [traintravel.PaymentGateway] and a [traintravel.Canceller].
// It is safe for concurrent use. It answers at once: only a context that has
// ended, or a request that contradicts itself or an earlier one, is an error,
// and then nothing has happened.
type Gateway struct {
	mu        sync.Mutex
	movements map[uuid.UUID]*movement
	order     []*movement
}

type movement struct {
	Movement
	settles  time.Time // the outcome is pending until then
	refunded int64     // of a charge, in minor units
	fenced   bool      // cancelled before it came
}

var (
	_ traintravel.PaymentGateway = (*Gateway)(nil)
	_ traintravel.Canceller      = (*Gateway)(nil)
)

// New returns a gateway that has moved nothing yet.
func New() *Gateway {
	return &Gateway{movements: make(map[uuid.UUID]*movement)}
}

// Charge decides by the number of the source. The same ID again gets the same
// outcome, whatever the source; with another amount or booking it is an error.
func (g *Gateway) Charge(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
	asked := Movement{ID: c.ID, Booking: c.Booking, Amount: c.Amount}
	return g.act(ctx, asked, func() (*movement, error) {
		if c.Amount.Amount < 0 || c.Amount.Currency == "" {
			return nil, fmt.Errorf("sandbox: charge %s: %s is nothing to take", c.ID, c.Amount)
		}
		outcome, later := decide(c.Source)
		m := &movement{Movement: asked}
		m.Outcome = outcome
		if later {
			m.settles = time.Now().Add(SettleAfter)
		}
		return m, nil
	})
}

// Refund gives back at most what is left of a charge that has succeeded, in
// its currency. Anything else is an error.
func (g *Gateway) Refund(ctx context.Context, r traintravel.Refund) (traintravel.Outcome, error) {
	asked := Movement{ID: r.ID, Charge: r.Charge, Amount: r.Amount}
	return g.act(ctx, asked, func() (*movement, error) {
		charge := g.movements[r.Charge]
		switch {
		case charge == nil:
			return nil, fmt.Errorf("sandbox: refund %s: charge %s: %w", r.ID, r.Charge, traintravel.ErrNotFound)
		case charge.Charge != uuid.Nil || charge.now().Status != traintravel.Succeeded:
			return nil, fmt.Errorf("sandbox: refund %s: %s is no charge that has succeeded", r.ID, r.Charge)
		case r.Amount.Currency != charge.Amount.Currency || r.Amount.Amount <= 0 || r.Amount.Amount > charge.Amount.Amount-charge.refunded:
			return nil, fmt.Errorf("sandbox: refund %s: %s is not within what is left of %s", r.ID, r.Amount, charge.Amount)
		}
		charge.refunded += r.Amount.Amount
		m := &movement{Movement: asked}
		m.Outcome.Status = traintravel.Succeeded
		return m, nil
	})
}

// act makes and remembers a movement, unless its ID has come before.
func (g *Gateway) act(ctx context.Context, asked Movement, do func() (*movement, error)) (traintravel.Outcome, error) {
	if err := check(ctx, asked.ID); err != nil {
		return traintravel.Outcome{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if m := g.movements[asked.ID]; m != nil {
		asked.Outcome = m.Outcome
		if !m.fenced && m.Movement != asked {
			return traintravel.Outcome{}, fmt.Errorf("sandbox: %s came before, with another amount or purpose", asked.ID)
		}
		return m.now(), nil
	}
	m, err := do()
	if err != nil {
		return traintravel.Outcome{}, err
	}
	g.remember(m)
	return m.now(), nil
}

// Lookup tells the outcome of a charge or refund.
func (g *Gateway) Lookup(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	if err := check(ctx, id); err != nil {
		return traintravel.Outcome{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	m := g.movements[id]
	if m == nil {
		return traintravel.Outcome{}, fmt.Errorf("sandbox: %s: %w", id, traintravel.ErrNotFound)
	}
	return m.now(), nil
}

// Cancel makes a pending charge fail with the code canceled, and likewise one
// that has not come yet.
func (g *Gateway) Cancel(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	if err := check(ctx, id); err != nil {
		return traintravel.Outcome{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	m := g.movements[id]
	if m == nil {
		m = &movement{Movement: Movement{ID: id}, fenced: true}
		g.remember(m)
	}
	if m.fenced || m.now().Status == traintravel.Pending {
		m.Outcome, m.settles = failed("canceled", "The payment was cancelled."), time.Time{}
	}
	return m.now(), nil
}

// Movements returns what the gateway was asked for, in order. A charge that
// was cancelled before it came is not among them.
func (g *Gateway) Movements() []Movement {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []Movement
	for _, m := range g.order {
		if !m.fenced {
			seen := m.Movement
			seen.Outcome = m.now()
			all = append(all, seen)
		}
	}
	return all
}

// Balance returns what was taken in a currency less what was given back.
func (g *Gateway) Balance(currency string) traintravel.Money {
	sum := traintravel.Money{Currency: currency}
	for _, m := range g.Movements() {
		switch {
		case m.Outcome.Status != traintravel.Succeeded || m.Amount.Currency != currency:
		case m.Charge == uuid.Nil:
			sum.Amount += m.Amount.Amount
		default:
			sum.Amount -= m.Amount.Amount
		}
	}
	return sum
}

// check refuses what the gateway does not hear.
func check(ctx context.Context, id uuid.UUID) error {
	if id == uuid.Nil {
		return errors.New("sandbox: a charge or refund needs an ID")
	}
	return ctx.Err()
}

func (g *Gateway) remember(m *movement) {
	g.movements[m.ID] = m
	g.order = append(g.order, m)
}

// now returns the outcome as it is known now.
func (m *movement) now() traintravel.Outcome {
	if time.Now().Before(m.settles) {
		return traintravel.Outcome{Status: traintravel.Pending}
	}
	return m.Outcome
}
