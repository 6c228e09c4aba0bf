package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/google/uuid"
	"github.com/stripe/stripe-go/v85"

	"github.com/traintravel/traintravel"
)

// A stripeGateway takes payments by PaymentIntents. For a charge it
//
//  1. records the ID and the amount in its file,
//  2. makes a PaymentMethod of the card, and a PaymentIntent that is not confirmed,
//     with our ID as the idempotency key and in the metadata,
//  3. records the PaymentIntent's ID in its file,
//  4. confirms it, and only that moves money.
//
// So an ID without a recorded PaymentIntent has moved nothing. For any other, Stripe returns
// the outcome by the PaymentIntent's ID: reads by ID are consistent, while Stripe's search
// may lag by a minute or more. A PaymentIntent succeeds at most once, so confirming it
// again, even after Stripe has forgotten the idempotency key, charges nobody twice.
//
// Before a refund is made, it is looked for in the list of its PaymentIntent's refunds, by
// the metadata. That prevents duplicates when Stripe has forgotten the idempotency key, and
// the key prevents them while the list may lag.
type stripeGateway struct {
	stripe *stripe.Client
	books  *books
}

var (
	_ traintravel.PaymentGateway = (*stripeGateway)(nil)
	_ traintravel.Canceller      = (*stripeGateway)(nil)
)

// metadataID is the key of our IDs in Stripe's metadata.
const metadataID = "traintravel_id"

// newStripe returns a gateway for the account of a key. The config may name another URL
// than Stripe's.
func newStripe(key string, config stripe.BackendConfig, b *books) *stripeGateway {
	config.LeveledLogger = &stripe.LeveledLogger{Level: stripe.LevelNull} // errors are returned
	config.EnableTelemetry = stripe.Bool(false)
	return &stripeGateway{stripe.NewClient(key, stripe.WithBackends(stripe.NewBackendsWithConfig(&config))), b}
}

// failed is a decline.
func failed(code, message string) traintravel.Outcome {
	return traintravel.Outcome{Status: traintravel.Failed, Failure: traintravel.Failure{Code: code, Message: message}}
}

// cancelled is the outcome of a fenced charge.
var cancelled = failed("canceled", "The payment was cancelled.")

// begin waits until no other goroutine works on an ID, and reads its entry.
func (g *stripeGateway) begin(ctx context.Context, id uuid.UUID) (e entry, known bool, release func(), err error) {
	if err := ctx.Err(); err != nil {
		return e, false, nil, err
	}
	release, ok := g.books.hold(ctx.Done(), id)
	if !ok {
		return e, false, nil, ctx.Err()
	}
	e, known, err = g.books.read(id)
	if err != nil {
		release()
		return e, false, nil, err
	}
	if e.Charge != uuid.Nil && e.Outcome.Status == traintravel.Failed { // so of earlier versions too
		e.Outcome.Resolution = traintravel.RefundImpossible
	}
	return e, known, release, nil
}

// Charge takes the amount from a card.
func (g *stripeGateway) Charge(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
	e, known, release, err := g.begin(ctx, c.ID)
	if err != nil {
		return traintravel.Outcome{}, err
	}
	defer release()
	switch {
	case e.Fenced:
		return e.Outcome, nil
	case known && (e.Charge != uuid.Nil || e.Amount != c.Amount):
		return traintravel.Outcome{}, fmt.Errorf("%s was used before, with another amount or purpose", c.ID)
	case e.settled():
		return e.Outcome, nil
	}
	if !known {
		e.Amount, e.Booking = c.Amount, c.Booking
		if err := g.books.write(c.ID, e); err != nil {
			return traintravel.Outcome{}, err
		}
	}
	if e.Intent != "" {
		// It came before, and was perhaps confirmed.
		out, asked, err := g.ask(ctx, e.Intent)
		if err != nil || asked {
			return g.settle(c.ID, e, out, err)
		}
	}
	if c.Source.Card == nil {
		return g.settle(c.ID, e, failed("source_not_supported", "Only cards are accepted."), nil)
	}
	card, err := g.stripe.V1PaymentMethods.Create(ctx, cardParams(c.Source.Card))
	if err != nil {
		out, err := declined(err)
		return g.settle(c.ID, e, out, err)
	}
	if e, err = g.makeIntent(ctx, c.ID, e); err != nil {
		return traintravel.Outcome{}, err
	}
	// There is no passenger at a browser to ask for a second factor: a card that wants
	// one is declined.
	params := &stripe.PaymentIntentConfirmParams{PaymentMethod: stripe.String(card.ID), ErrorOnRequiresAction: stripe.Bool(true)}
	intent, err := g.stripe.V1PaymentIntents.Confirm(ctx, e.Intent, params)
	if err != nil {
		out, err := declined(err)
		return g.settle(c.ID, e, out, err)
	}
	out, asked := outcome(intent)
	if !asked {
		return out, fmt.Errorf("a PaymentIntent is %s after it was confirmed", intent.Status)
	}
	return g.settle(c.ID, e, out, nil)
}

