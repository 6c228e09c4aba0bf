package paymenttest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// A faulty gateway is a small one of its own with places where a mistake can be
// made. It stands for gateway and provider: its books are what was moved.
type faulty struct {
	mu     sync.Mutex
	deeds  map[uuid.UUID]*deed
	taken  map[uuid.UUID]traintravel.Money // by charge, less what went back
	fences map[uuid.UUID]bool
	ends   map[uuid.UUID]traintravel.Outcome // of refunds, by charge

	// What a mistake replaces; nil is as it should be.
	charge func(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error)
	lookup func(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error)
	refund func(ctx context.Context, r traintravel.Refund) (traintravel.Outcome, error)
	cancel func(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error)
}

// A deed is a charge or refund that was asked for.
type deed struct {
	charge  uuid.UUID // its own, unless it is a refund
	amount  traintravel.Money
	outcome traintravel.Outcome
	pending bool
}

func (d *deed) now() traintravel.Outcome {
	if d.pending {
		return traintravel.Outcome{Status: traintravel.Pending}
	}
	return d.outcome
}

func sound() *faulty {
	return &faulty{deeds: map[uuid.UUID]*deed{}, taken: map[uuid.UUID]traintravel.Money{}, fences: map[uuid.UUID]bool{}, ends: map[uuid.UUID]traintravel.Outcome{}}
}

var (
	good  = traintravel.Outcome{Status: traintravel.Succeeded}
	bad   = traintravel.Outcome{Status: traintravel.Failed, Failure: traintravel.Failure{Code: traintravel.CardDeclined, Message: "No."}}
	gone  = traintravel.Outcome{Status: traintravel.Succeeded, Resolution: traintravel.RefundedElsewhere}
	never = traintravel.Outcome{
		Status: traintravel.Failed, Failure: traintravel.Failure{Code: "closed", Message: "The account is closed."},
		Resolution: traintravel.RefundImpossible,
	}
	fenced = traintravel.Outcome{Status: traintravel.Failed, Failure: traintravel.Failure{Code: "canceled", Message: "Cancelled."}}
)

func testCard(number traintravel.Secret) traintravel.Source {
	return traintravel.Source{Card: &traintravel.Card{Name: "J. Doe", Number: number, CVC: "937", ExpMonth: 12, ExpYear: 2090, Country: "GB"}}
}

// subject is a gateway as the suite is given it.
func subject(g *faulty) Gateway {
	return Gateway{
		PaymentGateway: g,
		Succeeds:       testCard("4242424242424242"), Declines: testCard("4000000000000002"),
		SettlesLater: testCard("4000000000000077"), FailsLater: testCard("4000000000000341"),
		ChargedBack: testCard("4000000000000259"), NotRefundable: testCard("4000000000005126"),
		Settle: g.settle, SettlesWithin: time.Second, Moved: g.moved,
		AnswersLost: deaf{g},
	}
}

func (g *faulty) settle(_ context.Context, id uuid.UUID) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if d := g.deeds[id]; d != nil && d.pending {
		d.pending = false
		g.book(d)
	}
	return nil
}

// book moves what a deed has come to. mu is held.
func (g *faulty) book(d *deed) {
	if d.outcome == good {
		m := g.taken[d.charge]
		m.Amount += d.amount.Amount
		m.Currency = d.amount.Currency
		g.taken[d.charge] = m
	}
}

func (g *faulty) moved(_ context.Context, charge uuid.UUID) (traintravel.Money, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.taken[charge], nil
}

// take moves money although nobody should.
func (g *faulty) take(charge uuid.UUID, m traintravel.Money) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.book(&deed{charge: charge, amount: m, outcome: good})
}

func (g *faulty) Charge(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
	if g.charge != nil {
		return g.charge(ctx, c)
	}
	return g.soundCharge(ctx, c)
}

