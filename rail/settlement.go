package rail

import (
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/redact"
)

// A Verdict is what an operator says became of a payment or a refund.
type Verdict string

// The verdicts.
const (
	// AsSucceeded: the money has moved. A charge confirms its booking, or is given back
	// if it came too late.
	AsSucceeded Verdict = "succeeded"
	// AsFailed: a charge has moved no money and never will. The hold goes on if it has
	// time left, and ends otherwise. The charge is cancelled at the gateway if that can
	// be done, and still watched: money that comes all the same is not kept.
	AsFailed Verdict = "failed"
	// AsMadeElsewhere: the payer has got the money of a refund back in another way.
	AsMadeElsewhere Verdict = "made_elsewhere"
	// AsImpossible: a refund will never be made.
	AsImpossible Verdict = "impossible"
)

// A Settlement is an operator's verdict on a payment or refund.
type Settlement struct {
	As Verdict
	By string // who has decided; 1 to 200 characters
	// Reason is why: 1 to 200 characters without the number of a card; empty once
	// the traveller has been erased.
	Reason string
	At     time.Time // set by SettlePayment
}

// MaxSettlements bounds the verdicts on one payment.
const MaxSettlements = 20

// Check returns an InvalidError unless the settlement can be one.
func (d *Settlement) Check() error {
	switch d.As {
	case AsSucceeded, AsFailed, AsMadeElsewhere, AsImpossible:
	default:
		return Invalid("as", "%.40q is not one of %s, %s, %s and %s", d.As, AsSucceeded, AsFailed, AsMadeElsewhere, AsImpossible)
	}
	for _, text := range [...]struct{ field, is string }{{"by", d.By}, {"reason", d.Reason}} {
		if why := BadText(text.is, true); why != "" {
			return Invalid(text.field, "%s", why)
		}
		if redact.HoldsCardNumber(text.is) {
			return Invalid(text.field, CardInText)
		}
	}
	return nil
}

// NeedsPerson says whether a payment waits for an operator: it has been pending since
// before an instant, or is a refund that the gateway says is impossible.
func (p *Payment) NeedsPerson(before time.Time) bool {
	return p.Status == Pending && !p.Created.After(before) || p.RefundOf != uuid.Nil && p.Status == Failed && len(p.Settlements) == 0
}
