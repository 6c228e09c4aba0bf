package ledger

import (
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/ids"
	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/internal/timetable"
	"github.com/traintravel/traintravel/rail"
	"github.com/traintravel/traintravel/store"
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
	mark    string    // records.OwnerMark
	random  uuid.UUID // of the booking's ID
	counted bool      // what they hold is
	since   time.Time // the creation of the oldest booking to be listed
	limit   int       // how many are listed
}

// Booker lists all bookings that may be held, if they count, or else one that a clock ahead
// of now has made.
func (b *Books) Booker(by rail.Caller, now time.Time, random uuid.UUID) booker {
	t := &b.Terms
	is := booker{mark: records.OwnerMark(by.Subject), random: random, counted: t.Holds.Count(by), since: now, limit: 1}
	if is.counted {
		is.since, is.limit = now.Add(-t.HoldFor).Add(-t.PendingFor-slowClock), paidAmong+max(t.Holds.User, t.Holds.Train)
	}
	return is
}

func (b *booker) recent(l *Ledger) ([]uuid.UUID, error) {
	return records.RecentOwned(l.Ctx, l.Tx, b.mark, b.since, l.Now, b.limit)
}

// roomFor refuses a booking if its owner holds as many as may be, all of them among the
// recent bookings.
func (l *Ledger) roomFor(sn *timetable.Snapshot, b *rail.Booking, recent []uuid.UUID) error {
	holds := &l.books.Terms.Holds
	if len(recent) < holds.Least() {
		return nil
	}
	if err := l.CheckCurrent(sn); err != nil { // a train may be another in the next
		return err
	}
	held, err := l.stillHeld(b.Owner, recent)
	if err != nil {
		return err
	}
	if held, err = l.endOwnLapsed(held); err != nil {
		return err
	}
	return holds.Allow(b, held, l.Now)
}

// stillHeld reads which bookings of an owner are held, lapsed or not. One that cannot be
// read may be held for as long as a hold can last.
func (l *Ledger) stillHeld(owner rail.Subject, list []uuid.UUID) (held []rail.Booking, err error) {
	keys := make([]store.Key, len(list))
	for i, id := range list {
		keys[i] = records.BookingKey(id)
	}
	values, err := l.Tx.Get(l.Ctx, keys...)
	if err != nil {
		return nil, err
	}
	for i, id := range list {
		if values[i] == nil {
			continue
		}
		b, err := l.books.decodeBooking(values[i])
		if err != nil {
			b = rail.Booking{ID: id, Owner: owner, Status: rail.Held, Expires: ids.TimeOf(id).Add(l.books.Terms.HoldFor).Add(l.books.Terms.PendingFor)}
			if b.Lapsed(l.Now) {
				continue
			}
		}
		if b.Status == rail.Held && b.Owner == owner {
			held = append(held, b)
			l.fetched = append(l.fetched, fetched{keys[i], values[i]})
		}
	}
	return held, nil
}

// endOwnLapsed ends the holds whose time is over, and returns the others. One of a train
// that cannot be read stays as it is: nobody can pay for it.
func (l *Ledger) endOwnLapsed(held []rail.Booking) (live []rail.Booking, err error) {
	for _, b := range held {
		if !b.Lapsed(l.Now) {
			live = append(live, b)
		} else if err := l.Expire(b.ID); err != nil && !records.Unreadable(err) {
			return nil, err
		}
	}
	return live, nil
}
