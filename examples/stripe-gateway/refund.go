package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/stripe/stripe-go/v85"

	"github.com/traintravel/traintravel"
)

// Refund refunds a charge, once for each ID.
func (g *stripeGateway) Refund(ctx context.Context, r traintravel.Refund) (traintravel.Outcome, error) {
	e, known, release, err := g.begin(ctx, r.ID)
	if err != nil {
		return traintravel.Outcome{}, err
	}
	defer release()
	charge, found, err := g.books.read(r.Charge)
	switch {
	case err != nil:
		return traintravel.Outcome{}, err
	case !found:
		return traintravel.Outcome{}, fmt.Errorf("charge %s: %w", r.Charge, traintravel.ErrNotFound)
	case charge.Charge != uuid.Nil || charge.Intent == "" || charge.Amount.Currency != r.Amount.Currency || r.Amount.Amount <= 0 || r.Amount.Amount > charge.Amount.Amount:
		return traintravel.Outcome{}, fmt.Errorf("%s is not within charge %s", r.Amount, r.Charge)
	case known && (e.Charge != r.Charge || e.Amount != r.Amount):
		return traintravel.Outcome{}, fmt.Errorf("%s was used before, with another amount or purpose", r.ID)
	case e.settled():
		return e.Outcome, nil
	}
	if !known {
		e = entry{Amount: r.Amount, Charge: r.Charge, Intent: charge.Intent}
		if err := g.books.write(r.ID, e); err != nil {
			return traintravel.Outcome{}, err
		}
	}
	out, asked, err := g.findRefund(ctx, r.ID, e.Intent)
	if err != nil || asked {
		return g.settle(r.ID, e, out, err)
	}
	params := &stripe.RefundCreateParams{
		PaymentIntent: stripe.String(e.Intent), Amount: stripe.Int64(stripeAmount(r.Amount)),
		Metadata: map[string]string{metadataID: r.ID.String()},
	}
	params.SetIdempotencyKey("refund-" + r.ID.String())
	refund, err := g.stripe.V1Refunds.Create(ctx, params)
	if err != nil {
		out, err := refused(err)
		return g.settle(r.ID, e, out, err)
	}
	return g.settle(r.ID, e, refundOutcome(refund), nil)
}

// findRefund returns the outcome of a refund, if Stripe has it.
func (g *stripeGateway) findRefund(ctx context.Context, id uuid.UUID, intent string) (traintravel.Outcome, bool, error) {
	params := &stripe.RefundListParams{PaymentIntent: stripe.String(intent)}
	params.Limit = stripe.Int64(100)
	for refund, err := range g.stripe.V1Refunds.List(ctx, params).All(ctx) {
		if err != nil {
			return traintravel.Outcome{}, false, safe(err)
		}
		if refund.Metadata[metadataID] == id.String() {
			return refundOutcome(refund), true, nil
		}
	}
	return traintravel.Outcome{}, false, nil
}

func refundOutcome(r *stripe.Refund) traintravel.Outcome {
	switch r.Status {
	case stripe.RefundStatusSucceeded:
		return traintravel.Outcome{Status: traintravel.Succeeded}
	case stripe.RefundStatusFailed, stripe.RefundStatusCanceled:
		return impossible("refund_"+string(r.Status), failureReason(r))
	}
	return traintravel.Outcome{Status: traintravel.Pending}
}

// failureReason returns the reason why a refund failed at Stripe.
func failureReason(r *stripe.Refund) string {
	switch r.FailureReason {
	case stripe.RefundFailureReasonLostOrStolenCard, stripe.RefundFailureReasonExpiredOrCanceledCard:
		return "The card does not accept refunds any more."
	case "":
		return "The refund could not be made."
	}
	return fmt.Sprintf("The refund could not be made (%s).", r.FailureReason)
}

// refundedElsewhere is a refund that Stripe will not make because the payer has the
// money back.
var refundedElsewhere = traintravel.Outcome{Status: traintravel.Succeeded, Resolution: traintravel.RefundedElsewhere}

// impossible is a refund that Stripe will never make.
func impossible(code, message string) traintravel.Outcome {
	out := failed(code, message)
	out.Resolution = traintravel.RefundImpossible
	return out
}

// refused turns an error into an outcome if Stripe will never make the refund, and returns
// all other errors.
func refused(err error) (traintravel.Outcome, error) {
	e, ok := errors.AsType[*stripe.Error](err)
	if !ok || e.Type != stripe.ErrorTypeInvalidRequest {
		return traintravel.Outcome{}, safe(err)
	}
	switch {
	case e.Code == stripe.ErrorCodeChargeAlreadyRefunded, e.Code == stripe.ErrorCodeChargeDisputed, e.Code == stripe.ErrorCodeRefundDisputedPayment:
		return refundedElsewhere, nil
	case e.Code == stripe.ErrorCodeChargeNotRefundable:
		return impossible(string(e.Code), "The payment cannot be refunded."), nil
	case e.Param == "amount":
		return impossible("amount_not_left", "Part of the payment was refunded in another way."), nil
	}
	return traintravel.Outcome{}, safe(err)
}
