package gateway_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/paymenttest"
	"github.com/traintravel/traintravel/sandbox"
)

// A gateway passes the suite behind the contract as it does directly.
func TestSuite(t *testing.T) {
	paymenttest.Run(t, func(t testing.TB) paymenttest.Gateway {
		s := sandbox.New()
		p, lossy := listen(t, newHandler(t, s)), listen(t, newHandler(t, s))
		c := till{newClient(t, p.url), s, p}
		lossy.always(loseAnswer)
		g := paymenttest.Gateway{
			PaymentGateway: c,
			Succeeds:       card(good),
			Declines:       card(declined),
			ChargedBack:    card("4000000000000259"),
			NotRefundable:  card("4000000000005126"),
			AnswersLost:    newClient(t, lossy.url),
			Moved:          c.moved,
		}
		if !testing.Short() { // the sandbox takes ten seconds
			g.SettlesLater, g.FailsLater = account("AT321904300235473204"), account("AT051904300235473205")
		}
		return g
	})
}

// A railway takes its money through the contract, on a way on which requests and answers are lost.
func TestSimulate(t *testing.T) {
	paymenttest.Simulate(t, func(t testing.TB) paymenttest.Gateway {
		s := sandbox.New()
		p := listen(t, newHandler(t, s))
		c := till{newClient(t, p.url), s, p}
		return paymenttest.Gateway{PaymentGateway: c, Succeeds: card(good), Declines: card(declined), Moved: c.moved}
	})
}

// moved is what the sandbox has taken for a charge, less what went back.
func (c till) moved(ctx context.Context, charge uuid.UUID) (sum traintravel.Money, err error) {
	all, err := c.sandbox.Movements(ctx)
	if err != nil {
		return sum, err
	}
	for _, m := range all {
		if m.ID != charge && m.Charge != charge || m.Outcome.Status != traintravel.Succeeded || m.Outcome.Resolution != "" {
			continue
		}
		if sum.Currency != "" && sum.Currency != m.Amount.Currency {
			return sum, errors.New("two currencies")
		}
		sum.Currency = m.Amount.Currency
		if m.Charge == charge {
			sum.Amount -= m.Amount.Amount
		} else {
			sum.Amount += m.Amount.Amount
		}
	}
	return sum, nil
}
