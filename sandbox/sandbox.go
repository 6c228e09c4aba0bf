// Package sandbox is a payment gateway for tests and demonstrations. It moves no money
// and records only outcomes, never numbers, names or security codes: in memory, or in a
// store, where they survive restarts and are shared by servers.
//
// The outcome of a charge depends only on the number, as in Stripe's test mode:
//
//	4242 4242 4242 4242        succeeds, like any valid card not listed here
//	4000 0000 0000 0002        card_declined
//	4000 0000 0000 9995        insufficient_funds
//	4000 0000 0000 0069        expired_card
//	4000 0000 0000 0127        incorrect_cvc
//	4000 0000 0000 0119        processing_error
//	4000 0000 0000 0259        succeeds, and is charged back: its refund was made elsewhere
//	4000 0000 0000 5126        succeeds; its refund is impossible
//
//	AT61 1904 3002 3457 3201   succeeds, like any valid account not listed here
//	AT32 1904 3002 3547 3204   is pending, and succeeds after SettleAfter
//	AT86 1904 3002 3547 3202   debit_not_authorized
//	AT05 1904 3002 3547 3205   is pending, and fails with debit_not_authorized after SettleAfter
//
// SettleAfter is in real time and does not depend on a service's clock. A
// [traintravel.Service] looks a pending charge up some seconds after it was made, and
// then repeatedly.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/memstore"
)

// SettleAfter is how long a charge to a bank account that settles later stays pending.
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
// ended, a request that contradicts itself or an earlier one, or a failure of the
// store is an error, and then nothing has happened (but see
// [traintravel.ErrUnknownOutcome]).
type Gateway struct {
	store traintravel.Store
	now   func() time.Time
}

var (
	_ traintravel.PaymentGateway = (*Gateway)(nil)
	_ traintravel.Canceller      = (*Gateway)(nil)
)

// New returns a gateway that has moved nothing yet and keeps its records in memory.
func New() *Gateway { return Open(memstore.New()) }

// Open returns a gateway that keeps its records in a table of a store, which may be the
// service's. All gateways on a store share these records, which move with the store's other
// data, see [traintravel.Guard]. It keeps every record, about 250 bytes for each charge and
// refund, because a booking can be cancelled, and its charge refunded, until departure.
func Open(store traintravel.Store) *Gateway {
	return &Gateway{store: traintravel.Guard(store), now: time.Now}
}

// Charge decides by the number of the source. The same ID again gets the same
// outcome, whatever the source; with another amount or booking it is an error.
func (g *Gateway) Charge(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
	outcome, later := decide(c.Source)
	return g.act(ctx, Movement{ID: c.ID, Booking: c.Booking, Amount: c.Amount}, func(m, _ *movement) error {
		if c.Amount.Amount < 0 || c.Amount.Currency == "" {
			return fmt.Errorf("sandbox: charge %s: the amount %s is not above zero", c.ID, c.Amount)
		}
		m.Outcome = outcome
		if later {
			m.settles = m.asked.Add(SettleAfter)
		}
		if c.Source.Card != nil && outcome == succeeded {
			switch plain(c.Source.Card.Number) {
			case chargedBack:
				m.refunded = c.Amount.Amount
			case notRefundable:
				m.nonRefundable = true
			}
		}
		return nil
	})
}

// Refund refunds at most the rest of a successful charge, in its currency. If the charge
// has been refunded in full, the outcome is RefundedElsewhere. Anything else is an error.
func (g *Gateway) Refund(ctx context.Context, r traintravel.Refund) (traintravel.Outcome, error) {
	return g.act(ctx, Movement{ID: r.ID, Charge: r.Charge, Amount: r.Amount}, func(m, charge *movement) error {
		switch {
		case charge == nil:
			return fmt.Errorf("sandbox: refund %s: charge %s: %w", r.ID, r.Charge, traintravel.ErrNotFound)
		case charge.Charge != uuid.Nil || charge.at(m.asked).Status != traintravel.Succeeded:
			return fmt.Errorf("sandbox: refund %s: %s is not a charge that has succeeded", r.ID, r.Charge)
		case r.Amount.Currency != charge.Amount.Currency || r.Amount.Amount <= 0 || r.Amount.Amount > charge.Amount.Amount:
			return fmt.Errorf("sandbox: refund %s: %s is not within %s", r.ID, r.Amount, charge.Amount)
		case charge.nonRefundable:
			m.Outcome = refundImpossible
			return nil
		case charge.refunded == charge.Amount.Amount:
			m.Outcome = refundedElsewhere
			return nil
		case r.Amount.Amount > charge.Amount.Amount-charge.refunded:
			return fmt.Errorf("sandbox: refund %s: %s is more than the rest of %s", r.ID, r.Amount, charge.Amount)
		}
		charge.refunded += r.Amount.Amount
		m.Outcome = succeeded
		return nil
	})
}

