package paymenttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// A Gateway is a gateway to be tested and what the suite has to know of it.
type Gateway struct {
	traintravel.PaymentGateway

	// Succeeds is a source that a charge succeeds with, at once or after being
	// pending. For the check Secrets, a card's code should be one that nothing
	// else looks like, such as 937.
	Succeeds traintravel.Source

	// Declines is one that is declined. The zero Source stands for none, here
	// and below.
	Declines traintravel.Source

	// SettlesLater is one with which a charge is pending, and then succeeds;
	// with FailsLater it is pending, and then fails.
	SettlesLater traintravel.Source
	FailsLater   traintravel.Source

	// ChargedBack is one with which a charge succeeds, and the payer has the money back
	// before a refund is made: because of a chargeback, or a refund past the gateway.
	// NotRefundable is one with which a charge succeeds, and no refund ever can.
	ChargedBack   traintravel.Source
	NotRefundable traintravel.Source

	// Settle makes a pending charge or refund settle; nil if that takes only time.
	Settle func(ctx context.Context, id uuid.UUID) error

	// SettlesWithin is how long a pending one may take at most, and Settle's
	// work to be seen; 1 minute by default.
	SettlesWithin time.Duration

	// Moved tells what the provider has really taken for a charge, less what
	// went back; the zero Money if nothing. It asks the provider's books, not
	// the gateway.
	Moved func(ctx context.Context, charge uuid.UUID) (traintravel.Money, error)

	// AnswersLost is the same gateway over a connection that loses the answers:
	// what it is asked is done, and its caller gets an error.
	AnswersLost traintravel.PaymentGateway

	// Price is what most checks charge, 10 minor units or more; 49.99 eur by
	// default.
	Price traintravel.Money

	// Amounts are charged by the check Amounts; by default some that have been
	// mistaken before, in currencies that do not have two decimals too.
	Amounts []traintravel.Money
}

// Run proves the behaviour of a gateway. It runs each clause of the contract as
// a parallel subtest; open returns the gateway for one of them, which may be
// shared, fails the test if it cannot, and leaves the cleaning up to t.Cleanup.
func Run(t *testing.T, open func(t testing.TB) Gateway) {
	t.Helper()
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := open(t).withDefaults().supported(t.Context())
			if lack := c.lacks(g); lack != "" {
				t.Skip(lack)
			}
			if err := c.run(t.Context(), g); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func checks() []check {
	return slices.Concat(charging, looking, losing, cancelling, refunding, settling, telling)
}

// A check is one clause of the contract. It returns what is wrong with a
// gateway. That it reports by error instead of failing a test is what lets this
// package's own tests run it on broken gateways.
type check struct {
	name  string
	run   func(ctx context.Context, g Gateway) error
	needs []need
}

// A need is something of a Gateway that may be left out.
type need int

const (
	declines need = iota
	settlesLater
	failsLater
	moved
	answersLost
	canceller
	chargedBack
	notRefundable
)

// lacks says what a gateway does not have that the check needs.
func (c check) lacks(g Gateway) string {
	for _, n := range c.needs {
		switch {
		case n == declines && none(g.Declines):
			return "Declines is not set: no source that is declined"
		case n == settlesLater && none(g.SettlesLater):
			return "SettlesLater is not set: no source that settles later"
		case n == failsLater && none(g.FailsLater):
			return "FailsLater is not set: no source that fails later"
		case n == chargedBack && none(g.ChargedBack):
			return "ChargedBack is not set: no source whose charge is given back in another way"
		case n == notRefundable && none(g.NotRefundable):
			return "NotRefundable is not set: no source whose refunds are impossible"
		case n == moved && g.Moved == nil:
			return "Moved is not set: what was really moved is not known"
		case n == answersLost && g.AnswersLost == nil:
			return "AnswersLost is not set: no connection that loses answers"
		case n == canceller && g.canceller() == nil:
			return "the gateway is not a Canceller, or its Cancel returns errors.ErrUnsupported"
		}
	}
	return ""
}

func none(s traintravel.Source) bool { return s == traintravel.Source{} }

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

// back returns a new refund of a part of a charge.
func back(c traintravel.Charge, amount int64) traintravel.Refund {
	return traintravel.Refund{ID: uuid.New(), Charge: c.ID, Amount: traintravel.Money{Amount: amount, Currency: c.Amount.Currency}}
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

// sane says what is wrong with an outcome as such.
func sane(out traintravel.Outcome) error {
	switch out.Status {
	case traintravel.Pending, traintravel.Succeeded:
		if out.Failure != (traintravel.Failure{}) {
			return fmt.Errorf("an outcome that is no failure has one: %s", told(out))
		}
	case traintravel.Failed:
		if out.Failure.Code == "" || out.Failure.Message == "" {
			return fmt.Errorf("a failure needs a code, and a message for the payer: %s", told(out))
		}
	default:
		return fmt.Errorf("%q is no status", out.Status)
	}
	if !out.Resolution.Fits(out.Status) {
		return fmt.Errorf("the resolution does not go with the status: %s", told(out))
	}
	return nil
}

func told(out traintravel.Outcome) string {
	status := string(out.Status)
	if out.Resolution != "" {
		status += ", " + string(out.Resolution)
	}
	if out.Failure == (traintravel.Failure{}) {
		return status
	}
	return fmt.Sprintf("%s (code %q, %q)", status, out.Failure.Code, out.Failure.Message)
}

// finds returns an error unless Lookup tells an outcome.
func (g Gateway) finds(ctx context.Context, id uuid.UUID, want traintravel.Outcome) error {
	out, err := g.Lookup(ctx, id)
	if err != nil {
		return wrong("Lookup: %w", err)
	}
	if out != want {
		return wrong("Lookup tells %s, not %s", told(out), told(want))
	}
	return nil
}

// refuses returns an error if an answer is not what it must be to something
// that must not be done: an error, or Failed.
func refuses(what string, out traintravel.Outcome, err error) error {
	if err != nil || out.Status == traintravel.Failed {
		return nil
	}
	return fmt.Errorf("%s: the outcome is %s, not an error or failed", what, told(out))
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

// many is how many ask at once.
const many = 50

// together runs fn n times at once and returns what went wrong first.
func together(n int, fn func(i int) error) error {
	var (
		start = make(chan struct{})
		errs  = make([]error, n)
		wg    sync.WaitGroup
	)
	for i := range n {
		wg.Go(func() {
			<-start
			errs[i] = fn(i)
		})
	}
	close(start)
	wg.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return errs[i]
	}
	return nil
}

// first runs steps until one fails, and says which it was.
func first(steps ...step) error {
	for _, s := range steps {
		if err := s.do(); err != nil {
			return fmt.Errorf("%s: %w", s.what, err)
		}
	}
	return nil
}

type step struct {
	what string
	do   func() error
}

var errNotFound = wrong("Lookup must wrap ErrNotFound for what the gateway was never asked")

// unheard returns an error unless the gateway says that it has not heard of an ID.
func (g Gateway) unheard(ctx context.Context, id uuid.UUID) error {
	switch out, err := g.Lookup(ctx, id); {
	case err == nil:
		return fmt.Errorf("%w: it tells %s", errNotFound, told(out))
	case !errors.Is(err, traintravel.ErrNotFound):
		return fmt.Errorf("%w: %w", errNotFound, err)
	}
	return nil
}

// wrong is fmt.Errorf, for messages that begin with a method's name.
func wrong(format string, args ...any) error { return fmt.Errorf(format, args...) }
