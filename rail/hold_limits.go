package rail

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
)

// HoldLimits bounds how many bookings a user may hold at a time without having paid for
// them. A booking counts until it is paid, cancelled or expired; one whose payment is
// pending is not paid. A booking is for one passenger, and counts once, however many
// trains it is for. Services that share a store have the same limits.
type HoldLimits struct {
	// User is the number of bookings a user may hold in total. More are refused with a
	// [*HoldsError]. Zero is 9, a negative number means no limit; more than 1000 is refused.
	User int

	// Train is the number of them that may be for one train on one date. Zero is 9; with a
	// negative number only User applies; more than 1000 is refused.
	Train int

	// Clients are the IDs of the operator's own programs. They have no limit when they act for
	// themselves ([Caller.ForItself]), but do when they act for a user.
	Clients []string
}

// A HoldsError refuses a booking because the user has reached the limit of unpaid ones.
// Nothing was booked. After paying for or cancelling one of them, the user can book again.
type HoldsError struct {
	// Limit is the limit that was reached: that for one train of the trip if Train is set,
	// otherwise the total.
	Limit int
	Train bool
	// Bookings are the unpaid bookings that count, ordered by the end of their holds.
	Bookings []uuid.UUID
	// Until is when the user can book again without paying or cancelling, and RetryAfter how
	// long that takes, above zero.
	Until      time.Time
	RetryAfter time.Duration
}

// Error says which limit was reached.
func (e *HoldsError) Error() string {
	if e.Train {
		return fmt.Sprintf("the user holds %d unpaid bookings for one train of the trip, and the maximum is %d", len(e.Bookings), e.Limit)
	}
	return fmt.Sprintf("the user holds %d unpaid bookings, and the maximum is %d", len(e.Bookings), e.Limit)
}

const (
	maxHolds = 1000 // more are slow to count
	nineHeld = 9    // the default limit: enough for a large family
)

// Check refuses limits that are too high and fills in the defaults.
func (h *HoldLimits) Check() error {
	for name, value := range map[string]*int{"User": &h.User, "Train": &h.Train} {
		if *value > maxHolds {
			return Invalid("Options.Holds."+name, "%d is more than %d: set a lower number, or one below zero for no limit", *value, maxHolds)
		}
		if *value == 0 {
			*value = nineHeld
		}
	}
	h.Clients = slices.Clone(h.Clients)
	return nil
}

// Least returns the number of bookings below which no limit can be reached.
func (h *HoldLimits) Least() int {
	switch {
	case h.User < 0:
		return h.Train
	case h.Train < 0:
		return h.User
	}
	return min(h.User, h.Train)
}

// Count reports whether the holds of a caller are counted.
func (h *HoldLimits) Count(by Caller) bool {
	return (h.User > 0 || h.Train > 0) && !(by.ForItself && by.Client != "" && slices.Contains(h.Clients, by.Client))
}

// Allow returns an error if the owner of a booking has reached a limit.
func (h *HoldLimits) Allow(b *Booking, held []Booking, now time.Time) error {
	slices.SortStableFunc(held, func(a, b Booking) int { return a.HeldUntil().Compare(b.HeldUntil()) })
	if err := fewer(held, h.User, false, now); err != nil {
		return err
	}
	for _, run := range RunsOf(b) {
		var on []Booking
		for i := range held {
			if slices.Contains(RunsOf(&held[i]), run) {
				on = append(on, held[i])
			}
		}
		if err := fewer(on, h.Train, true, now); err != nil {
			return err
		}
	}
	return nil
}

// fewer refuses unless fewer are held than a limit; they are in the order of their ends.
func fewer(held []Booking, limit int, train bool, now time.Time) error {
	if limit < 0 || len(held) < limit {
		return nil
	}
	e := &HoldsError{Limit: limit, Train: train, Until: held[len(held)-limit].HeldUntil()}
	e.RetryAfter = e.Until.Sub(now)
	for i := range held {
		e.Bookings = append(e.Bookings, held[i].ID)
	}
	return e
}
