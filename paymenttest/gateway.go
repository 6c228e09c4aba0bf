package paymenttest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// A Gateway is a gateway to test, with what the suite has to know about it.
type Gateway struct {
	traintravel.PaymentGateway

	// Succeeds is a source whose charges succeed, at once or after being pending.
	// For the check Secrets, use a security code that does not occur elsewhere,
	// such as 937.
	Succeeds traintravel.Source

	// Declines is a source whose charges are declined. The zero Source means none,
	// here and below.
	Declines traintravel.Source

	// SettlesLater is a source whose charges are pending, and then succeed. Those
	// of FailsLater are pending, and then fail.
	SettlesLater traintravel.Source
	FailsLater   traintravel.Source

	// ChargedBack is a source whose charges succeed, and whose payer has the money back
	// before a refund is made: by a chargeback, or by a refund outside the gateway.
	// NotRefundable is a source whose charges succeed, and whose refunds never do.
	ChargedBack   traintravel.Source
	NotRefundable traintravel.Source

	// Settle settles a pending charge or refund. Nil means that it settles by itself.
	Settle func(ctx context.Context, id uuid.UUID) error

	// SettlesWithin is the time within which a pending charge or refund settles, also
	// after Settle; 1 minute by default.
	SettlesWithin time.Duration

	// Moved returns the amount that the provider has taken for a charge, less
	// refunds, or the zero Money. It asks the provider, not the gateway.
	Moved func(ctx context.Context, charge uuid.UUID) (traintravel.Money, error)

	// AnswersLost is the same gateway over a connection that loses responses: it does
	// what it is asked, and its caller gets an error.
	AnswersLost traintravel.PaymentGateway

	// Price is the amount that most checks charge, 10 minor units or more; 49.99 eur
	// by default.
	Price traintravel.Money

	// Amounts are the amounts of the check Amounts. The default has amounts that
	// gateways often get wrong, also in currencies without two decimals.
	Amounts []traintravel.Money
}

// usualAmounts are amounts that floats and factors of a hundred get wrong.
var usualAmounts = []traintravel.Money{
	{Amount: 1, Currency: "eur"},
	{Amount: 456, Currency: "eur"},
	{Amount: 1999, Currency: "chf"},
	{Amount: 99_999_999_999_999, Currency: "eur"},
	{Amount: 1, Currency: "jpy"},
	{Amount: 4990, Currency: "isk"},
	{Amount: 1, Currency: "kwd"},
	{Amount: 49_999, Currency: "tnd"},
	{Amount: 1<<53 + 1, Currency: "clf"}, // no float64 is this number
}

func (g Gateway) withDefaults() Gateway {
	if g.SettlesWithin == 0 {
		g.SettlesWithin = time.Minute
	}
	if g.Price == (traintravel.Money{}) {
		g.Price = traintravel.Money{Amount: 4999, Currency: "eur"}
	}
	if g.Amounts == nil {
		g.Amounts = usualAmounts
	}
	return g
}

// supported hides the Cancel of a gateway that says that it cannot.
func (g Gateway) supported(ctx context.Context) Gateway {
	if c := g.canceller(); c != nil {
		if _, err := c.Cancel(ctx, uuid.New()); errors.Is(err, errors.ErrUnsupported) {
			g.PaymentGateway = struct{ traintravel.PaymentGateway }{g.PaymentGateway}
		}
	}
	return g
}

func (g Gateway) canceller() traintravel.Canceller {
	c, _ := g.PaymentGateway.(traintravel.Canceller)
	return c
}

// ask returns a new charge of the price.
func (g Gateway) ask(source traintravel.Source) traintravel.Charge {
	return traintravel.Charge{ID: uuid.New(), Booking: uuid.New(), Amount: g.Price, Source: source}
}

// becomes charges, waits until the outcome is known, and returns an error
// unless it is the one wanted.
func (g Gateway) becomes(ctx context.Context, c traintravel.Charge, want traintravel.PaymentStatus) (traintravel.Outcome, error) {
	out, err := g.Charge(ctx, c)
	out, err = g.ends(ctx, "Charge", c.ID, out, err, want)
	if err == nil && out.Resolution != "" {
		return out, wrong("Charge: %s, and only a refund has a resolution", told(out))
	}
	return out, err
}