func (g *faulty) soundCharge(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return traintravel.Outcome{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.fences[c.ID] {
		return fenced, nil
	}
	return g.do(c.ID, deed{charge: c.ID, amount: c.Amount}, func(d *deed) error {
		switch c.Source.Card.Number {
		case "4000000000000002":
			d.outcome = bad
		case "4000000000000077":
			d.outcome, d.pending = good, true
		case "4000000000000341":
			d.outcome, d.pending = bad, true
		case "4000000000000259":
			d.outcome, g.ends[c.ID] = good, gone
		case "4000000000005126":
			d.outcome, g.ends[c.ID] = good, never
		default:
			d.outcome = good
		}
		return nil
	})
}

// do does a deed, unless its ID has come before. mu is held.
func (g *faulty) do(id uuid.UUID, asked deed, decide func(*deed) error) (traintravel.Outcome, error) {
	if d := g.deeds[id]; d != nil {
		if d.amount != asked.amount || d.charge != asked.charge {
			return traintravel.Outcome{}, errors.New("the ID came before, for something else")
		}
		return d.now(), nil
	}
	if err := decide(&asked); err != nil {
		return traintravel.Outcome{}, err
	}
	g.deeds[id] = &asked
	if !asked.pending {
		g.book(&asked)
	}
	return asked.now(), nil
}

func (g *faulty) Refund(ctx context.Context, r traintravel.Refund) (traintravel.Outcome, error) {
	if g.refund != nil {
		return g.refund(ctx, r)
	}
	return g.soundRefund(ctx, r)
}

func (g *faulty) soundRefund(ctx context.Context, r traintravel.Refund) (traintravel.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return traintravel.Outcome{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.do(r.ID, deed{charge: r.Charge, amount: traintravel.Money{Amount: -r.Amount.Amount, Currency: r.Amount.Currency}}, func(d *deed) error {
		left := g.taken[r.Charge]
		if r.Amount.Amount <= 0 || r.Amount.Amount > left.Amount || r.Amount.Currency != left.Currency {
			return fmt.Errorf("%s is not within what is left, %s", r.Amount, left)
		}
		d.outcome = good
		if end, ok := g.ends[r.Charge]; ok {
			d.outcome = end
		}
		return nil
	})
}

func (g *faulty) Lookup(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	if g.lookup != nil {
		return g.lookup(ctx, id)
	}
	return g.soundLookup(ctx, id)
}

func (g *faulty) soundLookup(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return traintravel.Outcome{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch d := g.deeds[id]; {
	case g.fences[id]:
		return fenced, nil
	case d == nil:
		return traintravel.Outcome{}, fmt.Errorf("%s: %w", id, traintravel.ErrNotFound)
	default:
		return d.now(), nil
	}
}

func (g *faulty) Cancel(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	if g.cancel != nil {
		return g.cancel(ctx, id)
	}
	return g.soundCancel(ctx, id)
}

func (g *faulty) soundCancel(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return traintravel.Outcome{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if d := g.deeds[id]; d != nil && !d.pending && !g.fences[id] {
		return d.outcome, nil
	} else if d != nil {
		d.pending = false
	}
	g.fences[id] = true
	return fenced, nil
}

// deaf is a gateway behind a connection that loses answers.
type deaf struct {
	g interface {
		traintravel.PaymentGateway
		traintravel.Canceller
	}
}

var errLost = errors.New("the connection was reset")

func (d deaf) Charge(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
	_, _ = d.g.Charge(ctx, c)
	return traintravel.Outcome{}, errLost
}

func (d deaf) Lookup(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	return traintravel.Outcome{}, errLost
}

func (d deaf) Refund(ctx context.Context, r traintravel.Refund) (traintravel.Outcome, error) {
	_, _ = d.g.Refund(ctx, r)
	return traintravel.Outcome{}, errLost
}

func (d deaf) Cancel(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	_, _ = d.g.Cancel(ctx, id)
	return traintravel.Outcome{}, errLost
}

// onlyGateway hides that a gateway can do more.
type onlyGateway struct{ traintravel.PaymentGateway }
