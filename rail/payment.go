package rail

import (
	"time"

	"github.com/google/uuid"
)

// A Payment is an attempt to pay for a booking, or a refund.
type Payment struct {
	ID      uuid.UUID
	Booking uuid.UUID
	Amount  Money  // negative for a refund
	Source  Source // masked: the end of the number, no code, no address
	Status  PaymentStatus
	Failure Failure // why, if Status is Failed
	// Resolution says that a refund succeeded because it was made elsewhere, or failed
	// because it is impossible; otherwise it is empty.
	Resolution Resolution
	Created    time.Time
	// Settled is when Status got its final value, zero while it is Pending or if the time
	// is unknown.
	Settled time.Time
	// RefundOf is the payment that is refunded; nil for an attempt.
	RefundOf uuid.UUID
	// Settlements are the decisions of operators about the payment, oldest first.
	// LastError is the gateway's last response if that did not settle it. Both are for
	// operators, not for the payer.
	Settlements []Settlement
	LastError   string
	// Replayed reports that the call repeated an idempotency key. It is not stored.
	Replayed bool
}