// paid returns a charge that has succeeded.
func (g Gateway) paid(ctx context.Context) (traintravel.Charge, error) {
	c := g.ask(g.Succeeds)
	_, err := g.becomes(ctx, c, traintravel.Succeeded)
	return c, err
}

// refunds makes a refund and waits for its success.
func (g Gateway) refunds(ctx context.Context, r traintravel.Refund) error {
	out, err := g.Refund(ctx, r)
	_, err = g.ends(ctx, "Refund", r.ID, out, err, traintravel.Succeeded)
	return err
}

// ends waits until an answer is no longer pending, and returns an error unless
// it is the outcome wanted.
func (g Gateway) ends(ctx context.Context, call string, id uuid.UUID, out traintravel.Outcome, err error, want traintravel.PaymentStatus) (traintravel.Outcome, error) {
	if err != nil {
		return out, fmt.Errorf("%s: %w", call, err)
	}
	if err := sane(out); err != nil {
		return out, fmt.Errorf("%s: %w", call, err)
	}
	if out, err = g.wait(ctx, id, out); err != nil {
		return out, fmt.Errorf("after a pending %s: %w", call, err)
	}
	if out.Status != want {
		return out, fmt.Errorf("%s: the outcome is %s, not %s", call, told(out), want)
	}
	return out, nil
}

// wait looks up what is pending until it is not any more.
func (g Gateway) wait(ctx context.Context, id uuid.UUID, out traintravel.Outcome) (traintravel.Outcome, error) {
	if out.Status != traintravel.Pending {
		return out, nil
	}
	if g.Settle != nil {
		if err := g.Settle(ctx, id); err != nil {
			return out, wrong("Settle: %w", err)
		}
	}
	limit := time.NewTimer(g.SettlesWithin)
	defer limit.Stop()
	for pause := time.Millisecond; ; pause = min(2*pause, time.Second) {
		out, err := g.Lookup(ctx, id)
		if err == nil {
			err = sane(out)
		}
		if err != nil {
			return out, wrong("Lookup: %w", err)
		}
		if out.Status != traintravel.Pending {
			return out, nil
		}
		select {
		case <-limit.C:
			return out, fmt.Errorf("still pending after %v", g.SettlesWithin)
		case <-time.After(pause):
		}
	}
}

// finds returns an error unless Lookup tells an outcome.
func (g Gateway) finds(ctx context.Context, id uuid.UUID, want traintravel.Outcome) error {
	out, err := g.Lookup(ctx, id)
	if err != nil {
		return wrong("Lookup: %w", err)
	}
	if out != want {
		return wrong("Lookup returns %s, want %s", told(out), told(want))
	}
	return nil
}

// hasMoved returns an error unless so many minor units were taken for a charge
// in all. Where what has moved cannot be known, all is well.
func (g Gateway) hasMoved(ctx context.Context, c traintravel.Charge, amount int64) error {
	if g.Moved == nil {
		return nil
	}
	got, err := g.Moved(ctx, c.ID)
	if err != nil {
		return wrong("Moved: %w", err)
	}
	want := traintravel.Money{Amount: amount, Currency: c.Amount.Currency}
	if got.Amount != want.Amount || got.Amount != 0 && got.Currency != want.Currency {
		return fmt.Errorf("moved %s in all, not %s", got, want)
	}
	return nil
}

// unheard returns an error unless the gateway says that it has not heard of an ID.
func (g Gateway) unheard(ctx context.Context, id uuid.UUID) error {
	switch out, err := g.Lookup(ctx, id); {
	case err == nil:
		return fmt.Errorf("%w: it returns %s", errNotFound, told(out))
	case !errors.Is(err, traintravel.ErrNotFound):
		return fmt.Errorf("%w: %w", errNotFound, err)
	}
	return nil
}

// back returns a new refund of a part of a charge.
func back(c traintravel.Charge, amount int64) traintravel.Refund {
	return traintravel.Refund{ID: uuid.New(), Charge: c.ID, Amount: traintravel.Money{Amount: amount, Currency: c.Amount.Currency}}
}
