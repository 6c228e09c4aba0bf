package audit

import (
	"maps"
	"slices"
)

// A FaultKind classifies faults. Its text never changes.
type FaultKind string

// The kinds of faults.
const (
	FaultUnreadable FaultKind = "unreadable"
	FaultNewer      FaultKind = "newer-version"
	FaultUnknownKey FaultKind = "unknown-key"
	FaultMisplaced  FaultKind = "misplaced"
	FaultHalfCopy   FaultKind = "half-copy"

	FaultBookingState    FaultKind = "booking-state"
	FaultUnlisted        FaultKind = "booking-unlisted"
	FaultListed          FaultKind = "list-orphan"
	FaultReferenceLost   FaultKind = "reference-lost"
	FaultReferenceOrphan FaultKind = "reference-orphan"
	FaultHoldEndless     FaultKind = "hold-endless"
	FaultHoldLong        FaultKind = "hold-past-departure"
	FaultPlaceLost       FaultKind = "place-lost"
	FaultPlaceTwice      FaultKind = "place-sold-twice"
	FaultPlaceOrphan     FaultKind = "place-orphan"
	FaultPlaceUnknown    FaultKind = "place-unknown"
	FaultHook            FaultKind = "hook-without-bicycle"
	FaultHookLost        FaultKind = "hook-lost"
	FaultRunCancelled    FaultKind = "run-cancelled"

	FaultPaymentOrphan  FaultKind = "payment-orphan"
	FaultPaymentMissing FaultKind = "payment-missing"
	FaultPaymentState   FaultKind = "payment-state"
	FaultPaymentOpen    FaultKind = "payment-open"
	FaultPaymentStuck   FaultKind = "payment-stuck"
	FaultAmount         FaultKind = "payment-amount"
	FaultRefund         FaultKind = "refund-wrong"
	FaultRefundMissing  FaultKind = "refund-missing"

	FaultIdempotencyEndless FaultKind = "idempotency-endless"
	FaultIdempotencyOrphan  FaultKind = "idempotency-orphan"
	FaultAgendaOrphan       FaultKind = "agenda-orphan"
	FaultEventOrphan        FaultKind = "event-orphan"
	FaultEventUntrue        FaultKind = "event-untrue"

	FaultSubscriptionUnmarked FaultKind = "webhook-unmarked"
	FaultSubscriptionMark     FaultKind = "webhook-mark-orphan"
	FaultSubscriptionUnswept  FaultKind = "webhook-unswept"
	FaultDeliveryOrphan       FaultKind = "delivery-orphan"
	FaultDeliveryStuck        FaultKind = "delivery-stuck"
	FaultDeliveryState        FaultKind = "delivery-state"
	FaultQueueOrphan          FaultKind = "queue-orphan"

	FaultTimetable FaultKind = "timetable"
	FaultRegistry  FaultKind = "train-number"
	FaultClock     FaultKind = "clock"
)

// meanings describe the consequence of faults of each kind.
var meanings = map[FaultKind]string{
	FaultUnreadable: "Every operation that needs the record fails.",
	FaultNewer:      "A newer version of the program wrote the record. Use that version.",
	FaultUnknownKey: "This version of the program does not use the record.",
	FaultMisplaced:  "The record is not found where it is looked for.",
	FaultHalfCopy:   "Servers refuse the store until the copy is made again.",

	FaultBookingState:    "The booking is in an impossible state.",
	FaultUnlisted:        "Its owner does not see the booking in their list.",
	FaultListed:          "An owner's list has a booking that belongs to another owner or in another list, or does not exist.",
	FaultReferenceLost:   "Nobody can find the booking by its reference, and another booking may get the same reference.",
	FaultReferenceOrphan: "The reference leads to no booking, and no new booking can get it.",
	FaultHoldEndless:     "The hold is not ended when it expires. Its place becomes free only when another booking takes it.",
	FaultHoldLong:        "The hold keeps a place until after the train has departed.",
	FaultPlaceLost:       "The passenger has a booking, but their place may be sold to somebody else.",
	FaultPlaceTwice:      "Two passengers have the same seat.",
	FaultPlaceOrphan:     "A place cannot be sold although no booking has it.",
	FaultPlaceUnknown:    "A booking has a place that the train does not have.",
	FaultHookLost:        "The passenger has a booking with a bicycle, but its place may be sold to somebody else. Ask the conductor to make room.",
	FaultHook:            "A bicycle space cannot be sold although no booking has it.",
	FaultRunCancelled:    "The passenger has a booking on a cancelled run. Cancel the run again, which cancels the remaining bookings.",

	FaultPaymentOrphan:  "Money may have been taken for a booking that does not exist.",
	FaultPaymentMissing: "The record of the payment that the booking names is missing or disagrees with the booking.",
	FaultPaymentState:   "The payment is in an impossible state.",
	FaultPaymentOpen:    "The booking may be paid twice while a payment is in progress, or cannot be paid at all.",
	FaultPaymentStuck:   "The outcome of the payment is not looked up, or the refund is not made.",
	FaultAmount:         "The passenger has paid an amount that differs from the price.",
	FaultRefund:         "A refund may return money that was not taken, or too much.",
	FaultRefundMissing:  "Money was taken for nothing, and no refund is scheduled.",

	FaultIdempotencyEndless: "The idempotency key is never removed. It only takes up space.",
	FaultIdempotencyOrphan:  "A request that is repeated with this idempotency key fails.",
	FaultAgendaOrphan:       "Work is scheduled for a record that does not exist or does not need it. The work fails and is retried again and again.",
	FaultEventOrphan:        "The event cannot be delivered, because the booking or payment that it is about does not exist.",
	FaultEventUntrue:        "Subscribers received, or will receive, an event that has not happened.",

	FaultSubscriptionUnmarked: "The subscriber gets no events, or does not see the subscription in their list.",
	FaultSubscriptionMark:     "Events of the owner's bookings cannot be delivered to subscribers.",
	FaultSubscriptionUnswept:  "Old deliveries of the subscription are not removed on time.",
	FaultDeliveryOrphan:       "The delivery belongs to no subscription and is never removed.",
	FaultDeliveryStuck:        "The subscriber is never sent the event.",
	FaultDeliveryState:        "The delivery is in an impossible state.",
	FaultQueueOrphan:          "The queue of a subscription has an entry, but no pending delivery belongs to it.",

	FaultTimetable: "No server can sell from the timetable. Import it again.",
	FaultRegistry:  "Trip IDs may lead to the wrong train, or to none. Import the timetable again.",
	FaultClock:     "A server that starts from the recorded clock would begin after the last date on which trains can run.",
}

// Meaning describes the consequence of faults of the kind in a sentence or two.
func (k FaultKind) Meaning() string { return meanings[k] }

// FaultKinds returns all kinds of faults, sorted.
func FaultKinds() []FaultKind { return slices.Sorted(maps.Keys(meanings)) }
