package traintravel

// A FaultKind tells faults apart. Its text never changes.
type FaultKind string

// The kinds of faults.
const (
	faultUnreadable FaultKind = "unreadable"
	faultNewer      FaultKind = "newer-version"
	faultUnknownKey FaultKind = "unknown-key"
	faultMisplaced  FaultKind = "misplaced"
	faultHalfCopy   FaultKind = "half-copy"

	faultBookingState FaultKind = "booking-state"
	faultUnlisted     FaultKind = "booking-unlisted"
	faultListed       FaultKind = "list-orphan"
	faultHoldEndless  FaultKind = "hold-endless"
	faultHoldLong     FaultKind = "hold-past-departure"
	faultPlaceLost    FaultKind = "place-lost"
	faultPlaceTwice   FaultKind = "place-sold-twice"
	faultPlaceOrphan  FaultKind = "place-orphan"
	faultPlaceUnknown FaultKind = "place-unknown"
	faultHook         FaultKind = "hook-without-bicycle"
	faultHookLost     FaultKind = "hook-lost"
	faultRunCancelled FaultKind = "run-cancelled"

	faultPaymentOrphan  FaultKind = "payment-orphan"
	faultPaymentMissing FaultKind = "payment-missing"
	faultPaymentState   FaultKind = "payment-state"
	faultPaymentOpen    FaultKind = "payment-open"
	faultPaymentStuck   FaultKind = "payment-stuck"
	faultAmount         FaultKind = "payment-amount"
	faultRefund         FaultKind = "refund-wrong"
	faultRefundMissing  FaultKind = "refund-missing"

	faultIdempotencyEndless FaultKind = "idempotency-endless"
	faultIdempotencyOrphan  FaultKind = "idempotency-orphan"
	faultAgendaOrphan       FaultKind = "agenda-orphan"
	faultEventOrphan        FaultKind = "event-orphan"
	faultEventUntrue        FaultKind = "event-untrue"

	faultSubscriptionUnmarked FaultKind = "webhook-unmarked"
	faultSubscriptionMark     FaultKind = "webhook-mark-orphan"
	faultSubscriptionUnswept  FaultKind = "webhook-unswept"
	faultDeliveryOrphan       FaultKind = "delivery-orphan"
	faultDeliveryStuck        FaultKind = "delivery-stuck"
	faultDeliveryState        FaultKind = "delivery-state"
	faultQueueOrphan          FaultKind = "queue-orphan"

	faultTimetable FaultKind = "timetable"
	faultRegistry  FaultKind = "train-number"
	faultClock     FaultKind = "clock"
)

// meanings say what follows from faults of each kind.
var meanings = map[FaultKind]string{
	faultUnreadable: "Whatever needs the record fails.",
	faultNewer:      "A newer version of the program wrote the record: use that version.",
	faultUnknownKey: "This version of the program does not use the record.",
	faultMisplaced:  "The record is not found where it is looked for.",
	faultHalfCopy:   "No server uses the store until the copy is made again.",

	faultBookingState: "The booking is in a state that it cannot have come to.",
	faultUnlisted:     "Its owner does not see the booking in their list.",
	faultListed:       "The list of an owner leads to a booking that is not theirs, or over.",
	faultHoldEndless:  "Nobody ends the hold when its time is over, so that its place is free for others only when one of them takes it.",
	faultHoldLong:     "A place is kept until after its train has left.",
	faultPlaceLost:    "The passenger has a booking, and their place may be sold to another.",
	faultPlaceTwice:   "Two passengers have one seat.",
	faultPlaceOrphan:  "A place is kept from sale for nobody.",
	faultPlaceUnknown: "A place is taken that the train does not have.",
	faultHookLost:     "The passenger has a booking for a bicycle, and its place may be sold to another: ask the conductor to make room.",
	faultHook:         "A place for a bicycle is kept from sale for nobody.",
	faultRunCancelled: "The passenger has a booking on a train that does not run: cancel the run again, which ends what was left.",

	faultPaymentOrphan:  "Money may have been taken for a booking that nobody knows.",
	faultPaymentMissing: "The booking was paid, or is being paid, by a payment that is not on record so.",
	faultPaymentState:   "The payment is in a state that it cannot have come to.",
	faultPaymentOpen:    "The booking may be paid a second time while a payment is under way, or not at all.",
	faultPaymentStuck:   "Nobody finds out what became of the payment, or makes the refund.",
	faultAmount:         "The passenger has paid another sum than the price.",
	faultRefund:         "Money may go back that was not taken, or too much of it.",
	faultRefundMissing:  "Money was taken that has bought nothing, and nobody gives it back.",

	faultIdempotencyEndless: "The key is never removed; no harm but for the space.",
	faultIdempotencyOrphan:  "A request that is repeated gets an error for an answer.",
	faultAgendaOrphan:       "Something is to be done that is of no record; it is tried again and again.",
	faultEventOrphan:        "An event cannot be told: what it is about is not there.",
	faultEventUntrue:        "Somebody is, or will be, told of something that has not happened.",

	faultSubscriptionUnmarked: "The subscriber gets no events, or does not see the subscription in their list.",
	faultSubscriptionMark:     "What happens to bookings of its owner cannot be given to subscribers.",
	faultSubscriptionUnswept:  "Old deliveries of the subscription are not removed as they should be.",
	faultDeliveryOrphan:       "The delivery is of no subscription and is never removed.",
	faultDeliveryStuck:        "The subscriber is never sent the event.",
	faultDeliveryState:        "The delivery is in a state that it cannot have come to.",
	faultQueueOrphan:          "The queue of a subscription has an entry of which there is no delivery to be made.",

	faultTimetable: "No server can sell from the timetable: import it again.",
	faultRegistry:  "IDs of trips may mean another train, or none: import the timetable again.",
	faultClock:     "A server with a clock of its own would begin at an instant at which no train can run.",
}

// Meaning says in a sentence or two what follows from faults of the kind.
func (k FaultKind) Meaning() string { return meanings[k] }
