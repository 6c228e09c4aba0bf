package sandbox_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/pgtest"
	"github.com/traintravel/traintravel/paymenttest"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/memstore"
	"github.com/traintravel/traintravel/store/pgstore"
	"github.com/traintravel/traintravel/store/storetest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(testing.TB) traintravel.Store{
		"memory": func(testing.TB) traintravel.Store { return memstore.New() },
		"twice":  func(testing.TB) traintravel.Store { return storetest.Twice(memstore.New()) },
		"postgres": func(t testing.TB) traintravel.Store {
			store, err := pgstore.Open(t.Context(), pgtest.Shared(t).NewSchema(t), nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { store.Close() })
			return store
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := open(t) // which gateways share
			paymenttest.Run(t, func(t testing.TB) paymenttest.Gateway { return subject(sandbox.Open(store)) })
		})
	}
}

// A railway takes its money through the sandbox, on a way on which requests and answers are lost.
func TestSimulate(t *testing.T) {
	t.Parallel()
	paymenttest.Simulate(t, func(testing.TB) paymenttest.Gateway { return subject(sandbox.New()) })
}

// subject is what the suite is told of a sandbox whose clock can be moved.
func subject(g *sandbox.Gateway) paymenttest.Gateway {
	var ahead atomic.Int64
	g.At(func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) })
	secret := card("4242424242424242")
	secret.Card.CVC = "937"
	return paymenttest.Gateway{
		PaymentGateway: g,
		Succeeds:       secret,
		Declines:       card("4000000000000002"),
		SettlesLater:   account("AT321904300235473204"),
		FailsLater:     account("AT051904300235473205"),
		ChargedBack:    card("4000000000000259"),
		NotRefundable:  card("4000000000005126"),
		Settle: func(context.Context, uuid.UUID) error {
			ahead.Add(int64(sandbox.SettleAfter))
			return nil
		},
		AnswersLost: unanswered{g},
		Moved: func(ctx context.Context, charge uuid.UUID) (traintravel.Money, error) {
			var sum traintravel.Money
			all, err := g.Movements(ctx)
			for _, m := range all {
				switch {
				case m.Outcome.Status != traintravel.Succeeded || m.Outcome.Resolution != "":
				case m.ID == charge:
					sum.Amount += m.Amount.Amount
					sum.Currency = m.Amount.Currency
				case m.Charge == charge:
					sum.Amount -= m.Amount.Amount
				}
			}
			return sum, err
		},
	}
}

// unanswered is a sandbox behind a connection that loses its answers.
type unanswered struct{ g *sandbox.Gateway }

var errLost = errors.New("the answer was lost")

func lose(traintravel.Outcome, error) (traintravel.Outcome, error) {
	return traintravel.Outcome{}, errLost
}

func (u unanswered) Charge(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
	return lose(u.g.Charge(ctx, c))
}

func (u unanswered) Lookup(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	return lose(u.g.Lookup(ctx, id))
}

func (u unanswered) Refund(ctx context.Context, r traintravel.Refund) (traintravel.Outcome, error) {
	return lose(u.g.Refund(ctx, r))
}

func (u unanswered) Cancel(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	return lose(u.g.Cancel(ctx, id))
}
