package traintravel

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
)

// What a user has booked and not paid is bounded, because one user could otherwise take a
// whole train from sale without paying for it.
//
// Nothing is written down for that. The update that makes a booking lists its owner's
// latest bookings in TableOwned: no hold is older than HoldFor and PendingFor together. It
// reads them only if there are as many as may be held, which few users have. It ends those
// whose time is over: no server whose clock is slow can then take a payment for one that
// did not count.
//
// It looks at so many and no more, lest one who buys a lot is slow for all. Users can hide
// a hold behind that many later bookings, which they have paid for.

// HoldLimits bounds how many bookings a user may hold at a time without having paid for
// them. A booking counts until it is paid, cancelled or expired; one whose payment is
// pending is not paid. A booking is for one passenger, and counts once, however many
// trains it is for. Services that share a store have the same limits.
type HoldLimits struct {
	// User is how many bookings a user may hold in all. More are refused with a
	// [*HoldsError]. Zero is 9, a number below zero is no limit; more than 1000 is refused.
	User int

	// Train is how many of them may be for one train on one date. Zero is 9, a number below
	// zero is no limit but User; more than 1000 is refused.
	Train int

	// Clients are the IDs of programs of the operator's own, for which there is no limit
	// when they act for themselves ([Caller.ForItself]), and not for a user.
	Clients []string
}

// A HoldsError refuses a booking because the user holds as many unpaid ones as may be.
// Nothing was booked. To pay for one of them, or to cancel one, makes room at once.
type HoldsError struct {
	// Limit is how many there may be: for one train of the trip if Train is set, or else in
	// all.
	Limit int
	Train bool
	// Bookings are the unpaid ones that count, those whose hold ends first before others.
	Bookings []uuid.UUID
	// Until is when there is room again if nothing is done, and RetryAfter how long that
	// takes, above zero.
	Until      time.Time
	RetryAfter time.Duration
}

// Error says which limit was reached.
func (e *HoldsError) Error() string {
	if e.Train {
		return fmt.Sprintf("the user holds %d unpaid bookings for one train of the trip, and may hold %d", len(e.Bookings), e.Limit)
	}
	return fmt.Sprintf("the user holds %d unpaid bookings, and may hold %d", len(e.Bookings), e.Limit)
}

const (
	maxHolds  = 1000 // more are slow to count
	nineHeld  = 9    // what may be held by default: a large family
	paidAmong = 200  // how many paid bookings are looked at, besides as many as may be held

	// slowClock is by how much the clocks of two servers may differ: a hold that is over on
	// one is ended there while it may not be over on the other.
	slowClock = time.Hour
)

// check fills in the defaults.
func (h *HoldLimits) check() error {
	for name, value := range map[string]*int{"User": &h.User, "Train": &h.Train} {
		if *value > maxHolds {
			return invalid("Options.Holds."+name, "%d is more than %d: a number below zero is no limit", *value, maxHolds)
		}
		if *value == 0 {
			*value = nineHeld
		}
	}
	h.Clients = slices.Clone(h.Clients)
	return nil
}

// least is the number of bookings below which no limit can be reached.
func (h *HoldLimits) least() int {
	switch {
	case h.User < 0:
		return h.Train
	case h.Train < 0:
		return h.User
	}
	return min(h.User, h.Train)
}

// count says whether what a caller holds is counted.
func (h *HoldLimits) count(by Caller) bool {
	return (h.User > 0 || h.Train > 0) && !(by.ForItself && by.Client != "" && slices.Contains(h.Clients, by.Client))
}

// A booker is who makes a booking: what the update that makes it has to know of them.
type booker struct {
	mark    string    // ownerMark
	random  uuid.UUID // of the booking's ID
	counted bool      // what they hold is
	since   time.Time // the creation of the oldest booking to be listed
	limit   int       // how many are listed
}

// booker lists all bookings that may be held, if they count, or else one that a clock ahead
// of now has made.
func (s *Service) booker(by Caller, now time.Time) booker {
	b := booker{mark: ownerMark(by.Subject), random: s.newID(), counted: s.opts.Holds.count(by), since: now, limit: 1}
	if b.counted {
		b.since, b.limit = now.Add(-s.opts.HoldFor).Add(-s.opts.PendingFor-slowClock), paidAmong+max(s.opts.Holds.User, s.opts.Holds.Train)
	}
	return b
}

func (b *booker) recent(l *ledger) ([]uuid.UUID, error) {
	return recentOwned(l.ctx, l.tx, b.mark, b.since, l.now, b.limit)
}

// roomFor refuses a booking if its owner holds as many as may be, all of them among the
// recent bookings.
func (l *ledger) roomFor(sn *snapshot, b *Booking, recent []uuid.UUID) error {
	holds := &l.books.terms.holds
	if len(recent) < holds.least() {
		return nil
	}
	if err := l.checkCurrent(sn); err != nil { // a train may be another in the next
		return err
	}
	held, err := l.stillHeld(b.Owner, recent)
	if err != nil {
		return err
	}
	if held, err = l.endOwnLapsed(held); err != nil {
		return err
	}
	return holds.allow(b, held, l.now)
}

// stillHeld reads which bookings of an owner are held, lapsed or not. One that cannot be
// read may be held for as long as a hold can last.
func (l *ledger) stillHeld(owner Subject, ids []uuid.UUID) (held []Booking, err error) {
	keys := make([]Key, len(ids))
	for i, id := range ids {
		keys[i] = bookingKey(id)
	}
	values, err := l.tx.Get(l.ctx, keys...)
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		if values[i] == nil {
			continue
		}
		b, err := l.books.decodeBooking(values[i])
		if err != nil {
			b = Booking{ID: id, Owner: owner, Status: Held, Expires: timeOf(id).Add(l.books.terms.holdFor).Add(l.books.terms.pendingFor)}
			if b.lapsed(l.now) {
				continue
			}
		}
		if b.Status == Held && b.Owner == owner {
			held = append(held, b)
			l.fetched = append(l.fetched, fetched{keys[i], values[i]})
		}
	}
	return held, nil
}

// endOwnLapsed ends the holds whose time is over, and returns the others. One of a train
// that cannot be read stays as it is: nobody can pay for it.
func (l *ledger) endOwnLapsed(held []Booking) (live []Booking, err error) {
	for _, b := range held {
		if !b.lapsed(l.now) {
			live = append(live, b)
		} else if err := l.expire(b.ID); err != nil && !unreadable(err) {
			return nil, err
		}
	}
	return live, nil
}

// allow refuses a booking if its owner holds as many as may be.
func (h *HoldLimits) allow(b *Booking, held []Booking, now time.Time) error {
	slices.SortStableFunc(held, func(a, b Booking) int { return a.HeldUntil().Compare(b.HeldUntil()) })
	if err := fewer(held, h.User, false, now); err != nil {
		return err
	}
	for _, run := range runsOf(b) {
		var on []Booking
		for i := range held {
			if slices.Contains(runsOf(&held[i]), run) {
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
