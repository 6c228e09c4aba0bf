package traintravel

import (
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

const (
	paidAmong = 200 // how many paid bookings are looked at, besides as many as may be held

	// slowClock is by how much the clocks of two servers may differ: a hold that is over on
	// one is ended there while it may not be over on the other.
	slowClock = time.Hour
)

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
func (b *books) booker(by Caller, now time.Time, random uuid.UUID) booker {
	t := &b.terms
	is := booker{mark: ownerMark(by.Subject), random: random, counted: t.holds.count(by), since: now, limit: 1}
	if is.counted {
		is.since, is.limit = now.Add(-t.holdFor).Add(-t.pendingFor-slowClock), paidAmong+max(t.holds.User, t.holds.Train)
	}
	return is
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