// act makes and remembers a movement, unless its ID has come before. do is given
// the charge that a refund gives back, if there is one, and may change it.
func (g *Gateway) act(ctx context.Context, asked Movement, do func(m, charge *movement) error) (out traintravel.Outcome, err error) {
	if err := check(ctx, asked.ID); err != nil {
		return out, err
	}
	now := g.now()
	err = g.store.Update(ctx, func(tx traintravel.Tx) error {
		found, err := read(ctx, tx, asked.ID, asked.Charge)
		if err != nil {
			return err
		}
		m, charge := found[0], found[1]
		if m != nil {
			seen := asked
			seen.Outcome = m.Outcome
			if !m.fenced && m.Movement != seen {
				return fmt.Errorf("sandbox: %s was used before, with another amount or purpose", asked.ID)
			}
			out = m.at(now)
			return nil
		}
		m = &movement{Movement: asked, asked: now}
		if err := do(m, charge); err != nil {
			return err
		}
		out = m.at(now)
		return write(tx, m, charge)
	})
	return out, err
}

// Lookup returns the outcome of a charge or refund.
func (g *Gateway) Lookup(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	if err := check(ctx, id); err != nil {
		return traintravel.Outcome{}, err
	}
	found, err := read(ctx, g.store, id)
	if err != nil {
		return traintravel.Outcome{}, err
	}
	if found[0] == nil {
		return traintravel.Outcome{}, fmt.Errorf("sandbox: %s: %w", id, traintravel.ErrNotFound)
	}
	return found[0].at(g.now()), nil
}

// Cancel makes a pending charge fail with the code canceled, and likewise one
// that has not come yet.
func (g *Gateway) Cancel(ctx context.Context, id uuid.UUID) (out traintravel.Outcome, err error) {
	if err := check(ctx, id); err != nil {
		return out, err
	}
	now := g.now()
	err = g.store.Update(ctx, func(tx traintravel.Tx) error {
		found, err := read(ctx, tx, id)
		if err != nil {
			return err
		}
		m := found[0]
		if m == nil {
			m = &movement{Movement: Movement{ID: id}, asked: now, fenced: true}
		} else if m.at(now).Status != traintravel.Pending {
			out = m.at(now)
			return nil
		}
		m.Outcome, m.settles = failed("canceled", "The payment was cancelled."), time.Time{}
		out = m.Outcome
		return write(tx, m)
	})
	return out, err
}

// Movements returns what the gateway was asked for, in order. A charge that
// was cancelled before it came is not among them.
func (g *Gateway) Movements(ctx context.Context) ([]Movement, error) {
	all, err := list(ctx, g.store)
	if err != nil {
		return nil, err
	}
	now := g.now()
	var seen []Movement
	for _, m := range all {
		if !m.fenced {
			m.Outcome = m.at(now)
			seen = append(seen, m.Movement)
		}
	}
	return seen, nil
}

// Balance returns what was taken in a currency less what was given back or charged back.
func (g *Gateway) Balance(ctx context.Context, currency string) (traintravel.Money, error) {
	sum := traintravel.Money{Currency: currency}
	all, err := list(ctx, g.store)
	now := g.now()
	for _, m := range all {
		if m.Charge == uuid.Nil && m.at(now).Status == traintravel.Succeeded && m.Amount.Currency == currency {
			sum.Amount += m.Amount.Amount - m.refunded
		}
	}
	return sum, err
}

// check refuses what the gateway does not hear.
func check(ctx context.Context, id uuid.UUID) error {
	if id == uuid.Nil {
		return errors.New("sandbox: a charge or refund needs an ID")
	}
	return ctx.Err()
}
