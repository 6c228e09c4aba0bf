package paymenttest

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/chance"
	"github.com/traintravel/traintravel/internal/sim/history"
	"github.com/traintravel/traintravel/internal/sim/outside"
	"github.com/traintravel/traintravel/internal/sim/world"
)

// histories is how many Simulate runs, days how long each lasts, and perDay how many operations a
// day has.
const (
	histories = 4
	days      = 5
	perDay    = 800
)

// Simulate lets a gateway move the money of a railway: it runs simulated histories, with users, an
// operator, several servers, and a way to the gateway on which requests and answers are lost, late
// or doubled. A model of its own follows what callers are told, and the test fails at the first
// answer that cannot be true: a charge that is found and was never made, or that succeeds after
// its cancellation, or a refund made twice. [Run] says what is wrong more clearly, and should pass
// before. It asks of open what Run does.
//
// The gateway has to answer every request: the faults are those of the way there. Price, AnswersLost
// and Amounts are not used: trips cost some ten euros. All IDs are new, so histories may share a
// provider. What the provider has moved is compared if Moved says it; else only what the gateway
// tells is. Charges are pending only if the gateway has SettlesLater, and Settle.
//
// In a history time is virtual: days pass in seconds. The gateway lives outside of that, with the
// time of the computer, and may have goroutines, connections and time limits of its own.
//
// With -short it runs one history. In a test that fails, the seed says which history it was.
func Simulate(t *testing.T, open func(t testing.TB) Gateway) {
	t.Helper()
	n := chance.Seed(histories)
	if testing.Short() {
		n = 1
	}
	for seed := range n {
		t.Run(fmt.Sprint("Seed", seed), func(t *testing.T) {
			t.Parallel()
			if err := simulate(t, seed, open(t)); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// simulate runs one history, and returns how it went wrong.
func simulate(t *testing.T, seed chance.Seed, g Gateway) error {
	door := outside.Open()
	defer door.Close()
	p := provider{door, g.withDefaults().supported(t.Context()), uuid.New()}
	faults, _ := world.ParseFaults("all")
	faults[world.NoCanceller] = false
	r := history.Run(t, history.Config{
		Seed: seed, Days: days, PerDay: perDay, Faults: faults, Provider: p, Beside: true, Story: true,
		Often: []world.Class{
			world.ChargeLost, world.ChargeLate, world.ChargeDoubled, world.ChargeUnanswered, world.ChargePending, world.ChargeDeclined,
			world.LookupFails, world.RefundFails, world.CancelFails, world.DeathAtBank,
		},
	})
	return r.Err()
}

// provider is a gateway outside, for a bank in the bubble.
type provider struct {
	door *outside.Door
	g    Gateway
	run  uuid.UUID // of this history: its IDs are new
}

// id is what an ID of the history is called at the gateway.
func (p provider) id(id uuid.UUID) uuid.UUID { return uuid.NewSHA1(p.run, id[:]) }

// Charge implements traintravel.PaymentGateway.
func (p provider) Charge(ctx context.Context, c traintravel.Charge) (out traintravel.Outcome, err error) {
	c.ID, c.Booking = p.id(c.ID), p.id(c.Booking)
	p.door.Do(ctx, func(ctx context.Context) { out, err = p.g.Charge(ctx, c) })
	return out, err
}

// Lookup implements traintravel.PaymentGateway.
func (p provider) Lookup(ctx context.Context, id uuid.UUID) (out traintravel.Outcome, err error) {
	p.door.Do(ctx, func(ctx context.Context) { out, err = p.g.Lookup(ctx, p.id(id)) })
	return out, err
}

// Refund implements traintravel.PaymentGateway.
func (p provider) Refund(ctx context.Context, r traintravel.Refund) (out traintravel.Outcome, err error) {
	r.ID, r.Charge = p.id(r.ID), p.id(r.Charge)
	p.door.Do(ctx, func(ctx context.Context) { out, err = p.g.Refund(ctx, r) })
	return out, err
}

// Cancels implements world.Provider.
func (p provider) Cancels() bool { return p.g.canceller() != nil }

// Cancel implements traintravel.Canceller.
func (p provider) Cancel(ctx context.Context, id uuid.UUID) (out traintravel.Outcome, err error) {
	p.door.Do(ctx, func(ctx context.Context) { out, err = p.g.canceller().Cancel(ctx, p.id(id)) })
	return out, err
}

// Source implements world.Provider.
func (p provider) Source(first traintravel.PaymentStatus) (traintravel.Source, bool) {
	s := p.g.Succeeds
	switch first {
	case traintravel.Failed:
		s = p.g.Declines
	case traintravel.Pending:
		if s = p.g.SettlesLater; p.g.Settle == nil {
			s = traintravel.Source{}
		}
	}
	return s, s != (traintravel.Source{})
}

// Settle implements world.Provider.
func (p provider) Settle(ctx context.Context, id uuid.UUID) (out traintravel.Outcome, err error) {
	p.door.Do(ctx, func(ctx context.Context) {
		out, err = p.g.wait(ctx, p.id(id), traintravel.Outcome{Status: traintravel.Pending})
	})
	return out, err
}

// Moved implements world.Provider.
func (p provider) Moved(ctx context.Context, id uuid.UUID) (amount int64, known bool, err error) {
	if p.g.Moved == nil {
		return 0, false, nil
	}
	var sum traintravel.Money
	p.door.Do(ctx, func(ctx context.Context) { sum, err = p.g.Moved(ctx, p.id(id)) })
	return sum.Amount, true, err
}
