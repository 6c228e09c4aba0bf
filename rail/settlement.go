package rail

import (
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/redact"
)

// A Verdict is an operator's decision about the outcome of a payment or a refund.
type Verdict string

// The verdicts.
const (
	// AsSucceeded: the money has moved. A charge confirms its booking, or is refunded if it
	// came too late.
	AsSucceeded Verdict = "succeeded"
	// AsFailed: a charge has moved no money and never will. The hold continues if it has
	// time left, and ends otherwise. The service cancels the charge at the gateway if it
	// can, and still looks it up: money that arrives nevertheless is refunded.
	AsFailed Verdict = "failed"
	// AsMadeElsewhere: the payer has received the refund in another way.
	AsMadeElsewhere Verdict = "made_elsewhere"
	// AsImpossible: a refund will never be made.
	AsImpossible Verdict = "impossible"
)

// A Settlement is an operator's verdict on a payment or refund.
type Settlement struct {
	As Verdict
	By string // the operator who decided; 1 to 200 characters
	// Reason is why: 1 to 200 characters without the number of a card; empty after the
	// personal data of the booking was erased.
	Reason string
	At     time.Time // set by SettlePayment
}

// MaxSettlements is the maximum number of verdicts on one payment.
const MaxSettlements = 20

// Check returns an InvalidError if the settlement is invalid.
func (d *Settlement) Check() error {
	switch d.As {
	case AsSucceeded, AsFailed, AsMadeElsewhere, AsImpossible:
	default:
		return Invalid("as", "unknown verdict %.40q: want %s, %s, %s or %s", d.As, AsSucceeded, AsFailed, AsMadeElsewhere, AsImpossible)
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

// NeedsPerson says whether a payment waits for an operator: it has been pending since before
// an instant, or is a refund that is impossible according to the gateway.
func (p *Payment) NeedsPerson(before time.Time) bool {
	return p.Status == Pending && !p.Created.After(before) || p.RefundOf != uuid.Nil && p.Status == Failed && len(p.Settlements) == 0
}