// makeIntent makes the PaymentIntent of a charge, or learns its ID if it was made before
// and the answer, or this process, was lost: the idempotency key is our ID.
func (g *stripeGateway) makeIntent(ctx context.Context, id uuid.UUID, e entry) (entry, error) {
	if e.Intent != "" {
		return e, nil
	}
	params := &stripe.PaymentIntentCreateParams{
		Amount: stripe.Int64(stripeAmount(e.Amount)), Currency: stripe.String(e.Amount.Currency),
		PaymentMethodTypes: stripe.StringSlice([]string{"card"}),
		Metadata:           map[string]string{metadataID: id.String(), "traintravel_booking": e.Booking.String()},
	}
	params.SetIdempotencyKey("charge-" + id.String())
	intent, err := g.stripe.V1PaymentIntents.Create(ctx, params)
	if err != nil {
		return e, safe(err)
	}
	e.Intent = intent.ID
	return e, g.books.write(id, e)
}

// settle records a final outcome.
func (g *stripeGateway) settle(id uuid.UUID, e entry, out traintravel.Outcome, err error) (traintravel.Outcome, error) {
	if err != nil {
		return traintravel.Outcome{}, err
	}
	e.Outcome = out
	if e.settled() {
		if err := g.books.write(id, e); err != nil {
			return traintravel.Outcome{}, err
		}
	}
	return out, nil
}

// Lookup returns the outcome of an ID.
func (g *stripeGateway) Lookup(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	e, known, release, err := g.begin(ctx, id)
	if err != nil {
		return traintravel.Outcome{}, err
	}
	defer release()
	var out traintravel.Outcome
	asked := false
	switch {
	case !known:
	case e.settled():
		return e.Outcome, nil
	case e.Charge != uuid.Nil:
		out, asked, err = g.findRefund(ctx, id, e.Intent)
	case e.Intent != "":
		out, asked, err = g.ask(ctx, e.Intent)
	}
	if err == nil && !asked { // it stopped before money was asked for, and nobody is at work on it
		return out, fmt.Errorf("%s: %w", id, traintravel.ErrNotFound)
	}
	return g.settle(id, e, out, err)
}

// Cancel makes sure that a charge that has not succeeded never will.
func (g *stripeGateway) Cancel(ctx context.Context, id uuid.UUID) (traintravel.Outcome, error) {
	e, known, release, err := g.begin(ctx, id)
	if err != nil {
		return traintravel.Outcome{}, err
	}
	defer release()
	switch {
	case e.settled():
		return e.Outcome, nil
	case e.Charge != uuid.Nil:
		return traintravel.Outcome{}, fmt.Errorf("%s is a refund", id)
	}
	// A PaymentIntent may have been made that the books do not know, because the process
	// died before it wrote its ID down. It is not left behind. An entry of an earlier
	// version does not have what the same request is made of.
	if known && e.Booking != uuid.Nil {
		if e, err = g.makeIntent(ctx, id, e); err != nil {
			return traintravel.Outcome{}, err
		}
	}
	if e.Intent != "" {
		out, asked, err := g.ask(ctx, e.Intent)
		if err != nil || asked && out.Status != traintravel.Pending {
			return g.settle(id, e, out, err)
		}
		if _, err := g.stripe.V1PaymentIntents.Cancel(ctx, e.Intent, nil); err != nil {
			// It has succeeded this moment, or is past recall: the next look says so.
			if code(err) != stripe.ErrorCodePaymentIntentUnexpectedState {
				return traintravel.Outcome{}, safe(err)
			}
			out, asked, err := g.ask(ctx, e.Intent)
			if err == nil && !asked {
				err = errors.New("a PaymentIntent that was never confirmed cannot be cancelled")
			}
			return g.settle(id, e, out, err)
		}
	}
	e.Fenced = true
	return g.settle(id, e, cancelled, nil)
}

