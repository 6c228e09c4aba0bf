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

// meanings say what follows from faults of each kind.
var meanings = map[FaultKind]string{
	FaultUnreadable: "Whatever needs the record fails.",
	FaultNewer:      "A newer version of the program wrote the record: use that version.",
	FaultUnknownKey: "This version of the program does not use the record.",
	FaultMisplaced:  "The record is not found where it is looked for.",
	FaultHalfCopy:   "No server uses the store until the copy is made again.",

	FaultBookingState:    "The booking is in a state that it cannot have come to.",
	FaultUnlisted:        "Its owner does not see the booking in their list.",
	FaultListed:          "The list of an owner leads to a booking that is not theirs, or is not in that list.",
	FaultReferenceLost:   "The booking is not found by its reference, which may be given to another.",
	FaultReferenceOrphan: "The reference leads to no booking, and none can get it.",
	FaultHoldEndless:     "Nobody ends the hold when its time is over, so that its place is free for others only when one of them takes it.",
	FaultHoldLong:        "A place is kept until after its train has left.",
	FaultPlaceLost:       "The passenger has a booking, and their place may be sold to another.",
	FaultPlaceTwice:      "Two passengers have one seat.",
	FaultPlaceOrphan:     "A place is out of sale without a booking.",
	FaultPlaceUnknown:    "A place is taken that the train does not have.",
	FaultHookLost:        "The passenger has a booking for a bicycle, and its place may be sold to another: ask the conductor to make room.",
	FaultHook:            "A place for a bicycle is out of sale without a booking.",
	FaultRunCancelled:    "The passenger has a booking on a train that does not run: cancel the run again, which ends what was left.",

	FaultPaymentOrphan:  "Money may have been taken for a booking that does not exist.",
	FaultPaymentMissing: "The booking was paid, or is being paid, by a payment that is not on record so.",
	FaultPaymentState:   "The payment is in a state that it cannot have come to.",
	FaultPaymentOpen:    "The booking may be paid a second time while a payment is under way, or not at all.",
	FaultPaymentStuck:   "Nobody finds out what became of the payment, or makes the refund.",
	FaultAmount:         "The passenger has paid another sum than the price.",
	FaultRefund:         "Money may go back that was not taken, or too much of it.",
	FaultRefundMissing:  "Money was taken that bought nothing, and no refund is scheduled.",

	FaultIdempotencyEndless: "The key is never removed; no harm but for the space.",
	FaultIdempotencyOrphan:  "A request that is repeated gets an error for an answer.",
	FaultAgendaOrphan:       "Something is to be done that is of no record; it is tried again and again.",
	FaultEventOrphan:        "An event cannot be told: what it is about is not there.",
	FaultEventUntrue:        "Somebody is, or will be, told of something that has not happened.",

	FaultSubscriptionUnmarked: "The subscriber gets no events, or does not see the subscription in their list.",
	FaultSubscriptionMark:     "What happens to bookings of its owner cannot be given to subscribers.",
	FaultSubscriptionUnswept:  "Old deliveries of the subscription are not removed as they should be.",
	FaultDeliveryOrphan:       "The delivery is of no subscription and is never removed.",
	FaultDeliveryStuck:        "The subscriber is never sent the event.",
	FaultDeliveryState:        "The delivery is in a state that it cannot have come to.",
	FaultQueueOrphan:          "The queue of a subscription has an entry, but no pending delivery belongs to it.",

	FaultTimetable: "No server can sell from the timetable: import it again.",
	FaultRegistry:  "IDs of trips may mean another train, or none: import the timetable again.",
	FaultClock:     "A server with a clock of its own would begin at an instant at which no train can run.",
}

// Meaning says in a sentence or two what follows from faults of the kind.
func (k FaultKind) Meaning() string { return meanings[k] }

// FaultKinds are all the kinds of faults, in the order of their texts.
func FaultKinds() []FaultKind { return slices.Sorted(maps.Keys(meanings)) }