// ask returns the state of a PaymentIntent at Stripe, and whether it was ever
// confirmed.
func (g *stripeGateway) ask(ctx context.Context, intent string) (traintravel.Outcome, bool, error) {
	pi, err := g.stripe.V1PaymentIntents.Retrieve(ctx, intent, nil)
	if err != nil {
		return traintravel.Outcome{}, false, safe(err)
	}
	out, asked := outcome(pi)
	return out, asked, nil
}

func outcome(pi *stripe.PaymentIntent) (out traintravel.Outcome, asked bool) {
	switch pi.Status {
	case stripe.PaymentIntentStatusSucceeded:
		return traintravel.Outcome{Status: traintravel.Succeeded}, true
	case stripe.PaymentIntentStatusCanceled:
		return cancelled, true
	case stripe.PaymentIntentStatusRequiresPaymentMethod, stripe.PaymentIntentStatusRequiresConfirmation:
		if pi.LastPaymentError != nil {
			return failure(pi.LastPaymentError), true
		}
		return traintravel.Outcome{}, false
	}
	return traintravel.Outcome{Status: traintravel.Pending}, true
}

// declined turns an error into an outcome if the card was declined, and returns all other
// errors, because their outcome is unknown.
func declined(err error) (traintravel.Outcome, error) {
	if e, ok := errors.AsType[*stripe.Error](err); ok && e.Type == stripe.ErrorTypeCard && e.HTTPStatusCode == 402 {
		return failure(e), nil
	}
	return traintravel.Outcome{}, safe(err)
}

// failure returns a decline with a code of the API.
func failure(e *stripe.Error) traintravel.Outcome {
	code := string(e.Code)
	if e.DeclineCode == stripe.DeclineCodeInsufficientFunds {
		code = traintravel.InsufficientFunds
	}
	if code == "" {
		code = traintravel.CardDeclined
	}
	return failed(code, e.Msg)
}

// safe returns an error that may be logged: the kind of Stripe's error without its
// message, which may quote the request.
func safe(err error) error {
	e, ok := errors.AsType[*stripe.Error](err)
	if !ok {
		if broken, ok := errors.AsType[*url.Error](err); ok {
			return fmt.Errorf("calling Stripe: %w", broken.Err)
		}
		return errors.New("cannot parse the response of Stripe") // the error quotes it
	}
	return fmt.Errorf("stripe answered %d, %s %s (request %s)", e.HTTPStatusCode, e.Type, e.Code, e.RequestID)
}

func code(err error) stripe.ErrorCode {
	if e, ok := errors.AsType[*stripe.Error](err); ok {
		return e.Code
	}
	return ""
}

func cardParams(c *traintravel.Card) *stripe.PaymentMethodCreateParams {
	text := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	return &stripe.PaymentMethodCreateParams{
		Type: stripe.String("card"),
		Card: &stripe.PaymentMethodCreateCardParams{
			Number: stripe.String(string(c.Number)), CVC: stripe.String(string(c.CVC)),
			ExpMonth: stripe.Int64(int64(c.ExpMonth)), ExpYear: stripe.Int64(int64(c.ExpYear)),
		},
		BillingDetails: &stripe.PaymentMethodCreateBillingDetailsParams{
			Name: text(c.Name),
			Address: &stripe.AddressParams{
				Line1: text(c.Address1), Line2: text(c.Address2), City: text(c.City), Country: text(c.Country), PostalCode: text(c.PostCode),
			},
		},
	}
}

// stripeAmount returns an amount in Stripe's units. They are minor units, except for two
// currencies that Stripe counts in hundredths although these have no decimals.
func stripeAmount(m traintravel.Money) int64 {
	if m.Currency == "isk" || m.Currency == "ugx" {
		return m.Amount * 100
	}
	return m.Amount
}
